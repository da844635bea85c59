"""What a host knows of all tables, and what the page shows of it, JSON-ready.

Only what is public is known here: a program's error stays on its own machine. What shows that one fails is that its
turns end without a shot, at once when it gives them up, or after their whole time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from salvo import messages as m
from salvo import topics
from salvo.messages import State
from salvo.table_places import MAX_TABLES, place_name
from salvo.table_state import (
    Fact,
    GameForgotten,
    NewConnection,
    SalvoCounted,
    StateMoved,
    TableState,
    TurnClock,
    TurnLength,
)
from salvo.topics import Address
from salvo_display.boards.text_boards import OUT
from salvo_server.console.commands import Offer, offers
from salvo_server.game_lengths import TimeLeft, time_left_at
from salvo_server.headlines import headline

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

    def picture(self) -> dict[str, Any]:
        """Return what is shown of the table."""
        state, left = self.state, time_left_at(self.state)
        return {
            "table": self.name,
            "state": state.state or "",
            "headline": headline(state) if state.state is not None else "",
            "online": state.status is None or state.status.online,
            "left": "" if left is None else str(left),
            "ends": None if state.playing is None or state.paused else round(self._clock.ends * 1000),
            "teams": [self._team(name, self._teams[name]) for name in state.names],
            "commands": [offer._asdict() for offer in self.offers],
        }

    @property
    def offers(self) -> list[Offer]:
        """What a host may do here."""
        return offers(self.state)

    def _team(self, name: str, team: _Team) -> dict[str, Any]:
        state = self.state
        what, text, since = "here", "", None
        if state.state is State.LOBBY and name not in state.complete:
            placed = len(state.approved.get(name, ()))
            what, text, since = "late", f"{placed} of {len(state.book.fleet)} ships placed", round(team.since * 1000)
        elif state.state is State.LOBBY:
            text = "all ships placed"
        elif name in state.game.out:
            what, text = "out", OUT[state.game.fates[name]] if name in state.game.fates else ""
        elif team.silent:
            what, text = "failing", self._failing(team)
        if state.playing is not None and state.playing.player == name and state.playing.turn > state.game.last_turn:
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


class Evening:
    """All tables of a server.

    Attributes:
        tables: by name.
        lines: what hosts did, and what was refused, the newest last.
        league: that is played here; None for none.
        reached: whether the broker is there.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin without a table; ``clock`` gives seconds."""
        self.tables: dict[str, HostedTable] = {}
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.league: m.LeagueShown | None = None
        self.reached = False
        self._clock = clock

    def connect(self) -> None:
        """Note that all that is retained arrives again."""
        self.league = None
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
            self.league = announcement if isinstance(announcement, m.LeagueShown) else None
            return
        where = f"table {address.table}: " if address.table else ""
        if isinstance(announcement, m.CommandRefused):
            self.lines.append(f"{where}refused: {announcement.text}")
            return
        if isinstance(announcement, m.HostActed) and not retained:
            self.lines.append(f"{where}{announcement}")
        news = announcement if announcement is not None else Fact(address, payload)
        table.receive(news, self._clock(), retained=retained)

    @property
    def trouble(self) -> str:
        """What is wrong, for people; empty when nothing is."""
        if not self.reached:
            return "The broker does not answer. What you see is the last that was received."
        statuses = [table.state.status for table in self.tables.values() if table.state.status is not None]
        if any(status.profile == "open" for status in statuses):
            return "This contest is open, where nobody can be a host: start the server with --profile contest."
        offline = any(not status.online for status in statuses)
        return "The server is offline. Games go on where they were as soon as it is back." if offline else ""

    def picture(self) -> dict[str, Any]:
        """Return what the page shows."""
        return {
            "trouble": self.trouble,
            "tables": [self.tables[name].picture() for name in self._shown()],
            "league": [] if self.league is None else _league_lines(self.league),
            "lines": list(self.lines),
        }

    def _shown(self) -> Iterator[str]:
        """Yield the tables that there are, the default table first."""
        return (name for name in sorted(self.tables) if self.tables[name].state.state is not None)


def _league_lines(league: m.LeagueShown) -> list[str]:
    """Return how a league stands: its name, how long it will take, its matches, and its first three."""
    rounds = f" of {league.rounds}" if league.rounds else ""
    state = (
        "over" if league.over else f"round {league.round}{rounds}" if league.round else "begins when the teams are here"
    )
    left = f", {TimeLeft(league.left, league.left)} for the evening" if league.left else ""
    first = [f"{row.place}. {row.team}, {row.points / 1000:g} points" for row in league.rows[:3]]
    return [f"{league.name}: {state}{left}", *map(_match_line, () if league.over else league.matches), *first]


def _match_line(match: m.LeagueMatch) -> str:
    if len(match.teams) == 1:
        return f"{match.teams[0]} has a bye"
    if match.places:
        ranks = sorted(zip(match.places, match.teams, strict=False))
        return f"played: {', '.join(f'{place}. {team}' for place, team in ranks)}"
    where = "waits for a table" if match.table is None else f"at {place_name(match.table)}"
    return f"{', '.join(match.teams)}: {where}"
