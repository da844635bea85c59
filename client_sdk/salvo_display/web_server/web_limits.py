"""The limits that uvicorn lacks: connections of an address, and their silence.

And what strangers send it that it takes for errors of its own, which would be tracebacks in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any, Final

import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from salvo_display.web_server.web_pages import is_prefix, under

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Of one address: a hall of phones behind one router, each with a stream and a page that loads.
MAX_OF_ADDRESS: Final = 1024
#: For a request's head to arrive, from the connection's beginning or the answer before it.
HEAD_SECONDS: Final = 15.0

#: For answers to be complete when the process ends; streams never are.
END_SECONDS: Final = 0.5

_connections: dict[str, dict[Door, None]] = {}  # by address, the eldest first


def behind_a_door(app: ASGIApp, door: type[Door], connections: int, **more: Any) -> uvicorn.Server:
    """Return a server of pages that logs warnings only, and does not say what it is.

    Args:
        connections: at once; further ones get 503, Service Unavailable.
        more: settings of uvicorn's.
    """
    served = _left_in_silence(app)
    config = uvicorn.Config(
        served,
        proxy_headers=False,
        http=door,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=connections,
        **more,
    )
    config.app = _Proxied(served, config.forwarded_allow_ips)
    return _Server(config)


class _Proxied(ProxyHeadersMiddleware):
    """Believes trusted proxies (uvicorn's forwarded_allow_ips) also under which path they show these pages."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["client"] is not None and scope["client"][0] in self.trusted_hosts:
            given = Headers(scope=scope).getlist("x-forwarded-prefix")
            prefix = given[0].rstrip("/") if len(given) == 1 else ""
            if is_prefix(prefix):
                scope = under(scope, prefix)
        await super().__call__(scope, receive, send)


def _left_in_silence(app: ASGIApp) -> Any:
    """Return an application to which it is not an error that a client is gone, or that the process ends."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ClientDisconnect, asyncio.CancelledError):
            await app(scope, receive, send)

    return served


class _Server(uvicorn.Server):
    """A server that ends what is open without a word."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.get_running_loop().call_later(END_SECONDS, self._hang_up)
        await super().shutdown(sockets)
        ending.cancel()

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in self.server_state.tasks:  # what is still reckoned has nobody to go to
            task.cancel()


class Door(H11Protocol):
    """A connection that counts towards those of its address, and is closed when it has asked nothing for too long.

    Where there are too many, the eldest makes room that has never asked for anything. A proxy's connections are its
    visitors': those over which one that is trusted (uvicorn's forwarded_allow_ips) names them may be any number.

    Attributes:
        most: connections of an address.
        patience_seconds: for a head.
    """

    most = MAX_OF_ADDRESS
    patience_seconds = HEAD_SECONDS
    _address = ""
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = "" if self.client is None else self.client[0]
        others = _connections.setdefault(self._address, {})
        others[self] = None
        if len(others) > self.most:
            silent = next(door for door in others if door.scope is None)
            silent._leave()
            silent.transport.abort()
        self._wait_or_not()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()  # who answers WebSockets counts them, and knows visitors behind a proxy
        super().handle_websocket_upgrade(event)

    def _leave(self) -> None:
        self._stop_waiting()
        self._count_no_more()

    def _count_no_more(self) -> None:
        others = _connections.get(self._address, {})
        others.pop(self, None)
        if not others:
            _connections.pop(self._address, None)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_named_by_proxy():
            self._count_no_more()
        self._wait_or_not()

    def _is_named_by_proxy(self) -> bool:
        named = any(name == b"x-forwarded-for" for name, _ in self.headers or ())
        return named and self._address in getattr(self.app, "trusted_hosts", ())

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_or_not()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # an answer has begun, to which another one cannot be added
            self.transport.abort()

    def _wait_or_not(self) -> None:
        """Give the client its time as long as its next head is not whole."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.patience_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
