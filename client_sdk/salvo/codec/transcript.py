"""Games as JSON lines: a header, one line for each step of the referee, an end (SALVO-FILE).

A step is an input with its time and the referee's answers. Header and inputs determine everything else; the answers are
there for readers in other languages and for comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.steps import INPUTS, PublicLine, line_codec, public_announcements
from salvo.wire.json_shape import Composed, Count, Inline, OneOf, Strict

_END_BEGINS: Final = re.compile(r'\s*{\s*"end"')


@dataclass(frozen=True, slots=True)
class StepLine(Composed):
    """A line between the first and the last: one input and the referee's answers.

    Attributes:
        number: of the step, from 1.
        check: the checksum of the game so far, shortened.
    """

    number: int = field(metadata={"alias": "n"})
    at: int
    command: Annotated[m.Input, Inline(OneOf(INPUTS))]
    public_announcements: tuple[PublicLine, ...] = field(metadata={"alias": "says"})
    check: str


@dataclass(frozen=True, slots=True)
class EndOfGame(Strict):
    """The game's length and its checksum."""

    steps: Count
    check: str


#: A transcript's last line.
END: Final = OneOf({"end": EndOfGame})


STEP_LINE: Final[Codec[StepLine]] = line_codec(StepLine)
END_LINE: Final[Codec[EndOfGame]] = line_codec(Annotated[EndOfGame, END])


def write_step(number: int, at: int, command: m.Input, announcements: Iterable[m.Announcement], check: str) -> str:
    """Return a step's line."""
    return STEP_LINE.write(StepLine(number, at, command, public_announcements(announcements), check)).decode()


def write_end(steps: int, check: str) -> str:
    """Return a transcript's last line."""
    return END_LINE.write(EndOfGame(steps, check)).decode()


def read_line(line: str) -> StepLine | EndOfGame:
    """Read any line but the first.

    Raises:
        WireError: the codes of strict JSON.
    """
    codec: Codec[Any] = END_LINE if _END_BEGINS.match(line) else STEP_LINE
    return codec.read(line.encode())  # type: ignore[no-any-return]
