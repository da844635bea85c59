"""The lines that a program reads and writes on its standard streams (SALVO-EXEC).

A line is a JSON object. Names are those of the protocol specification: rules, results, statistics and
placed ships have the fields of ``/game/rules``, ``/game/result``, ``/game/stats`` and a placement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal, TypeAlias

from salvo import messages as m
from salvo.codec.commands import read_ship
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Book
from salvo.codec.strict_json import parse_json
from salvo.errors import WireError
from salvo.rules import Fleet, Placement, RuleBook
from salvo.view import Shot
from salvo.wire.chat_text import MAX_TEXT_LENGTH
from salvo.wire.json_shape import UNLESS_EMPTY, Bounds, Composed, Count, Fields, Inline, Keyed, Strict, Via

#: The version of the protocol (SALVO-EXEC-2).
PROTOCOL: Final = 1
#: A program that starts in mid-game gets the whole game so far in one line.
MAX_QUESTION_BYTES: Final = 16 * 1024 * 1024
_MAX_QUESTION_DEPTH: Final = 6
#: Chat lines in one answer: as many as a server accepts at once (SALVO-CHAT-4).
MAX_LINES: Final = 5

_Number = Annotated[int, Bounds(ge=1)]
_Shots = tuple[Annotated[Shot, Fields(Shot)], ...]


@dataclass(frozen=True, slots=True)
class ResultTold(Composed):
    """A result; that of the program's own salvo also has its shots."""

    result: Annotated[m.SalvoResolved, Inline(Fields(m.SalvoResolved))]
    fired: _Shots | None = None


@dataclass(frozen=True, slots=True)
class HeardBody(Strict):
    """A chat line; ``from`` is empty for the server's own."""

    sender: str = field(metadata={"alias": "from"})
    text: str
    private: bool


@dataclass(frozen=True, slots=True)
class GameTold(Strict):
    """The first line of every game, and of a process that is started in mid-game."""

    type: Literal["game"]
    protocol: Literal[1]
    game: _Number
    me: str
    seed: Count
    seed_text: str
    rules: Book


@dataclass(frozen=True, slots=True)
class FleetAsked(Strict):
    """Where are your ships?"""

    type: Literal["fleet"]
    id: _Number
    game: _Number
    milliseconds: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAsked(Strict):
    """What do you shoot at?"""

    type: Literal["turn"] = field(kw_only=False)
    id: _Number = field(kw_only=False)
    game: _Number = field(kw_only=False)
    milliseconds: Count | None = None
    turn: _Number
    shots: _Number
    players: tuple[str, ...]
    opponents: tuple[str, ...]
    fleet: tuple[Annotated[Placement, Via(m.ShipPlace)], ...]
    fired: _Shots
    boards: dict[str, str]
    afloat: dict[str, list[str]] | None = None
    results: tuple[ResultTold, ...]
    landed: tuple[Annotated[tuple[int, int], Keyed(x=_Number, y=_Number)], ...]
    heard: tuple[HeardBody, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTold(Strict):
    """How the game ended.

    Attributes:
        winner: all of them after a tie; left out if the host has aborted the game (SALVO-HOST-5).
    """

    type: Literal["end"] = field(kw_only=False)
    game: _Number
    winner: str | list[str] | None = None
    stats: dict[str, Annotated[Any, Fields(m.PlayerStats, "player")]]
    results: tuple[ResultTold, ...]
    heard: tuple[HeardBody, ...]


@dataclass(frozen=True, slots=True)
class LineSaid(Strict):
    """A chat line to everybody, or to one player."""

    text: Annotated[str, Bounds(max_length=MAX_TEXT_LENGTH)]
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Strict):
    """A program's answer: one of fleet, shots and skip, and optionally that it stays for further games."""

    id: _Number
    fleet: tuple[m.ShipPlace, ...] | None = None
    shots: _Shots | None = None
    skip: Literal[True] | None = None
    say: Annotated[tuple[LineSaid, ...], Bounds(max_length=MAX_LINES)] = field(default=(), metadata=UNLESS_EMPTY)
    stays: Literal[True] | None = None


LineForProgram: TypeAlias = GameTold | FleetAsked | TurnAsked | EndTold


def _codec(shape: Any) -> Codec[Any]:
    return Codec(shape, largest=MAX_QUESTION_BYTES, deepest=_MAX_QUESTION_DEPTH)


FOR_PROGRAM: Final = {
    "game": _codec(GameTold),
    "fleet": _codec(FleetAsked),
    "turn": _codec(TurnAsked),
    "end": _codec(EndTold),
}
ANSWER: Final[Codec[Answer]] = _codec(Answer)


def write_for_program(line: LineForProgram) -> bytes:
    """Return a line for a program."""
    return FOR_PROGRAM[line.type].write(line) + b"\n"


def write_answer(answer: Answer) -> bytes:
    """Return an answer's line."""
    return ANSWER.write(answer) + b"\n"


def read_from_lab(line: bytes) -> LineForProgram:
    """Read a line for a program.

    Raises:
        WireError: it is not a line of this protocol.
    """
    value = parse_json(line, MAX_QUESTION_BYTES, _MAX_QUESTION_DEPTH)
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in FOR_PROGRAM:
        raise WireError("wrong_shape", f"type: it is one of {', '.join(FOR_PROGRAM)}")
    return FOR_PROGRAM[kind].validate(line)  # type: ignore[no-any-return]


def read_answer(line: bytes, largest: int) -> Answer:
    """Read a program's answer of at most ``largest`` bytes.

    Raises:
        WireError: ``too_large``, ``not_utf8``, ``not_json``, ``duplicate_key``, ``not_integer``, ``too_deep`` or
            ``wrong_shape``.
    """
    parse_json(line, largest)
    answer = ANSWER.validate(line)
    given = [name for name in ("fleet", "shots", "skip") if getattr(answer, name) is not None]
    if len(given) != 1:
        raise WireError(
            "wrong_shape", f"it has {' and '.join(given) or 'none'} of fleet, shots and skip; give exactly one"
        )
    return answer


def answered_fleet(book: RuleBook, ships: Iterable[m.ShipPlace]) -> Fleet:
    """Return the fleet of an answer.

    Raises:
        SalvoError: a ship's place is unreadable, or the fleet is illegal.
    """
    return Fleet(book, [replace(ship, ship=read_ship(ship.ship, book)).value() for ship in ships])
