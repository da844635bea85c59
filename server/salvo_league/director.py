"""Decides what happens at a league's tables: no clock, no sockets.

It looks at the tables again and again, and says what is to be written down, and which commands a host gives. Nothing
depends on having heard something at the right moment: whoever was killed, the tables and the lines tell what is next.

A match is written down with its table and the number of the game there before that game is opened. A command names the
game that it is for, so that none counts twice. The result is written down before anything else happens at the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from salvo import messages as m
from salvo.messages import HostAction, State
from salvo_lab.tournament.schedule import Match
from salvo_league.league_file import OVER_SECONDS, LeagueError, LeagueFormat
from salvo_league.league_record import Annulled, Assigned, Back, Began, Closing, LeagueLine, LeagueResult, Plain, Voided
from salvo_league.league_state import LeagueState
from salvo_league.next_matches import next_on_ladder, next_round
from salvo_league.seating import best_place
from salvo_league.table_views import TableView
from salvo_server.table_places import cell_of, place_of

#: The default table: where teams come in, and where those play whose clients know no seats. Each cell has its own.
HALL: Final = ""
#: Between two commands that say the same.
AGAIN_SECONDS: Final = 2.0
#: How long nothing must have been heard of a table before its result is read: a server that comes back to a broker
#: that was killed corrects what that retained, one topic after the other.
SETTLED_SECONDS: Final = 1.0
#: Beyond the placement time before a game is not waited for any longer.
LATE_SECONDS: Final = 10.0
#: How long teams have to come into the hall between two games there.
HALL_SECONDS: Final = 3.0
#: A team that is still listed in the hall so long after its table has opened gets a new lobby there. One that asks to
#: take part in that one, too, follows no seat; one that does not may sleep, and is waited for like any other. Where
#: there are several cells, it may be looking for a broker that is there.
SEAT_SECONDS: Final = 10.0
CELL_SEAT_SECONDS: Final = 30.0
#: How long a table may be at an unexpected game before that is taken for true.
ODD_SECONDS: Final = 10.0
#: The most teams of a game, and so the most that a host sets at once.
MAX_TEAMS: Final = 64
#: What the hall is set to: a lobby that waits for as many teams as can ever be.
OPEN_HALL: Final = m.NextGame(players=MAX_TEAMS, placement_seconds=OVER_SECONDS)


@dataclass(frozen=True, slots=True)
class Store:
    """A line is to be on the disk before what follows is done."""

    line: LeagueLine


@dataclass(frozen=True, slots=True)
class TableCommand:
    """A host's command for a table."""

    table: str
    command: m.HostCommand


Output = Store | TableCommand


@dataclass(slots=True)
class _Desk:
    """What is remembered of a table from one look to the next.

    Attributes:
        sent: the command that was given last, and ``sent_at`` when.
        clean: the game after which nothing is set but what we set ourselves.
        game: that the following is about.
        opened, quiet_since: when its lobby was first seen, and when something last happened in it.
        progress: of its lobby.
        over_since, odd_since, away_since: since when it was seen so; None while it is not.
        known: teams that the server's roster has, as far as it was asked here.
        notice: the game and the text that was announced last.
        hall, hall_since: of a hall, the game whose lobby was opened to all teams, and when.
        seated: the game for which seats were given here.
    """

    sent: m.HostCommand | None = None
    sent_at: float = 0.0
    clean: int = 0
    game: int = 0
    opened: float = 0.0
    quiet_since: float = 0.0
    progress: object = None
    over_since: float | None = None
    odd_since: float | None = None
    away_since: float | None = None
    known: set[str] = field(default_factory=set)
    notice: tuple[int, str] = (0, "")
    hall: int = 0
    hall_since: float = 0.0
    seated: int = 0

    def look(self, view: TableView, now: float) -> None:
        """Take in what is seen; an absence of the server stops all times."""
        if not view.here:
            self.game, self.odd_since = 0, None
            self.away_since = now if self.away_since is None else self.away_since
            return
        self.away_since = None
        progress = (view.listed, view.complete)
        if view.game != self.game:
            if self.sent is not None and self.sent.do is HostAction.NEXT and self.sent.context == view.game - 1:
                self.clean = view.game
            self.game, self.opened, self.quiet_since = view.game, now, now
            self.over_since = self.odd_since = None
        elif progress != self.progress:
            self.quiet_since = now
        self.progress = progress
        if view.state is not State.OVER:
            self.over_since = None
        elif self.over_since is None:
            self.over_since = now


