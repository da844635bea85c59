"""What is known of a table, from what everybody may read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from salvo import messages as m
from salvo import topics
from salvo.codec.commands import plain_ship
from salvo.messages import State

#: Topics that a league reads at every table; the standings, of all of them, are at the default one. They come first:
#: what was annulled is then known before anything follows from the state of a table.
HEARD: Final = (
    topics.STANDINGS,
    topics.SERVER,
    topics.RULES,
    topics.STATE,
    topics.LIST,
    topics.APPROVED,
    topics.STATS,
    topics.RESULT,
    topics.WINNER,
)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table at this moment.

    Attributes:
        here: whether the server is there, and can act.
        game: 0 until it is known.
        complete: those whose whole fleet is approved.
        winners: None until there is a result; empty after a game that a host has aborted.
        resolved: game and turn of the last salvo.
        over_seconds: how long its result will stand; 0 until it is known.
        placement_seconds: the time to place a fleet; 0 until it is known.
        rules: the name of its ruleset; empty until it is known.
        hosted: what a host did last since the game's lobby opened.
        annulled: the host that has annulled it, by game.
        refused: the answer to a host's command, if nothing was done since.
        heard: when something was heard last, in seconds that never go back.
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
    heard: float = 0.0
    placement_seconds: int = 0
    rules: str = ""


class Views:
    """All of a league's tables."""

    def __init__(self, tables: Iterable[str]) -> None:
        self._tables = {name: _Table() for name in tables}
        self._online: dict[str, bool] = {}  # by topic of a status

    def filters(self) -> list[str]:
        """Return the topics to subscribe to."""
        heard = (*HEARD, topics.HOSTED)
        return [topic.filter(table) for table in self._tables for topic in heard]

    def connected(self) -> None:
        """Forget everything: all that is retained comes again."""
        self._tables = {name: _Table() for name in self._tables}
        self._online.clear()

    def hear(self, address: topics.Address, said: m.Announcement | None, now: float) -> None:
        """Take in what everybody may know of a table, or that it is no longer so."""
        if isinstance(said, m.StandingsShown):
            for each in (*said.evening.uncounted, *said.overall.uncounted):
                if each.by and each.table in self._tables:
                    self._tables[each.table].annul(each.game, each.by)
            return
        table = self._tables.get(address.table)
        if table is None:
            return
        table.heard = now
        if isinstance(said, m.ServerStatus):
            table.status = said
            if not said.status_topic:
                self._online[topics.SERVER.of(address.table)] = said.online and not said.paused
            return
        table.hear(address, said)

    def refuse(self, table: str, refused: m.CommandRefused) -> None:
        """Take in that a command of ours was refused."""
        self._tables[table].refuse(refused)

    def all(self) -> dict[str, TableView]:
        """Return what is known, by table."""
        return {name: table.view(self._is_here(name)) for name, table in self._tables.items()}

    def _is_here(self, name: str) -> bool:
        status = self._tables[name].status
        if status is None:
            return False
        return self._online.get(status.status_topic or topics.SERVER.of(name), False)


class _Table:
    def __init__(self) -> None:
        self.status: m.ServerStatus | None = None
        self.heard = 0.0
        self._view = TableView()
        self._fleet = 0  # ships of a whole one
        self._approved: dict[str, set[str]] = {}

    def hear(self, address: topics.Address, said: m.Announcement | None) -> None:
        """Take in what everybody may know, or that it is no longer so."""
        reader = _READERS.get(address.topic)
        if reader is not None:
            self._view = reader(self._view, address, said)
            if isinstance(said, m.HostActed) and said.do is m.HostAction.ANNUL and said.game is not None:
                self.annul(said.game, said.by)
        elif address.topic is topics.RULES and isinstance(said, m.RulesAnnounced):
            self._fleet = len(said.book.fleet)
            self._view = replace(
                self._view,
                over_seconds=said.over_seconds,
                placement_seconds=said.placement_seconds,
                rules=said.book.name,
            )
        elif address.topic is topics.APPROVED:
            ships = self._approved.setdefault(address.player, set())
            ship = plain_ship(address.ship)
            if isinstance(said, m.PlacementJudged) and said.approved:
                ships.add(ship)
            else:
                ships.discard(ship)

    def annul(self, game: int, by: str) -> None:
        """Note that a host has annulled a game."""
        self._view = replace(self._view, annulled={**self._view.annulled, game: by})

    def refuse(self, refused: m.CommandRefused) -> None:
        """Take in that a command of ours was refused."""
        self._view = replace(self._view, refused=refused)

    def view(self, here: bool) -> TableView:
        """Return it as others see it."""
        whole = frozenset(name for name, ships in self._approved.items() if len(ships) >= self._fleet > 0)
        game = 0 if self.status is None else self.status.game
        complete = whole & set(self._view.listed)
        known = here and game > 0 and self._view.state is not None
        return replace(self._view, here=known, game=game, complete=complete, heard=self.heard)


def _listed(view: TableView, _: topics.Address, said: m.Announcement | None) -> TableView:
    return replace(view, listed=said.names if isinstance(said, m.PlayersListed) else ())


def _state(view: TableView, _: topics.Address, said: m.Announcement | None) -> TableView:
    return replace(view, state=said.state if isinstance(said, m.StateChanged) else None)


def _winner(view: TableView, _: topics.Address, said: m.Announcement | None) -> TableView:
    return replace(view, winners=said.winners if isinstance(said, m.GameWon) else None)


def _stats(view: TableView, address: topics.Address, said: m.Announcement | None) -> TableView:
    stats = {name: one for name, one in view.stats.items() if name != address.player}
    return replace(view, stats=stats | ({said.player: said} if isinstance(said, m.PlayerStats) else {}))


def _result(view: TableView, _: topics.Address, said: m.Announcement | None) -> TableView:
    return replace(view, resolved=(said.game, said.turn) if isinstance(said, m.SalvoResolved) else (0, 0))


def _hosted(view: TableView, _: topics.Address, said: m.Announcement | None) -> TableView:
    return replace(view, hosted=said if isinstance(said, m.HostActed) else None, refused=None)


_READERS: Final[dict[topics.Topic, Callable[[TableView, topics.Address, m.Announcement | None], TableView]]] = {
    topics.LIST: _listed,
    topics.STATE: _state,
    topics.WINNER: _winner,
    topics.STATS: _stats,
    topics.RESULT: _result,
    topics.HOSTED: _hosted,
}
