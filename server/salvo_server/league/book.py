"""All that a league's lines come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from salvo_server.league.file import League
from salvo_server.league.lines import Assigned, Back, Began, Closing, Drawn, Line, Plain, Result, Voided
from salvo_server.tournament.games import Played
from salvo_server.tournament.schedule import Match
from salvo_server.tournament.standings import Ratings, Row, points_by_bot, table

#: A team that did not come this often in a row is not seated until it is back.
MAX_MISSES: Final = 2


class Book:
    """What a league has come to.

    Attributes:
        matches: by number, byes included.
        assigned: matches that are at a table now, by that table's name.
        closing: who was there, by match whose table is being closed.
        results: by match, in the order in which they came.
        plain: teams that follow no seat.
        teams: whoever was drawn, round by round, by name in each; built-in bots that fill seats are not among them.
        round: the number of the last round drawn.
        began: in epoch seconds; None before the first round.
    """

    def __init__(self, league: League, lines: Iterable[Line]) -> None:
        self.league = league
        self.matches: dict[int, Match] = {}
        self.assigned: dict[str, Assigned] = {}
        self.closing: dict[int, tuple[str, ...]] = {}
        self.results: dict[int, Result] = {}
        self.plain = set(league.plain)
        self.teams: dict[str, None] = {}
        self.round = 0
        self.began: int | None = None
        self.ratings = Ratings()
        self._misses: Counter[str] = Counter()
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Take in one more line."""
        match line:
            case Began(began):
                self.began = began
            case Drawn(number, first, matches):
                self.round = number
                for place, teams in enumerate(matches):
                    self.matches[first + place] = Match(first + place, number, teams)
                names = {name for teams in matches for name in teams}
                self.teams |= dict.fromkeys(sorted(names - self.league.fill.keys()))
            case Assigned(_, at):
                self.assigned[at] = line
            case Closing(number, there):
                self.closing[number] = there
            case Voided(number):
                self._leave_table(number)
            case Result(number):
                self.results[number] = line
                self._leave_table(number)
                self.ratings.add(_played(line))
                for team, absent in zip(line.teams, line.absent, strict=True):
                    self._misses[team] = self._misses[team] + 1 if absent else 0
            case Plain(team):
                self.plain.add(team)
            case Back(team):
                self._misses[team] = 0

    def _leave_table(self, match: int) -> None:
        self.closing.pop(match, None)
        self.assigned = {at: line for at, line in self.assigned.items() if line.assigned != match}

    @property
    def away(self) -> set[str]:
        """Teams that are not seated until they are back; built-in bots are ours, and always come."""
        return {team for team, times in self._misses.items() if times >= MAX_MISSES and team in self.teams}

    @property
    def open_matches(self) -> list[Match]:
        """Matches without a result, in their order; a bye needs none."""
        return [match for match in self.matches.values() if len(match.bots) > 1 and match.number not in self.results]

    @property
    def pending(self) -> list[Match]:
        """Open matches that are at no table."""
        busy = {line.assigned for line in self.assigned.values()}
        return [match for match in self.open_matches if match.number not in busy]

    @property
    def earlier(self) -> list[Match]:
        """All matches that were drawn."""
        return list(self.matches.values())

    def points(self, teams: Iterable[str]) -> dict[str, float]:
        """Return the points of some teams, and of all that they have met."""
        names = dict.fromkeys([*teams, *self.teams, *self.league.fill])
        return points_by_bot(names, self.matches.values(), map(_played, self.results.values()))

    def rows(self) -> list[Row]:
        """Return the table, best first; the source of a built-in bot that fills seats is ``fill``."""
        played = {name for result in self.results.values() for name in result.teams}
        sources = dict.fromkeys(self.teams, "") | {name: "fill" for name in self.league.fill if name in played}
        games = [_played(self.results[number]) for number in sorted(self.results)]
        return table(sources, games, self.points(sources))[0]


def _played(result: Result) -> Played:
    """Return a result as standings count it; there are no strikes, and nobody measured how long a team thought."""
    none = (0.0,) * len(result.teams)
    return Played(
        result.result,
        0,
        result.teams,
        result.teams,
        "",
        result.game,
        result.turns,
        result.places,
        result.shots,
        result.hits,
        ((),) * len(result.teams),
        result.absent,
        none,
        none,
        (0,) * len(result.teams),
        absent=result.absent,
    )
