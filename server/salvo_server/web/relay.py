"""From the broker to every browser: one connection in, pictures of the tables out.

A thread of its own keeps the connection and reads messages; all else happens on the event loop. A channel keeps the
newest picture only, so a browser that is slow misses pictures and delays nobody, and nothing queues up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from salvo import messages as m
from salvo import topics
from salvo.errors import ConnectionLost, WireError
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.topics import Reader
from salvo_server.spectate.screen_users import ScreenUsers
from salvo_server.web.chances import chances
from salvo_server.web.tables import BOARDS_SECONDS, PLAY_OUT_SECONDS, Fact, Forget, Heard, Table, read

#: Tables that are followed; on an open broker any client may make some up.
MAX_TABLES: Final = 1000
#: Between two pictures of a table: bots without a pace fire hundreds of salvos a second, and nobody sees that.
PICTURE_SECONDS: Final = 0.12
#: Between two overviews of all tables.
OVERVIEW_SECONDS: Final = 1.0
#: A stream that has nothing to tell says so: to proxies between, and to the page, which else takes it for lost.
ALIVE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 1.0


class Channel:
    """The newest frame of a stream, for any number of browsers.

    Attributes:
        watchers: how many follow it.
    """

    def __init__(self) -> None:
        self.watchers = 0
        self._frame = b""
        self._count = 0
        self._next: asyncio.Future[None] | None = None
        self._alive: asyncio.TimerHandle  # ends it, if no frame does

    def send(self, frame: bytes) -> None:
        """Replace the frame, and wake everybody who waits for one."""
        self._frame = frame
        self._count += 1
        self._wake()

    def _wake(self) -> None:
        if self._next is not None:
            self._alive.cancel()
            self._next.set_result(None)
        self._next = None

    def _woken(self) -> asyncio.Future[None]:
        """Return what is done with the next frame, or when it is time to tell that there is none: a timer for all."""
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            self._alive = loop.call_later(ALIVE_SECONDS, self._wake)
        return asyncio.shield(self._next)

    async def follow(self, first: bytes) -> AsyncIterator[bytes]:
        """Yield frames for as long as a browser listens, beginning with one of its own."""
        self.watchers += 1
        try:
            sent = self._count
            yield first
            while True:
                if sent == self._count:
                    await self._woken()
                frame = b"event: alive\ndata:\n\n" if sent == self._count else self._frame
                sent = self._count  # by now: what comes while a slow browser takes this frame is news to it
                yield frame
        finally:
            self.watchers -= 1


def frame_of(value: object) -> bytes:
    """Return a value as an event of a stream."""
    return b"data: " + json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


class Relay:
    """Follows all tables of a broker.

    Attributes:
        tables: by name, ``""`` for the default one.
        reached: whether the broker is there.
    """

    def __init__(
        self,
        connection: Connection,
        users: ScreenUsers,
        *,
        boards: bool,
        delay_seconds: float,
        players: int | None = None,
    ) -> None:
        """Prepare; :meth:`run` connects.

        Args:
            boards: whether the account is a referee's.
            delay_seconds: how late the server shows the boards.
            players: how many teams a game starts with, where the server waits for so many.
        """
        self._players = players
        self.tables: dict[str, Table] = {}
        self.reached = False
        self._connection, self._users = connection, users
        self._boards, self._delay = boards, delay_seconds
        self._statuses: dict[str, m.ServerStatus] = {}
        self._standings: tuple[m.Standing, ...] = ()  # of the evening, as they are shown
        self._standings_heard = self._standings_shown = 0
        self._channels: dict[str, Channel] = {}
        self._overview = Channel()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._drawn: dict[str, float] = {}  # when the last picture of a table was sent
        self._overview_timer: asyncio.TimerHandle | None = None
        self._thinking = False
        self._stop = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._known: set[str] = set()  # tables that are followed; the thread's own
        connection.on_connect = self._connected

    # --- the connection's thread ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow the broker until :meth:`stop`.

        Raises:
            ConnectionLost: what no retry cures.
        """
        self._loop = asyncio.get_running_loop()
        try:
            await asyncio.to_thread(self._listen)
        finally:
            self._connection.close()

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stop.set()
        self._connection.wake()

    def _listen(self) -> None:
        reached = False
        while not self._stop.is_set():
            try:
                arrived = self._connection.poll(_POLL_SECONDS)
            except ConnectionLost as error:
                self._connection.change_user(self._users.go_on(error, self._loop.time()))
                continue
            heard = [each for message in arrived if (each := self._read(message)) is not None]
            for message in arrived:
                self._connection.acknowledge(message)
            if heard:
                self._call(self._take, heard)
            if self._connection.connected != reached:
                reached = self._connection.connected
                self._call(self._reach, reached)

    def _call(self, what: Any, *given: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *given)

    def _connected(self, session_present: bool) -> None:
        self._known = set()
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
        public.sort(key=lambda topic: topic is topics.WINNER)  # last: the places are known by then
        wanted = [*public, topics.CHAT, *([topics.REFEREE] if self._boards else [])]
        # A broker bounds a client's filters, and there may be hundreds of tables.
        self._connection.subscribe([f"{place}{topic.filter()}" for topic in wanted for place in ("", "/+")])
        self._call(self._forget)

    def _read(self, message: Inbound) -> tuple[str, Heard | m.ServerStatus | None] | None:
        """Return a message's table and what it says; None for what is not read."""
        said = read(message)
        if said is None:
            return None
        address, what = said
        if address.table not in self._known and len(self._known) >= MAX_TABLES:
            return None
        self._known.add(address.table)
        return address.table, what

    # --- the loop -------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        now = self._loop.time()
        self._statuses.clear()
        self._hear_standings(None, 0.0)
        for table in self.tables.values():
            table.hear(Heard(Forget()), now)

    def _reach(self, reached: bool) -> None:
        self.reached = reached
        for name in self.tables:
            self._draw(name)

    def _take(self, heard: Sequence[tuple[str, Heard | m.ServerStatus | None]]) -> None:
        now = self._loop.time()
        touched = set()
        for name, what in heard:
            if isinstance(what, Heard) and isinstance(what.what, m.StandingsShown):
                self._hear_standings(what.what, 0.0 if what.retained else self._results_late)
                continue
            if isinstance(what, Heard) and isinstance(what.what, Fact) and what.what.topic is topics.STANDINGS:
                self._hear_standings(None, 0.0)
                continue
            table = self.tables.get(name)
            if table is None:
                table = self.tables[name] = Table(
                    name, boards=self._boards and bool(self._delay), delay_seconds=self._delay, players=self._players
                )
            if isinstance(what, Heard):
                table.hear(what, now)
            elif what is None:
                self._statuses.pop(name, None)
            else:
                self._statuses[name] = what
            touched.add(name)
        for name in touched:
            self.tables[name].advance(now)
            self._draw(name)

    @property
    def _results_late(self) -> float:
        """How many seconds after its end a game is over on every page."""
        return self._delay + PLAY_OUT_SECONDS + BOARDS_SECONDS if self._boards and self._delay else 0.0

    def _hear_standings(self, shown: m.StandingsShown | None, late_seconds: float) -> None:
        """Show the standings of the evening, but no result before its table does."""
        self._standings_heard += 1
        rows = () if shown is None else shown.evening.rows
        self._loop.call_later(late_seconds, self._show_standings, self._standings_heard, rows)

    def _show_standings(self, number: int, rows: tuple[m.Standing, ...]) -> None:
        if number < self._standings_shown:  # newer ones were not held, after a new connection
            return
        self._standings, self._standings_shown = rows, number
        for name in self.tables:
            self._draw(name)

    def _draw(self, name: str) -> None:
        """Send a picture soon, once for all that comes together; then look when more is due."""
        if name in self._timers:
            return
        now = self._loop.time()
        at = max(now + 0.02, self._drawn.get(name, 0.0) + PICTURE_SECONDS)
        self._timers[name] = self._loop.call_at(at, self._drawn_now, name)

    def _drawn_now(self, name: str) -> None:
        del self._timers[name]
        table, now = self.tables[name], self._loop.time()
        self._drawn[name] = now
        table.advance(now)
        channel = self._channels.get(name)
        if channel is not None and channel.watchers:
            channel.send(frame_of(self.picture(name)))
            self._think(table)
        if self._overview.watchers and self._overview_timer is None:
            self._overview_timer = self._loop.call_later(OVERVIEW_SECONDS, self._send_overview)
        due = table.next_due()
        if due is not None and name not in self._timers:
            self._timers[name] = self._loop.call_at(max(due, now + PICTURE_SECONDS), self._drawn_now, name)

    def _send_overview(self) -> None:
        self._overview_timer = None
        self._overview.send(frame_of(self.overview()))

    def _think(self, table: Table) -> None:
        """Work out the chances on another thread, a table at a time; where that is too slow, some salvos have none."""
        race = None if self._thinking else table.race()
        last = table.game.chances
        if race is None or (last is not None and (last.game, last.turn) == (race.game, race.turn)):
            return
        self._thinking = True
        task = self._loop.run_in_executor(None, chances, race)
        task.add_done_callback(lambda done: self._thought(table, done))

    def _thought(self, table: Table, done: asyncio.Future[Any]) -> None:
        self._thinking = False
        if done.cancelled() or done.exception() is not None:
            return
        if done.result().game == table.game.number:
            table.game.chances = done.result()
            self._draw(table.name)

    # --- what browsers ask for ------------------------------------------------------------------------------------

    def trouble(self, name: str) -> str:
        """Return what is wrong, as one word; empty if nothing is."""
        table = self.tables.get(name)
        own = self._statuses.get(name)
        status = self._statuses.get(_table_of(own.status_topic)) if own is not None and own.status_topic else own
        if not self.reached:
            return "broker"
        if table is None or (status is None and not table.state):
            return "nothing"
        if status is not None and status.paused:
            return "paused"
        return "" if status is None or status.online else "server"

    def picture(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a table, also of one that nothing is known of."""
        table = self.tables.get(name) or Table(name)
        states = [[each.name, each.state] for each in self._shown()]
        return {**table.picture(self._loop.time(), self._standings), "tables": states, "trouble": self.trouble(name)}

    def overview(self) -> dict[str, Any]:
        """Return what the page of all tables shows."""
        return {"tables": [table.summary() for table in self._shown()], "trouble": "" if self.reached else "broker"}

    def _shown(self) -> list[Table]:
        tables = [table for table in self.tables.values() if table.state]
        return sorted(tables, key=lambda table: (len(table.name), table.name))

    async def follow(self, name: str | None) -> AsyncIterator[bytes]:
        """Yield the frames of a table; of all tables with None."""
        channel = self._overview if name is None else self._channels.setdefault(name, Channel())
        try:
            async for frame in channel.follow(frame_of(self.overview() if name is None else self.picture(name))):
                yield frame
        finally:
            if name is not None and not channel.watchers:
                self._channels.pop(name, None)


def _table_of(status_topic: str) -> str:
    try:
        return topics.parse(status_topic).table
    except WireError:
        return ""
