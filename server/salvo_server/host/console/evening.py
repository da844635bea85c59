"""What a host knows of all tables, and what the page shows of it, JSON-ready.

Only what is public is known here: a program's error stays on its own machine. What shows that one fails is that its
turns end without a shot, at once when it gives them up, or after their whole time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from salvo import messages as m
from salvo.messages import Phase, State
from salvo.table_places import MAX_TABLES, place_name
from salvo.table_state import (
    Fact,
    GameForgotten,
    NewConnection,
    SalvoCounted,
    ServerStatuses,
    StateMoved,
    TableState,
    TurnClock,
    TurnLength,
)
from salvo.wire import topics
from salvo.wire.topics import Address
from salvo_display.boards.text_boards import OUT
from salvo_server.host.console.commands import Offer, offers, offers_everywhere
from salvo_server.host.console.needs import ARRIVAL_SECONDS, PACE_SECONDS, SETTLING_SECONDS, Need, Needs
from salvo_server.spectators.game_lengths import TimeLeft, time_left_at
from salvo_server.spectators.headlines import headline

#: What is read of every table.
TOPICS: Final = (
    topics.STATE,
    topics.RULES,
    topics.SERVER,
    topics.LIST,
    topics.APPROVED,
    topics.TURN,
    topics.RESULT,
    topics.DEFEATED,
    topics.STATS,
    topics.WINNER,
    topics.HOSTED,
    topics.LEAGUE,
)
_LINES: Final = 40
#: More teams than these are counted where names would be in the way of other lines.
_MANY: Final = 12


class _Team:
    """What a team was seen to do.

    Attributes:
        since: when it was listed, on the page's clock.
        silent: turns in a row without a shot.
        gave_up: whether the last of them ended long before its time.
    """

    def __init__(self, since: float) -> None:
        self.since = since
        self.silent = 0
        self.gave_up = False


class HostedTable:
    """A table as a host sees it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = TableState()
        self._teams: dict[str, _Team] = {}
        self._clock = TurnClock()
        self._length = TurnLength()
        self._began = 0.0  # the turn

    def receive(self, news: m.Announcement | Fact | NewConnection, now: float, *, retained: bool) -> None:
        """Take in what was said of the table."""
        if isinstance(news, (m.TurnBegan, m.TurnResumed, m.HostActed)):
            self._length.receive(news, now, retained=retained)
        if isinstance(news, (m.TurnBegan, m.TurnResumed)):
            self._clock.begin(news, now, retained=retained)
            self._began = now
        for change in self.state.apply(news):
            match change:
                case SalvoCounted(result):
                    self._count(result, now, retained=retained)
                case GameForgotten() | StateMoved(State.LOBBY):
                    self._teams.clear()
                case _:
                    pass
        for name in self.state.names:
            self._teams.setdefault(name, _Team(now))
        if self.state.status is not None:
            self.state.opened = self.state.status.game

    def _count(self, result: m.SalvoResolved, now: float, *, retained: bool) -> None:
        team = self._teams.setdefault(result.player, _Team(now))
        team.silent = 0 if result.shots else team.silent + 1
        can_give_up = not retained and not self.state.book.skipping
        team.gave_up = can_give_up and self._length.was_given_up(result, now)

    # --- what is shown

    @property
    def _is_thinking(self) -> bool:
        """Whether a turn is on, and not yet resolved."""
        turn = self.state.playing
        return turn is not None and turn.turn > self.state.game.last_turn

    def picture(self) -> dict[str, Any]:
        """Return what is shown of the table."""
        state, left = self.state, time_left_at(self.state)
        return {
            "table": self.name,
            "state": state.state or "",
            "headline": headline(state) if state.state is not None else "",
            "left": "" if left is None else str(left),
            "ends": round(self._clock.ends * 1000) if self._is_thinking and not state.paused else None,
            "teams": [self._team(name, self._teams[name]) for name in state.names],
            "commands": [offer._asdict() for offer in self.offers],
        }

    @property
    def offers(self) -> list[Offer]:
        """What a host may do here."""
        return offers(self.state)

    def needs(self, seated: Collection[str], now: float) -> Iterator[Need]:
        """Yield what may need the host here, the most urgent first.

        Args:
            seated: the teams whose match of a league is here; none without one.
            now: on the page's clock.
        """
        state, turn = self.state, self.state.playing
        if state.paused:
            yield Need(self.name, "is paused, though no break is on", "pause")
        elif turn is not None and not self._is_thinking:
            yield Need(self.name, "no turn follows the last result", f"turn {turn.turn}", PACE_SECONDS)
        elif turn is not None and now > self._clock.ends:
            text = f"the time of turn {turn.turn} is over, and nothing follows"
            yield Need(self.name, text, f"turn {turn.turn}", SETTLING_SECONDS)
        elif state.state is State.LOBBY and seated and set(seated) <= state.complete:
            yield Need(self.name, "all fleets are complete, and the game does not begin", "begin", PACE_SECONDS)
        if state.state is State.LOBBY:
            for name in seated:
                if name not in state.names:
                    yield Need(self.name, f"{name} has not come to its match", f"team {name}", ARRIVAL_SECONDS)
        for name in state.names:
            if state.state is State.LOBBY and name not in state.complete:
                yield Need(self.name, f"{name} has {self._placed(name)}", f"team {name}", ARRIVAL_SECONDS)
            elif turn is not None and self._teams[name].silent and name not in state.game.out:
                yield Need(self.name, f"{name}: {self._failing(self._teams[name])}", f"team {name}")

    def _placed(self, name: str) -> str:
        return f"{len(self.state.approved.get(name, ()))} of {len(self.state.book.fleet)} ships placed"

    def _team(self, name: str, team: _Team) -> dict[str, Any]:
        state = self.state
        what, text, since = "here", "", None
        if state.state is State.LOBBY and name not in state.complete:
            what, text, since = "late", self._placed(name), round(team.since * 1000)
        elif state.state is State.LOBBY:
            text = "all ships placed"
        elif name in state.game.out:
            what, text = "out", OUT[state.game.fates[name]] if name in state.game.fates else ""
        elif team.silent:
            what, text = "failing", self._failing(team)
        if state.playing is not None and state.playing.player == name and self._is_thinking:
            since = round(self._began * 1000)
            what, text = ("failing" if team.silent else "thinking"), text or f"turn {state.playing.turn}"
        return {"name": name, "what": what, "text": text, "since": since}

    def _failing(self, team: _Team) -> str:
        turns = f"{team.silent} turn{'s' * (team.silent > 1)} in a row without a shot"
        rules, how = (
            self.state.rules,
            "given up at once: its program has failed" if team.gave_up else "its time ran out",
        )
        limit = f"; {rules.empty_turns} are a defeat" if rules is not None and rules.empty_turns else ""
        return f"{turns}, {how}{limit}"


