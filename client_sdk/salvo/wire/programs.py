"""What a program on its standard streams is told, and what it answers (SALVO-EXEC).

A line is a JSON object. Where the contract has words for something, they are the same here: rules, results, figures
and ships on their places have the fields of ``/game/rules``, ``/game/result``, ``/game/stats`` and a placement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from salvo.chat import LONGEST_TEXT
from salvo.errors import WireError
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot
from salvo.wire.announcements import BookBody, ResultBody, ShipPlace, StatsBody, encode_json, read_fleet
from salvo.wire.commands import read_ship
from salvo.wire.strict_json import Strict, parse_json, validate

#: The version of the protocol (SALVO-EXEC-2).
PROTOCOL: Final = 1
#: A program that came late is told a whole game in one line.
LARGEST_QUESTION_BYTES: Final = 16 * 1024 * 1024
_DEEPEST_QUESTION: Final = 6
#: Lines that an answer may say: as many as a server takes at once (SALVO-CHAT-4).
MOST_LINES: Final = 5

_Count = Annotated[int, Field(ge=0)]
_Number = Annotated[int, Field(ge=1)]


class ShotBody(Strict):
    """A shot at a player's board."""

    player: str
    x: int
    y: int


class CellBody(Strict):
    """A cell of the own board."""

    x: _Number
    y: _Number


class ResultTold(ResultBody):
    """A result; an own one has the shots that were fired."""

    fired: list[ShotBody] | None = None


class HeardBody(Strict):
    """What somebody said; ``from`` is empty when it was the server."""

    sender: Annotated[str, Field(alias="from")]
    text: str
    private: bool


class GameTold(Strict):
    """The first line of every game, and of a process that is started in the middle of one."""

    type: Literal["game"]
    protocol: Literal[1]
    game: _Number
    me: str
    seed: _Count
    seed_text: str
    rules: BookBody


class FleetAsked(Strict):
    """Where are your ships?"""

    type: Literal["fleet"]
    id: _Number
    game: _Number
    milliseconds: _Count | None = None


class TurnAsked(Strict):
    """Whom do you shoot at?"""

    type: Literal["turn"]
    id: _Number
    game: _Number
    turn: _Number
    shots: _Number
    milliseconds: _Count | None = None
    players: list[str]
    opponents: list[str]
    fleet: list[ShipPlace]
    fired: list[ShotBody]
    boards: dict[str, str]
    afloat: dict[str, list[str]] | None = None
    results: list[ResultTold]
    landed: list[CellBody]
    heard: list[HeardBody]


class EndTold(Strict):
    """How the game ended."""

    type: Literal["end"]
    game: _Number
    winner: str | list[str]
    stats: dict[str, StatsBody]
    results: list[ResultTold]
    heard: list[HeardBody]


class LineSaid(Strict):
    """A line to everybody, or to one."""

    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    to: str = ""


class Answer(Strict):
    """What a program answers: one of fleet, shots and skip, and maybe that it stays for further games."""

    id: _Number
    fleet: list[ShipPlace] | None = None
    shots: list[ShotBody] | None = None
    skip: Literal[True] | None = None
    stays: Literal[True] | None = None
    say: Annotated[list[LineSaid], Field(default_factory=list, max_length=MOST_LINES)]


Told = Annotated[GameTold | FleetAsked | TurnAsked | EndTold, Field(discriminator="type")]
_TOLD: Final[TypeAdapter[GameTold | FleetAsked | TurnAsked | EndTold]] = TypeAdapter(Told)


def write_line(body: dict[str, Any]) -> bytes:
    """Return a line for a program, or an answer of one; fields that are None are left out."""
    return encode_json({key: value for key, value in body.items() if value is not None}) + b"\n"


def read_told(line: bytes) -> GameTold | FleetAsked | TurnAsked | EndTold:
    """Read what a program is told.

    Raises:
        WireError: it is no line of this protocol.
    """
    value = parse_json(line, LARGEST_QUESTION_BYTES, _DEEPEST_QUESTION)
    try:
        return _TOLD.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ascii(".".join(map(str, first["loc"])))[1:61]
        raise WireError("wrong_shape", f"{where}: {first['msg'].lower()}") from None


def read_answer(line: bytes, largest: int) -> Answer:
    """Read a program's answer of at most ``largest`` bytes.

    Raises:
        WireError: ``too_large``, ``not_utf8``, ``not_json``, ``duplicate_key``, ``not_integer``, ``too_deep`` or
            ``wrong_shape``.
    """
    answer = validate(Answer, parse_json(line, largest))
    given = [name for name in ("fleet", "shots", "skip") if getattr(answer, name) is not None]
    if len(given) != 1:
        raise WireError("wrong_shape", f"it has {' and '.join(given) or 'none'} of fleet, shots and skip; it has one")
    return answer


def answered_fleet(book: RuleBook, ships: Iterable[ShipPlace]) -> Fleet:
    """Return a fleet out of an answer.

    Raises:
        SalvoError: a place cannot be read, or the fleet is not legal.
    """
    placed = [ship.model_copy(update={"ship": read_ship(ship.ship, book)}) for ship in ships]
    return Fleet(book, read_fleet(placed))


def shot_bodies(shots: Sequence[Shot]) -> list[dict[str, Any]]:
    """Return shots as JSON has them."""
    return [{"player": shot.player, "x": shot.x, "y": shot.y} for shot in shots]
