"""What uvicorn leaves open: how many connections an address has, how long they say nothing, and what frames cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn._types import ASGISendEvent

#: Of one address: a hall of phones behind one router, each with a stream and a page that loads.
MAX_OF_ADDRESS: Final = 1024
#: For a request's head to arrive, from the connection's beginning or the answer before it.
HEAD_SECONDS: Final = 15.0

#: For streams to end with the process.
_END_SECONDS: Final = 1
#: Pieces of one WebSocket message; MQTT.js sends none in pieces.
MAX_PIECES: Final = 64

_connections: Counter[str] = Counter()  # by address


def behind_a_door(app: ASGIApp, door: type[Door], connections: int, **more: Any) -> uvicorn.Server:
    """Return a server of pages that logs warnings only, and does not say what it is.

    Args:
        connections: at once; further ones get 503, Service Unavailable.
        more: settings of uvicorn's.
    """
    config = uvicorn.Config(
        app,
        http=door,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=_END_SECONDS,
        **more,
    )
    return uvicorn.Server(config)


class Door(H11Protocol):
    """A connection that counts towards those of its address, and is closed when it has asked nothing for too long.

    A proxy's connections are its visitors', so those that are trusted to name them (uvicorn's forwarded_allow_ips) may
    be any number.

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
        address = "" if self.client is None else self.client[0]
        if address not in getattr(self.app, "trusted_hosts", ()):
            self._address = address
            _connections[address] += 1
            if _connections[address] > self.most:
                transport.abort()
                return
        self._wait_or_not()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()  # who answers WebSockets counts them, and knows visitors behind a proxy
        super().handle_websocket_upgrade(event)

    def _leave(self) -> None:
        self._stop_waiting()
        if self._address:
            _connections[self._address] -= 1
            if not _connections[self._address]:
                del _connections[self._address]
            self._address = ""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_or_not()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_or_not()

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


class Hatch(WebSocketsSansIOProtocol):
    """A WebSocket whose other side cannot make this one hold more than a message, and a buffer of answers."""

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.initial_response is not None:  # uvicorn would log every refusal as an error of the application
            self.handshake_complete = self.close_sent

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:  # it reads none of the answers
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MAX_PIECES:
            super().handle_cont(event)
        else:
            self.transport.abort()