class ConsoleEvening:
    """All tables of a server.

    Attributes:
        tables: by name.
        lines: what hosts did, and what was refused, the newest last.
        shown: what is on, and how the league stands; None until it is known.
        reached: whether the broker is there.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin without a table; ``clock`` gives seconds."""
        self.tables: dict[str, HostedTable] = {}
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.shown: m.EveningShown | None = None
        self.reached = False
        self._statuses = ServerStatuses()
        self._everywhere: m.HostActed | None = None  # what a host did at all tables, while each of them repeats it
        self._needs = Needs()
        self._clock = clock

    def connect(self) -> None:
        """Note that all that is retained arrives again."""
        self.shown = None
        self._statuses.clear()
        for table in self.tables.values():
            table.receive(NewConnection(), self._clock(), retained=True)

    def receive(self, address: Address, announcement: m.Announcement | None, *, payload: bool, retained: bool) -> None:
        """Take in a message; one without an announcement says something by being there."""
        table = self.tables.get(address.table)
        if table is None:
            if len(self.tables) >= MAX_TABLES:
                return
            table = self.tables[address.table] = HostedTable(address.table)
        if address.topic is topics.LEAGUE:
            self.shown = announcement if isinstance(announcement, m.EveningShown) else None
            return
        if address.topic is topics.SERVER:
            self._statuses.receive(address.table, announcement if isinstance(announcement, m.ServerStatus) else None)
        where = f"table {address.table}: " if address.table else ""
        if isinstance(announcement, m.CommandRefused):
            self.lines.append(f"{where}refused: {announcement.text}")
            return
        if isinstance(announcement, m.HostActed) and not (retained or self._is_part(announcement)):
            self.lines.append(f"{where}{announcement}")
        news = announcement if announcement is not None else Fact(address, payload)
        table.receive(news, self._clock(), retained=retained)

    def _is_part(self, acted: m.HostActed) -> bool:
        """Whether this is part of what is done at all tables, which has a line of its own, or of a league's work."""
        if acted.everywhere:
            self._everywhere = acted
            return False
        if self.shown is not None and acted.by == self.shown.by:
            return True
        return self._everywhere is not None and acted == replace(
            self._everywhere, everywhere=False, paused=acted.paused
        )

    @property
    def trouble(self) -> str:
        """What is wrong, for people; empty when nothing is."""
        if not self.reached:
            return "The broker does not answer. What you see is the last that was received."
        if any(table.state.status is not None and table.state.status.profile == "open" for table in self._known()):
            return "This contest is open, where nobody can be a host: start the server with --profile contest."
        statuses = [status for name in self.tables if (status := self._statuses.of(name)) is not None]
        if statuses and not any(status.online for status in statuses):
            return "The server is offline. Games resume as soon as it is back."
        if any(status.paused for status in statuses):
            return "The server cannot write its journal, and accepts nothing: make room on its disk."
        return ""

    def picture(self) -> dict[str, Any]:
        """Return what the page shows."""
        trouble, shown = self.trouble, self.shown
        return {
            "trouble": trouble,
            "needs": self._needs.show([] if trouble else self._all_needs(), self._clock()),
            "phase": "" if shown is None else phase_line(shown),
            "teams": self._teams(),
            "commands": [offer._asdict() for offer in self.offers],
            "tables": [table.picture() for table in self._known()],
            "league": [] if shown is None or not shown.name else _league_lines(shown),
            "lines": list(self.lines),
        }

    @property
    def offers(self) -> list[Offer]:
        """What a host may do at all tables."""
        if self.shown is None:
            return []
        return offers_everywhere(self.shown, (table.state for table in self._known()))

    def _teams(self) -> list[str]:
        """Return the teams that a host may take out."""
        gone = () if self.shown is None else self.shown.withdrawn
        ranked = () if self.shown is None else (row.team for row in self.shown.rows)
        present = (name for table in self._known() for name in table.state.names)
        return sorted({*ranked, *present}.difference(gone))

    def _all_needs(self) -> Iterator[Need]:
        shown = self.shown
        seated: dict[str, list[str]] = {}
        if shown is not None and (missing := shown.missing):
            who = f"{len(missing)} teams" if len(missing) > _MANY else ", ".join(missing)
            yield Need(None, f"{who} {'have' if len(missing) > 1 else 'has'} not come yet", "missing")
        if shown is not None and shown.league_runs:
            if shown.silent:
                yield Need(None, f"{shown.name} has not reported for 15 seconds: start salvo league again")
            for match in shown.matches:
                if match.table is not None and not match.places:
                    seated[match.table] = [name for name in match.teams if name not in shown.withdrawn]
        for table in self._known():
            status = self._statuses.of(table.name)
            if status is not None and not status.online:
                yield Need(table.name, "its server is offline", "server")
            elif shown is None or shown.phase is not Phase.BREAK:
                yield from table.needs(seated.get(table.name, ()), self._clock())

    def _known(self) -> list[HostedTable]:
        """Return the tables that there are, the default table first."""
        return [self.tables[name] for name in sorted(self.tables) if self.tables[name].state.state is not None]


