"""A game's header: everything that it starts from, the first line of its transcript and its record in a journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules
from salvo.codec.steps import MAX_LINE_BYTES, MAX_LINE_DEPTH, line_codec
from salvo.codec.strict_json import parse_json, same_value
from salvo.errors import WireError
from salvo.wire.json_shape import REQUIRED, Bounds, Composed, Count, Fields, Inline, Strict, is_hexadecimal

#: The version of the format; readers accept this one and every earlier one (SALVO-FILE-2).
TRANSCRIPT_VERSION: Final = 1
#: Bytes of the seed of a fair draw.
_SEED_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Header(Strict):
    """Everything that a game starts from.

    Attributes:
        version: of the server that wrote it.
        game: its running number at the table.
        seed: the source of the draws; with a fair draw, 32 bytes in hexadecimal, for this game alone.
        draw: where the draws come from.
    """

    version: str
    game: Count
    seed: str
    rules: Rules
    limits: m.Limits
    draw: m.Draw


@dataclass(frozen=True, slots=True)
class FirstLine(Composed):
    """A transcript's first line.

    Attributes:
        check: detects changes to the line; absent in a journal.
    """

    transcript: Annotated[int, Bounds(ge=1)] = field(default=TRANSCRIPT_VERSION, kw_only=True, metadata=REQUIRED)
    header: Annotated[Header, Inline(Fields(Header))]
    check: str | None = None


FIRST_LINE: Final[Codec[FirstLine]] = line_codec(FirstLine)


def write_header(header: Header, check: str | None = None) -> str:
    """Return a game's header as a journal keeps it; with its check, as a transcript does."""
    return FIRST_LINE.write(FirstLine(header, check)).decode()


def read_header(line: str) -> Header:
    """Read a game's header.

    Raises:
        WireError: ``unknown_version`` for a later format than this reader's, else the codes of strict JSON.
    """
    return read_first_line(line).header


def read_first_line(line: str) -> FirstLine:
    """Read a transcript's first line.

    Raises:
        WireError: see :func:`read_header`.
    """
    value = parse_json(line.encode(), MAX_LINE_BYTES, MAX_LINE_DEPTH)
    form = value.get("transcript") if isinstance(value, dict) else None
    if type(form) is int and form > TRANSCRIPT_VERSION:
        number, writer = str(form)[:40], str(value.get("version"))[:40]
        by = f"a transcript of form {number}, written by Salvo {writer}"
        raise WireError("unknown_version", f"{by}; this one reads the forms 1..{TRANSCRIPT_VERSION}")
    first = FIRST_LINE.validate(line.encode())
    if not same_value(value, FIRST_LINE.value(first)):
        raise WireError("wrong_shape", "the header has a value that it cannot have, such as cells counted from 0")
    if first.header.draw is m.Draw.FAIR and not is_hexadecimal(first.header.seed, _SEED_BYTES):
        raise WireError("wrong_shape", f"with draw fair, the seed is {_SEED_BYTES} bytes in hexadecimal")
    return first
