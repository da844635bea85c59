"""The one reader and the one writer of JSON: both follow from a message's class (:mod:`salvo.shape`).

:func:`~salvo.codec.strict_json.parse_json` refuses what pydantic would let through, above all a key that stands twice;
pydantic's own parser then makes the value. What is written is ASCII: games on record and signed logs are compared by
their bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, TypeVar

from salvo.codec.strict_json import MAX_JSON_DEPTH, MAX_PAYLOAD_BYTES, parse_json
from salvo.errors import WireError
from salvo.shape import Fields, Strict, members_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_T = TypeVar("_T")
_UNKNOWN_FIELD: Final = frozenset({"unexpected_keyword_argument", "extra_forbidden"})


class Codec(Generic[_T]):
    """Reads and writes one kind of message. What pydantic needs for it is made when it is first used."""

    def __init__(
        self,
        shape: Any,
        *given: str,
        largest: int = MAX_PAYLOAD_BYTES,
        deepest: int = MAX_JSON_DEPTH,
        own: bool = False,
    ) -> None:
        """Derive a codec.

        Args:
            shape: the message's class, or an annotation.
            given: its first fields, when they are not in the JSON because the topic tells them.
            largest: bytes that are read at most.
            deepest: levels that are read at most.
            own: whether nearly all that comes was written by :meth:`write`; it is read in half the time then.
        """
        self._shape = shape
        self._given = given
        self._annotation: Any = Annotated[Any, Fields(shape, *given)] if given else shape
        self._largest = largest
        self._deepest = deepest
        self._own = own

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """What pydantic makes of the class."""
        from pydantic import ConfigDict, TypeAdapter

        annotated = getattr(self._annotation, "__origin__", self._annotation)
        if isinstance(annotated, type) and issubclass(annotated, Strict):
            return TypeAdapter(self._annotation)  # has a configuration of its own
        return TypeAdapter(self._annotation, config=ConfigDict(strict=True, extra="forbid"))

    @cached_property
    def _validate(self) -> Callable[[bytes], Any]:
        return self.adapter.validator.validate_json

    @cached_property
    def _write(self) -> Callable[[_T], bytes]:
        return partial(self.adapter.serializer.to_json, by_alias=True, exclude_none=True, ensure_ascii=True)

    def read(self, payload: bytes, *given: str) -> _T:
        """Read a message.

        Args:
            given: what the topic tells.

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
        """Read the text that :meth:`write` gives; no other one is that message.

        Raises:
            WireError: see :meth:`read`; also ``wrong_shape`` where nothing but the text is wrong.
        """
        value = self._exact(text, ())
        if value is None:
            parse_json(text, self._largest, self._deepest)
            self.validate(text)
            raise WireError("wrong_shape", "not the one text of this message: order of keys, white space, numbers")
        return value

    def validate(self, payload: bytes, *given: str) -> _T:
        """Read a message that :func:`~salvo.codec.strict_json.parse_json` has let through.

        Raises:
            WireError: see :meth:`read`.
        """
        try:
            return self._make(payload, given)
        except ValueError as error:
            raise self._refusal(error) from None

    def _exact(self, text: bytes, given: tuple[str, ...]) -> _T | None:
        """Return the message that has this one text: nothing stands twice in it, so nobody needs to look for that."""
        if len(text) > self._largest:
            return None
        try:
            value = self._make(text, given)
        except (ValueError, WireError):
            return None
        return value if self.write(value) == text else None

    def _make(self, payload: bytes, given: tuple[str, ...]) -> _T:
        read = self._validate(payload)
        return self._shape(*given, **read) if given else read  # type: ignore[no-any-return]

    def write(self, value: _T) -> bytes:
        """Return a message's one text: without white space, and without what is absent."""
        text = self._write(value)
        return text.replace(b"\x7f", rb"\u007f") if b"\x7f" in text else text

    def value(self, value: _T) -> Any:
        """Return a message as a JSON value."""
        return self.adapter.serializer.to_python(value, mode="json", by_alias=True, exclude_none=True)

    def _refusal(self, error: Any) -> WireError:
        """Return the first thing that is wrong, with where it is, and what there may be."""
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
