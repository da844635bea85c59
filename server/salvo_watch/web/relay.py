"""From the broker, or several, to every browser: one connection in from each, pictures of the tables out.

A thread for each connection keeps it and reads messages; all else happens on the event loop. A channel keeps the newest
picture only, so a browser that is slow misses pictures and delays nobody, and nothing queues up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from salvo import messages as m
from salvo import topics
from salvo.errors import WireError
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.table_state import Fact, NewConnection
from salvo.topics import Reader
from salvo_display.web_page.badges import Badges
from salvo_server.screen_users import ScreenUsers
from salvo_server.table_places import MAX_TABLES, cell_of, place_of, table_of
from salvo_watch.web.chances import chances
from salvo_watch.web.chunks import Chunks
from salvo_watch.web.league import league_picture
from salvo_watch.web.tables import BOARDS_SECONDS, PLAY_OUT_SECONDS, Arrived, Table, read

#: Between two pictures of a table: bots without a pace fire hundreds of salvos a second, and nobody sees that.
PICTURE_SECONDS: Final = 0.12
#: Between two overviews of all tables.
OVERVIEW_SECONDS: Final = 1.0
#: A stream that has nothing to tell says so: to proxies between, and to the page, which else takes it for lost.
ALIVE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 1.0
_Value = TypeVar("_Value")


class Channel:
    """The newest frame of a stream, for any number of browsers.

    Attributes:
        watchers: how many browsers have a stream of it.
        chunks: the same pictures, for browsers behind a cache.
    """

    def __init__(self) -> None:
        self.watchers = 0
        self.chunks = Chunks()
        self._frame = b""
        self._count = 0
        self._next: asyncio.Future[None] | None = None
        self._alive: asyncio.TimerHandle  # ends it, if no frame does

    @property
    def followed(self) -> bool:
        """Whether anybody sees what is sent."""
        return self.watchers > 0 or self.chunks.followed

    def send(self, picture: object) -> None:
        """Replace the frame by one of this picture, and wake everybody who waits for one."""
        value = json_of(picture)
        self._frame = frame_of(value)
        if self.chunks.followed:
            self.chunks.add(value)
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


def json_of(picture: object) -> bytes:
    """Return a picture as JSON, on one line."""
    return json.dumps(picture, separators=(",", ":"), ensure_ascii=False).encode()


def frame_of(value: bytes) -> bytes:
    """Return a JSON value as an event of a stream."""
    return b"data: " + value + b"\n\n"


class Late(Generic[_Value]):
    """What has results in it, and is shown when the tables of their games show them.

    Attributes:
        shown: the value that pages show.
        received, number: how many values have come, and which of them is shown.
    """

    def __init__(self, shown: _Value) -> None:
        self.shown = shown
        self.received = self.number = 0


class Source:
    """One broker.

    Attributes:
        cell: its name among several; empty if there is one.
        reached: whether it is there.
        statuses: of its server's tables, by place.
        standings: of the evening.
        league: that is played there; None for none.
    """

    def __init__(self, cell: str, connection: Connection, users: ScreenUsers) -> None:
        self.cell = cell
        self.reached = False
        self.statuses: dict[str, m.ServerStatus] = {}
        self.standings: Late[tuple[m.Standing, ...]] = Late(())
        self.league: Late[m.LeagueShown | None] = Late(None)
        self.connection, self._users = connection, users
        self._known: set[str] = set()  # tables that are followed

    def listen(self, relay: Relay, stop: threading.Event) -> None:
        """Keep the connection and read messages until the event is set; on a thread of its own.

        Raises:
            ConnectionLost: what no retry cures.
        """
        reached = False
        while not stop.is_set():
            arrived = self._users.poll(self.connection, _POLL_SECONDS)
            readable = [item for message in arrived if (item := self.read(message)) is not None]
            for message in arrived:
                self.connection.acknowledge(message)
            if readable:
                relay.call(relay.receive, self, readable)
            if self.connection.connected != reached:
                reached = self.connection.connected
                relay.call(relay.reach, self, reached)

    def subscribe(self, topics_: Sequence[topics.Topic]) -> None:
        """Follow all tables, on a new connection."""
        self._known = set()
        # A broker bounds a client's filters, and there may be hundreds of tables.
        self.connection.subscribe([f"{place}{topic.filter()}" for topic in topics_ for place in ("", "/+")])

    def read(self, message: Inbound) -> tuple[str, Arrived | m.ServerStatus | None] | None:
        """Read a message; return its table's place and what it says, None for what is not read."""
        readable = read(message)
        if readable is None:
            return None
        address, what = readable
        if address.table not in self._known and len(self._known) >= MAX_TABLES:
            return None
        self._known.add(address.table)
        return place_of(address.table, self.cell), what


