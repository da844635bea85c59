"""What is recorded of a series: the first line has its settings, and each further one what was decided or came of it.

A tournament has the versions of its bots, and games. A league also has what was decided at the tables of a contest.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import TypeAdapter


class SeriesKind(StrEnum):
    """How a series is played."""

    TOURNAMENT = "tournament"  # in processes of this machine
    LEAGUE = "league"  # at the tables of a contest

    @property
    def suffix(self) -> str:
        """How the name of a record ends, beside the TOML file."""
        return ".games.jsonl" if self is SeriesKind.TOURNAMENT else ".league.jsonl"

    @property
    def noun(self) -> str:
        """What takes part."""
        return "bot" if self is SeriesKind.TOURNAMENT else "team"


@dataclass(frozen=True, slots=True)
class Head:
    """The first line.

    Attributes:
        settings: of the file, as far as they are needed to go on and to show what came of it.
        seed: decides all that is drawn: who knows it knows who will meet, and the fleets of a tournament.
    """

    form: Literal[3]
    kind: SeriesKind
    settings: dict[str, Any]
    seed: str


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """What came of a game; all tuples are by seat.

    Attributes:
        result: the number of its match.
        teams: names of bots or teams.
        places: 1 for the winner.
        turns: salvos of all together.
    """

    result: int
    teams: tuple[str, ...]
    places: tuple[int, ...]
    shots: tuple[int, ...]
    hits: tuple[int, ...]
    turns: int

    def __post_init__(self) -> None:
        """Refuse what was not written so: all that is by seat has an entry for each of two teams or more."""
        by_seat = [value for each in fields(self) if isinstance(value := getattr(self, each.name), tuple)]
        if len(self.teams) < 2 or len(set(self.teams)) < len(self.teams) or len({*map(len, by_seat)}) > 1:
            raise ValueError("not a result of a game")

    @property
    def order(self) -> tuple[int, int]:
        """Where it stands among all games of the series, whenever it was played."""
        return self.result, 0

    @property
    def there(self) -> list[int]:
        """The seats of those who came."""
        return list(range(len(self.teams)))

    @property
    def was_fought(self) -> bool:
        """Whether nothing but the salvos decided it."""
        return True


# --- tournaments ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entered:
    """A bot takes part in this version, from here on.

    Attributes:
        entered: the bot's name in the tournament.
        version: of its source and code; the same for the same.
        source: what ``salvo play`` takes, with the commit if git has it.
        code: digests of its files. More may follow in a further line, of files that were found while it played.
    """

    entered: str
    version: str
    source: str
    code: dict[str, str]


@dataclass(frozen=True, slots=True)
class TournamentGame(SeriesResult):
    """A game that was played in processes of this machine.

    Attributes:
        index: its place in the match, from 0.
        players: names at the table.
        seed, game: what ``salvo play`` takes.
        strikes: what went wrong, each in a line.
        forfeited: whether one was out before the end.
        seconds: of thinking; ``longest`` of a single decision; ``decisions`` how many.
        versions: of the bots (:class:`Entered`); empty texts until it is recorded.
        code: digests of files of bots that were loaded since the game before; it is not written.
    """

    index: int
    players: tuple[str, ...]
    seed: str
    game: int
    strikes: tuple[tuple[str, ...], ...]
    forfeited: tuple[bool, ...]
    seconds: tuple[float, ...]
    longest: tuple[float, ...]
    decisions: tuple[int, ...]
    versions: tuple[str, ...]
    code: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def order(self) -> tuple[int, int]:
        """Where it stands among all games of the tournament, whenever it was played."""
        return self.result, self.index

    @property
    def was_fought(self) -> bool:
        """Whether nothing went wrong."""
        return not any(self.strikes) and not any(self.forfeited)


# --- leagues ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Began:
    """The league's first round was drawn, at this time in epoch seconds."""

    began: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round, or a single game of a ladder, was drawn.

    Attributes:
        drawn: the round's number.
        first: the number of its first match.
        matches: teams by match; one alone has a bye.
    """

    drawn: int
    first: int
    matches: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """A match is to be played at a table, as the game of this number there, by those of its teams that are not away."""

    assigned: int
    table: str
    game: int
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Closing:
    """A match's table is to be closed, because fewer than two teams came; who did is ``there``.

    If its game begins after all, that counts.
    """

    closing: int
    there: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeagueResult(SeriesResult):
    """What came of a match at a table; those that did not come are last.

    Attributes:
        game: its number at the table.
        absent: who did not come.
    """

    table: str
    game: int
    absent: tuple[bool, ...]

    @property
    def there(self) -> list[int]:
        """The seats of those who came."""
        return [seat for seat, absent in enumerate(self.absent) if not absent]

    @property
    def was_fought(self) -> bool:
        """Whether all came."""
        return not any(self.absent)


@dataclass(frozen=True, slots=True)
class Voided:
    """A match's game at its table does not count; the match is played again."""

    voided: int
    why: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A team followed no seat in its match (:attr:`salvo_league.league_state.LeagueState.plain`)."""

    plain: str


@dataclass(frozen=True, slots=True)
class Back:
    """A team that was absent twice is back."""

    back: str


@dataclass(frozen=True, slots=True)
class Annulled:
    """A host has annulled a match's game: it no longer counts, and is not played again (SALVO-STAND-4)."""

    annulled: int
    by: str


@dataclass(frozen=True, slots=True)
class FixtureEnded:
    """The league is over, and its servers publish that, since this time in epoch seconds."""

    ended: int


@dataclass(frozen=True, slots=True)
class Badged:
    """The server has given teams these badges, as numbers by name (SALVO-EVENING-1)."""

    badged: dict[str, int]


LeagueLine = (
    Began | Drawn | Assigned | Closing | LeagueResult | Voided | Plain | Back | Annulled | Badged | FixtureEnded
)
SeriesLine = Entered | TournamentGame | LeagueLine

_HEAD: Final = TypeAdapter(Head)
_LINES: Final[Mapping[SeriesKind, TypeAdapter[Any]]] = {
    SeriesKind.TOURNAMENT: TypeAdapter(Entered | TournamentGame),
    SeriesKind.LEAGUE: TypeAdapter(LeagueLine),
}
_FIRST_FORM: Final = TypeAdapter(dict[str, Any])


def read_head(text: bytes) -> Head:
    """Read the first line; that of a league by version 1.0, too.

    Raises:
        ValidationError: it is none.
    """
    values = _FIRST_FORM.validate_json(text)
    if values.get("form") == 1 and "league" in values:
        values = {"form": 3, "kind": "league", "settings": values["league"], "seed": values.get("seed")}
    return _HEAD.validate_python(values, extra="forbid")


def write_head(head: Head) -> dict[str, Any]:
    """Return the first line as JSON has it."""
    return asdict(head)


def read_line(kind: SeriesKind, text: bytes) -> SeriesLine:
    """Read a further line.

    Raises:
        ValidationError: it is none.
    """
    line: SeriesLine = _LINES[kind].validate_json(text, strict=False, extra="forbid")
    return line


def write_line(line: SeriesLine) -> dict[str, Any]:
    """Return a line as JSON has it."""
    values = asdict(line)
    if isinstance(line, TournamentGame):
        del values["code"]
    return values


def once(line: SeriesLine) -> Hashable:
    """Return what there is only one line of; None if there may be several."""
    match line:
        case Drawn(number) | LeagueResult(number):
            return type(line), number
        case TournamentGame():
            return line.result, line.index, line.teams, line.versions
    return None
