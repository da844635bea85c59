"""A person's page without sockets: requests to its application, and the streams of its tabs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from random import Random
from typing import Any, NamedTuple

from kit.person import view_of
from kit.waiting import until
from salvo.rules import BOOKS
from salvo_display.web_server.own_page import OwnPage
from salvo_lab.human.browser.page import SittingPage
from salvo_lab.human.channel import Channel, DeskMessage, PlaceFleet, Seen
from salvo_lab.human.snapshot import Snapshot
from salvo_server.host.console.line import HostLine
from salvo_server.host.console.page import ConsolePage

PORT = 4321
HOST = f"127.0.0.1:{PORT}"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """What a refusal is called; empty where nothing was refused."""
        return "" if self.status == 200 else str(json.loads(self.body)["code"])

    @property
    def cookie(self) -> str:
        return self.headers.get("set-cookie", "").partition(";")[0]


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Visitor:
    """A browser on the page; its headers are what a browser sends of its own accord."""

    def __init__(self, page: OwnPage) -> None:
        self.page = page
        self._app = page.application()
        self.headers = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Return the answer; a header that is empty is not sent, and one with ``_`` has ``-`` there."""
        given = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        start, parts = await self._call(method, path, body, {name: value for name, value in given.items() if value})
        return Answer(start["status"], {key.decode(): value.decode() for key, value in start["headers"]}, parts)

    async def _call(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[Any, bytes]:
        received: list[Any] = []
        sent = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            return next(sent, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            received.append(message)

        await self._app(_scope(method, path, headers), receive, send)
        return received[0], b"".join(message.get("body", b"") for message in received[1:])

    async def enter(self) -> None:
        """Come in with the key, and keep the cookie."""
        answer = await self.ask("POST", "/enter", self.page.key.encode())
        assert answer.status == 200
        self.headers["cookie"] = answer.cookie

    async def do(self, frame: dict[str, Any], **command: Any) -> Answer:
        """Do something that means a picture."""
        return await self.ask("POST", "/do", json.dumps({"tab": frame["tab"], "n": frame["n"], **command}).encode())

    @contextlib.asynccontextmanager
    async def tab(self) -> AsyncIterator[Callable[[], Awaitable[dict[str, Any]]]]:
        """Open a stream; yields what waits for its next picture."""
        pictures: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        closed = asyncio.Event()

        async def receive() -> Any:
            await closed.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            for line in message.get("body", b"").splitlines():
                if line.startswith(b"data: "):
                    pictures.put_nowait(json.loads(line[6:]))

        async def follow() -> None:
            await self._app(_scope("GET", "/events", self.headers), receive, send)

        stream = asyncio.create_task(follow())
        try:
            yield pictures.get
        finally:
            closed.set()
            await stream


def _scope(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": method, "path": path, "query_string": b"", "headers": raw}


class Opened(NamedTuple):
    """A page of either kind, who is on it, and something that can be done there."""

    page: OwnPage
    visitor: Visitor
    clock: Clock
    command: dict[str, Any]


class Table(NamedTuple):
    """A person's page, who is on it, and the desk at which it sits."""

    page: SittingPage
    visitor: Visitor
    desk: Channel
    clock: Clock

    def receive(self, *news: DeskMessage) -> None:
        for item in news:
            self.desk.show(item)
        self.page.look()

    def ask_for_fleet(self, rules: str = "spaced") -> None:
        self.receive(PlaceFleet(BOOKS[rules], "me", 1, Random(1)))

    def begin_turn(self, rules: str = "spaced", *rivals: str) -> None:
        self.receive(Seen(Snapshot.of(view_of(rules, *rivals))))


def play(act: Callable[[Table], Coroutine[Any, Any, None]]) -> None:
    """Run a test at a new page of a person."""
    clock, desk = Clock(), Channel()
    page = SittingPage(desk, PORT, clock)
    run(act(Table(page, Visitor(page), desk, clock)))


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run a test to its end."""

    async def limited() -> None:
        async with asyncio.timeout(60):
            await test

    asyncio.run(limited())


def play_on_a_sitting(act: Callable[[Opened], Coroutine[Any, Any, None]]) -> None:
    """Run a test at a person's page on which a fleet is set up."""
    clock, desk = Clock(), Channel()
    page = SittingPage(desk, PORT, clock)
    Table(page, Visitor(page), desk, clock).ask_for_fleet()
    run(act(Opened(page, Visitor(page), clock, {"act": "random"})))


class Host:
    """A host of a real contest, at whose page tests run."""

    def __init__(self, url: str, name: str, secret: str) -> None:
        self._account = url, name, secret

    def play(self, act: Callable[[Opened], Coroutine[Any, Any, None]]) -> None:
        """Run a test at a new page on which the default table is shown."""
        with self.page() as (page, clock):
            [announce] = [each for each in page.evening.tables[""].offers if each.do == "announce"]
            command = {"do": "announce", "argument": "Lunch", "means": announce.means}
            run(act(Opened(page, Visitor(page), clock, command)))

    @contextlib.contextmanager
    def page(self) -> Iterator[tuple[ConsolePage, Clock]]:
        """Open the page; the default table is on it."""
        line, clock = HostLine(*self._account, None), Clock()
        with line.open():
            page = ConsolePage(line, "desk", PORT, clock)

            def shown() -> bool:
                page.look()
                table = page.evening.tables.get("")
                return table is not None and table.state.status is not None and table.state.state is not None

            until(shown)
            yield page, clock


def words_in(picture: Any) -> Iterator[str]:
    """Yield every text of a picture."""
    if isinstance(picture, dict):
        picture = list(picture.values())
    if isinstance(picture, list):
        for part in picture:
            yield from words_in(part)
    elif isinstance(picture, str):
        yield picture
