"""The web front's addresses; what their pages may do is in :mod:`salvo_display.web_server.web_pages`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp

from salvo.errors import WireError
from salvo.system.distribution import __version__
from salvo.wire.topics import NAME_PATTERN, check_name
from salvo_display.web_page.qr import qr_code
from salvo_display.web_page.rendering import render
from salvo_display.web_server.web_pages import STREAM_HEADERS, Guarded, number, static_files, to_root
from salvo_server.brokers.embedded.addresses import host_of, is_known_host, is_loopback
from salvo_watch.web.chunks import CHUNK_CACHE, HEAD_CACHE
from salvo_watch.web.mqtt_channel import MqttChannels, Upstream
from salvo_watch.web.relay import Page, Relay
from salvo_watch.web.sdk import wheel

#: Streams of one address: a hall of phones behind one router.
MAX_STREAMS: Final = 512
_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
_PAGE: Final = re.compile(r"/|/games/at/[A-Za-z0-9_-]{1,32}/[0-9]{1,9}")
_NEVER: Final = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Front:
    """Where the front is, for people.

    Attributes:
        address: ``http://HOST:PORT`` as other machines reach it, with the path below which a proxy has it.
        join: the broker's address that teams type; empty where it is not known.
        hosts: names by which browsers reach it, besides its addresses and this machine's own.
        cached: ``HOST`` or ``HOST:PORT`` of a cache before it; empty without one.
    """

    address: str
    join: str
    hosts: frozenset[str] = frozenset()
    cached: str = ""


def application(
    relay: Relay, front: Front, games: Sequence[BaseRoute] = (), upstream: Upstream | None = None
) -> ASGIApp:
    """Return the pages and streams of a relay.

    Args:
        games: the addresses of games that are over.
        upstream: the broker behind ``/mqtt``; None offers no MQTT.
    """
    pages = _Pages(relay, front, has_games=bool(games))
    routes = [
        Route("/", pages.hall),
        Route("/tables", pages.tables),
        Route("/events", pages.events),
        Route("/live/head.json", pages.head),
        Route(f"/live/{number('name')}.json", pages.chunk),
        Route("/sdk", pages.sdk),
        Route("/sdk/{name}", pages.wheel),
        Route("/qr.svg", pages.qr),
        Route("/healthz", pages.health),
        *games,
        *([] if upstream is None else _mqtt(upstream, front)),
        Mount("/static", static_files("salvo_watch.web")),
    ]
    app = Starlette(routes=routes, exception_handlers={404: pages.missing})
    refusal = "this server has another name; its operator can add this one to `hosts`, or as --host of salvo web"
    prefix = urlsplit(front.address).path
    return Guarded(app, lambda host: is_known_host(host, front.hosts), refusal, front.cached, prefix)


def _mqtt(upstream: Upstream, front: Front) -> list[BaseRoute]:
    plain = PlainTextResponse("MQTT over WebSocket is here, pages are at /\n", 426, {"Upgrade": "websocket"})
    return [
        WebSocketRoute("/mqtt", MqttChannels(upstream, front.hosts).__call__),
        Route("/mqtt", lambda _: plain),
    ]


class _Pages:
    def __init__(self, relay: Relay, front: Front, *, has_games: bool) -> None:
        self._relay, self._front, self._has_games = relay, front, has_games
        self._streams: Counter[str] = Counter()  # by address

    async def hall(self, request: Request) -> Response:
        table = request.query_params.get("table")
        if (refusal := _refused(table)) is not None:
            return refusal
        if table and self._relay.lacks(table):
            return self._page("missing", request, status=404, title=f"No table {table}")
        team = request.query_params.get("team", "")
        if team and NAME_PATTERN.fullmatch(team) is None:
            return PlainTextResponse("team is a team's name\n", 400)
        return self._page("hall", request, team=team)

    async def tables(self, request: Request) -> Response:
        return self._page("tables", request)

    async def sdk(self, request: Request) -> Response:
        return self._page("sdk", request, wheel=wheel().name)

    async def missing(self, request: Request, error: Exception) -> Response:
        return self._page("missing", request, status=404, title="This page does not exist")

    def _page(self, name: str, request: Request, status: int = 200, **given: object) -> Response:
        about: dict[str, object] = {
            "root": to_root(request),
            "broker": self._front.join,
            "version": __version__,
            "has_games": self._has_games,
        }
        cached = bool(self._front.cached) and request.headers.get("host") == self._front.cached
        address = self._address(request)
        about |= {"cached": cached, "host": address, "outside": not is_loopback(urlsplit(address).hostname or "")}
        page = render(f"salvo_watch/web/templates/{name}.html.j2", **about, **given)
        return HTMLResponse(page, status)

    def _address(self, request: Request) -> str:
        """Return this front's address as other machines reach it: as this browser did, unless it is on this machine."""
        host = request.headers.get("host", "")
        if _HOST.fullmatch(host) is None or is_loopback(host_of(host)):
            return self._front.address
        return f"{request.url.scheme}://{host}{request.scope.get('root_path', '')}"

    async def wheel(self, request: Request) -> Response:
        there = wheel()
        if request.path_params["name"] != there.name:
            return PlainTextResponse(f"no such file; this version is /sdk/{there.name}\n", 404)
        return Response(there.content, media_type="application/octet-stream")

    async def qr(self, request: Request) -> Response:
        """Answer with the code of the hall's address, or of a game's that is over."""
        page = request.query_params.get("page", "/")
        if _PAGE.fullmatch(page) is None:
            return PlainTextResponse("page is / or /games/at/TABLE/GAME\n", 400)
        return Response(qr_code(f"{self._address(request)}{page}"), media_type="image/svg+xml")

    async def health(self, request: Request) -> Response:
        """Answer 200 while the broker is reached, else 503."""
        reached = self._relay.reached
        return PlainTextResponse("ok\n" if reached else "the broker does not answer\n", 200 if reached else 503, _NEVER)

    async def events(self, request: Request) -> Response:
        table = request.query_params.get("table")
        if (refusal := _refused(table)) is not None:
            return refusal
        page = self._page_of(request, table)
        address = "" if request.client is None else request.client.host
        if self._streams[address] >= MAX_STREAMS:
            return PlainTextResponse(f"this address follows {MAX_STREAMS} streams already; close some pages\n", 429)
        stream = self._counted(address, self._relay.follow(page))
        return StreamingResponse(stream, media_type="text/event-stream", headers=STREAM_HEADERS)

    async def head(self, request: Request) -> Response:
        """Answer with the names of a table's newest chunks, or of those of all tables."""
        table = request.query_params.get("table")
        if (refusal := _refused(table)) is not None:
            return refusal
        return _stored(self._relay.head(self._page_of(request, table)), HEAD_CACHE, f"no table {table}")

    async def chunk(self, request: Request) -> Response:
        table = request.query_params.get("table")
        if (refusal := _refused(table)) is not None:
            return refusal
        chunk = self._relay.chunk(self._page_of(request, table), request.path_params["name"])
        return _stored(chunk, CHUNK_CACHE, "no such chunk; /live/head.json names the newest")

    def _page_of(self, request: Request, table: str | None) -> Page | None:
        """Return which page a stream is for; None for the one of all tables."""
        return None if table is None else self._relay.page(table, live="live" in request.query_params)

    async def _counted(self, address: str, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self._streams[address] += 1
        try:
            async for frame in stream:
                yield frame
        finally:
            self._streams[address] -= 1
            if not self._streams[address]:
                del self._streams[address]


def _stored(value: bytes | None, cache: str, missing: str) -> Response:
    """Return what a cache may store, also that something is gone; for None what it may not."""
    if not value:
        return PlainTextResponse(f"{missing}\n", 404, _NEVER if value is None else {"Cache-Control": cache})
    return Response(value, media_type="application/json", headers={"Cache-Control": cache})


def _refused(table: str | None) -> Response | None:
    """Return the refusal of a table's invalid name; None for a valid one."""
    try:
        name, _, cell = (table or "").partition("@")
        if name:
            check_name(name, "table")
        if cell and _HOST.fullmatch(cell) is None:
            raise WireError("bad_name", "no such address of a broker")
    except WireError as error:
        return PlainTextResponse(f"{error}\n", 400)
    return None
