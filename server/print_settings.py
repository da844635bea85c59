"""Print the table of settings in server/README.md: ``python server/print_settings.py`` rewrites it in place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from salvo_server.settings import ServerSettings

README = Path(__file__).parent / "README.md"


def settings() -> str:
    """The table: every setting with its range, its default and what it says."""
    described = ServerSettings.model_json_schema()["properties"]
    rows = [f"| `{name}` | {_range(of)} | {_default(of)} | {of['description']} |" for name, of in described.items()]
    return "\n".join(["| setting | range | default | |", "|---|---|---|---|", *rows])


def _range(described: dict[str, Any]) -> str:
    """What a value may be; the first kind of those that are possible, since the other one is "not set"."""
    kind = described.get("anyOf", [described])[0]
    if "enum" in kind:
        return ", ".join(f"`{value}`" for value in kind["enum"])
    if kind["type"] in ("integer", "number"):
        least, most = kind.get("minimum"), kind.get("maximum")
        decimals = ", with decimals" * (kind["type"] == "number")
        return f"{least} or more{decimals}" if most is None else f"{least} to {most}{decimals}"
    names = {"boolean": "true, false", "array": "list of texts"}
    return "file or folder" if kind.get("format") == "path" else names.get(kind["type"], "text")


def _default(described: dict[str, Any]) -> str:
    default = described.get("default")
    return "" if default in (None, []) else f"`{str(default).lower()}`"


def printed(text: str) -> str:
    """Return the README with its table printed again."""
    section = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.DOTALL)
    return section.sub(lambda found: f"{found[1]}{settings()}\n{found[2]}", text)


if __name__ == "__main__":
    README.write_text(printed(README.read_text("utf-8")), encoding="utf-8")
