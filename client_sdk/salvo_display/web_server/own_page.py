"""A page for one person on this machine: who may ask for it, what it is sent, and what it may do.

It is served to this machine alone. The key in its address lets one browser in, once and for half a minute; that browser
gets a cookie, without which nothing is shown and nothing is done. A request must name this server, and one that a page
sends must be from this server's own page, so that no page of another site reaches what is behind it. Each picture says
all; what the person does names the picture that it means. Of several tabs the one that was opened last acts, and the
others watch.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import signal
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any, ClassVar, Final

import click
import uvicorn
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from salvo_display.opener import OpenPage
from salvo_display.web_page.rendering import render
from salvo_display.web_server.web_limits import Door, behind_a_door
from salvo_display.web_server.web_pages import STREAM_HEADERS, Guarded, static_files
from salvo_game.rate_limit import Bucket, Rate

#: How long the address opens a browser.
KEY_SECONDS: Final = 30.0
#: Streams at once: tabs of one person.
MAX_STREAMS: Final = 8
#: Bytes of a command; a chat line is the longest.
MAX_BODY: Final = 4096
#: Commands: no person clicks faster.
RATE: Final = Rate(60, 20)
#: A page that hears nothing for longer than three of these takes the connection for lost.
_ALIVE_SECONDS: Final = 10.0
#: A deadline that moved by less has not moved.
_SAME_SECONDS: Final = 0.5
#: How often the page looks at what is behind it: no person notices.
_LOOK_SECONDS: Final = 0.03
#: Connections at once: those of a browser's tabs, and half as many of other programs on this machine.
MAX_CONNECTIONS: Final = 32
#: For a request's head: other accounts of this machine may connect, too, and ask for nothing.
_HEAD_SECONDS: Final = 5.0


class PageCommand(BaseModel):
    """What a page sends: what its person does, and which picture it means."""

    model_config = ConfigDict(strict=True, extra="forbid")

    tab: int
    n: int

    @property
    def done(self) -> list[str]:
        """The things that the person does; a command has one."""
        given = self.model_dump(exclude={"tab", "n"}, exclude_defaults=True)
        return [name for name, value in given.items() if value is not None and value is not False]


class PageRefusal(Exception):
    """A request that is not carried out."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.answer = JSONResponse({"code": code, "text": text}, status)


