"""From the broker, or several, to every browser: one connection in from each, pictures of the tables out.

A thread for each connection keeps it and reads messages; all else happens on the event loop. A channel keeps the newest
picture only, so a browser that is slow misses pictures and delays nobody, and nothing queues up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Container, Iterable, Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from salvo import messages as m
from salvo.badges import Badges
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.table_places import MAX_TABLES, cell_of, place_of, table_of
from salvo.table_state import Fact, NewConnection, ServerStatuses
from salvo.wire import topics
from salvo.wire.topics import Reader
from salvo_server.screen_users import ScreenUsers
from salvo_watch.web.chances import chances
from salvo_watch.web.chunks import Chunks
from salvo_watch.web.league import LeagueCourse, evening_picture, podium_in
from salvo_watch.web.screen import table_of_standings
from salvo_watch.web.stage import LATEST_SECONDS, HallStage, Playing
from salvo_watch.web.tables import Arrived, ShownTable, read
from salvo_watch.web.tapes import Logs, Tape, tape_of_log

#: Between two pictures of a table: bots without a pace fire hundreds of salvos a second, and nobody sees that.
PICTURE_SECONDS: Final = 0.12
#: Between two overviews of all tables.
OVERVIEW_SECONDS: Final = 1.0
#: A stream that has nothing to tell says so: to proxies between, and to the page, which else takes it for lost.
ALIVE_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 1.0
_Value = TypeVar("_Value")


class Ended(NamedTuple):
    """A game that is over, by the place of its table."""

    place: str
    game: int


class Page(NamedTuple):
    """What a stream shows: a table, and whether it is live where its page would run a tape."""

    place: str
    live: bool = False


class FrameStream:
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
    """What has results in it, and is shown when the tapes of their games have been shown.

    Attributes:
        shown: the value that pages show.
        newest: the value that was received last.
    """

    def __init__(self, shown: _Value) -> None:
        self.shown = self.newest = shown
        self._waiting: deque[tuple[frozenset[Ended], _Value]] = deque()

    def receive(self, value: _Value, untold: Iterable[Ended]) -> None:
        """Note a value, and the games that it may tell the end of."""
        self.newest = value
        self._waiting.append((frozenset(untold), value))

    def release(self, untold: Container[Ended]) -> bool:
        """Show the newest value whose games have all been shown; return whether it is another one."""
        before = self.shown
        while self._waiting and not any(game in untold for game in self._waiting[0][0]):
            self.shown = self._waiting.popleft()[1]
        return self.shown is not before


class WatchedBroker:
    """One broker.

    Attributes:
        cell: its name among several; empty if there is one.
        reached: whether it is there.
        statuses: of its server's tables.
        standings: of the evening.
        evening: what is on there, and ``course`` how it came to that.
    """

    def __init__(self, cell: str, connection: Connection, users: ScreenUsers) -> None:
        self.cell = cell
        self.reached = False
        self.statuses = ServerStatuses()
        self.standings: Late[tuple[m.Standing, ...]] = Late(())
        self.evening: Late[m.EveningShown] = Late(m.EveningShown())
        self.course = LeagueCourse()
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

    def read(self, message: Inbound) -> tuple[str, Arrived | m.ServerStatus | bytes | None] | None:
        """Read a message; return its table's place and what it says, None for what is not read."""
        readable = read(message)
        if readable is None:
            return None
        address, what = readable
        if address.table not in self._known and len(self._known) >= MAX_TABLES:
            return None
        self._known.add(address.table)
        return place_of(address.table, self.cell), what


def _is_free(evening: Late[m.EveningShown]) -> bool:
    """Whether an evening has no league, and goes on."""
    return not evening.newest.name and evening.newest.phase in (m.Phase.ARRIVALS, m.Phase.FREE)


