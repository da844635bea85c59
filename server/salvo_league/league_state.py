"""The state of a league, from all its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from salvo.table_places import table_of
from salvo_game.standings.points_and_ratings import Rating
from salvo_lab.series.lines import (
    Annulled,
    Assigned,
    Back,
    Badged,
    Began,
    Closing,
    Drawn,
    FixtureEnded,
    LeagueResult,
    Plain,
    SeriesLine,
    Voided,
)
from salvo_lab.series.schedule import Fixture
from salvo_lab.series.standings import SeriesRow, SeriesStandings, league, points, standings_of_matches
from salvo_league.league_file import League

#: A team that did not come this often in a row is not seated until it is back.
MAX_MISSES: Final = 2


class LeagueState:
    """What a league has come to.

    Attributes:
        filling: whether built-in bots fill seats now.
        matches: by number, byes included.
        assigned: matches that are at a table now, by that table's name.
        given_up: by table, the number of the last game there that does not count.
        closing: who was there, by match whose table is being closed.
        results: by match, in the order in which they came.
        played: the match of every result that a game at a table has, by table and the game's number there.
        annulled: the host that has annulled it, by match.
        badges: those that the server has given, as numbers by name.
        teams: whoever was drawn, round by round, by name in each; built-in bots that fill seats are not among them.
        followers: teams that have come to a further table, and have missed no match since.
        round: the number of the last round drawn.
        began: in epoch seconds; None before the first round.
        ended: whether it is over, and its servers know that.
    """

    def __init__(self, league: League, lines: Iterable[SeriesLine], *, filling: bool = False) -> None:
        self.league = league
        self.filling = filling
        self.matches: dict[int, Fixture] = {}
        self.assigned: dict[str, Assigned] = {}
        self.given_up: dict[str, int] = {}
        self.closing: dict[int, tuple[str, ...]] = {}
        self.results: dict[int, LeagueResult] = {}
        self.played: dict[tuple[str, int], int] = {}
        self.annulled: dict[int, str] = {}
        self.badges: dict[str, int] = {}
        self.teams: dict[str, None] = {}
        self.followers: set[str] = set()
        self.round = 0
        self.began: int | None = None
        self.ended = False
        self._standings: SeriesStandings | None = None  # after all lines so far
        self._misses: Counter[str] = Counter()  # in a row
        self._found_plain: set[str] = set()
        for line in lines:
            self.add(line)

    def add(self, line: SeriesLine) -> None:
        """Take in one more line."""
        if isinstance(line, (LeagueResult, Annulled, Badged)):
            self._standings = None
        match line:
            case Began(began):
                self.began = began
            case Drawn(number, first, matches):
                self.round = number
                for place, teams in enumerate(matches):
                    self.matches[first + place] = Fixture(first + place, number, teams)
                names = {name for teams in matches for name in teams} - self.league.fill.keys()
                if names - self.teams.keys() or any(
                    len(teams) < 2 for teams in matches
                ):  # a new row, or a bye's points
                    self._standings = None
                elif self._standings is not None:
                    self._standings = replace(self._standings, matches=self.earlier)
                self.teams |= dict.fromkeys(sorted(names))
            case Assigned(_, at):
                self.assigned[at] = line
            case Closing(number, there):
                self.closing[number] = there
            case Voided(number):
                self.given_up |= {at: line.game for at, line in self.assigned.items() if line.assigned == number}
                self._leave_table(number)
            case LeagueResult(number):
                self.results[number] = line
                self._leave_table(number)
                if len(line.there) > 1:
                    self.played[line.table, line.game] = number
                for team, absent in zip(line.teams, line.absent, strict=True):
                    if table_of(line.table) and not absent:
                        self._found_plain.discard(team)
                        self.followers.add(team)
                    elif absent:
                        self.followers.discard(team)
                    self._misses[team] = self._misses[team] + 1 if absent else 0
            case Plain(team):
                self._found_plain.add(team)
                self.followers.discard(team)
            case Back(team):
                self._misses[team] = 0
            case Annulled(number, by):
                self.annulled[number] = by
            case FixtureEnded():
                self.ended = True
            case Badged(given):
                self.badges |= given

    def _leave_table(self, match: int) -> None:
        self.closing.pop(match, None)
        self.assigned = {at: line for at, line in self.assigned.items() if line.assigned != match}

    @property
    def away(self) -> set[str]:
        """Teams that are not seated until they are back; built-in bots are ours, and always come."""
        return {team for team, times in self._misses.items() if times >= MAX_MISSES and team in self.teams}

    @property
    def plain(self) -> set[str]:
        """Teams that follow no seat: those that the file names, and those that were found out."""
        return self._found_plain | set(self.league.plain)

    @property
    def open_matches(self) -> list[Fixture]:
        """Matches without a result, in their order; a bye needs none."""
        return [match for match in self.matches.values() if len(match.teams) > 1 and match.number not in self.results]

    @property
    def pending(self) -> list[Fixture]:
        """Open matches that are at no table."""
        busy = {line.assigned for line in self.assigned.values()}
        return [match for match in self.open_matches if match.number not in busy]

    @property
    def earlier(self) -> list[Fixture]:
        """All matches that were drawn."""
        return list(self.matches.values())

    def points(self, teams: Iterable[str]) -> dict[str, float]:
        """Return the points of some teams."""
        counted = (result for number, result in self.results.items() if number not in self.annulled)
        return points(teams, self.matches.values(), counted)

    def rating(self, team: str) -> Rating:
        """Return how good a team is, also one that has not played."""
        return next((row.rating for row in self.rows() if row.name == team), Rating())

    def standings(self) -> SeriesStandings:
        """Return what the league has come to."""
        if self._standings is None:
            series = league(self.league.name, self.league.format.value, self.earlier, self.league.fill)
            came_to = standings_of_matches(series, self.earlier, self.results, self.annulled)
            self._standings = replace(came_to, badges=self.badges)
        return self._standings

    def rows(self) -> list[SeriesRow]:
        """Return the table, best first."""
        return self.standings().rows
