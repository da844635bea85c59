"""Decides what happens at a league's tables: no clock, no sockets.

It looks at the tables again and again, and says what is to be written down, and which commands a host gives. Nothing
depends on having heard something at the right moment: whoever was killed, the tables and the lines tell what is next.

A match is written down with its table and the number of the game there before that game is opened. The result is
written down before anything else happens at the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from salvo import messages as m
from salvo.badges import first_given
from salvo.messages import HostAction, State
from salvo.table_places import cell_of, place_of
from salvo_lab.series.lines import (
    Annulled,
    Assigned,
    Back,
    Badged,
    Began,
    Closing,
    LeagueLine,
    LeagueResult,
    Plain,
    Voided,
)
from salvo_lab.series.schedule import Fixture
from salvo_league.league_file import OVER_SECONDS, LeagueError, LeagueFormat
from salvo_league.league_state import LeagueState
from salvo_league.next_matches import next_on_ladder, next_round
from salvo_league.roll_call import RollCall
from salvo_league.seating import best_place
from salvo_league.table_desk import MAX_TEAMS, TableCommand, TableDesk
from salvo_league.table_views import TableView

#: The default table: where teams come in, and where those play whose clients know no seats. Each cell has its own.
HALL: Final = ""
#: How long nothing must have been heard of a table before its result is read: a server that comes back to a broker
#: that was killed corrects what that retained, one topic after the other.
SETTLED_SECONDS: Final = 1.0
#: Beyond the placement time before a game is not waited for any longer.
LATE_SECONDS: Final = 10.0
#: A team that is listed nowhere for so long has gone.
GONE_SECONDS: Final = 30.0
#: How long a table may be at an unexpected game before that is taken for true.
ODD_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Store:
    """A line is to be on the disk before what follows is done."""

    line: LeagueLine


Output = Store | TableCommand


class Director:
    """A league in progress.

    Attributes:
        book: all that is written down.
        over: whether the league has ended.
        host: the account's name.
        rules: the ruleset of its tables; empty until it is known.
        begins: when the first round begins at the latest, epoch ms; 0 while too few teams are there.
    """

    def __init__(self, book: LeagueState, host: str, cells: Sequence[str] = ("",)) -> None:
        """Take up a league where its lines have left it.

        Args:
            host: the account's name.
            cells: the servers at whose tables it is played; one without a name if there is one.
        """
        self.book = book
        self.over = False
        self.rules = ""
        self.begins = 0
        self.host = host
        self._league = book.league
        self._halls = [place_of(HALL, cell) for cell in cells]
        self._tables = [place_of(table, cell) for table in book.league.tables for cell in cells]
        self._desks = {
            at: TableDesk(at, host, book.league.result_seconds, lambda command: self._out.append(command))
            for at in self.tables
        }
        self._now = 0.0
        self._seen: dict[str, str] = {}  # teams, and in which hall each was last
        self._home: dict[str, str] = {}  # the cell where each team was last
        self._roll = RollCall(self._desks, several=len(self._halls) > 1)
        self._called_again: dict[str, int] = {}  # teams that follow no seat, and the round of their last roll call
        self._enough_since: float | None = None
        self._listed_at: dict[str, float] = {}  # when each was last listed at a table
        self._free_since: dict[str, float] = {}
        self._out: list[Output] = []

    @property
    def tables(self) -> list[str]:
        """All tables that it looks at."""
        return list(dict.fromkeys([*self._halls, *self._tables]))

    def step(self, now: float, epoch: float, views: Mapping[str, TableView]) -> list[Output]:
        """Return what is to be done now, in this order.

        Args:
            now: seconds that never go back.
            epoch: seconds since 1970, which go on while the league is not run.
            views: of all :attr:`tables`.

        Raises:
            LeagueError: ``league_in_use``: another league runs at these tables; ``rosters_differ``: one of several
                servers does not know a team.
        """
        self._look(views, now)
        self._refuse_another()
        for at, line in list(self.book.assigned.items()):
            if at in self._desks:
                self._tend(self._desks[at], line)
            else:
                self._store(Voided(line.assigned, "its table no longer belongs to this league"))
        self._annul()
        self._note_badges()
        for hall in self._hall_desks:
            self._greet(hall)
        if not self.over:
            self._call_roll()
            if not self._is_break:
                self._draw(epoch)
                self._assign()
            for hall in self._hall_desks:
                if hall.at not in self.book.assigned:
                    hall.open_hall()
        self._abort_given_up()
        return self._out

    def _look(self, views: Mapping[str, TableView], now: float) -> None:
        self._out, self._now = [], now
        for at, desk in self._desks.items():
            desk.look(views[at], now)
            self._listed_at |= dict.fromkeys(views[at].listed, now)
            self.rules = views[at].rules or self.rules

    def seats(self) -> dict[str, str | None]:
        """Return the table of every team that was listed at any; None for one that has no seat now.

        A league that was killed may have called teams to another table than a hall: no line has the seats of a roll
        call, and the broker retains them. A team that was listed once this evening has a badge.
        """
        listed = self._listed_at.keys() | {team for evening in self._evenings for team in evening.badges}
        seats: dict[str, str | None] = dict.fromkeys([*self.book.teams, *sorted(listed), *self._league.fill])
        seats |= dict.fromkeys(self._roll.seated, self._roll.at)
        for at, line in self.book.assigned.items():
            game, desk = self._desks[at].view.game, self._desks[at]
            if game == line.game:
                desk.seated = game
            if desk.seated == line.game and game in (0, line.game):  # 0 while a connection that was lost comes back
                seats |= dict.fromkeys(line.teams, at)
        return seats

    @property
    def waiting(self) -> list[str]:
        """Teams that have no game to play."""
        busy = {name for match in self.book.open_matches for name in match.teams}
        return [team for team in self.teams if team not in busy]

    @property
    def waiting_here(self) -> list[str]:
        """Those of them that are there, or were a moment ago."""
        since = self._now - GONE_SECONDS
        return [team for team in self.waiting if self._listed_at.get(team, since - 1) >= since]

    def busy(self) -> list[str]:
        """Return the tables where a game is on, or its result is shown, that is none of the league's."""
        games = {at: line.game for at, line in self.book.assigned.items()}
        return [
            at
            for at, desk in self._desks.items()
            if desk.view.game != games.get(at) and (desk.view.state is State.TURN or desk.shows_result_of_others)
        ]

    @property
    def teams(self) -> list[str]:
        """Teams that are there, in order of drawing: those that were drawn before, then the others by name."""
        known = [*self.book.teams, *sorted(self._seen.keys() - set(self.book.teams))]
        out = self.book.away | self._withdrawn
        return [team for team in known if team not in out]

    @property
    def _hall_desks(self) -> list[TableDesk]:
        return [self._desks[at] for at in self._halls]

    def _store(self, line: LeagueLine) -> None:
        away = self.book.away
        self.book.add(line)
        if isinstance(line, LeagueResult):
            self._roll.follows.difference_update(
                line.teams[seat] for seat in range(len(line.teams)) if line.absent[seat]
            )
        if not self.book.away <= away:
            for hall in self._hall_desks:  # who is away may still be listed there: a new lobby shows who is back
                hall.close_hall()
        self._out.append(Store(line))

    # --- a match at its table -------------------------------------------------------------------------------------

    def _tend(self, desk: TableDesk, line: Assigned) -> None:
        view = desk.view
        if not view.here:
            if self._is_lost(desk):
                self._store(Voided(line.assigned, "its server does not answer"))
            return
        ours = view.game == line.game and view.over_seconds == OVER_SECONDS  # else the server has opened it by itself
        odd = not ours and view.game != line.game - 1
        if view.game == line.game - 1:
            desk.open(self._league.settings(line.teams, view.rules))
        elif ours:
            self._follow(desk, line)
        elif view.game == line.game + 1 and line.assigned in self.book.closing:
            self._store(self._forfeit(self.book.matches[line.assigned], desk.at, line.game))
        elif desk.odd_since is not None and self._now - desk.odd_since >= ODD_SECONDS:
            self._store(Voided(line.assigned, f"game {line.game} was to be played, and the table is at {view.game}"))
        if not odd:
            desk.odd_since = None
        elif desk.odd_since is None:
            desk.odd_since = self._now

    def _is_lost(self, desk: TableDesk) -> bool:
        """Whether a table's server has been away for so long that another one takes its place."""
        if desk.away_since is None or self._now - desk.away_since < self._league.away_seconds:
            return False
        return any(other.view.here for other in self._desks.values() if cell_of(other.at) != cell_of(desk.at))

    def _abort_given_up(self) -> None:
        """End games that go on although they do not count, as at a server that has come back."""
        for at, game in self.book.given_up.items():
            desk = self._desks.get(at)
            if desk is not None and desk.view.here and desk.view.game == game and desk.view.state is State.TURN:
                desk.command(HostAction.ABORT)

    def _follow(self, desk: TableDesk, line: Assigned) -> None:
        view = desk.view
        if view.state is State.LOBBY:
            self._wait_for_fleets(desk, line)
        elif desk.over_since is not None and self._now - view.received_at >= SETTLED_SECONDS:
            if view.winners == ():
                self._store(Voided(line.assigned, "a host has aborted it"))
            elif (result := self._result(desk, line)) is not None:
                self._store(result)
            elif self._now - desk.over_since >= ODD_SECONDS:
                self._store(Voided(line.assigned, "its result is missing"))

    def _wait_for_fleets(self, desk: TableDesk, line: Assigned) -> None:
        view, now, placement = desk.view, self._now, self._league.placement_seconds
        quiet = now - desk.quiet_since > placement + LATE_SECONDS
        too_long = now - desk.opened > placement * (len(line.teams) + 1) + LATE_SECONDS
        if not (quiet or too_long or line.assigned in self.book.closing):
            return
        there = tuple(team for team in line.teams if team in view.complete)
        if len(there) > 1:
            desk.command(HostAction.START)
            return
        if line.assigned not in self.book.closing:
            self._store(Closing(line.assigned, there))
        desk.command(HostAction.NEXT)

    def _result(self, desk: TableDesk, line: Assigned) -> LeagueResult | None:
        """Return what a table shows; None while it is not all of one game."""
        teams, view = self.book.matches[line.assigned].teams, desk.view
        stats = view.stats
        winners = {name for name, one in stats.items() if one.place == 1}
        if winners != set(view.winners or ()) or not set(stats) <= set(line.teams) or len(stats) < 2:
            return None
        if view.resolved[0] not in (0, line.game):
            return None
        absent = tuple(team not in stats for team in teams)
        return LeagueResult(
            line.assigned,
            teams,
            tuple(stats[team].place if team in stats else len(stats) + 1 for team in teams),
            tuple(stats[team].shots if team in stats else 0 for team in teams),
            tuple(stats[team].hits if team in stats else 0 for team in teams),
            view.resolved[1],
            desk.at,
            line.game,
            absent,
        )

    def _forfeit(self, match: Fixture, at: str, game: int) -> LeagueResult:
        """Return the result of a match to which one team came, or none."""
        there, none = self.book.closing.get(match.number, ()), (0,) * len(match.teams)
        places = tuple(1 if team in there else 2 for team in match.teams)
        absent = tuple(team not in there for team in match.teams)
        return LeagueResult(match.number, match.teams, places, none, none, 0, at, game, absent)

    def _annul(self) -> None:
        """Note which games hosts have annulled since, before anything else is drawn."""
        for at, desk in self._desks.items():
            for game, by in desk.view.annulled.items():
                match = self.book.played.get((at, game))
                if match is not None and match not in self.book.annulled:
                    self._store(Annulled(match, by))

    def _note_badges(self) -> None:
        """Note the badges of teams that were drawn, so that a page of the league has them when no server is there."""
        given = first_given(evening.badges for evening in self._evenings)
        new = {team: given[team] for team in self.book.teams if team in given}
        if not new.items() <= self.book.badges.items():
            self._store(Badged(new))

    # --- the hall -------------------------------------------------------------------------------------------------

    def _greet(self, hall: TableDesk) -> None:
        """Note who is in a hall."""
        for name in hall.view.listed if hall.is_open else ():
            if name in self._league.fill or (self._league.teams and name not in self._league.teams):
                continue
            if name in self.book.away:
                self._store(Back(name))
            self._seen[name] = hall.at
            self._home[name] = cell_of(hall.at)

    def end_is_published(self, views: Mapping[str, TableView]) -> bool:
        """Whether the servers that are there publish that this league is over."""
        shown = [views[at].evening for at in self._halls if views[at].here]
        return bool(shown) and all(
            evening is not None and evening.by == self.host and evening.name == self._league.name and evening.over
            for evening in shown
        )

    def _ordered(self, wanted: Callable[[m.EveningShown], bool]) -> bool:
        """Whether a host has ordered something of this league at any of its servers."""
        return any(wanted(evening) for evening in self._evenings)

    @property
    def _evenings(self) -> list[m.EveningShown]:
        shown = [hall.view.evening for hall in self._hall_desks]
        return [each for each in shown if each is not None and (each.by, each.name) == (self.host, self._league.name)]

    def _refuse_another(self) -> None:
        """Make sure that no other league runs at the tables."""
        ours = self.host, self._league.name
        for hall in self._hall_desks:
            evening = hall.view.evening
            if evening is not None and evening.league_reports and (evening.by, evening.name) != ours:
                text = f"{evening.by} runs {evening.name} at these tables; finish for all tables ends it"
                raise LeagueError("league_in_use", text)

    @property
    def _is_break(self) -> bool:
        return self._ordered(lambda evening: evening.phase is m.Phase.BREAK)

    @property
    def _withdrawn(self) -> set[str]:
        """Teams that a host has taken out."""
        return {team for evening in self._evenings for team in evening.withdrawn}

    def _halls_were_open(self) -> bool:
        """Whether teams had time to come in, wherever that is possible: no cell holds up the others."""
        several = len(self._halls) > 1
        halls = [hall for hall in self._hall_desks if hall.view.here]
        halls = [hall for hall in halls if not (several and hall.view.state is State.TURN)]
        return bool(halls) and all(hall.was_open for hall in halls)

    # --- who follows seats ----------------------------------------------------------------------------------------

    @property
    def _unknown(self) -> list[str]:
        """Teams that are there, of which nobody knows yet whether they follow seats."""
        cells = {cell_of(at) for at in self._tables if at not in self._halls and self._desks[at].view.here}
        silent = {team for team, number in self._roll.silent.items() if number == self.book.round}
        known = self.book.followers | self._roll.follows | self.book.plain | silent
        listed = {team for hall in self._hall_desks if cell_of(hall.at) in cells for team in hall.view.listed}
        there = listed.union(self._roll.called) & self._seen.keys()
        return [team for team in self.waiting if team in there - known]

    def _call_roll(self) -> None:
        """Find out of those who wait whether they follow seats, while no match waits for a table."""
        if self.book.pending:
            self._roll.end()
        elif self._roll.at is None:
            called = self._unknown or self._to_be_called_again()
            free = [at for at in self._tables if at not in self._halls and self._is_free(at)]
            if called and free:
                self._roll.begin(called, self._seen, free)
        found = self._roll.step(self._now, self.book.round, self._seen, self.book.plain, self.book.assigned)
        for team in found:
            self._store(Plain(team))

    def _to_be_called_again(self) -> list[str]:
        """Return teams that follow no seat, as was found, and wait while others play; each once a round."""
        if not self.book.open_matches:
            return []
        again = [
            team
            for team in self.waiting
            if team in self.book.plain - set(self._league.plain) - self._roll.follows
            and team in self._seen
            and self._called_again.get(team) != self.book.round
        ]
        self._called_again |= dict.fromkeys(again, self.book.round)
        return again

    @property
    def _plain(self) -> set[str]:
        """Teams that play in the hall."""
        return self.book.plain - (self._roll.follows - set(self._league.plain))

    # --- who meets whom, and where --------------------------------------------------------------------------------

    def _draw(self, epoch: float) -> None:
        if self.book.began is None:
            if not self._may_begin(epoch) or not self._halls_were_open() or not self._all_are_known():
                return
            self._store(Began(int(epoch)))
        if self._league.format is LeagueFormat.LADDER:
            self._draw_ladder(epoch)
        elif self._is_last and not self.book.open_matches:
            self.over = True
        elif not (self.book.open_matches or self._unknown) and self._are_enough(self.teams) and self._halls_were_open():
            drawn = next_round(self.book, self.teams)
            if drawn is None:
                self.over = True
            else:
                self._store(drawn)

    @property
    def _is_last(self) -> bool:
        """Whether a host has ordered the league to end after the present round, or on a ladder its present games."""
        return self._ordered(lambda evening: 0 < evening.last <= max(1, self.book.round))

    @property
    def _is_hurried(self) -> bool:
        """Whether a host has ordered the next round to begin at once."""
        drawn = self.book.round
        return self._ordered(lambda evening: bool(evening.began) and evening.began in (drawn, drawn + 1))

    def _are_enough(self, teams: Sequence[str]) -> bool:
        return len(teams) >= (1 if self.book.filling else 2)

    def _may_begin(self, epoch: float) -> bool:
        """Whether all are there, or were waited for long enough."""
        if not self._are_enough(self.teams):
            self._enough_since, self.begins = None, 0
            return False
        if self._enough_since is None:
            self._enough_since, self.begins = self._now, round(1000 * (epoch + self._league.wait_seconds))
        if self._is_hurried:
            return True
        invited = set(self._league.teams)
        if invited and invited <= self._seen.keys():
            return True
        return self._now - self._enough_since >= self._league.wait_seconds

    def _all_are_known(self) -> bool:
        """Whether the roster of each of several servers has all teams; ask those that are there.

        A server refuses a setting with a team that it does not know. The setting is replaced by that of a match.
        """
        for hall in self._hall_desks if len(self._halls) > 1 else ():
            asked = tuple(team for team in self.teams if team not in hall.known)[:MAX_TEAMS]
            if not hall.view.here or not asked:
                continue
            desks = [self._desks[at] for at in self._tables if cell_of(at) == cell_of(hall.at)]
            desk = next((desk for desk in desks if desk.view.here), hall)
            settings = m.NextGame(teams=(asked if len(asked) > 1 else (*asked, *hall.known)[:2]))
            if desk.is_set(settings):
                hall.known.update(asked)
                return False  # there may be more
            refused = desk.view.refused
            if refused is not None and refused.code == "not_in_roster":
                cure = "all servers of a league have the same roster; copy it there, with its key"
                raise LeagueError("rosters_differ", f"{cell_of(hall.at)}: {refused.text}; {cure}")
            desk.command(HostAction.SET, settings)
            return False
        return True

    def _draw_ladder(self, epoch: float) -> None:
        unknown = self._unknown
        waiting = [team for team in self.waiting if team not in unknown]
        self._free_since = {team: self._free_since.get(team, self._now) for team in waiting}
        if self._is_closed(epoch):
            self.over = not self.book.open_matches and self._halls_were_open()
            return
        free = sum(self._is_free(at) for at in self._tables) - len(self.book.pending)
        for plain in (True, False):
            while (free > 0 or plain) and not self._is_closed(epoch):
                since = self._candidates(plain=plain)
                if not self._is_time(since):
                    break
                drawn = next_on_ladder(self.book, since, self._plain if plain else ())
                self._store(drawn)
                gone = drawn.matches[0]
                self._free_since = {team: since for team, since in self._free_since.items() if team not in gone}
                free -= not plain

    def _candidates(self, *, plain: bool) -> dict[str, float]:
        """Return since when those wait who may be drawn on a ladder: for the hall, or for another table."""
        since, at_hall = self._free_since, self._plain & self._free_since.keys()
        if HALL in self._league.tables:
            return {} if plain else since
        if not plain:
            return {team: waits for team, waits in since.items() if team not in at_hall}
        is_free = any(self._is_free(at) for at in self._halls)
        is_wanted = any(self._plain.intersection(match.teams) for match in self.book.pending)
        return since if at_hall and is_free and not is_wanted else {}

    def _is_closed(self, epoch: float) -> bool:
        if self._is_last:
            return True
        games, hours, began = self._league.games, self._league.hours, self.book.began
        if games is not None and len(self.book.matches) >= games:
            return True
        return hours is not None and began is not None and epoch >= began + hours * 3600

    def _is_time(self, since: Mapping[str, float]) -> bool:
        """Whether those who wait for a game of the ladder should have one now, or wait for opponents nearer to them."""
        size, count = self._league.table_size, len(since)
        if not self._are_enough(list(since)):
            return False
        if count >= 2 * size:
            return True
        patient = self._now - min(since.values()) < self._league.patience_seconds
        return not patient and (count >= size or not self.book.open_matches)

    def _assign(self) -> None:
        last = {team: place for place, result in enumerate(self.book.results.values(), 1) for team in result.teams}
        longest = sorted(self.book.pending, key=lambda match: sorted(last.get(team, 0) for team in match.teams))
        for match in longest:  # who has waited longest
            out = self.book.away | self._withdrawn  # which grows with each match that is forfeited
            teams = tuple(team for team in match.teams if team not in out)
            if len(teams) < 2:
                self._store(Closing(match.number, teams))
                self._store(self._forfeit(match, HALL, 0))
                continue
            free = [at for at in self._places(teams) if self._is_free(at)]
            if free:
                at = best_place(free, list(self.book.assigned), [self._home.get(team, "") for team in teams])
                self._store(Assigned(match.number, at, self._desks[at].view.game + 1, teams))
                self._home |= dict.fromkeys(teams, cell_of(at))

    def _places(self, teams: Sequence[str]) -> list[str]:
        """Return where a match may be played: in the hall of a team that follows no seat, unless its server is lost."""
        plain = [team for team in teams if team in self._plain]
        if not self._seen.keys() >= set(plain) and not self._halls_were_open():
            return []  # after a start, it may be in any of them
        halls = [self._seen.get(team, self._halls[0]) for team in plain]
        return [at for at in halls if not self._is_lost(self._desks[at])][:1] or self._tables

    def _is_free(self, at: str) -> bool:
        desk = self._desks[at]
        if at in (*self.book.assigned, self._roll.at) or not desk.view.here or desk.view.state is State.TURN:
            return False
        return (at not in self._halls or desk.was_open) and (not desk.shows_result or self._is_hurried)