class Relay:
    """Follows all tables of a broker, or of several.

    Attributes:
        tables: by place; ``""`` is the default one of the only broker.
        badges: of all teams, the same on every page.
    """

    def __init__(self, sources: Sequence[WatchedBroker], *, boards: bool = False) -> None:
        """Prepare; :meth:`run` connects.

        Args:
            boards: whether the account is a referee's, and all boards are shown while a game is played.
        """
        self.tables: dict[str, ShownTable] = {}
        self.badges = Badges()
        self._sources = {source.cell: source for source in sources}
        self._boards = boards
        self._logs = Logs()
        self._stages: dict[str, HallStage] = {}  # by place; of the default table also a league's games
        self._untold: dict[Ended, set[str]] = {}  # by game, the places whose stages have its tape
        self._channels: dict[Page, FrameStream] = {}
        self._overview = FrameStream()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._drawn: dict[str, float] = {}  # when the last picture of a table was sent
        self._overview_timer: asyncio.TimerHandle | None = None
        self._thinking = False
        self._stop = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
        # A broker delivers what it retains in this order: what is on first, who has won when the places are known.
        public.sort(key=lambda topic: (topic is not topics.LEAGUE, topic is topics.WINNER))
        self._topics = [*public, topics.CHAT, topics.REFEREE if boards else topics.LOG]
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

    def _listen(self, source: WatchedBroker) -> None:
        try:
            source.listen(self, self._stop)
        finally:
            self.stop()  # where one has ended for good, all do

    def call(self, what: Any, *given: Any) -> None:
        """Call something on the event loop, from another thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *given)

    def _connected(self, source: WatchedBroker) -> None:
        source.subscribe(self._topics)
        self.call(self.forget, source)

    # --- the loop -------------------------------------------------------------------------------------------------

    def forget(self, source: WatchedBroker) -> None:
        """Note that everything retained arrives again."""
        now = self._loop.time()
        source.statuses.clear()
        source.standings.receive((), self._untold_of(source))
        self._release(source)
        for name in self.tables.keys() & self._of(source):
            self.tables[name].receive(Arrived(NewConnection()), now)

    def _of(self, source: WatchedBroker) -> set[str]:
        """Return the tables of a broker, also those that browsers wait for."""
        places = self.tables.keys() | {page.place for page in self._channels}
        return {place for place in places if cell_of(place) == source.cell}

    def _untold_of(self, source: WatchedBroker) -> list[Ended]:
        return [game for game in self._untold if cell_of(game.place) == source.cell]

    def reach(self, source: WatchedBroker, reached: bool) -> None:
        """Note that a broker is reached, or is not."""
        source.reached = reached
        for name in self._of(source):
            self._draw(name)

    def receive(
        self, source: WatchedBroker, arrived: Sequence[tuple[str, Arrived | m.ServerStatus | bytes | None]]
    ) -> None:
        """Apply what a broker says of some tables."""
        now = self._loop.time()
        touched, unlisted = set(), set()
        for name, what in arrived:
            if isinstance(what, bytes):
                if (log := self._logs.add(name, what)) is not None:
                    self._make_tape(Ended(name, log.game), log.payloads)
                continue
            if isinstance(what, Arrived) and self._receive_results(source, what):
                continue
            table = self._table(name)
            if not table.screen.state:
                unlisted.add(table)
            if isinstance(what, Arrived):
                table.receive(what, now)
            elif what is None:
                source.statuses.receive(table_of(name), None)
            else:
                source.statuses.receive(table_of(name), what)
                table.screen.players_wanted = what.players
            touched.add(name)
        if any(table.screen.state for table in unlisted):  # every page lists the tables
            touched.update(page.place for page in self._channels if page.place in self.tables)
        for name in touched:
            self._draw(name)

    def _table(self, name: str) -> ShownTable:
        if name not in self.tables:
            self.tables[name] = ShownTable(name, boards=self._boards, badges=self.badges)
        return self.tables[name]

    def _receive_results(self, source: WatchedBroker, arrived: Arrived) -> bool:
        """Take in standings or a league; return False for news of another kind."""
        untold = self._untold_of(source)
        match arrived.news:
            case m.StandingsShown(evening=evening):
                source.standings.receive(evening.rows, untold)
            case m.EveningShown(badges=badges) as evening_shown:
                self.badges.take(badges)
                source.evening.receive(evening_shown, untold)
                source.course.receive(evening_shown)
            case Fact(address) if address.topic is topics.STANDINGS:
                source.standings.receive((), untold)
            case Fact(address) if address.topic is topics.LEAGUE:
                source.evening.receive(m.EveningShown(), untold)
            case _:
                return False
        self._release(source)
        return True

    def _release(self, source: WatchedBroker) -> None:
        """Show results whose games have been shown."""
        if source.standings.release(self._untold) | source.evening.release(self._untold):
            for name in self._of(source):
                self._draw(name)

    # --- tapes ----------------------------------------------------------------------------------------------------

    def _make_tape(self, game: Ended, log: Sequence[bytes]) -> None:
        """Make the tape of a game that is over, on another thread; its end is told by the tape."""
        self._untold[game] = {game.place}
        self._loop.call_later(LATEST_SECONDS, self._tell, game)
        task = self._loop.run_in_executor(None, tape_of_log, log)
        task.add_done_callback(lambda done: self._tape_made(game, done))

    def _tape_made(self, game: Ended, done: asyncio.Future[Tape | None]) -> None:
        tape = None if done.cancelled() or done.exception() is not None else done.result()
        if tape is None or game not in self._untold:
            self._tell(game)
            return
        now, source, wall = self._loop.time(), self._sources[cell_of(game.place)], place_of("", cell_of(game.place))
        evening = source.evening.newest
        if evening.name and game.place != wall:
            self._untold[game].add(wall)
            leads = {row.team for row in source.evening.shown.rows if row.place == 1}
            round_ = source.course.round_of(game.place, tape.teams) or evening.round  # the next one may have begun
            final = round_ == evening.rounds and not leads.isdisjoint(tape.teams)
            self._stage(wall).offer(tape, now, round_=round_ + 1, final=final)
            self._draw(wall)
        self._stage(game.place).offer(tape, now)
        self._draw(game.place)

    def _stage(self, place: str) -> HallStage:
        if place not in self._stages:
            evening = self._sources[cell_of(place)].evening
            free = partial(_is_free, evening)
            self._stages[place] = HallStage(self._table(place), self.badges, partial(self._shown_at, place), free)
        return self._stages[place]

    def _shown_at(self, place: str, tape: Tape) -> None:
        """Note that a stage has shown a tape to its end, or does not show it."""
        game = Ended(place_of(tape.table, cell_of(place)), tape.game)
        places = self._untold.get(game, set())
        places.discard(place)
        if not places:
            self._tell(game)

    def _tell(self, game: Ended) -> None:
        """Let every page show how a game ended."""
        if self._untold.pop(game, None) is not None:
            self._draw(game.place)
            self._release(self._sources[cell_of(game.place)])

    def withholds(self, table: str, game: int) -> bool:
        """Whether the end of a game is still to be shown by its tape, at a table of this name."""
        return any(table_of(ended.place) == table and ended.game == game for ended in self._untold)

    # --- pictures --------------------------------------------------------------------------------------------------

    def _draw(self, name: str) -> None:
        """Send a picture soon, once for all that comes together; then look when more is due."""
        if name in self._timers:
            return
        now = self._loop.time()
        at = max(now + 0.02, self._drawn.get(name, 0.0) + PICTURE_SECONDS)
        self._timers[name] = self._loop.call_at(at, self._drawn_now, name)

    def _drawn_now(self, name: str) -> None:
        del self._timers[name]
        now, stage = self._loop.time(), self._stages.get(name)
        self._drawn[name] = now
        if stage is not None:
            stage.advance(now)
        for page in (Page(name), Page(name, live=True)):
            channel = self._channels.get(page)
            if channel is not None and channel.followed:
                channel.send(self.picture(page))
                if (playing := self._playing(page)) is None or not playing.again:  # which would never end
                    self._think(self._on_page(page))
            elif channel is not None:
                del self._channels[page]
        if self._overview.followed and self._overview_timer is None:
            self._overview_timer = self._loop.call_later(OVERVIEW_SECONDS, self._send_overview)
        due = None if stage is None else stage.next_due(now)
        if due is not None and name not in self._timers:
            self._timers[name] = self._loop.call_at(max(due, now + PICTURE_SECONDS), self._drawn_now, name)

    def _on_page(self, page: Page) -> ShownTable:
        """Return the table that a page shows now: the one at its place, or one that a tape plays to."""
        playing = self._playing(page)
        if playing is not None:
            return playing.table
        return self.tables.get(page.place) or ShownTable(page.place, badges=self.badges)

    def _playing(self, page: Page) -> Playing | None:
        """Return the tape that a page shows; None while it is live."""
        stage = self._stages.get(page.place)
        return None if stage is None or page.live else stage.playing

    def _tape_at(self, place: str) -> int | None:
        """Return when the game ended whose tape a table's page shows for the first time; None without one."""
        playing = self._playing(Page(place))
        return None if playing is None or playing.again else playing.tape.ended

    def _send_overview(self) -> None:
        self._overview_timer = None
        self._overview.send(self.overview())

    def _think(self, table: ShownTable) -> None:
        """Work out the chances of a tape, or for commentators, on another thread, a table at a time.

        Where that is too slow, some salvos have none.
        """
        race = None if self._thinking else table.screen.race()
        if race is None:
            return
        self._thinking = True
        task = self._loop.run_in_executor(None, chances, race)
        task.add_done_callback(lambda done: self._thought(table, done))

    def _thought(self, table: ShownTable, done: asyncio.Future[Any]) -> None:
        self._thinking = False
        if done.cancelled() or done.exception() is not None:
            return
        if table.screen.show_chances(done.result()):
            for page in list(self._channels):
                if self._on_page(page) is table:
                    self._draw(page.place)

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
        status = source.statuses.of(table_of(name))
        if not source.reached:
            return "broker"
        if table is None or (status is None and not table.screen.state):
            return "nothing"
        if status is not None and status.paused:
            return "paused"
        return "" if status is None or status.online else "server"

    def picture(self, page: Page) -> dict[str, Any]:
        """Return what a page shows, also of a table that nothing is known of."""
        name = page.place
        states = [[self._name(table.name), table.screen.state] for table in self._shown()]
        source, playing = self._sources[cell_of(name)], self._playing(page)
        picture: dict[str, Any] = {"tape": None, "next": None}
        picture |= self._live(page) if playing is None else playing.picture()
        if playing is not None and playing.again:
            live = self._live(Page(name, live=True))
            picture["next"] = {key: live[key] for key in ("players", "lobby", "rules")}
        shown = source.evening.shown
        # While a league is the latest thing, its table is the only one: stray games never mix in.
        standings = () if shown.name else source.standings.shown
        picture |= evening_picture(
            shown, source.evening.newest, source.course, self.badges, tapes=self._have_tapes(source)
        )
        picture["standings"] = table_of_standings(standings, self.badges)
        return {**picture, "table": self._name(name), "tables": states, "trouble": self.trouble(name)}

    def _live(self, page: Page) -> dict[str, Any]:
        table = self._on_page(page)
        return table.picture(self._loop.time(), withheld=self._withheld(table))

    def _withheld(self, table: ShownTable) -> bool:
        """Whether a table's game is decided, and a tape is to show how."""
        game = Ended(table.name, table.shown.game.number)
        return table.decided and (game in self._untold or self._logs.whole(table.name))

    def _round(self, source: WatchedBroker) -> str:
        """Return the round of a league that is on, and how long it is until its podium; empty without one."""
        newest = source.evening.newest
        if not (newest.league_runs and newest.round and newest.rounds):
            return ""
        left = podium_in(newest, tapes=self._have_tapes(source))
        return f"Round {newest.round} of {newest.rounds}{f', podium in {left}' if left else ''}"

    def _have_tapes(self, source: WatchedBroker) -> bool:
        """Whether the games that are on will have tapes: this front has seen how they began."""
        if not source.evening.newest.name:
            return True  # no podium to wait for
        here = (table for name, table in self.tables.items() if cell_of(name) == source.cell)
        playing = [table.name for table in here if table.screen.state == State.TURN]
        return not playing or any(map(self._logs.whole, playing))

    def overview(self) -> dict[str, Any]:
        """Return what the page of all tables shows; it is live."""
        tables = [
            {
                **table.screen.summary(withheld=self._withheld(table)),
                "table": self._name(table.name),
                "tape": self._tape_at(table.name),
            }
            for table in self._shown()
        ]
        rounds = (self._round(source) for source in self._sources.values())
        return {"tables": tables, "round": next(filter(None, rounds), ""), "trouble": "" if self.reached else "broker"}

    def _shown(self) -> list[ShownTable]:
        tables = [table for table in self.tables.values() if table.screen.state]
        return sorted(tables, key=lambda table: (len(table.name), table.name))

    def page(self, shown: str, *, live: bool = False) -> Page:
        """Return the page of a table that is called so on pages."""
        return Page(self.place(shown), live)

    async def follow(self, page: Page | None) -> AsyncIterator[bytes]:
        """Yield the frames of a page; of all tables with None."""
        channel, picture = self._followed(page)
        try:
            async for frame in channel.follow(frame_of(json_of(picture()))):
                yield frame
        finally:
            if page is not None and not channel.followed:
                self._channels.pop(page, None)

    def head(self, page: Page | None) -> bytes | None:
        """Return the head of the chunks of a page, or of all tables; None if there is no such table.

        Until somebody asks there are no chunks; the first one begins with the picture as it is now.
        """
        if page is not None and table_of(page.place) and page.place not in self.tables:
            return None
        channel, picture = self._followed(page)
        followed = channel.chunks.followed
        head = channel.chunks.head()
        if not followed:
            channel.chunks.add(json_of(picture()))
        return head

    def chunk(self, page: Page | None, number: int) -> bytes | None:
        """Return a chunk of a page, or of all tables; empty if it is gone, None if it is not there yet."""
        channel = self._overview if page is None else self._channels.get(page)
        return None if channel is None else channel.chunks.chunk(number)

    def _followed(self, page: Page | None) -> tuple[FrameStream, Callable[[], dict[str, Any]]]:
        """Return the channel of a page, or of all tables, and what makes its picture."""
        if page is None:
            return self._overview, self.overview
        channel = self._channels.setdefault(page, FrameStream())
        if not channel.followed:
            self._think(self._on_page(page))
        return channel, partial(self.picture, page)