class Director:
    """A league in progress.

    Attributes:
        book: all that is written down.
        over: whether the league has ended.
        rules: the ruleset of its tables; empty until it is known.
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
        self._league = book.league
        self._host = host
        self._desks: dict[str, _Desk] = {}
        self._halls = [place_of(HALL, cell) for cell in cells]
        self._tables = [place_of(table, cell) for table in book.league.tables for cell in cells]
        self._seen: dict[str, str] = {}  # teams, and in which hall each was last
        self._home: dict[str, str] = {}  # the cell where each team was last
        self._enough_since: float | None = None
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
            LeagueError: ``rosters_differ``: one of several servers does not know a team.
        """
        self._out = []
        for at, view in views.items():
            self._desk(at).look(view, now)
            self.rules = view.rules or self.rules
        for at, line in list(self.book.assigned.items()):
            if at in views:
                self._tend(at, views, now)
            else:
                self._store(Voided(line.assigned, "its table is none of this league's any more"))
        self._annul(views)
        for at in self._halls:
            self._greet(at, views[at])
        if not self.over:
            self._draw(views, now, epoch)
            self._assign(views, now)
        for at in self._halls:
            self._open_hall(at, views[at], now)
            if not self.over and at not in self.book.assigned and self._is_open(at, views[at]):
                self._announce(at, views[at], now)
        self._abort_given_up(views, now)
        return self._out

    def seats(self, views: Mapping[str, TableView]) -> dict[str, str | None]:
        """Return the table of every team that is known; None for one that has no seat now."""
        seats: dict[str, str | None] = dict.fromkeys([*self.book.teams, *sorted(self._seen), *self._league.fill])
        for at, line in self.book.assigned.items():
            game, desk = views[at].game, self._desk(at)
            if game == line.game:
                desk.seated = game
            if desk.seated == line.game and game in (0, line.game):  # 0 while a connection that was lost comes back
                seats |= dict.fromkeys(line.teams, at)
        return seats

    @property
    def waiting(self) -> list[str]:
        """Teams that are there and have no game to play."""
        busy = {name for match in self.book.open_matches for name in match.bots}
        return [team for team in self.teams if team not in busy]

    def busy(self, views: Mapping[str, TableView]) -> list[str]:
        """Return the tables where a game is on, or its result is shown, that is none of the league's."""
        games = {at: line.game for at, line in self.book.assigned.items()}
        return [
            at
            for at, view in views.items()
            if view.game != games.get(at) and (view.state is State.TURN or self._shows_result_of_others(view))
        ]

    @property
    def teams(self) -> list[str]:
        """Teams that are there, in order of drawing: those that were drawn before, then the others by name."""
        known = [*self.book.teams, *sorted(self._seen.keys() - set(self.book.teams))]
        return [team for team in known if team not in self.book.away]

    # --- what is written down, and what is commanded --------------------------------------------------------------

    def _desk(self, at: str) -> _Desk:
        return self._desks.setdefault(at, _Desk())

    def _store(self, line: LeagueLine) -> None:
        away = self.book.away
        self.book.add(line)
        if not self.book.away <= away:
            for at in self._halls:  # who is away may still be listed there: a new lobby shows who is back
                self._desk(at).hall = 0
        self._out.append(Store(line))

    def _command(
        self,
        at: str,
        do: HostAction,
        view: TableView,
        now: float,
        settings: m.NextGame | None = None,
        text: str = "",
    ) -> None:
        """Give a command for the table's game, again after a while: the broker may have lost it."""
        desk = self._desk(at)
        command = m.HostCommand(self._host, do, text=text, settings=settings, context=view.game)
        if command == desk.sent and now - desk.sent_at < AGAIN_SECONDS:
            return
        desk.sent, desk.sent_at = command, now
        if settings is not None and settings.teams is not None:
            desk.clean = 0
        self._out.append(TableCommand(at, command))

    def _open(self, at: str, view: TableView, now: float, settings: m.NextGame) -> None:
        """Set the next game, and once that is accepted open its lobby; a game of others is played to its end."""
        if view.state is State.TURN:
            return
        desk = self._desk(at)
        sent = desk.sent
        ours = sent is not None and sent.context == view.game and sent.do in (HostAction.SET, HostAction.NEXT)
        if ours and sent is not None and sent.do is HostAction.NEXT and now - desk.sent_at < AGAIN_SECONDS:
            return  # it is on its way: the table forgets first what was set, and only then says that it has obeyed
        if ours and view.hosted == m.HostActed(self._host, HostAction.SET, settings=settings):
            self._command(at, HostAction.NEXT, view, now)
        else:
            self._command(at, HostAction.SET, view, now, settings)

    # --- a match at its table -------------------------------------------------------------------------------------

    def _tend(self, at: str, views: Mapping[str, TableView], now: float) -> None:
        line, view, desk = self.book.assigned[at], views[at], self._desk(at)
        if not view.here:
            if self._is_lost(at, views, now):
                self._store(Voided(line.assigned, "its server does not answer"))
            return
        ours = view.game == line.game and view.over_seconds == OVER_SECONDS  # else the server has opened it by itself
        odd = not ours and view.game != line.game - 1
        if view.game == line.game - 1:
            self._open(at, view, now, self._league.settings(line.teams, view.rules))
        elif ours:
            self._follow(at, line, views, now)
        elif view.game == line.game + 1 and line.assigned in self.book.closing:
            self._store(self._forfeit(self.book.matches[line.assigned], at, line.game))
        elif desk.odd_since is not None and now - desk.odd_since >= ODD_SECONDS:
            self._store(Voided(line.assigned, f"game {line.game} was to be played, and the table is at {view.game}"))
        if not odd:
            desk.odd_since = None
        elif desk.odd_since is None:
            desk.odd_since = now

    def _is_lost(self, at: str, views: Mapping[str, TableView], now: float) -> bool:
        """Whether a table's server has been away for so long that another one takes its place."""
        since = self._desk(at).away_since
        if since is None or now - since < self._league.away_seconds:
            return False
        return any(view.here for other, view in views.items() if cell_of(other) != cell_of(at))

    def _abort_given_up(self, views: Mapping[str, TableView], now: float) -> None:
        """End games that go on although they do not count, as at a server that has come back."""
        for at, game in self.book.given_up.items():
            view = views.get(at)
            if view is not None and view.here and view.game == game and view.state is State.TURN:
                self._command(at, HostAction.ABORT, view, now)

    def _follow(self, at: str, line: Assigned, views: Mapping[str, TableView], now: float) -> None:
        view, over_since = views[at], self._desk(at).over_since
        if view.state is State.LOBBY:
            self._wait_for_fleets(at, line, views, now)
        elif over_since is not None and now - view.received_at >= SETTLED_SECONDS:
            if view.winners == ():
                self._store(Voided(line.assigned, "a host has aborted it"))
            elif (result := self._result(at, line, view)) is not None:
                self._store(result)
            elif now - over_since >= ODD_SECONDS:
                self._store(Voided(line.assigned, "its result is not there"))

    def _wait_for_fleets(self, at: str, line: Assigned, views: Mapping[str, TableView], now: float) -> None:
        view, desk, placement = views[at], self._desk(at), self._league.placement_seconds
        if at not in self._halls and now - desk.opened >= self._seat_seconds:
            staying = self._staying(at, line, views, now)
            if staying is None:
                return
            if staying:
                for team in staying:
                    self._store(Plain(team))
                self._store(Voided(line.assigned, f"{', '.join(staying)} did not follow the seat"))
                return
        quiet = now - desk.quiet_since > placement + LATE_SECONDS
        too_long = now - desk.opened > placement * (len(line.teams) + 1) + LATE_SECONDS
        if not (quiet or too_long or line.assigned in self.book.closing):
            return
        there = tuple(team for team in line.teams if team in view.complete)
        if len(there) > 1:
            self._command(at, HostAction.START, view, now)
            return
        if line.assigned not in self.book.closing:
            self._store(Closing(line.assigned, there))
        self._command(at, HostAction.NEXT, view, now)

    def _staying(self, at: str, line: Assigned, views: Mapping[str, TableView], now: float) -> list[str] | None:
        """Return the teams of a match that follow no seat; None while that is not certain.

        To be listed in the hall is no proof: a team whose machine sleeps cannot leave. To ask to take part in a lobby
        that has opened there after the seat was given is one.
        """
        staying: list[str] = []
        for hall in self._halls:
            view, desk = views[hall], self._desk(hall)
            if hall in self.book.assigned or not view.here or view.state is not State.LOBBY:
                continue
            still = [team for team in line.teams if team in view.listed and team not in views[at].listed]
            if still and desk.opened <= self._desk(at).opened:
                desk.hall = 0  # a new lobby
            if not self._is_open(hall, view) or (still and now - desk.opened < SEAT_SECONDS):
                return None
            staying += still
        return staying

    def _result(self, at: str, line: Assigned, view: TableView) -> LeagueResult | None:
        """Return what a table shows; None while it is not all of one game."""
        teams = self.book.matches[line.assigned].bots
        stats = view.stats
        winners = {name for name, one in stats.items() if one.place == 1}
        if winners != set(view.winners or ()) or not set(stats) <= set(line.teams) or len(stats) < 2:
            return None
        if view.resolved[0] not in (0, line.game):
            return None
        absent = tuple(team not in stats for team in teams)
        return LeagueResult(
            line.assigned,
            at,
            line.game,
            teams,
            tuple(stats[team].place if team in stats else len(stats) + 1 for team in teams),
            tuple(stats[team].shots if team in stats else 0 for team in teams),
            tuple(stats[team].hits if team in stats else 0 for team in teams),
            view.resolved[1],
            absent,
        )

    def _forfeit(self, match: Match, at: str, game: int) -> LeagueResult:
        """Return the result of a match to which one team came, or none."""
        there, none = self.book.closing.get(match.number, ()), (0,) * len(match.bots)
        places = tuple(1 if team in there else 2 for team in match.bots)
        absent = tuple(team not in there for team in match.bots)
        return LeagueResult(match.number, at, game, match.bots, places, none, none, 0, absent)

    def _annul(self, views: Mapping[str, TableView]) -> None:
        """Note which games hosts have annulled since, before anything else is drawn."""
        for at, view in views.items():
            for game, by in view.annulled.items():
                match = self.book.played.get((at, game))
                if match is not None and match not in self.book.annulled:
                    self._store(Annulled(match, by))

    # --- the hall -------------------------------------------------------------------------------------------------

    @property
    def _seat_seconds(self) -> float:
        if len(self._halls) == 1:
            return SEAT_SECONDS
        return min(CELL_SEAT_SECONDS, self._league.placement_seconds + LATE_SECONDS - 1)

    def _is_open(self, at: str, hall: TableView) -> bool:
        return hall.here and hall.state is State.LOBBY and hall.game == self._desk(at).hall

    def _greet(self, at: str, hall: TableView) -> None:
        """Note who is in a hall."""
        if not self._is_open(at, hall):
            return
        for name in hall.listed:
            if name in self._league.fill or (self._league.teams and name not in self._league.teams):
                continue
            if name in self.book.away:
                self._store(Back(name))
            self._seen[name] = at
            self._home[name] = cell_of(at)

    def _open_hall(self, at: str, hall: TableView, now: float) -> None:
        """Open a default table to all teams whenever no match is played there.

        What was set before for the next game there is spent first: it may be a list of teams, and no other setting
        takes that back.
        """
        if at in self.book.assigned or not hall.here or hall.state is State.TURN or self.over:
            return
        desk = self._desk(at)
        if hall.game == desk.hall and hall.state is State.LOBBY:
            return
        if self._shows_result(at, hall, now):
            return
        if desk.clean != hall.game:
            self._command(at, HostAction.NEXT, hall, now)
            return
        self._open(at, hall, now, OPEN_HALL)
        if desk.sent is not None and desk.sent.do is HostAction.NEXT:
            desk.hall, desk.hall_since = hall.game + 1, now

    def _shows_result(self, at: str, view: TableView, now: float) -> bool:
        """Whether a result still stands: that of a game of others for as long as the server says."""
        since = self._desk(at).over_since
        shown = view.over_seconds if self._shows_result_of_others(view) else self._league.result_seconds
        return since is not None and now - since < shown

    def _shows_result_of_others(self, view: TableView) -> bool:
        return view.state is State.OVER and view.over_seconds != OVER_SECONDS and bool(view.winners)

    def _announce(self, at: str, hall: TableView, now: float) -> None:
        """Announce once in each lobby of a hall, and again when it changes, how far the league is."""
        if not self._was_announced(at, hall):
            self._command(at, HostAction.ANNOUNCE, hall, now, text=self.book.notice(over=self.over))

    def _was_announced(self, at: str, hall: TableView) -> bool:
        desk, text = self._desk(at), self.book.notice(over=self.over)
        if hall.hosted is not None and hall.hosted.text == text:
            desk.notice = hall.game, text
        return desk.notice == (hall.game, text)

    def release(self, now: float, views: Mapping[str, TableView]) -> list[TableCommand] | None:
        """Return what gives tables back to the server's own settings; None when all is done.

        A league that is over gives back all its tables, each when its result was shown, and announces in the hall who
        has won. One that was interrupted gives back the hall, where teams would else wait for nothing.
        """
        self._out = []
        waits = False
        for at, view in views.items():
            self._desk(at).look(view, now)
            if not view.here or view.state is State.TURN:
                continue
            held = OVER_SECONDS in (view.placement_seconds, view.over_seconds if self.over else 0)
            announced = not self.over or at not in self._halls or self._was_announced(at, view)
            if held and not self._shows_result(at, view, now) and now - view.received_at >= SETTLED_SECONDS:
                self._command(at, HostAction.NEXT, view, now)
            elif not held and not announced:
                self._announce(at, view, now)
            waits = waits or held or not announced
        return [output for output in self._out if isinstance(output, TableCommand)] if waits else None

    def _hall_was_open(self, at: str, hall: TableView, now: float) -> bool:
        """Whether teams had time to come in."""
        desk = self._desk(at)
        return self._is_open(at, hall) and now - max(desk.hall_since, desk.opened) >= HALL_SECONDS

    def _halls_were_open(self, views: Mapping[str, TableView], now: float) -> bool:
        """Whether teams had time to come in, wherever that is possible: no cell holds up the others."""
        several = len(self._halls) > 1
        halls = [at for at in self._halls if views[at].here and not (several and views[at].state is State.TURN)]
        return bool(halls) and all(self._hall_was_open(at, views[at], now) for at in halls)

    # --- who meets whom, and where --------------------------------------------------------------------------------

    def _draw(self, views: Mapping[str, TableView], now: float, epoch: float) -> None:
        if self.book.began is None:
            if not self._may_begin(now) or not self._halls_were_open(views, now):
                return
            if not self._all_are_known(views, now):
                return
            self._store(Began(int(epoch)))
        if self._league.format is LeagueFormat.LADDER:
            self._draw_ladder(views, now, epoch)
        elif not self.book.open_matches and self._are_enough(self.teams) and self._halls_were_open(views, now):
            drawn = next_round(self.book, self.teams)
            if drawn is None:
                self.over = True
            else:
                self._store(drawn)

    def _are_enough(self, teams: Sequence[str]) -> bool:
        return len(teams) >= (1 if self.book.filling else 2)

    def _may_begin(self, now: float) -> bool:
        """Whether all are there, or were waited for long enough."""
        if not self._are_enough(self.teams):
            self._enough_since = None
            return False
        if self._enough_since is None:
            self._enough_since = now
        invited = set(self._league.teams)
        return (bool(invited) and invited <= self._seen.keys()) or now - self._enough_since >= self._league.wait_seconds

    def _all_are_known(self, views: Mapping[str, TableView], now: float) -> bool:
        """Whether the roster of each of several servers has all teams; ask those that are there.

        A server refuses a setting with a team that it does not know. The setting is replaced by that of a match.
        """
        for hall in self._halls if len(self._halls) > 1 else ():
            known = self._desk(hall).known
            asked = tuple(team for team in self.teams if team not in known)[:MAX_TEAMS]
            if not views[hall].here or not asked:
                continue
            at = next((at for at in self._tables if cell_of(at) == cell_of(hall) and views[at].here), hall)
            view, settings = views[at], m.NextGame(teams=(asked if len(asked) > 1 else (*asked, *known)[:2]))
            if view.hosted == m.HostActed(self._host, HostAction.SET, settings=settings):
                known.update(asked)
                return False  # there may be more
            if view.refused is not None and view.refused.code == "not_in_roster":
                cure = "all servers of a league have the same roster; copy it there, with its key"
                raise LeagueError("rosters_differ", f"{cell_of(hall)}: {view.refused.text}; {cure}")
            self._command(at, HostAction.SET, view, now, settings)
            return False
        return True

    def _draw_ladder(self, views: Mapping[str, TableView], now: float, epoch: float) -> None:
        waiting = self.waiting
        self._free_since = {team: self._free_since.get(team, now) for team in waiting}
        if self._is_closed(epoch):
            self.over = not self.book.open_matches and self._halls_were_open(views, now)
            return
        free = sum(self._is_free(at, views, now) for at in self._tables) - len(self.book.pending)
        while free > 0 and self._is_time(now) and not self._is_closed(epoch):
            drawn = next_on_ladder(self.book, self._free_since)
            self._store(drawn)
            self._free_since = {team: since for team, since in self._free_since.items() if team not in drawn.matches[0]}
            free -= 1

    def _is_closed(self, epoch: float) -> bool:
        games, hours, began = self._league.games, self._league.hours, self.book.began
        if games is not None and len(self.book.matches) >= games:
            return True
        return hours is not None and began is not None and epoch >= began + hours * 3600

    def _is_time(self, now: float) -> bool:
        """Whether those who wait for a game of the ladder should have one now, or wait for opponents nearer to them."""
        size, count = self._league.table_size, len(self._free_since)
        if not self._are_enough(list(self._free_since)):
            return False
        if count >= 2 * size:
            return True
        patient = now - min(self._free_since.values()) < self._league.patience_seconds
        return not patient and (count >= size or not self.book.open_matches)

    def _assign(self, views: Mapping[str, TableView], now: float) -> None:
        for match in self.book.pending:
            teams = tuple(team for team in match.bots if team not in self.book.away)
            if len(teams) < 2:
                self._store(Closing(match.number, teams))
                self._store(self._forfeit(match, HALL, 0))
                continue
            free = [at for at in self._places(teams, views, now) if self._is_free(at, views, now)]
            if free:
                at = best_place(free, list(self.book.assigned), [self._home.get(team, "") for team in teams])
                self._store(Assigned(match.number, at, views[at].game + 1, teams))
                self._home |= dict.fromkeys(teams, cell_of(at))

    def _places(self, teams: Sequence[str], views: Mapping[str, TableView], now: float) -> list[str]:
        """Return where a match may be played: in the hall of a team that follows no seat, unless its server is lost."""
        plain = [team for team in teams if team in self.book.plain]
        if not self._seen.keys() >= set(plain) and not self._halls_were_open(views, now):
            return []  # after a start, it may be in any of them
        halls = [self._seen.get(team, self._halls[0]) for team in plain]
        return [at for at in halls if not self._is_lost(at, views, now)][:1] or self._tables

    def _is_free(self, at: str, views: Mapping[str, TableView], now: float) -> bool:
        view = views[at]
        if at in self.book.assigned or not view.here or view.state is State.TURN:
            return False
        if at in self._halls and not self._hall_was_open(at, view, now):
            return False
        return not self._shows_result(at, view, now)
