"""Write JSON Schema of every payload from the published schema: ``python proto/json_schema.py``.

It comes from the same descriptors as everything else that knows the messages. What a team sends has no field besides;
what the server says may have more in a later version (SALVO-VERSION-3). JSON Schema cannot say that a number has no
point (1.0 is an integer there), nor that no key stands twice (SALVO-WIRE).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from salvo.v1 import announcements_pb2, commands_pb2, options_pb2

HERE = Path(__file__).parent
FILE = HERE / "payloads.schema.json"
#: Where each payload travels. A message that is not here is a part of others.
PLACES = {
    "Participation": "/game/request_participation, open or sealed for the server",
    "Placement": "inside the blob on /players/<p>/ships/<ship>/place",
    "SignedShot": "/players/<target>/fire",
    "SignedSkip": "/players/<p>/skip",
    "SignedLeave": "/players/<p>/leave",
    "SignedHostCommand": "/game/host",
    "Resend": "/players/<p>/resend",
    "Say": "/players/<p>/say",
    "Hit": "/players/<p>/hit",
    "Turn": "/game/turn",
    "Result": "/game/result",
    "Fleet": "/players/<p>/fleet",
    "Stats": "/game/stats/<p>",
    "Rules": "/game/rules",
    "Server": "/game/server",
    "ChatLine": "/game/chat and /players/<p>/message",
    "RefereeView": "/game/referee",
    "Standings": "/game/standings",
    "Evening": "/game/league",
    "League": "/game/host/league",
    "Recap": "inside the blob on /players/<p>/recap",
    "HostActed": "/game/hosted",
}
#: Vectors with examples, and how each is found in a case.
_EXAMPLES = {
    "Participation": ("participations", "payload"),
    "Placement": ("placements", "text"),
    "SignedShot": ("shots", "payload"),
    "SignedSkip": ("skips", "payload"),
    "SignedLeave": ("leaves", "payload"),
    "Resend": ("resends", ""),
    "Say": ("lines", "payload"),
    "Recap": ("recaps", "text"),
}
_MOST_EXAMPLES = 3


def schema() -> dict[str, Any]:
    """Return the schema of all payloads; each is a definition by its name."""
    definitions: dict[str, Any] = {}
    for file, is_open in ((commands_pb2, False), (announcements_pb2, True)):
        for message in file.DESCRIPTOR.message_types_by_name.values():
            definitions[message.name] = _message(message, is_open)
    for name, place in PLACES.items():
        definitions[name] |= {"description": place} | _examples(name)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Payloads of Battleship: Salvo",
        "description": "Validate a payload against the definition of its topic, such as #/$defs/SignedShot.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in PLACES],
        "$defs": dict(sorted(definitions.items())),
    }


def _message(message: Any, is_open: bool) -> dict[str, Any]:
    choices = [[field.json_name for field in each.fields] for each in message.oneofs if len(each.fields) > 1]
    found: dict[str, Any] = {
        "type": "object",
        "properties": {field.json_name: _field(field) for field in message.fields},
        "required": [field.json_name for field in message.fields if _must_be_present(field)],
        "additionalProperties": is_open,
    }
    for names in choices:
        found["oneOf"] = [{"required": [name]} for name in names]
    return found


def _must_be_present(field: Any) -> bool:
    one_of = field.containing_oneof
    in_a_choice = one_of is not None and len(one_of.fields) > 1
    return not (in_a_choice or field.GetOptions().Extensions[options_pb2.may_be_absent])


def _field(field: Any) -> dict[str, Any]:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        return {"type": "object", "additionalProperties": _value(message.fields_by_name["value"])}
    value = _value(field)
    return {"type": "array", "items": value} if field.is_repeated else value


def _value(field: Any) -> dict[str, Any]:
    if field.message_type is not None:
        return {"$ref": f"#/$defs/{field.message_type.name}"}
    if field.enum_type is not None:
        return {"enum": [each.name for each in field.enum_type.values if each.number]}
    if field.type == FieldDescriptor.TYPE_INT32:
        number = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
        if field.full_name == "salvo.v1.Shot.y":  # or the row's letter (SALVO-GAME-3)
            return {"anyOf": [number, {"type": "string", "pattern": "^[A-Za-z]$"}]}
        return number
    if field.type == FieldDescriptor.TYPE_DOUBLE:  # epoch milliseconds
        return {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
    return {"type": "boolean" if field.type == FieldDescriptor.TYPE_BOOL else "string"}


def _examples(name: str) -> dict[str, Any]:
    if name not in _EXAMPLES:
        return {}
    vectors, key = _EXAMPLES[name]
    cases = json.loads((HERE / "vectors" / f"{vectors}.json").read_text())["cases"]
    texts = [case["input"][key] if key else case["input"] for case in cases if "result" in case and _has(case, key)]
    return {"examples": [json.loads(text) for text in texts[:_MOST_EXAMPLES]]}


def _has(case: dict[str, Any], key: str) -> bool:
    return not key or key in case["input"]


def written() -> str:
    """Return the file's text."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
    print(FILE)
