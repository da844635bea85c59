"""Servers, their tables and their teams as a league sees them: everything may be killed, and news may be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from salvo import messages as m
from salvo.messages import HostAction, PlayerStats, State
from salvo.table_places import cell_of, place_of
from salvo_lab.series.lines import Assigned, Drawn, LeagueLine, LeagueResult, Voided
from salvo_league.director import HALL, Director, Store
from salvo_league.league_file import League
from salvo_league.league_state import LeagueState
from salvo_league.table_desk import TableCommand
from salvo_league.table_views import TableView

STEP_SECONDS = 0.5
HOST = "desk"
#: Places by team, and how long the game takes.
Play = Callable[[Sequence[str], Random], tuple[dict[str, int], float]]


def by_name(teams: Sequence[str], random: Random) -> tuple[dict[str, int], float]:
    """Play a game that depends on who plays, and on nothing else."""
    order = sorted(teams)
    Random("".join(order)).shuffle(order)
    return {team: place for place, team in enumerate(order, start=1)}, random.uniform(5, 40)


#: While a league runs.
HELD = m.Limits(held=True)


@dataclass
class Table:
    """One table of the server; what it keeps survives its death."""

    game: int = 1
    state: State = State.LOBBY
    limits: m.Limits = HELD
    pending: list[m.NextGame] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    complete: list[str] = field(default_factory=list)
    ends: float = 0.0
    deadline: float | None = None
    places: dict[str, int] = field(default_factory=dict)
    hosted: m.HostActed | None = None
    refused: m.CommandRefused | None = None
    winners: tuple[str, ...] | None = None
    annulled: dict[int, str] = field(default_factory=dict)

    def open(self, now: float) -> None:
        self.limits = HELD
        for settings in self.pending:
            self.limits = settings.limits(self.limits)
        self.pending, self.listed, self.complete, self.places = [], [], [], {}
        self.game, self.state, self.hosted, self.winners, self.deadline = self.game + 1, State.LOBBY, None, None, None


class World:
    """A server or several, teams, and a league that may be killed between any two of its outputs.

    Attributes:
        games: what was played to its end, by (table, game): places by team.
        waits: seconds that teams waited, by game.
        ends: when each of the games has ended.
        opened: when each table's lobby was opened last by a host.
        where: the cell where each team is connected.
        asleep: until when the machine of a team sleeps.
    """

    def __init__(
        self,
        league: League,
        teams: Sequence[str],
        *,
        seed: int = 0,
        plain: Sequence[str] = (),
        play: Play = by_name,
        deaths: float = 0.0,
        losses: float = 0.0,
        outages: float = 0.0,
        annulments: float = 0.0,
        cells: Sequence[str] = ("",),
    ) -> None:
        self.league = league
        self.random = Random(seed)
        self.play = play
        self.now = 0.0
        self.lines: list[LeagueLine] = []
        self.here = set(teams)
        self.plain = set(plain)
        self.asleep: dict[str, float] = {}
        self.deaths, self.losses, self.outages, self.annulments = deaths, losses, outages, annulments
        self.cells = list(cells)
        self.strangers = dict.fromkeys(self.cells, "")  # a team that a cell's roster lacks
        self.where = {team: self.cells[number % len(cells)] for number, team in enumerate(sorted(teams))}

        self.director = Director(LeagueState(league, [], filling=bool(league.fill)), HOST, self.cells)
        self.tables = {at: Table() for at in self.director.tables}
        self.games: dict[tuple[str, int], dict[str, int]] = {}
        self.ends: dict[tuple[str, int], float] = {}
        self.opened: dict[str, float] = {}
        self.seats: dict[str, str | None] = {}
        self.killed = 0
        self.waits: list[float] = []
        self._free = dict.fromkeys(teams, 0.0)
        self.online_at = dict.fromkeys(self.cells, 0.0)
        self.evening = m.EveningShown(HOST, league.name)
        self._seen: dict[str, tuple[TableView, TableView]] = {}  # as it is, and with the time when it changed

    def run(self, seconds: float) -> World:
        """Let time pass until the league is over."""
        end = self.now + seconds
        while self.now < end and not self.director.over:
            self.step()
        return self

    def run_until_seen(self) -> None:
        """Go on until the league has seen all that there is, and nobody dies."""
        self.deaths = self.losses = self.outages = 0.0
        for _ in range(20):
            self.step()

    def until(self, holds: Callable[[], object]) -> World:
        """Let time pass until something holds."""
        end = self.now + 20_000
        while not holds():
            assert self.now < end, self.lines
            self.step()
        return self

    def step(self) -> None:
        self.now += STEP_SECONDS
        for cell in self.cells:
            if self.random.random() < self.outages:
                self.kill(cell, self.random.uniform(0, 5))
        self._play()
        self._annul()
        self._move()
        self._direct()

    def online(self, place: str) -> bool:
        """Whether the server of a table is there."""
        return self.now >= self.online_at[cell_of(place)]

    def kill(self, cell: str, seconds: float) -> None:
        """Let a cell be away, or be back sooner."""
        self.online_at[cell] = self.now + seconds
        for at, table in self.tables.items():  # the time to place begins again
            if cell_of(at) == cell and table.deadline is not None:
                table.deadline = self.online_at[cell] + table.limits.placement_ms / 1000

    # --- the server -----------------------------------------------------------------------------------------------

    def _play(self) -> None:
        for at, table in self.tables.items():
            if not self.online(at):
                continue
            if table.state is State.TURN and self.now >= table.ends:
                table.state = State.OVER
                table.winners = tuple(team for team, place in table.places.items() if place == 1)
                self.games[at, table.game], self.ends[at, table.game] = table.places, self.now
                self._free |= dict.fromkeys(table.places, self.now)
            if table.state is State.LOBBY and table.deadline is not None and self.now >= table.deadline:
                table.listed = list(table.complete)
                table.deadline = None
                if len(table.complete) >= 2:
                    self._begin(table)

    def _annul(self) -> None:
        """Let a host annul an earlier game."""
        if not self.annulments:
            return
        earlier = [key for key in self.games if key[1] < self.tables[key[0]].game and self.online(key[0])]
        if earlier and self.random.random() < self.annulments:
            at, game = self.random.choice(earlier)
            self.tables[at].annulled[game] = HOST

    def _begin(self, table: Table) -> None:
        table.state, table.listed = State.TURN, list(table.complete)
        self.waits += [self.now - self._free.pop(team) for team in table.complete if team in self._free]
        table.places, seconds = self.play(table.complete, self.random)
        table.ends = self.now + seconds

    def obey(self, at: str, command: m.HostCommand) -> None:
        """Carry out a host's command, or refuse it."""
        table = self.tables[at]
        if command.context not in (None, table.game):
            return
        acted = m.HostActed.of(command)
        match command.do:
            case HostAction.SET:
                assert command.settings is not None
                stranger = self.strangers[cell_of(at)]
                if stranger in (command.settings.teams or ()):
                    text = f"the roster has no team {stranger!r}"
                    table.refused = m.CommandRefused(HOST, "not_in_roster", text)
                    return
                table.pending.append(command.settings)
                table.hosted = acted
            case HostAction.NEXT if table.state in (State.LOBBY, State.OVER):
                table.open(self.now)
                self.opened[at] = self.now
            case HostAction.START if table.state is State.LOBBY and len(table.complete) >= 2:
                self._begin(table)
                table.hosted = acted
            case HostAction.ANNOUNCE:
                table.hosted = acted
            case HostAction.ABORT if table.state is State.TURN:
                table.state, table.winners, table.places = State.OVER, (), {}

    # --- teams ----------------------------------------------------------------------------------------------------

    def _move(self) -> None:
        for team in sorted(self.here):
            if self.now < self.asleep.get(team, 0.0):
                continue
            self.where.setdefault(team, self.cells[0])
            seat = None if team in self.plain else self.seats.get(team)
            if team not in self.plain:
                self._go_where_it_is_announced(team, seat)
            at = place_of(HALL, self.where[team]) if seat is None or cell_of(seat) != self.where[team] else seat
            if not self.online(at):
                continue
            for place, table in self.tables.items():
                if (
                    cell_of(place) == cell_of(at)
                    and table.state is State.LOBBY
                    and place != at
                    and team in table.listed
                ):
                    table.listed.remove(team)
                    table.complete = [each for each in table.complete if each != team]
            table = self.tables[at]
            invited = table.limits.teams
            if table.state is not State.LOBBY or (invited is not None and team not in invited):
                continue
            if team not in table.listed:
                table.listed.append(team)
                if not table.limits.held:
                    table.deadline = self.now + table.limits.placement_ms / 1000
            elif team not in table.complete and self.random.random() < 0.7:
                table.complete.append(team)
                if len(table.complete) == table.limits.players:
                    self._begin(table)

    def _go_where_it_is_announced(self, team: str, seat: str | None) -> None:
        """Go to the cell of the seat, or to one that is there, as the SDK does; what it left still lists it."""
        living = [cell for cell in self.cells if self.online(place_of(HALL, cell))]
        if self.where[team] not in living and living:
            self.where[team] = self.random.choice(living) if len(living) > 1 else living[0]
        elif seat is not None and cell_of(seat) in living:
            self.where[team] = cell_of(seat)

    # --- the league -----------------------------------------------------------------------------------------------

    def views(self) -> dict[str, TableView]:
        """Return the tables as everybody sees them."""
        return {at: self._view(at, table) for at, table in self.tables.items()}

    def _view(self, at: str, table: Table) -> TableView:
        stats = {team: PlayerStats(team, 9, 3, 1, 5, place) for team, place in table.places.items()}
        over = table.state is State.OVER
        view = TableView(
            self.online(at),
            table.game,
            table.state,
            tuple(table.listed),
            frozenset(table.complete),
            table.winners,
            stats if over else {},
            (table.game, 9) if over else (0, 0),
            table.limits.over_ms // 1000,
            table.hosted,
            dict(table.annulled),
            table.refused,
            rules="salvo",
            evening=self.evening,
        )
        if at not in self._seen or self._seen[at][0] != view:
            self._seen[at] = view, replace(view, received_at=self.now)
        return self._seen[at][1]

    def _direct(self) -> None:
        views = self.views()
        for output in self.director.step(self.now, self.now, views):
            if self.random.random() < self.deaths:
                self.kill_league()
                return
            if isinstance(output, Store):
                self.lines.append(output.line)
                if self.random.random() < self.deaths:
                    self.kill_league()
                    return
            elif isinstance(output, TableCommand) and self.online(output.table) and self.random.random() >= self.losses:
                self.obey(output.table, output.command)
        self.seats |= self.director.seats()  # retained, also for whom a league that was killed has called

    def kill_league(self) -> None:
        """Let the league go on from its lines alone."""
        self.killed += 1
        self.director = Director(LeagueState(self.league, self.lines, filling=bool(self.league.fill)), HOST, self.cells)

    # --- what must hold -------------------------------------------------------------------------------------------

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the lines of a kind."""
        return [line for line in self.lines if isinstance(line, kind)]

    def check(self) -> None:
        """Check that every game that was played to its end counts once, and for those who played it."""
        results: list[LeagueResult] = self.of(LeagueResult)
        assert len({line.result for line in results}) == len(results), "a match with two results"
        played = {(line.table, line.game): line for line in results if line.turns}
        assert len(played) == sum(line.turns > 0 for line in results), "a game that counts twice"
        waiting = {(at, line.game) for at, line in self.director.book.assigned.items()}
        assigned = {(line.table, line.game) for line in self.of(Assigned)}
        ended = {key for key in self.games if key in assigned} - self._given_up()
        assert played.keys() <= ended, "a result of a game that was never played"
        assert ended - played.keys() <= waiting, "a game whose result is lost"
        for key, line in played.items():
            places = {team: line.places[seat] for seat, team in enumerate(line.teams) if not line.absent[seat]}
            assert places == self.games[key]
        self.check_byes()

    def _given_up(self) -> set[tuple[str, int]]:
        """Return games that were played again elsewhere; with one server there are none."""
        at: dict[int, tuple[str, int]] = {}
        given_up = set()
        for line in self.lines:
            if isinstance(line, Assigned):
                at[line.assigned] = (line.table, line.game)
            elif isinstance(line, Voided) and len(self.cells) > 1:
                given_up.add(at[line.voided])
        return given_up

    def check_byes(self) -> None:
        """Check that nobody has a second bye before all who are there have had one."""
        byes: Counter[str] = Counter()
        for line in self.of(Drawn):
            there = [team for match in line.matches for team in match]
            assert len(set(there)) == len(there), "somebody sits at two tables"
            for team in [match[0] for match in line.matches if len(match) == 1]:
                assert byes[team] == min(byes[each] for each in there)
                byes[team] += 1
