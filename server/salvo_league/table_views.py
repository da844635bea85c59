"""The state of a league's tables, from public topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from salvo import messages as m
from salvo.messages import State
from salvo.table_state import Fact, NewConnection, ServerStatuses, TableState
from salvo.wire import topics

#: Topics that a league reads at every table; the standings, of all of them, are at the default one. They come first:
#: what was annulled is then known before anything follows from the state of a table.
FOLLOWED: Final = (
    topics.STANDINGS,
    topics.SERVER,
    topics.RULES,
    topics.STATE,
    topics.LIST,
    topics.APPROVED,
    topics.STATS,
    topics.RESULT,
    topics.WINNER,
    topics.HOSTED,
    topics.LEAGUE,
)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table at this moment.

    Attributes:
        here: whether the server is present, and can act.
        game: 0 until it is known.
        complete: those whose whole fleet is approved.
        winners: None until there is a result; empty after a game that a host has aborted.
        resolved: game and turn of the last salvo.
        over_seconds: how long its result will stand; 0 until it is known.
        rules: the name of its ruleset; empty until it is known.
        evening: what is on, at the default table; None until it is known.
        hosted: what a host did last since the game's lobby opened.
        annulled: the host that has annulled it, by game.
        refused: the answer to a host's command, if nothing was done since.
        received_at: when the last message arrived, in seconds that never go back.
    """

    here: bool = False
    game: int = 0
    state: State | None = None
    listed: tuple[str, ...] = ()
    complete: frozenset[str] = frozenset()
    winners: tuple[str, ...] | None = None
    stats: Mapping[str, m.PlayerStats] = field(default_factory=dict)
    resolved: tuple[int, int] = (0, 0)
    over_seconds: int = 0
    hosted: m.HostActed | None = None
    annulled: Mapping[int, str] = field(default_factory=dict)
    refused: m.CommandRefused | None = None
    received_at: float = 0.0
    rules: str = ""
    evening: m.EveningShown | None = None


class Views:
    """All of a league's tables."""

    def __init__(self, tables: Iterable[str]) -> None:
        self._tables = {name: _Followed() for name in tables}
        self._statuses = ServerStatuses()

    def filters(self) -> list[str]:
        """Return the topics to subscribe to."""
        return [topic.filter(table) for table in self._tables for topic in FOLLOWED]

    def connected(self) -> None:
        """Forget what is retained: all of it arrives again."""
        self._statuses.clear()
        for table in self._tables.values():
            table.connected()

    def receive(self, address: topics.Address, announcement: m.Announcement | None, now: float) -> None:
        """Apply what everybody may know of a table, or that a topic is cleared (None)."""
        if isinstance(announcement, m.StandingsShown):
            for game in (*announcement.evening.uncounted, *announcement.overall.uncounted):
                if game.by and game.table in self._tables:
                    self._tables[game.table].annulled[game.game] = game.by
            return
        table = self._tables.get(address.table)
        if table is None:
            return
        if address.topic is topics.SERVER:
            self._statuses.receive(address.table, announcement if isinstance(announcement, m.ServerStatus) else None)
        table.receive(Fact(address) if announcement is None else announcement, now)

    def refuse(self, table: str, refused: m.CommandRefused) -> None:
        """Note that a command of ours was refused."""
        self._tables[table].refused = refused

    def all(self) -> dict[str, TableView]:
        """Return what is known, by table."""
        return {name: table.view(self._is_here(name)) for name, table in self._tables.items()}

    def _is_here(self, name: str) -> bool:
        status = self._statuses.of(name)
        return status is not None and status.online and not status.paused


class _Followed:
    """A table, and what only its host needs to know."""

    def __init__(self) -> None:
        self.seen = TableState()
        self.annulled: dict[int, str] = {}
        self.refused: m.CommandRefused | None = None
        self.evening: m.EveningShown | None = None
        self._received_at = 0.0

    def connected(self) -> None:
        self.seen.apply(NewConnection())
        self.annulled, self.refused, self.evening = {}, None, None

    def receive(self, news: m.Announcement | Fact, now: float) -> None:
        if isinstance(news, m.EveningShown):  # of no table, so that it puts off no result
            self.evening = news
            return
        self._received_at = now
        hosted = self.seen.hosted
        self.seen.apply(news)
        if self.seen.hosted is not hosted:
            self.refused = None
        if isinstance(news, m.HostActed) and news.do is m.HostAction.ANNUL and news.game is not None:
            self.annulled[news.game] = news.by

    def view(self, here: bool) -> TableView:
        seen, game = self.seen, self.seen.game
        number = 0 if seen.status is None else seen.status.game
        return TableView(
            here=here and number > 0 and seen.state is not None,
            game=number,
            state=seen.state,
            listed=seen.names,
            complete=seen.complete,
            winners=None if game.won is None else game.won.winners,
            stats=dict(game.stats),
            resolved=(0, 0) if game.result is None else (game.result.game, game.result.turn),
            over_seconds=0 if seen.rules is None else seen.rules.over_seconds,
            rules="" if seen.rules is None else seen.rules.book.name,
            hosted=seen.hosted,
            annulled=dict(self.annulled),
            refused=self.refused,
            received_at=self._received_at,
            evening=self.evening,
        )