class Relay:
    """Follows all tables of a broker, or of several.

    Attributes:
        tables: by place; ``""`` is the default one of the only broker.
        badges: of all teams, the same on every page.
    """

    def __init__(self, sources: Sequence[Source], *, boards: bool, delay_seconds: float) -> None:
        """Prepare; :meth:`run` connects.

        Args:
            boards: whether the account is a referee's.
            delay_seconds: how late the server shows the boards.
        """
        self.tables: dict[str, Table] = {}
        self.badges = Badges()
        self._sources = {source.cell: source for source in sources}
        self._boards, self._delay = boards, delay_seconds
        self._channels: dict[str, Channel] = {}
        self._overview = Channel()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._drawn: dict[str, float] = {}  # when the last picture of a table was sent
        self._overview_timer: asyncio.TimerHandle | None = None
        self._thinking = False
        self._stop = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
        public.sort(key=lambda topic: topic is topics.WINNER)  # last: the places are known by then
        self._topics = [*public, topics.CHAT, *([topics.REFEREE] if boards else [])]
        for source in sources:
            source.connection.on_connect = lambda _, source=source: self._connected(source)

    @property
    def reached(self) -> bool:
        """Whether a broker is there: then there is something to show."""
        return any(source.reached for source in self._sources.values())

    # --- the connections' threads -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow the brokers until :meth:`stop`.

        Raises:
            ConnectionLost: what no retry cures.
        """
        self._loop = asyncio.get_running_loop()
        try:
            await asyncio.gather(*(asyncio.to_thread(self._listen, source) for source in self._sources.values()))
        finally:
            for source in self._sources.values():
                source.connection.close()

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stop.set()
        for source in self._sources.values():
            source.connection.wake()

    def _listen(self, source: Source) -> None:
        try:
            source.listen(self, self._stop)
        finally:
            self.stop()  # where one has ended for good, all do

    def call(self, what: Any, *given: Any) -> None:
        """Call something on the event loop, from another thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *given)

    def _connected(self, source: Source) -> None:
        source.subscribe(self._topics)
        self.call(self.forget, source)

    # --- the loop -------------------------------------------------------------------------------------------------

    def forget(self, source: Source) -> None:
        """Note that everything retained arrives again."""
        now = self._loop.time()
        source.statuses.clear()
        self._receive_late(source, source.standings, (), 0.0)
        self._receive_late(source, source.league, None, 0.0)
        for name in self.tables.keys() & self._of(source):
            self.tables[name].receive(Arrived(NewConnection()), now)

    def _of(self, source: Source) -> set[str]:
        """Return the tables of a broker, also those that browsers wait for."""
        return {name for name in self.tables.keys() | self._channels.keys() if cell_of(name) == source.cell}

    def reach(self, source: Source, reached: bool) -> None:
        """Note that a broker is reached, or is not."""
        source.reached = reached
        for name in self._of(source):
            self._draw(name)

    def receive(self, source: Source, arrived: Sequence[tuple[str, Arrived | m.ServerStatus | None]]) -> None:
        """Apply what a broker says of some tables."""
        now = self._loop.time()
        touched = set()
        for name, what in arrived:
            if isinstance(what, Arrived) and self._receive_results(source, what):
                continue
            table = self.tables.get(name)
            if table is None:
                boards = self._boards and bool(self._delay)
                table = Table(name, boards=boards, delay_seconds=self._delay, badges=self.badges)
                self.tables[name] = table
            if isinstance(what, Arrived):
                table.receive(what, now)
            elif what is None:
                source.statuses.pop(name, None)
            else:
                source.statuses[name], table.screen.players_wanted = what, what.players
            touched.add(name)
        for name in touched:
            self._advance(self.tables[name], now)
            self._draw(name)

    @property
    def _results_late(self) -> float:
        """How many seconds after its end a game is over on every page."""
        return self._delay + PLAY_OUT_SECONDS + BOARDS_SECONDS if self._boards and self._delay else 0.0

    def _receive_results(self, source: Source, arrived: Arrived) -> bool:
        """Take in standings or a league; return False for news of another kind."""
        late = 0.0 if arrived.retained else self._results_late
        match arrived.news:
            case m.StandingsShown(evening=evening):
                self._receive_late(source, source.standings, evening.rows, late)
            case m.LeagueShown() as league:
                self._receive_late(source, source.league, league, late)
            case Fact(address) if address.topic is topics.STANDINGS:
                self._receive_late(source, source.standings, (), 0.0)
            case Fact(address) if address.topic is topics.LEAGUE:
                self._receive_late(source, source.league, None, 0.0)
            case _:
                return False
        return True

    def _receive_late(self, source: Source, late: Late[_Value], value: _Value, seconds: float) -> None:
        """Show something later: no result before its table does."""
        late.received += 1
        self._loop.call_later(seconds, self._show_late, source, late, late.received, value)

    def _show_late(self, source: Source, late: Late[_Value], number: int, value: _Value) -> None:
        if number < late.number:  # newer ones were not held, after a new connection
            return
        late.shown, late.number = value, number
        for name in self._of(source):
            self._draw(name)

    def _advance(self, table: Table, now: float) -> None:
        """Show what is due at a table; a table that is new goes to all open pages, because each lists the tables."""
        listed = bool(table.screen.state)
        table.advance(now)
        if bool(table.screen.state) != listed:
            for other in self._channels.keys() & self.tables.keys():
                self._draw(other)

    def _draw(self, name: str) -> None:
        """Send a picture soon, once for all that comes together; then look when more is due."""
        if name in self._timers:
            return
        now = self._loop.time()
        at = max(now + 0.02, self._drawn.get(name, 0.0) + PICTURE_SECONDS)
        self._timers[name] = self._loop.call_at(at, self._drawn_now, name)

    def _drawn_now(self, name: str) -> None:
        del self._timers[name]
        table, now = self.tables.get(name) or Table(name, badges=self.badges), self._loop.time()
        self._drawn[name] = now
        self._advance(table, now)
        channel = self._channels.get(name)
        if channel is not None and channel.followed:
            channel.send(self.picture(name))
            self._think(table)
        elif channel is not None:
            del self._channels[name]
        if self._overview.followed and self._overview_timer is None:
            self._overview_timer = self._loop.call_later(OVERVIEW_SECONDS, self._send_overview)
        due = table.next_due()
        if due is not None and name not in self._timers:
            self._timers[name] = self._loop.call_at(max(due, now + PICTURE_SECONDS), self._drawn_now, name)

    def _send_overview(self) -> None:
        self._overview_timer = None
        self._overview.send(self.overview())

    def _think(self, table: Table) -> None:
        """Work out the chances on another thread, a table at a time; where that is too slow, some salvos have none."""
        race = None if self._thinking else table.screen.race()
        if race is None:
            return
        self._thinking = True
        task = self._loop.run_in_executor(None, chances, race)
        task.add_done_callback(lambda done: self._thought(table, done))

    def _thought(self, table: Table, done: asyncio.Future[Any]) -> None:
        self._thinking = False
        if done.cancelled() or done.exception() is not None:
            return
        if table.screen.show_chances(done.result()):
            self._draw(table.name)

    # --- what browsers ask for ------------------------------------------------------------------------------------

    def place(self, shown: str) -> str:
        """Return the place of a table that a page names; without a cell it is the first one that has such a table."""
        places = [place_of(table_of(shown), cell) for cell in self._sources]
        return next((place for place in [shown, *places] if place in self.tables), places[0])

    def lacks(self, shown: str) -> bool:
        """Whether there are tables, and none of this name."""
        return bool(self._shown()) and self.place(shown) not in self.tables

    def _name(self, place: str) -> str:
        """Return what pages call a table: its name, with the cell's where two have one of that name."""
        table = table_of(place)
        alone = sum(place_of(table, cell) in self.tables for cell in self._sources) < 2
        return table if alone else place

    def trouble(self, name: str) -> str:
        """Return what is wrong, as one word; empty if nothing is."""
        table = self.tables.get(name)
        source = self._sources[cell_of(name)]
        own = source.statuses.get(name)
        if own is not None and own.status_topic:
            status = source.statuses.get(place_of(_table_of(own.status_topic), source.cell))
        else:
            status = own
        if not source.reached:
            return "broker"
        if table is None or (status is None and not table.screen.state):
            return "nothing"
        if status is not None and status.paused:
            return "paused"
        return "" if status is None or status.online else "server"

    def picture(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a table, also of one that nothing is known of."""
        table = self.tables.get(name) or Table(name, badges=self.badges)
        states = [[self._name(table.name), table.screen.state] for table in self._shown()]
        source = self._sources[cell_of(name)]
        picture = table.picture(self._loop.time(), source.standings.shown)
        league = None if source.league.shown is None else league_picture(source.league.shown, self.badges)
        return {**picture, "league": league, "table": self._name(name), "tables": states, "trouble": self.trouble(name)}

    def overview(self) -> dict[str, Any]:
        """Return what the page of all tables shows."""
        tables = [{**table.screen.summary(), "table": self._name(table.name)} for table in self._shown()]
        return {"tables": tables, "trouble": "" if self.reached else "broker"}

    def _shown(self) -> list[Table]:
        tables = [table for table in self.tables.values() if table.screen.state]
        return sorted(tables, key=lambda table: (len(table.name), table.name))

    async def follow(self, name: str | None) -> AsyncIterator[bytes]:
        """Yield the frames of a table, as pages name it; of all tables with None."""
        place = None if name is None else self.place(name)
        channel, picture = self._followed(place)
        try:
            async for frame in channel.follow(frame_of(json_of(picture()))):
                yield frame
        finally:
            if place is not None and not channel.followed:
                self._channels.pop(place, None)

    def head(self, name: str | None) -> bytes | None:
        """Return the head of the chunks of a table, as pages name it, or of all tables; None if there is no such table.

        Until somebody asks there are no chunks; the first one begins with the picture as it is now.
        """
        place = None if name is None else self.place(name)
        if name and place not in self.tables:
            return None
        channel, picture = self._followed(place)
        followed = channel.chunks.followed
        head = channel.chunks.head()
        if not followed:
            channel.chunks.add(json_of(picture()))
        return head

    def chunk(self, name: str | None, number: int) -> bytes | None:
        """Return a chunk of a table, or of all tables; empty if it is gone, None if it is not there yet."""
        channel = self._overview if name is None else self._channels.get(self.place(name))
        return None if channel is None else channel.chunks.chunk(number)

    def _followed(self, place: str | None) -> tuple[Channel, Callable[[], dict[str, Any]]]:
        """Return the channel of a table, or of all tables, and what makes its picture."""
        if place is None:
            return self._overview, self.overview
        channel = self._channels.setdefault(place, Channel())
        if not channel.followed and place in self.tables:
            self._think(self.tables[place])
        return channel, partial(self.picture, place)


def _table_of(status_topic: str) -> str:
    try:
        return topics.parse(status_topic).table
    except WireError:
        return ""
