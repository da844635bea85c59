"""Standings over the games of an evening, and of a journal; what is on in an evening, and how its league stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from salvo.wire.json_shape import UNLESS_EMPTY, Count, Strict


@dataclass(frozen=True, slots=True)
class Standing(Strict):
    """A team's line in the standings (SALVO-STAND-2, SALVO-STAND-3); no number on the wire has a point.

    Attributes:
        points, opposition: thousandths of a point.
        rating, low, high: of skill, and the ends of its 95 % interval; thousandths.
    """

    place: Count
    team: str
    points: Count
    games: Count
    wins: Count
    ties: Count
    losses: Count
    opposition: Count
    shots: Count
    hits: Count
    rating: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Uncounted(Strict):
    """A game that the standings do not count (SALVO-STAND-4).

    Attributes:
        at: when it ended, epoch ms.
        by: the host that annulled it; empty for a game without a winner.
    """

    table: str
    game: Count
    at: Count
    by: str = field(default="", metadata=UNLESS_EMPTY)


@dataclass(frozen=True, slots=True)
class StandingsTable(Strict):
    """The standings after some games.

    Attributes:
        since, until: when the first and the last of them ended, epoch ms.
        games: how many count.
        teams: how many have a line, of which ``rows`` has the best.
        uncounted: the latest games that do not count.
    """

    since: Count
    until: Count
    games: Count
    teams: Count
    rows: tuple[Standing, ...]
    uncounted: tuple[Uncounted, ...] = ()


@dataclass(frozen=True, slots=True)
class StandingsShown(Strict):
    """The standings of the latest evening, and over all games of the journal (SALVO-STAND-5)."""

    evening: StandingsTable
    overall: StandingsTable


@dataclass(frozen=True, slots=True)
class LeagueMatch(Strict):
    """A match of a league's round, or the bye of a team that is alone in it.

    Attributes:
        table: where it is played now, ``""`` for the default table; None before and after.
        places: of the teams, in their order, once it has been played.
    """

    teams: tuple[str, ...]
    table: str | None = None
    places: tuple[Count, ...] = field(default=(), metadata=UNLESS_EMPTY)

    def __post_init__(self) -> None:
        """Refuse places of others than the teams."""
        if self.places and len(self.places) != len(self.teams):
            raise ValueError("a match that has been played has a place for each of its teams")


@dataclass(frozen=True, slots=True)
class LeagueStanding(Strict):
    """A team's line in the table of a league, where byes and walkovers count.

    Attributes:
        points: thousandths of a point.
    """

    place: Count
    team: str
    points: Count
    games: Count
    wins: Count


@dataclass(frozen=True, slots=True)
class LeagueShown(Strict):
    """How a league stands, as its host reports it to the server (SALVO-LEAGUE-1); no part of any game.

    Attributes:
        by: the host that runs it.
        round: the present one; 0 before the first.
        rounds: how many there are; None where that is not settled.
        over: whether it has ended, and the table is final.
        teams: how many have a line, of which ``rows`` has the best.
        left: seconds for what is still to be played, if all answer at once; None where nobody knows.
        matches: of the present round, on a ladder those that are played now.
        begins: before the first round, when that begins at the latest, epoch ms; 0 while too few teams are there.
    """

    by: str = field(default="", metadata=UNLESS_EMPTY)
    name: str = field(default="", metadata=UNLESS_EMPTY)
    round: Count = 0
    rounds: Count | None = None
    over: bool = field(default=False, metadata=UNLESS_EMPTY)
    teams: Count = 0
    left: Count | None = None
    matches: tuple[LeagueMatch, ...] = ()
    rows: tuple[LeagueStanding, ...] = ()
    begins: Count = field(default=0, metadata=UNLESS_EMPTY)


class Phase(StrEnum):
    """What is on (SALVO-EVENING-1)."""

    ARRIVALS = "arrivals"
    ROUND = "round"
    BETWEEN = "between"
    BREAK = "break"
    FINAL = "final"
    FREE = "free"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class EveningShown(LeagueShown):
    """What is on, and how the league stands, if there is one (SALVO-EVENING-1); no part of any game.

    Attributes:
        phase: what is on now.
        at: since when all of this holds, epoch ms.
        resumes: what a break has interrupted; None outside of one.
        silent: whether a league that is not over has not reported for fifteen seconds.
        began: the round that the host has ordered to begin at once; 0 for none.
        last: the round after which the host ends the league; 0 for none.
        withdrawn: the teams that the host has taken out of the league.
        badges: of the teams that were listed, at most 64: twelve times the colour, and the emblem, each from 0.
        missing: before and while a league is on, teams with an account that were not listed yet, by name.
    """

    phase: Phase = Phase.ARRIVALS
    at: Count = 0
    resumes: Phase | None = None
    silent: bool = field(default=False, metadata=UNLESS_EMPTY)
    began: Count = field(default=0, metadata=UNLESS_EMPTY)
    last: Count = field(default=0, metadata=UNLESS_EMPTY)
    withdrawn: tuple[str, ...] = field(default=(), metadata=UNLESS_EMPTY)
    badges: dict[str, Count] = field(default_factory=dict, metadata=UNLESS_EMPTY)
    missing: tuple[str, ...] = field(default=(), metadata=UNLESS_EMPTY)

    @property
    def league_runs(self) -> bool:
        """Whether there is a league that has not ended."""
        return bool(self.name) and not self.over

    @property
    def league_reports(self) -> bool:
        """Whether there is a league that has not ended, and has not fallen silent."""
        return self.league_runs and not self.silent

    @property
    def phase_but_for_break(self) -> Phase:
        """What is on, or what a break has interrupted."""
        return self.resumes or self.phase
