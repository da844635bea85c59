"""What the published schema says of a message, and what its class says, in the same words, to be compared."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from salvo.v1 import options_pb2
from salvo.wire.json_shape import Converted, members_of

#: A message's class, or the annotation of one, with its message of the schema.
Pair = tuple[Any, type[Message]]
#: A field's type, and whether it may be left out.
Field = tuple[str, bool]

_TYPES = {
    FieldDescriptor.TYPE_INT32: "int",
    FieldDescriptor.TYPE_DOUBLE: "int",  # epoch milliseconds: as an int64 they would be a text in JSON
    FieldDescriptor.TYPE_STRING: "str",
    FieldDescriptor.TYPE_ENUM: "str",  # its name in JSON
    FieldDescriptor.TYPE_BOOL: "bool",
}


def validator_of(schema: Mapping[str, Any]) -> Any:
    """Return a validator of JSON that is not ours; no schema of ours has an IRI, and it does without that check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "rfc3987_syntax", None)  # reading its grammar takes longer than all validations
        from jsonschema import Draft202012Validator  # only here: every process that collects tests would pay for it

    return Draft202012Validator(schema)


def of_the_schema(message: type[Message]) -> dict[str, Field]:
    """Return the fields of a message of the schema by their names in JSON."""
    return {field.json_name: (schema_type(field), _may_be_absent(field)) for field in message.DESCRIPTOR.fields}


def schema_type(field: Any) -> str:
    """A field's type as Python writes it; the stubs know too little of descriptors to name the argument's."""
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        return f"dict[{', '.join(schema_type(part) for part in message.fields)}]"
    name: str = _TYPES[field.type] if message is None else message.name
    return f"list[{name}]" if field.is_repeated else name


def _may_be_absent(field: Any) -> bool:
    one_of = field.containing_oneof
    return bool(field.GetOptions().Extensions[options_pb2.may_be_absent]) or (
        one_of is not None and not one_of.name.startswith("_")
    )


def of_the_class(shape: Any, pairs: Iterable[Pair]) -> dict[str, Field]:
    """Return the fields of a class by their names in JSON; ``pairs`` names the messages that stand in them."""
    return {each.key: (_type(each.hint, list(pairs)), not each.required) for each in members_of(shape)}


def _type(hint: Any, pairs: list[Pair]) -> str:
    known = [message.DESCRIPTOR.name for shape, message in pairs if shape == hint]
    if known:
        return str(known[0])
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, Converted):
            return _type(mark.form, pairs)
    origin, arguments = get_origin(hint), [part for part in get_args(hint) if part is not NoneType]
    if origin in (UnionType, Union, Annotated):
        # Of several the first: a shot's y may be a letter (SALVO-GAME-3); the schema has the number, which is what
        # senders should send.
        return _type(arguments[0], pairs)
    if origin is tuple:
        return f"list[{_type(arguments[0], pairs)}]"
    if origin is dict:
        return f"dict[{', '.join(_type(part, pairs) for part in arguments)}]"
    return "str" if issubclass(hint, Enum) else str(hint.__name__)