def phase_line(evening: m.EveningShown) -> str:
    """Return what is on, for people."""
    league, phase = evening.name, evening.phase_but_for_break
    of_league = f"{league}: " if league else ""
    rounds = f"round {evening.round}{f' of {evening.rounds}' if evening.rounds else ''}"
    match phase:
        case Phase.ARRIVALS:
            line = f"{of_league}before the first {'round' if league else 'game'}"
        case Phase.ROUND:
            line = f"{of_league}{rounds}"
        case Phase.BETWEEN:
            line = f"{of_league}{rounds} is over, the next one follows"
        case Phase.FINAL:
            line = f"{league} is over: podium until you decide"
        case Phase.FREE:
            line = "games without a league"
        case Phase.OVER:
            line = "the evening is over: no game begins until you open all tables"
    if evening.phase is Phase.BREAK:
        return f"break, in {rounds} of {league}" if phase is Phase.ROUND and league else f"break; {line}"
    if evening.league_runs and evening.last:
        return f"{line}, the last one" if evening.round else f"{line}, which is the last one"
    if evening.league_runs and evening.began > evening.round:
        return f"{line} at once"
    if evening.league_runs and evening.left:
        return f"{line}; all rounds: {TimeLeft(evening.left, evening.left)}"
    return line


def _league_lines(league: m.LeagueShown) -> list[str]:
    """Return how a league stands: its matches, and its first three."""
    first = [
        f"{row.place}. {row.team}, {round(row.points / 1000, 2):g} {'point' if row.points == 1000 else 'points'}"
        for row in league.rows[:3]
    ]
    return [*map(_match_line, () if league.over else league.matches), *first]


def _match_line(match: m.LeagueMatch) -> str:
    if len(match.teams) == 1:
        return f"{match.teams[0]} has a bye"
    if match.places:
        ranks = sorted(zip(match.places, match.teams, strict=False))
        return f"played: {', '.join(f'{place}. {team}' for place, team in ranks)}"
    where = "waits for a table" if match.table is None else f"at {place_name(match.table)}"
    return f"{', '.join(match.teams)}: {where}"