class OwnPage(ABC):
    """A page and its one person.

    Attributes:
        key: opens it once.
        number: of the present picture.
        template, package: what is drawn, and where its static files are.
        command: what a page sends.
        words: parts of a picture that may change without a change of what a click means.
    """

    template: ClassVar[str]
    package: ClassVar[str]
    command: ClassVar[type[PageCommand]]
    words: ClassVar[frozenset[str]]

    def __init__(self, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to serve a page.

        Args:
            port: where the server listens, on 127.0.0.1.
            clock: in seconds.
        """
        self.key = secrets.token_urlsafe(16)
        self.number = 1
        self._clock = clock
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._cookie_name, self._cookie = f"salvo-{port}", secrets.token_urlsafe(32)
        self._key_until: float = clock() + KEY_SECONDS
        self._bucket = Bucket(RATE, self._now_ms)
        self._picture = self.picture()
        self._deadline: float | None = None
        self._since = 1  # the first picture in which a click means what it means in the present one
        self._tabs = count(1)
        self._writer = 0
        self._streams = 0
        self._closed = False
        self._alone_since = clock()
        self._changed = asyncio.Event()

    # --- what is behind the page

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether the person is gone, or there is nothing more to show."""

    @abstractmethod
    def picture(self) -> dict[str, Any]:
        """Return what the page shows, without its number and its clock."""

    @property
    @abstractmethod
    def seconds_left(self) -> float | None:
        """How long what the picture says may still take; None without a clock."""

    @abstractmethod
    def take_in(self) -> bool:
        """Apply what has come; return whether something has."""

    @abstractmethod
    def carry_out(self, command: Any) -> None:
        """Do what the person does.

        Raises:
            PageRefusal: it makes no sense.
        """

    def is_for_any_picture(self, command: Any) -> bool:
        """Whether a command means the same in every picture, as a chat line does."""
        return False

    def close(self) -> None:
        """End all streams, after the present picture."""
        self._closed = True
        self._wake()

    def alone_for(self) -> float:
        """Return for how many seconds no page has been open."""
        return 0.0 if self._streams else self._clock() - self._alone_since

    def frame_clock(self) -> dict[str, Any]:
        """Return what of a frame is reckoned when it is sent."""
        left = self.seconds_left
        return {"left_ms": None if left is None else round(left * 1000)}

    # --- pictures

    def routes(self) -> list[BaseRoute]:
        """Return the page's addresses."""
        return [
            Route("/", self._show),
            Route("/enter", self._enter, methods=["POST"]),
            Route("/events", self._events),
            Route("/do", self._do, methods=["POST"]),
            Mount("/static", static_files(self.package)),
        ]

    def application(self) -> ASGIApp:
        """Return what serves the page."""
        app = Starlette(routes=self.routes(), exception_handlers={PageRefusal: _answer})
        return Guarded(app, self._hosts.__contains__, "this page has another name: its address begins with 127.0.0.1")

    @property
    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    def look(self) -> None:
        """Show what has come."""
        if self.take_in() or self.ended:
            self._publish()

    def _publish(self) -> None:
        """Make a new picture where something has changed, and wake those who wait for it."""
        picture, left = self.picture(), self.seconds_left
        deadline = None if left is None else self._clock() + left
        if picture == self._picture and not _moved(self._deadline, deadline):
            return
        self.number += 1
        if self._meaning(picture) != self._meaning(self._picture):
            self._since = self.number
        self._picture, self._deadline = picture, deadline
        self._wake()

    def _meaning(self, picture: dict[str, Any]) -> dict[str, Any]:
        """Return what of a picture decides what a click does."""
        return {name: value for name, value in picture.items() if name not in self.words}

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # --- the browser's side

    async def _show(self, request: Request) -> Response:
        return HTMLResponse(render(self.template))

    async def _enter(self, request: Request) -> Response:
        """Exchange the key for the cookie; a browser that has it needs no key."""
        self._check_origin(request)
        if self._has_cookie(request):
            return JSONResponse({})
        given = (await _body(request)).decode(errors="replace")
        if self._clock() > self._key_until or not hmac.compare_digest(given.encode(), self.key.encode()):
            restart = "end the command with Ctrl-C and start it again, which prints a new one"
            raise PageRefusal(
                403,
                "used_key",
                f"this address opens one browser, once and within {KEY_SECONDS:g} s: use the tab that it has opened, "
                f"or {restart}",
            )
        self._key_until = -1.0
        answer = JSONResponse({})
        answer.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict")
        return answer

    async def _events(self, request: Request) -> Response:
        self.check_cookie(request)
        if self._streams >= MAX_STREAMS:
            raise PageRefusal(429, "too_many_tabs", f"{MAX_STREAMS} tabs are open; close some of them")
        return StreamingResponse(self._frames(), media_type="text/event-stream", headers=STREAM_HEADERS)

    async def _frames(self) -> AsyncIterator[str]:
        """Yield a picture a change; the tab that was opened last acts."""
        tab = self._writer = next(self._tabs)
        self._streams += 1
        self._wake()
        try:
            shown = None
            while True:
                changed = self._changed
                if shown != (self.number, self._writer):
                    shown = (self.number, self._writer)
                    yield f"id: {self.number}\ndata: {json.dumps(self._frame(tab))}\n\n"
                if self.ended or self._closed:
                    return
                try:
                    async with asyncio.timeout(_ALIVE_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    yield "event: alive\ndata:\n\n"
        finally:
            self._streams -= 1
            self._alone_since = self._clock()

    def _frame(self, tab: int) -> dict[str, Any]:
        return {"n": self.number, "tab": tab, "plays": tab == self._writer} | self._picture | self.frame_clock()

    async def _do(self, request: Request) -> Response:
        self._check_origin(request)
        self.check_cookie(request)
        if not self._bucket.take(self._now_ms):
            raise PageRefusal(429, "rate_limited", f"more than {RATE} clicks; wait a second")
        command = self._read(await _body(request))
        if command.tab != self._writer:
            raise PageRefusal(409, "other_tab", "another tab acts now; reload this one to act here")
        self.look()
        if not self.is_for_any_picture(command) and not self._since <= command.n <= self.number:
            text = f"too late: picture {command.n} is not the present one, {self.number}; nothing was changed"
            raise PageRefusal(409, "late", text)
        self.carry_out(command)
        self._publish()
        return JSONResponse({"n": self.number})

    def _read(self, body: bytes) -> PageCommand:
        try:
            command = self.command.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise PageRefusal(400, "bad_command", f"{where or 'the command'}: {first['msg']}") from None
        if len(command.done) != 1:
            raise PageRefusal(400, "bad_command", "a command does one thing")
        return command

    def check_cookie(self, request: Request) -> None:
        """Make sure that it is the browser that has shown the key."""
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise PageRefusal(403, "other_site", "only this server's own page may ask")
        if not self._has_cookie(request):
            raise PageRefusal(403, "no_cookie", "open the address that the command has printed, with its key")

    def _has_cookie(self, request: Request) -> bool:
        return hmac.compare_digest(request.cookies.get(self._cookie_name, "").encode(), self._cookie.encode())

    def _check_origin(self, request: Request) -> None:
        """Make sure that this server's own page has sent it."""
        own = request.headers.get("origin") == f"http://{request.headers.get('host')}"
        if not own or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise PageRefusal(403, "other_site", "only this server's own page may ask")


async def _answer(request: Request, refused: Exception) -> Response:
    assert isinstance(refused, PageRefusal)
    return refused.answer


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise PageRefusal(413, "too_large", f"a command has at most {MAX_BODY} bytes")
    return body


def _moved(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is not after
    return abs(after - before) > _SAME_SECONDS


# --- the server of the page


class OwnDoor(Door):
    """A connection to a person's own page."""

    most = MAX_CONNECTIONS
    patience_seconds = _HEAD_SECONDS


def listen() -> tuple[socket.socket, int]:
    """Return a socket of this machine alone, and its port."""
    sock = socket.create_server(("127.0.0.1", 0))
    return sock, sock.getsockname()[1]


def serve(page: OwnPage, sock: socket.socket, open_page: OpenPage, begin: Callable[[], None] = lambda: None) -> None:
    """Serve a page until its person is gone; print its address, and open it in a browser.

    Args:
        begin: called when the address is there.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
    """
    address = f"http://127.0.0.1:{sock.getsockname()[1]}/#{page.key}"
    click.echo(address)
    open_page(address)
    begin()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is behind the page ends in order, too
    try:
        asyncio.run(_serve(page, sock))
    finally:
        signal.signal(signal.SIGTERM, before)


async def _serve(page: OwnPage, sock: socket.socket) -> None:
    server = behind_a_door(page.application(), OwnDoor, 2 * MAX_CONNECTIONS, ws="none")
    looking = asyncio.create_task(_look(page, server))
    try:
        await server.serve([sock])
    finally:
        looking.cancel()


async def _look(page: OwnPage, server: uvicorn.Server) -> None:
    """Look at what is behind the page until its person is gone; the page still gets the last picture."""
    while not (page.ended or server.should_exit):
        page.look()
        await asyncio.sleep(_LOOK_SECONDS)
    page.look()
    page.close()
    server.should_exit = True
