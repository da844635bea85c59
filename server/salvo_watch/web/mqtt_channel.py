"""MQTT over WebSocket at the address of the pages: what a visitor sends is handed to the broker as it is.

Every visitor has an own connection to the broker, which so knows who has published what, and the broker decides what
may be done there, as for whoever connects to it directly. This module only counts, and lets no page of another site in.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected

from salvo.net.mqtt import BrokerUrl
from salvo.net.tls import client_context
from salvo_game.rate_limit import Buckets, Rate
from salvo_server.brokers.embedded.addresses import is_known_origin, joined

#: Of one visitor's address, a school behind one router, and of all: half of what a broker holds is left to others.
MAX_OF_VISITOR: Final = 128
MAX_CHANNELS: Final = 256
#: Of one address: a class comes back at once when the broker was away.
ATTEMPTS: Final = Rate(200.0, 20.0)
#: Addresses whose attempts are counted.
_MAX_COUNTED: Final = 10_000
#: The largest WebSocket message, as at the embedded broker; and how much is read from the broker at a time.
MAX_MESSAGE_BYTES: Final = 65_536
#: For the broker to answer the call.
_CONNECT_SECONDS: Final = 5.0
_PROTOCOL: Final = "mqtt"
_UNSUPPORTED, _GONE = 1003, 1001


@dataclass(frozen=True, slots=True)
class Upstream:
    """The broker that visitors are led to.

    Attributes:
        ca: who has signed its certificate; None for the system's authorities.
        takes_proxy_protocol: whether the broker reads a visitor's address in front of what the visitor sends.
    """

    address: BrokerUrl
    ca: str | None = None
    takes_proxy_protocol: bool = False

    @contextlib.asynccontextmanager
    async def connection(self, visitor: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Open a connection for a visitor; the broker knows it as gone when this ends.

        Raises:
            OSError, TimeoutError: the broker does not answer.
        """
        context = client_context(self.ca) if self.address.scheme == "mqtts" else None
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(self.address.host, self.address.port, ssl=context)
        try:
            if self.takes_proxy_protocol:
                writer.write(introduction(visitor))
            yield reader, writer
        finally:
            writer.transport.abort()


def introduction(visitor: str) -> bytes:
    """Return the first line of a connection that is made for a visitor (PROXY protocol, version 1).

    Args:
        visitor: an IP address; whatever else it is, is unknown.
    """
    try:
        version = ipaddress.ip_address(visitor).version
    except ValueError:
        return b"PROXY UNKNOWN\r\n"
    nowhere = "0.0.0.0" if version == 4 else "::"
    return f"PROXY TCP{version} {visitor} {nowhere} 0 0\r\n".encode()


class MqttChannels:
    """Answers requests for ``/mqtt``.

    Attributes:
        most_of_visitor: connections of one address at once.
        most: of all together.
    """

    most_of_visitor = MAX_OF_VISITOR
    most = MAX_CHANNELS

    def __init__(self, upstream: Upstream, hosts: Collection[str]) -> None:
        """Prepare.

        Args:
            hosts: names of this machine, and of other machines whose pages may connect.
        """
        self._upstream = upstream
        self._hosts = hosts
        self._open: Counter[str] = Counter()  # by visitor
        self._attempts: Buckets[str] = Buckets(_MAX_COUNTED, ATTEMPTS)

    async def __call__(self, socket: WebSocket) -> None:
        visitor = "" if socket.client is None else socket.client.host
        if (refusal := self._refusal(socket, visitor)) is not None:
            await socket.send_denial_response(refusal)
            return
        self._open[visitor] += 1
        try:
            await self._carry(socket, visitor)
        finally:
            self._open[visitor] -= 1
            self._open += Counter()  # forgets those without any

    def _refusal(self, socket: WebSocket, visitor: str) -> Response | None:
        origin = socket.headers.get("origin")
        if origin is not None and not is_known_origin(origin, socket.headers.get("host", ""), self._hosts):
            return PlainTextResponse("a page of another site may not connect, unless its host is in `hosts`\n", 403)
        if not self._attempts.take(visitor, int(1000 * time.monotonic())):
            return PlainTextResponse("this address connects too often; wait some seconds\n", 429)
        if self._open[visitor] >= self.most_of_visitor:
            text = f"this address has {self.most_of_visitor} connections already; end one\n"
            return PlainTextResponse(text, 429)
        if self._open.total() >= self.most:
            return PlainTextResponse(f"{self.most} connections are open already; connect to the broker itself\n", 503)
        return None

    async def _carry(self, socket: WebSocket, visitor: str) -> None:
        async with contextlib.AsyncExitStack() as stack:
            try:
                reader, writer = await stack.enter_async_context(self._upstream.connection(visitor))
            except OSError:
                where = joined(self._upstream.address.host, self._upstream.address.port)
                await socket.send_denial_response(PlainTextResponse(f"the broker {where} does not answer\n", 503))
                return
            await socket.accept(_PROTOCOL if _PROTOCOL in socket.scope["subprotocols"] else None)
            ways = {asyncio.create_task(_send_on(socket, writer)), asyncio.create_task(_bring_back(reader, socket))}
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)


async def _send_on(socket: WebSocket, writer: asyncio.StreamWriter) -> None:
    """Hand on what a visitor sends, no faster than the broker reads it, until one of them has gone."""
    with contextlib.suppress(WebSocketDisconnect, OSError):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not (payload := message.get("bytes")):
                await socket.close(_UNSUPPORTED, "MQTT comes in binary frames")
                return
            writer.write(payload)
            await writer.drain()


async def _bring_back(reader: asyncio.StreamReader, socket: WebSocket) -> None:
    """Hand on what the broker sends, no faster than the visitor reads it, until one of them has gone."""
    with contextlib.suppress(WebSocketDisconnect, ClientDisconnected, OSError):
        while payload := await reader.read(MAX_MESSAGE_BYTES):
            await socket.send_bytes(payload)
        await socket.close(_GONE, "the broker has ended the connection")
