"""Derive the JSON of a message from its class (SALVO-WIRE): strictness, bounds, other names, what is left out.

A message is a dataclass. What its annotations alone cannot express is added by the markers here, in ``Annotated``, and
by a field's metadata in pydantic's terms: ``alias``, ``exclude``, ``exclude_if``. :class:`salvo.codec.json_codec.Codec`
derives the reader and the writer from them. No codec lives here, and pydantic is not imported before the first codec is
used: a bot in the arena only needs the messages.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cached_property
from itertools import chain
from operator import not_
from typing import Annotated, Any, ClassVar, Final, NamedTuple, get_args, get_origin, get_type_hints

#: Metadata of a field that is left out when it is empty.
UNLESS_EMPTY: Final = {"exclude_if": not_}
#: Metadata of a field of a :class:`Composed` class that exists only in Python.
UNWRITTEN: Final = {"exclude": True}

_HEXADECIMAL: Final = frozenset("0123456789abcdef")
#: Metadata of a field of a :class:`Composed` class whose default applies only in Python.
REQUIRED: Final = {"required": True}


def unless(value: object) -> dict[str, Callable[[Any], bool]]:
    """Return the metadata of a field that is left out when it has this value."""
    return {"exclude_if": value.__eq__}


class Strict:
    """A dataclass whose JSON is read strictly: no conversions, no unknown fields."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, object]] = {"strict": True, "extra": "forbid"}


class Bounds:
    """Bounds of a number, a text or a list, in pydantic's terms: ``ge``, ``le``, ``max_length``, ``pattern``."""

    def __init__(self, **bounds: object) -> None:
        self._bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), **self._bounds}


Count = Annotated[int, Bounds(ge=0)]


class Converted(ABC):
    """A value that has another form in JSON.

    Attributes:
        form: that form's annotation.
    """

    form: Any

    @abstractmethod
    def of(self, value: Any) -> Any:
        """Return the form of a value."""

    @abstractmethod
    def value(self, form: Any) -> Any:
        """Return the value.

        Raises:
            ValueError: the form stands for no value.
        """

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return _converted(handler.generate_schema(self.form), self.value, self.of)


