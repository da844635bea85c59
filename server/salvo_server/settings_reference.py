"""The description of each setting, written once in its model, for ``--help``, the guide's table and errors.

A field of the model has a sentence and may have more, see :func:`says`; its type, range and default are its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, Field


class SettingRow(NamedTuple):
    """A setting, in words.

    Attributes:
        option: on the command line.
        takes: what stands behind the option, such as ``HOST:PORT``; empty where nothing does.
        values: which values it may have, with their unit; empty for any text.
        default: what holds when it is not set; empty for nothing.
        sentence: what it is, without a capital and a full stop.
        several: whether the option may be repeated.
        flag: the value that the option stands for, where it takes none.
    """

    name: str
    option: str
    takes: str
    values: str
    default: str
    sentence: str
    several: bool = False
    flag: str | bool | None = None


def says(
    sentence: str, otherwise: str = "", *, takes: str = "", option: str = "", flag: str = "", **limits: Any
) -> Any:
    """Return a field's description.

    Args:
        sentence: what the setting is.
        otherwise: what holds when it is not set, beside or in place of the default value.
        takes: what stands behind the option.
        option: its name on the command line, where it is not the setting's.
        flag: the value that the option stands for, which then takes none.
        limits: of its values, as :func:`pydantic.Field` has them.
    """
    more = {"otherwise": otherwise, "takes": takes, "option": option, "flag": flag}
    return Field(description=sentence, json_schema_extra={key: value for key, value in more.items() if value}, **limits)


def reference(model: type[BaseModel]) -> dict[str, SettingRow]:
    """Return all settings of a model.

    Raises:
        KeyError: a field has no description.
    """
    return {name: _setting(name, field) for name, field in model.model_json_schema()["properties"].items()}


def _setting(name: str, field: dict[str, Any]) -> SettingRow:
    kind = field.get("anyOf", [field])[0]  # the second one is "not set"
    several, switch = kind["type"] == "array", kind["type"] == "boolean"
    option = field.get("option") or f"--{(name.removesuffix('s') if several else name).replace('_', '-')}"
    given = field.get("default")
    value = "" if given in (None, []) else str(given).lower() if switch else str(given)
    return SettingRow(
        name,
        option,
        "" if switch or "flag" in field else field.get("takes") or _takes(name, kind),
        _values(name, kind),
        "; ".join(filter(None, (value, field.get("otherwise", "")))),
        field["description"],
        several,
        field.get("flag") or (not given if switch else None),
    )


def _takes(name: str, kind: dict[str, Any]) -> str:
    if "enum" in kind:
        return "|".join(kind["enum"])
    if kind["type"] in ("integer", "number"):
        return "SECONDS" if name.endswith("_seconds") else "NUMBER"
    return "FILE" if kind.get("format") == "path" else "TEXT"


def _values(name: str, kind: dict[str, Any]) -> str:
    if "enum" in kind:
        *first, last = kind["enum"]
        return f"{', '.join(first)} or {last}"
    if kind["type"] == "boolean":
        return "true or false"
    if kind["type"] not in ("integer", "number"):
        return ""
    least, most = kind.get("minimum"), kind.get("maximum")
    unit = " s" * name.endswith("_seconds")
    decimals = ", with decimals" * (kind["type"] == "number")
    return f"{least} or more{decimals}" if most is None else f"{least} to {most}{unit}{decimals}"
