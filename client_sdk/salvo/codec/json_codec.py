"""The one reader and the one writer of JSON: both follow from a message's class (:mod:`salvo.wire.json_shape`).

:func:`~salvo.codec.strict_json.parse_json` refuses what pydantic would accept, above all duplicate keys; pydantic's own
parser then builds the value. Output is ASCII: recorded games and signed logs are compared byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

from salvo.codec.strict_json import MAX_JSON_DEPTH, MAX_PAYLOAD_BYTES, parse_json
from salvo.errors import WireError
from salvo.wire.json_shape import Fields, Strict, members_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_T = TypeVar("_T")
_INTERRUPTED: Final = re.compile(r"\bKeyboardInterrupt: (\d*)")
_UNKNOWN_FIELD: Final = frozenset({"unexpected_keyword_argument", "extra_forbidden"})


class Codec(Generic[_T]):
    """Reads and writes one kind of message. Pydantic's schema for it is built on first use."""

    def __init__(
        self,
        shape: Any,
        *given: str,
        largest: int = MAX_PAYLOAD_BYTES,
        deepest: int = MAX_JSON_DEPTH,
        own: bool = False,
        grows: bool = False,
    ) -> None:
        """Derive a codec.

        Args:
            shape: the message's class, or an annotation.
            given: its first fields, if the topic has them instead of the JSON.
            largest: the most bytes that are read.
            deepest: the most levels that are read.
            own: whether nearly all input was written by :meth:`write`; such input is then read in half the time.
            grows: whether unknown fields are ignored, because a later minor version of the protocol may have more
                (SALVO-VERSION-2).
        """
        self._shape = shape
        self._given = given
        self._annotation: Any = Annotated[Any, Fields(shape, *given)] if given else shape
        self._largest = largest
        self._deepest = deepest
        self._own = own
        self._grows = grows

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """What pydantic makes of the class."""
        from pydantic import ConfigDict, TypeAdapter

        annotated = getattr(self._annotation, "__origin__", self._annotation)
        if isinstance(annotated, type) and issubclass(annotated, Strict):
            return TypeAdapter(self._annotation)  # it has its own configuration
        return TypeAdapter(self._annotation, config=ConfigDict(strict=True, extra="forbid"))

    @cached_property
    def _validate(self) -> Callable[[bytes], Any]:
        validate = self.adapter.validator.validate_json
        return partial(validate, extra="ignore") if self._grows else validate

    @cached_property
    def _write(self) -> Callable[[_T], bytes]:
        return partial(self.adapter.serializer.to_json, by_alias=True, exclude_none=True, ensure_ascii=True)

    def read(self, payload: bytes, *given: str) -> _T:
        """Read a message.

        Args:
            given: the fields that the topic has.

        Raises:
            WireError: the codes of :func:`~salvo.codec.strict_json.parse_json`, ``wrong_shape``, or what a class of the
                message raises.
        """
        if self._own:
            value = self._exact(payload.rstrip(b" "), given)
            if value is not None:
                return value
        parse_json(payload, self._largest, self._deepest)
        return self.validate(payload, *given)

    def read_exact(self, text: bytes) -> _T:
        """Read a text as :meth:`write` makes it, and no other text of the same message.

        Raises:
            WireError: see :meth:`read`; also ``wrong_shape`` if only the text differs.
        """
        value = self._exact(text, ())
        if value is None:
            parse_json(text, self._largest, self._deepest)
            self.validate(text)
            raise WireError("wrong_shape", "not the one text of this message: order of keys, white space, numbers")
        return value

    def validate(self, payload: bytes, *given: str) -> _T:
        """Read a message that :func:`~salvo.codec.strict_json.parse_json` has accepted.

        Raises:
            WireError: see :meth:`read`.
        """
        try:
            read = self._validate(payload)
        except ValueError as error:
            raise self._refusal(error) from None
        return self._shape(*given, **read) if given else read  # type: ignore[no-any-return]

    def _exact(self, text: bytes, given: tuple[str, ...]) -> _T | None:
        """Return the message if this is its one text, which cannot have duplicate keys; else None."""
        if len(text) > self._largest:
            return None
        try:
            value = self.validate(text, *given)
        except WireError:
            return None
        return value if self.write(value) == text else None

    def write(self, value: _T) -> bytes:
        """Return a message's one text: without white space and absent fields."""
        try:
            text = self._write(value)
        except ValueError as error:
            _raise_interruption(error)
            raise
        return text.replace(b"\x7f", rb"\u007f") if b"\x7f" in text else text

    def value(self, value: _T) -> Any:
        """Return a message as a JSON value."""
        try:
            return self.adapter.serializer.to_python(value, mode="json", by_alias=True, exclude_none=True)
        except ValueError as error:
            _raise_interruption(error)
            raise

    def _refusal(self, error: Any) -> WireError:
        """Return the first error, with its place and the fields that are allowed."""
        first = error.errors(include_url=False, include_input=False)[0]
        where = ascii(".".join(map(str, first["loc"])))[1:-1][:60] or "the message"
        if first["type"] == "value_error":
            text = str(first["ctx"]["error"])
        elif first["type"] in _UNKNOWN_FIELD:
            text = "extra inputs are not permitted"
        else:
            text = first["msg"][0].lower() + first["msg"][1:]
        fields = ", ".join(member.key for member in members_of(self._annotation))
        return WireError("wrong_shape", f"{where}: {text}" + (f"; fields are {fields}" if fields else ""))


def _raise_interruption(error: ValueError) -> None:
    """Raise the interruption by a signal that pydantic has made an error of its own while it wrote."""
    if interrupted := _INTERRUPTED.search(str(error)):
        number = interrupted[1]
        raise KeyboardInterrupt(*([int(number)] if number else [])) from None