def _converted(schema: Any, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> Any:
    """Return a schema that reads ``schema``'s values through ``read``, and writes them through ``write``."""
    from pydantic_core import core_schema

    written = core_schema.plain_serializer_function_ser_schema(write, return_schema=schema)
    return core_schema.no_info_after_validator_function(read, schema, serialization=written)


class Hexadecimal(Converted):
    """A fixed number of bytes, in lower-case hexadecimal."""

    form = str

    def __init__(self, count: int) -> None:
        self._count = count

    def of(self, value: bytes) -> str:
        return value.hex()

    def value(self, form: str) -> bytes:
        if not is_hexadecimal(form, self._count):
            raise ValueError(f"it is {self._count} bytes in hexadecimal, small letters")
        return bytes.fromhex(form)


def is_hexadecimal(text: str, count: int) -> bool:
    """Whether a text is this many bytes in lower-case hexadecimal."""
    return len(text) == 2 * count and set(text) <= _HEXADECIMAL


class Base64(Converted):
    """A fixed number of bytes, as canonical base64 with padding."""

    form = str

    def __init__(self, count: int) -> None:
        self._count = count

    def of(self, value: bytes) -> str:
        return base64.b64encode(value).decode()

    def value(self, form: str) -> bytes:
        try:
            decoded = base64.b64decode(form, validate=True)
        except ValueError:
            decoded = b""
        if len(decoded) != self._count or self.of(decoded) != form:
            raise ValueError(f"it is {self._count} bytes in canonical base64")
        return decoded


class Flat(Converted):
    """Groups of a fixed size, as one flat list of numbers."""

    form = tuple[Annotated[int, Bounds(ge=0, le=10**9)], ...]

    def __init__(self, size: int) -> None:
        self._size = size

    def of(self, value: Iterable[Iterable[int]]) -> tuple[int, ...]:
        return tuple(chain.from_iterable(value))

    def value(self, form: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        if len(form) % self._size:
            raise ValueError(f"{len(form)} numbers do not make groups of {self._size}")
        return tuple(zip(*[iter(form)] * self._size, strict=True))


class Via(Converted):
    """A value that has the JSON of another class, which converts by ``of(value)`` and ``value()``."""

    def __init__(self, form: Any) -> None:
        self.form = form

    def of(self, value: Any) -> Any:
        return self.form.of(value)

    def value(self, form: Any) -> Any:
        return form.value()


# --- objects that pydantic does not derive from a class -------------------------------------------------------------


class ShapeMember(NamedTuple):
    """A field as it is in JSON.

    Attributes:
        name: in Python.
        key: in JSON.
        required: whether it has no default.
        exclude_if: whether a value is left out; None always is.
    """

    name: str
    key: str
    hint: Any
    required: bool
    exclude_if: Callable[[Any], bool] | None = None


class Parts(ABC):
    """A value as an object of several members. Marks that object; inside :class:`Inline`, only its members.

    Attributes:
        cls: its name and docstring go into a JSON Schema; None for no class.
    """

    cls: Any = None

    @abstractmethod
    def members(self) -> list[ShapeMember]:
        """Return the members in JSON, in order."""

    @abstractmethod
    def build(self, read: dict[str, Any]) -> Any:
        """Return the value with these members, by name and in order; absent ones are left out."""

    @abstractmethod
    def take(self, value: Any) -> dict[str, Any]:
        """Return the members of a value by name, in order."""

    @cached_property
    def names(self) -> list[str]:
        """The members' names, in order."""
        return [member.name for member in self.members()]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        members = {
            member.name: core_schema.typed_dict_field(
                handler.generate_schema(member.hint),
                required=member.required,
                validation_alias=member.key,
                serialization_alias=member.key,
                serialization_exclude_if=member.exclude_if,
            )
            for member in self.members()
        }
        config = core_schema.CoreConfig(strict=True)
        form = core_schema.typed_dict_schema(members, cls=self.cls, extra_behavior="forbid", config=config)
        return _converted(form, self.build, self.take)


class OneOf(Parts):
    """One of several classes, told apart by its key: ``{"fire":{...}}``."""

    def __init__(self, kinds: Mapping[str, Any]) -> None:
        """Take the classes by key; each may have markers."""
        self.kinds = kinds
        self._key_of = {get_args(of)[0] if get_origin(of) is Annotated else of: key for key, of in kinds.items()}

    def members(self) -> list[ShapeMember]:
        return [ShapeMember(key, key, of, len(self.kinds) == 1) for key, of in self.kinds.items()]

    def build(self, read: dict[str, Any]) -> Any:
        if len(read) != 1:
            raise ValueError(f"it has {' and '.join(read) or 'none'} of {', '.join(self.kinds)}; give exactly one")
        return next(iter(read.values()))

    def take(self, value: Any) -> dict[str, Any]:
        return {self._key_of[type(value)]: value}


class Keyed(Parts):
    """A tuple as an object, with a key for each position."""

    def __init__(self, **hints: Any) -> None:
        self._hints = hints

    def members(self) -> list[ShapeMember]:
        return [ShapeMember(key, key, hint, True) for key, hint in self._hints.items()]

    def build(self, read: dict[str, Any]) -> Any:
        return tuple(read.values())

    def take(self, value: Any) -> dict[str, Any]:
        return dict(zip(self._hints, value, strict=True))


class Inline:
    """A field whose members are merged into those of its class, which is :class:`Composed`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts


class Fields(Parts):
    """The fields of a dataclass or a named tuple; where some are left out, the rest stay a dict."""

    def __init__(self, cls: Any, *without: str) -> None:
        self.cls = None if without else cls
        self._cls = cls
        self._make = getattr(cls, "read", cls)
        self._without = without

    @cached_property
    def _fields(self) -> list[tuple[ShapeMember, Parts | None]]:
        """The fields, each with the parts that are inlined for it."""
        found = [each for each in _fields_of(self._cls) if each.name not in self._without]
        marks = {each.name: getattr(each.hint, "__metadata__", ()) for each in found}
        inline = {name: mark.parts for name, each in marks.items() for mark in each if isinstance(mark, Inline)}
        return [(each, inline.get(each.name)) for each in found]

    @cached_property
    def _inline(self) -> list[tuple[str, Parts]]:
        return [(field.name, parts) for field, parts in self._fields if parts is not None]

    def members(self) -> list[ShapeMember]:
        return [member for field, parts in self._fields for member in ([field] if parts is None else parts.members())]

    def build(self, read: dict[str, Any]) -> Any:
        for name, parts in self._inline:
            read[name] = parts.build({key: read.pop(key) for key in parts.names if key in read})
        return read if self._without else self._make(**read)

    def take(self, value: Any) -> dict[str, Any]:
        taken: dict[str, Any] = {}
        for field, parts in self._fields:
            if parts is None:
                taken[field.name] = getattr(value, field.name)
            else:
                taken.update(parts.take(getattr(value, field.name)))
        return taken


def _fields_of(cls: Any) -> list[ShapeMember]:
    hints = get_type_hints(cls, include_extras=True)
    if issubclass(cls, tuple):
        keys = {name: name.removesuffix("_if_announced") for name in cls._fields}
        return [ShapeMember(name, key, hints[name], name not in cls._field_defaults) for name, key in keys.items()]
    return [
        ShapeMember(
            field.name,
            field.metadata.get("alias", field.name),
            hints[field.name],
            (field.default is MISSING and field.default_factory is MISSING) or "required" in field.metadata,
            field.metadata.get("exclude_if"),
        )
        for field in fields(cls)
        if "exclude" not in field.metadata
    ]


def members_of(shape: Any) -> list[ShapeMember]:
    """Return the members of a class or an annotation in JSON, in order; none unless that is an object."""
    for mark in getattr(shape, "__metadata__", ()):
        if isinstance(mark, Parts):
            return mark.members()
        if isinstance(mark, Via):
            return members_of(mark.form)
    return Fields(shape).members() if isinstance(shape, type) and issubclass(shape, (Strict, tuple)) else []


def named_schema(cls: Any, handler: Any) -> Any:
    """Return a class's schema, by its fields; a JSON Schema defines it once, under the class's name."""
    schema = Fields(cls).__get_pydantic_core_schema__(cls, handler)
    return schema | {"ref": f"{cls.__module__}.{cls.__qualname__}:{id(cls)}"}


class Composed(Strict):
    """A :class:`Strict` dataclass whose fields need :class:`Inline` or metadata."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return named_schema(cls, handler)
