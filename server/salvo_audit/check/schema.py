"""Reads what clients send as the published schema has it, and as nothing else.

The descriptors of ``salvo/v1/*.proto`` decide: which fields must be there, their exact types, nothing besides. So this
reader shares no code with the server's, and no mistake. Protobuf's own ``json_format`` would read a missing number as 0
and take the last of two equal keys.
"""

from __future__ import annotations

import json
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from salvo.v1 import options_pb2

#: Levels of objects and arrays in each other (SALVO-WIRE-4).
MAX_DEPTH: Final = 4
#: Bytes of a command (SALVO-WIRE-5).
MAX_BYTES: Final = 4096
_LETTER_FOR_A_ROW: Final = frozenset({"salvo.v1.Shot.y"})
_INTEGERS: Final = {FieldDescriptor.TYPE_INT32: 1 << 31, FieldDescriptor.TYPE_DOUBLE: 1 << 53}
_WORDS: Final = {int: "an integer", str: "a text", bool: "true or false", dict: "an object", list: "an array"}


class Misfit(Exception):
    """A payload is not what the schema says.

    Attributes:
        rule: which rule it breaks: ``length``, ``utf8``, ``json``, ``depth``, ``key``, ``number`` or ``shape``.
        expected: what the schema has there, in words.
        seen: what the payload has there, in words.
    """

    def __init__(self, rule: str, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}, seen {seen}")
        self.rule = rule
        self.expected = expected
        self.seen = seen


def read(payload: bytes, message: Any) -> dict[str, Any]:
    """Return a payload's fields by their names in JSON.

    Args:
        message: its descriptor; the stubs have two types for one.

    Raises:
        Misfit: it is not this message.
    """
    value = parse(payload)
    _check_message(value, message, message.name)
    fields: dict[str, Any] = value
    return fields


def parse(payload: bytes) -> Any:
    """Return a payload's JSON value.

    Raises:
        Misfit: it is too long, not UTF-8, not JSON, too deep, or has a key twice or a number that is not an integer.
    """
    if len(payload) > MAX_BYTES:
        raise Misfit("length", f"at most {MAX_BYTES} bytes", f"{len(payload)} bytes")
    try:
        text = payload.decode()
    except UnicodeDecodeError as error:
        raise Misfit("utf8", "UTF-8", f"the byte {payload[error.start]:#04x} at {error.start}") from None
    depth = deepest = 0
    for character in text:  # whatever is in texts, too: no command has a bracket there
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise Misfit("depth", f"at most {MAX_DEPTH} levels", f"{deepest} levels")
    try:
        value = json.loads(
            text, object_pairs_hook=_without_repetition, parse_float=_no_fraction, parse_constant=_no_fraction
        )
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise Misfit("json", "JSON", f"{error.msg} at character {error.pos}") from None
    except UnicodeEncodeError:
        raise Misfit("utf8", "whole characters", "half a surrogate pair, escaped") from None
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Misfit("key", "each key once", f"{key!r} twice")
        found[key] = value
    return found


def _no_fraction(number: str) -> Any:
    raise Misfit("number", "integers, without point or exponent", number)


def _check_message(value: Any, message: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise Misfit("shape", f"{path}: an object", _shown(value))
    fields = {field.json_name: field for field in message.fields}
    for key in value.keys() - fields.keys():
        raise Misfit("shape", f"{path}: only {', '.join(fields)}", f"a field {key!r}")
    for name, field in fields.items():
        if name in value:
            _check_field(value[name], field, f"{path}.{name}")
        elif must_be_present(field):
            raise Misfit("shape", f"{path}.{name}: {_word(field)}", "no such field")
    for one_of in message.oneofs:
        choices = [field.json_name for field in one_of.fields]
        given = [name for name in choices if name in value]
        if len(choices) > 1 and len(given) != 1:
            raise Misfit("shape", f"{path}: exactly one of {' and '.join(choices)}", ", ".join(given) or "none of them")


def must_be_present(field: Any) -> bool:
    """Whether a message without this field is refused; the stubs know too little of descriptors to name its type."""
    one_of = field.containing_oneof
    in_a_choice = one_of is not None and not one_of.name.startswith("_")
    return not (in_a_choice or field.GetOptions().Extensions[options_pb2.may_be_absent])


def _check_field(value: Any, field: FieldDescriptor, path: str) -> None:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        if not isinstance(value, dict):
            raise Misfit("shape", f"{path}: an object", _shown(value))
        for key, each in value.items():
            _check_value(each, message.fields_by_name["value"], f"{path}.{key}")
    elif field.is_repeated:
        if not isinstance(value, list):
            raise Misfit("shape", f"{path}: an array", _shown(value))
        for number, each in enumerate(value):
            _check_value(each, field, f"{path}[{number}]")
    else:
        _check_value(value, field, path)


def _check_value(value: Any, field: FieldDescriptor, path: str) -> None:
    if field.message_type is not None:
        _check_message(value, field.message_type, path)
        return
    if field.type in _INTEGERS:
        most = _INTEGERS[field.type]
        fits = type(value) is int and -most <= value < most
        fits = fits or (field.full_name in _LETTER_FOR_A_ROW and isinstance(value, str) and _is_letter(value))
    elif field.enum_type is not None:
        fits = value in [each.name for each in field.enum_type.values if each.number]
    else:
        fits = type(value) is (bool if field.type == FieldDescriptor.TYPE_BOOL else str)
    if not fits:
        raise Misfit("shape", f"{path}: {_word(field)}", _shown(value))


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalpha()


def _word(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        return " or ".join(value.name for value in field.enum_type.values if value.number)
    if field.message_type is not None or field.is_repeated:
        return "an array" if field.is_repeated else "an object"
    if field.type in _INTEGERS:
        return _WORDS[int]
    return _WORDS[bool] if field.type == FieldDescriptor.TYPE_BOOL else _WORDS[str]


def _shown(value: Any) -> str:
    """A JSON value as it is written, cut off."""
    text = json.dumps(value, ensure_ascii=False)
    kind = _WORDS.get(type(value), "")
    return f"{text[:60]}{'...' if len(text) > 60 else ''}{f', {kind}' if kind else ''}"
