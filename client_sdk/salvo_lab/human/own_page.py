"""The page of a person who plays by clicking: what it is sent, what it may ask for, and who may ask.

It is served to this machine alone. The key in its address lets one browser in, once and for half a minute; that browser
gets a cookie, without which nothing is shown and nothing is done. A request must name this server, and one that a page
sends must be from this server's own page, so that no page of another site reaches a game. Of several tabs the one that
was opened last plays, and the others watch.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from salvo.rules import Orientation
from salvo_display.web_page.rendering import render
from salvo_lab.human.channel import Channel
from salvo_lab.human.page_picture import picture_of
from salvo_lab.human.sitting import Mode, Sitting
from salvo_server.core.rate_limit import Bucket, Rate
from salvo_server.web_pages import STREAM_HEADERS, Guarded, static_files

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
#: What changes without a change of what a click means.
_WORDS: Final = ("message", "news", "trouble", "outcome", "incoming", "turn")
#: A deadline that moved by less has not moved.
_SAME_SECONDS: Final = 0.5
#: The person is gone when no page was open for so long, and no game is on.
ALONE_SECONDS: Final = 600.0


class _Command(BaseModel):
    """What a page sends: what its person does, and which picture it means."""

    model_config = ConfigDict(strict=True, extra="forbid")

    tab: int
    n: int
    act: str | None = Field(None, max_length=100)
    click: tuple[str, int] | None = None
    fires: bool = True
    put: tuple[str, int, bool] | None = None
    write: str | None = Field(None, max_length=2000)


class _Refused(Exception):
    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.answer = JSONResponse({"code": code, "text": text}, status)


class OwnPage:
    """A sitting on a page.

    Attributes:
        key: opens it once.
        number: of the present picture.
    """

    def __init__(self, desk: Channel, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to serve a desk.

        Args:
            port: where the server listens, on 127.0.0.1.
            clock: in seconds.
        """
        self.key = secrets.token_urlsafe(16)
        self.number = 1
        self.sitting = Sitting(desk)
        self._desk, self._clock = desk, clock
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._cookie_name, self._cookie = f"salvo-{port}", secrets.token_urlsafe(32)
        self._key_until: float = clock() + KEY_SECONDS
        self._bucket = Bucket(RATE, self._now_ms)
        self._picture = picture_of(self.sitting)
        self._deadline: float | None = None
        self._since = 1  # the first picture in which a click means what it means in the present one
        self._tabs = count(1)
        self._writer = 0
        self._streams = 0
        self._alone_since = clock()
        self._changed = asyncio.Event()

    def application(self) -> ASGIApp:
        """Return the page's addresses."""
        routes = [
            Route("/", self._show),
            Route("/enter", self._enter, methods=["POST"]),
            Route("/events", self._events),
            Route("/do", self._do, methods=["POST"]),
            Mount("/static", static_files("salvo_lab.human")),
        ]
        app = Starlette(routes=routes, exception_handlers={_Refused: _answer})
        return Guarded(app, self._hosts.__contains__, "no name of this page; its address begins with 127.0.0.1")

    @property
    def _now_ms(self) -> int:
        return int(self._clock() * 1000)

    # --- the game's side

    def look(self) -> None:
        """Apply what has come from the game."""
        news = self._desk.news()
        for item in news:
            self.sitting.receive(item)
        in_game = self.sitting.grid is not None and self.sitting.mode is not Mode.END
        if not self._streams and not in_game and self._clock() - self._alone_since > ALONE_SECONDS:
            self.sitting.ended = "left"
        if news or self.sitting.ended:
            self._publish()

    def _publish(self) -> None:
        """Make a new picture where something has changed, and wake those who wait for it."""
        picture, left = picture_of(self.sitting), self.sitting.seconds_left
        deadline = None if left is None else self._clock() + left
        if picture == self._picture and not _moved(self._deadline, deadline):
            return
        self.number += 1
        if _meaning(picture) != _meaning(self._picture):
            self._since = self.number
        self._picture, self._deadline = picture, deadline
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # --- the browser's side

    async def _show(self, request: Request) -> Response:
        return HTMLResponse(render("salvo_lab/human/play.html.j2"))

    async def _enter(self, request: Request) -> Response:
        """Exchange the key for the cookie; a browser that has it needs no key."""
        self._check_origin(request)
        if self._has_cookie(request):
            return JSONResponse({})
        given = (await _body(request)).decode(errors="replace")
        if self._clock() > self._key_until or not hmac.compare_digest(given.encode(), self.key.encode()):
            restart = "end the command with Ctrl-C and start it again, which prints a new one"
            raise _Refused(
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
        self._check_cookie(request)
        if self._streams >= MAX_STREAMS:
            raise _Refused(429, "too_many_tabs", f"{MAX_STREAMS} tabs are open; close some of them")
        return StreamingResponse(self._frames(), media_type="text/event-stream", headers=STREAM_HEADERS)

    async def _frames(self) -> AsyncIterator[str]:
        """Yield a picture a change; the tab that was opened last plays."""
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
                if self.sitting.ended:
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
        left = self.sitting.seconds_left
        clock = {"left_ms": None if left is None else round(left * 1000)}
        return {"n": self.number, "tab": tab, "plays": tab == self._writer} | self._picture | clock

    async def _do(self, request: Request) -> Response:
        self._check_origin(request)
        self._check_cookie(request)
        if not self._bucket.take(self._now_ms):
            raise _Refused(429, "rate_limited", f"more than {RATE} clicks; wait a second")
        command = _read(await _body(request))
        if command.tab != self._writer:
            raise _Refused(409, "other_tab", "another tab plays now; reload this one to play here")
        self.look()
        if command.write is None and not self._since <= command.n <= self.number:
            text = f"too late: picture {command.n} is not the present one, {self.number}; nothing was changed"
            raise _Refused(409, "late", text)
        self._carry_out(command)
        self._publish()
        return JSONResponse({"n": self.number})

    def _carry_out(self, command: _Command) -> None:
        sitting = self.sitting
        if command.click is not None:
            player, cell = command.click
            self._check_cell(cell)
            sitting.click(player, cell, fires=command.fires)
        elif command.put is not None:
            ship, cell, down = command.put
            self._check_cell(cell)
            sitting.put(ship, cell, Orientation.VERTICAL if down else Orientation.HORIZONTAL)
        elif command.write is not None:
            sitting.write(command.write)
        elif command.act is not None:
            sitting.act(command.act)

    def _check_cell(self, cell: int) -> None:
        size = 0 if self.sitting.grid is None else self.sitting.grid.size
        if not 0 <= cell < size:
            raise _Refused(400, "off_grid", f"cell {cell} is not one of this board's 0..{size - 1}")

    def _check_cookie(self, request: Request) -> None:
        """Make sure that it is the browser that has shown the key."""
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise _Refused(403, "other_site", "only this server's own page may ask")
        if not self._has_cookie(request):
            raise _Refused(403, "no_cookie", "open the address that the command has printed, with its key")

    def _has_cookie(self, request: Request) -> bool:
        return hmac.compare_digest(request.cookies.get(self._cookie_name, "").encode(), self._cookie.encode())

    def _check_origin(self, request: Request) -> None:
        """Make sure that this server's own page has sent it."""
        own = request.headers.get("origin") == f"http://{request.headers.get('host')}"
        if not own or request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise _Refused(403, "other_site", "only this server's own page may ask")


async def _answer(request: Request, refused: Exception) -> Response:
    assert isinstance(refused, _Refused)
    return refused.answer


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise _Refused(413, "too_large", f"a command has at most {MAX_BODY} bytes")
    return body


def _read(body: bytes) -> _Command:
    try:
        command = _Command.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise _Refused(400, "bad_command", f"{where or 'the command'}: {first['msg']}") from None
    if sum(given is not None for given in (command.act, command.click, command.put, command.write)) != 1:
        raise _Refused(400, "bad_command", "a command has one of act, click, put and write")
    return command


def _meaning(picture: dict[str, Any]) -> dict[str, Any]:
    """Return what of a picture decides what a click does."""
    return {name: value for name, value in picture.items() if name not in _WORDS}


def _moved(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is not after
    return abs(after - before) > _SAME_SECONDS
