"""A table as everybody may see it, live: news in lines and as records for programs, and a page for a terminal.

A watcher renders what :class:`~salvo.table_state.TableState` knows of the table. Boards are on the pages of the hall.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo.cli.output import places_line
from salvo.codec.announcements import HOSTED, RESULT
from salvo.codec.published import read_published
from salvo.errors import MissingExtra, printable
from salvo.join.fairness.proof_connection import ProofConnection
from salvo.net.inbound import Inbound
from salvo.rules import Sinkings
from salvo.table_state import (
    Change,
    EndSeen,
    Fact,
    ListChanged,
    NewConnection,
    SalvoCounted,
    ServerStatuses,
    StateMoved,
    TableState,
    TurnClock,
)
from salvo.wire import topics
from salvo.wire.topics import Reader
from salvo_display.boards.text_boards import OUT
from salvo_display.replay_text import won_line

try:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError:
    raise MissingExtra("the live view", "terminal") from None

#: Lines of news below the players.
_NEWS_LINES: Final = 6
#: And what players say, below the news, so that it pushes none of them away.
_CHAT_LINES: Final = 4
#: Retained messages come at once; after silence for this long the watcher reports what is probably wrong.
PATIENCE_SECONDS: Final = 5.0


class News(NamedTuple):
    """What is new: a line for people, empty where another one reports the same later, and a record for programs."""

    line: str
    record: dict[str, Any]


class PlayerFigures(NamedTuple):
    """What is public about a player.

    Attributes:
        ships: whether each is afloat, by its name; empty if the rules do not reveal that.
        last: hits of the last salvo, such as ``2 of 5``.
        partial: whether shots and hits leave out earlier turns.
    """

    ships: dict[str, bool]
    shots: int
    hits: int
    last: str
    out: bool
    partial: bool


def _chat_line(line: m.ChatPublished | m.MessagePublished) -> News:
    private = isinstance(line, m.MessagePublished)
    text = f"{line.sender or 'the server'} says{' to us' * private}: {line.text}"
    return News(text, {"event": "chat", "from": line.sender, "text": line.text, "private": private})


class Watcher:
    """Follows a table from its public topics.

    Attributes:
        games_ended: how many winners were announced.
        seen: what is known of the table.
    """

    def __init__(self, connection: ProofConnection, table: str) -> None:
        """Subscribe to the topics at every connection; nothing is sent before the first :meth:`poll`."""
        self.games_ended = 0
        self.table = table
        self.seen = TableState()
        self._connection = connection
        self._clock = TurnClock(time.time() - time.monotonic())
        self._news: deque[str] = deque(maxlen=_NEWS_LINES)
        self._chat: deque[str] = deque(maxlen=_CHAT_LINES)
        self._quiet_since: float | None = None
        self._known = False
        self._presence = ""
        self._statuses = ServerStatuses()
        self._status_topic = ""
        self._user = ""  # to be reported when the broker has admitted it
        self._admitted: list[News] = []
        connection.on_connect = self._connected

    def filters(self) -> list[str]:
        """Return what is subscribed."""
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
        # Last: a watcher that comes after a game knows the places by then.
        public.sort(key=lambda topic: topic is topics.WINNER)
        own = [topic.filter(self.table) for topic in (*public, topics.CHAT)]
        return [*own, self._status_topic] if self._status_topic else own

    def _connected(self, session_present: bool) -> None:
        self._quiet_since = time.monotonic()
        self.seen.apply(NewConnection())
        self._connection.subscribe(self.filters())
        if self._user:
            user, self._user = self._user, ""
            self._admitted.append(News(f"watching as {user} now", {"event": "user", "user": user}))

    def poll(self, timeout_seconds: float) -> list[News]:
        """Return what is new."""
        arrived = self._connection.poll(timeout_seconds)
        news, self._admitted = self._admitted, []
        for message in arrived:
            self._connection.acknowledge(message)
            news += self._receive(message)
        news += self._warnings()
        # On an open broker any client may publish anything, even what moves a terminal's cursor.
        news = [News(printable(item.line), item.record) for item in news]
        for item in news:
            if item.line:
                (self._chat if item.record["event"] == "chat" else self._news).append(item.line)
        return news

    def change_user(self, user: str) -> None:
        """Watch as another user of the same account; nothing is forgotten."""
        self._connection.change_user(user)
        self._user = user

    def note(self, text: str) -> None:
        """Show among the news what is not an event of the table."""
        self._news.append(printable(text))

    def close(self) -> str:
        """Disconnect; return whether the proof is whole, where one is written."""
        proof = self._connection.finish_proof(self.games_ended)
        self._connection.close()
        return proof

    def _receive(self, message: Inbound) -> list[News]:
        published = read_published(message.topic, message.payload)
        if published is None:
            return []
        address, announcement = published
        match announcement:
            case None:
                return self._apply(Fact(address, message.payload != b""))
            case m.ChatPublished() | m.MessagePublished():
                return [] if message.retain else [_chat_line(announcement)]
            case m.ServerStatus():
                return self._server(announcement, address.table)
            case m.HostActed() if not message.retain:
                self._apply(announcement)
                return [News(str(announcement), {"event": "host", **HOSTED.value(announcement)})]
            case m.TurnBegan():
                self._clock.begin(announcement, time.monotonic(), retained=message.retain)
            case _:
                pass
        self._known = True
        return self._apply(announcement)

    # --- what is probably wrong ---------------------------------------------------------------------------------

    def _warnings(self) -> list[News]:
        if self._quiet_since is None or time.monotonic() < self._quiet_since + PATIENCE_SECONDS:
            return []
        self._quiet_since = None
        if self._known:
            return []
        where = f"table {self.table!r}" if self.table else "the default table"
        text = (
            f"nothing is known of {where} here: no server is on this broker, it has no such table, "
            "or this account may not read its topics"
        )
        return [News(text, {"event": "notice", "text": text})]

    # --- news -----------------------------------------------------------------------------------------------------

    def _apply(self, news: m.Announcement | Fact) -> list[News]:
        return [item for change in self.seen.apply(news) for item in self._render(change)]

    def _render(self, change: Change) -> list[News]:
        """Return a change of the table as news."""
        match change:
            case StateMoved(state):
                return [News(f"state {state}", {"event": "state", "state": state})]
            case ListChanged(names):
                names = tuple(map(printable, names))
                return [News(f"players: {', '.join(names) or 'none'}", {"event": "players", "names": names})]
            case SalvoCounted(result):
                line = f"turn {result.turn}: {result.player} hits {_hits(result)}"
                line += "".join(f"; {ship.player}'s {ship.ship} sunk" for ship in result.sunk)
                line += "".join(f"; {name} {OUT[fate]}" for name, fate in change.fates.items())
                return [News(line, {"event": "salvo", **RESULT.value(result)})]
            case EndSeen(won):
                return [self._end(won)]
            case _:
                return []

    def _end(self, won: m.GameWon) -> News:
        self.games_ended += 1
        places = self.seen.game.places
        record: dict[str, Any] = {"event": "won", "winner": won.winner, "places": places}
        record |= {"tied": list(won.tied)} if won.tied else {}
        order = f"; places: {places_line(places)}" if places else ""
        return News(f"{won_line(won.winner, won.tied)}{order}", record)

    def _server(self, status: m.ServerStatus, table: str) -> list[News]:
        """Report whether the server is there, if that has changed."""
        self._known = True
        self._statuses.receive(table, status)
        holder = self._statuses.holder(self.table)
        if holder is not None and holder != self.table and topics.SERVER.of(holder) != self._status_topic:
            self._status_topic = topics.SERVER.of(holder)
            self._connection.subscribe([self._status_topic])
        known = self._statuses.of(self.table)
        if known is None or known.presence == self._presence:
            return []
        self._presence = known.presence
        paused = {"paused": True} if known.paused else {}
        return [News(f"server {known.presence}", {"event": "server", "online": known.online} | paused)]

    # --- the page -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The players, in play order, as a terminal may show them."""
        return tuple(map(printable, self.seen.names))

    @property
    def figures(self) -> dict[str, PlayerFigures]:
        """What is known of each player, in play order."""
        return {name: self._figures(name) for name in self.names}

    def _figures(self, name: str) -> PlayerFigures:
        game, book = self.seen.game, self.seen.book
        tally, stats = game.tallies.get(name), game.stats.get(name)
        figures = stats or tally
        shots, hits = (figures.shots, figures.hits) if figures is not None else (0, 0)
        fleet = book.fleet if book.sinkings is Sinkings.TOLD else ()
        ships = {ship.name: (name, ship.name) not in game.sunk for ship in fleet}
        last = _hits(tally.last) if tally is not None else ""
        return PlayerFigures(ships, shots, hits, last, name in game.out, not game.whole and stats is None)

    @property
    def current(self) -> str:
        """Whose turn it is."""
        return self.seen.playing.player if self.seen.playing is not None else ""

    def page(self) -> Any:
        """Return the picture of the moment."""
        heading, news = printable(self.heading()), "\n".join([*self._news, *self._chat])
        return Group(Text(heading, style="bold"), self._table(), Text(news, style="dim"))

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2))
        for head in ("", "player", "afloat", "sunk", "shots", "hits", "last salvo"):
            table.add_column(head, justify="right" if head in ("shots", "hits") else "left")
        for name, one in self.figures.items():
            sunk = [ship for ship, floats in one.ships.items() if not floats]
            mark = "☠" if one.out else "▶" if name == self.current else ""
            more = "+" if one.partial else ""
            cells = (
                "▮" * sum(one.ships.values()),
                ", ".join(sunk),
                f"{one.shots}{more}",
                f"{one.hits}{more}",
                one.last,
            )
            table.add_row(mark, name, *cells, style="dim" if one.out else "bold green" if name == self.current else "")
        return table

    def heading(self) -> str:
        """Return where this is and how long the turn still is."""
        table, turn = f" table {self.table}" if self.table else "", self.seen.playing
        line = f"{self._connection.url}{table}   {self.seen.state or 'waiting for a server'}"
        if turn is not None:
            left = f"has {max(0.0, self._clock.ends - time.monotonic()):.0f} s"
            if self.seen.game.last_turn >= turn.turn:  # a pause (SALVO-PACE-1)
                left = "has had its turn"
            status = self._statuses.of(self.table)
            if status is not None and status.paused:  # no turn ends meanwhile (SALVO-BACK-3)
                left = f"waits, the server is {status.presence}"
            line += f"   game {turn.game}, turn {turn.turn}: {turn.player} {left}"
        return line


def _hits(result: m.SalvoResolved) -> str:
    return f"{result.hits} of {result.shots}"
