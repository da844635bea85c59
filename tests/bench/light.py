"""An MQTT client that costs so little that hundreds of them, in one process, leave the machine to what is measured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from kit.raw import packet, text

#: To the broker's greeting, and until all that was asked for is subscribed.
_PATIENCE_SECONDS: Final = 60.0
_PUBLISH, _PUBACK, _SUBACK = 0x30, 0x40, 0x90
_Hear = Callable[[str, bytes], None]


def filters(first: int, options: bytes, *names: str) -> bytes:
    """Return a SUBSCRIBE or UNSUBSCRIBE; ``options`` follow each filter."""
    return packet(first, b"\0\1" + b"".join(text(name) + options for name in names))


def login(user: str, secret: str) -> bytes:
    """Return a CONNECT with user and password, a clean session and no keep-alive."""
    return packet(0x10, b"\0\4MQTT\4\xc2\0\0" + text(user) + text(user) + text(secret))


class LightClient(asyncio.Protocol):
    """A connection without a login: QoS 1 both ways, a clean session, no keep-alive, no second attempt.

    Attributes:
        ready: done once all filters are subscribed.
    """

    def __init__(self, name: str, wanted: Iterable[str], hear: _Hear) -> None:
        """Prepare; ``hear`` is called with the topic and payload of each message."""
        self._greeting = packet(0x10, b"\0\4MQTT\4\2\0\0" + text(name)) + filters(0x82, b"\1", *wanted)
        self._hear = hear
        self._transport: asyncio.Transport
        self._unread = b""
        self._number = 0
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, url: str, name: str, wanted: Iterable[str], hear: _Hear) -> LightClient:
        """Connect to ``mqtt://HOST:PORT`` and subscribe."""
        host, _, port = urlsplit(url).netloc.rpartition(":")
        _, client = await asyncio.get_running_loop().create_connection(lambda: cls(name, wanted, hear), host, int(port))
        await asyncio.wait_for(client.ready, _PATIENCE_SECONDS)
        return client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._greeting)

    def data_received(self, data: bytes) -> None:
        data = self._unread + data
        at, receipts = 0, []
        while (found := _frame(data, at)) is not None:
            first, body, end = found
            at = end
            kind = first & 0xF0
            if kind == _PUBLISH:
                receipts.append(self._take(first, data[body:end]))
            elif kind == _SUBACK:
                self.ready.set_result(None)
        self._unread = data[at:]
        if receipts:
            self._transport.write(b"".join(receipts))

    def _take(self, first: int, body: bytes) -> bytes:
        """Pass a message on; return its receipt."""
        end = 2 + int.from_bytes(body[:2], "big")
        number = body[end : end + 2] if first & 6 else b""
        self._hear(body[2:end].decode(), body[end + len(number) :])
        return packet(_PUBACK, number) if number else b""

    def publish(self, topic: str, payload: bytes) -> None:
        """Send a message, QoS 1."""
        self._number = self._number % 0xFFFF + 1
        self._transport.write(packet(0x32, text(topic) + self._number.to_bytes(2, "big") + payload))

    def close(self) -> None:
        """Hang up."""
        self._transport.close()


def _frame(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Return the first byte of a packet and where its body begins and ends; None if it has not come entirely."""
    length = shift = 0
    place = at + 1
    while place < len(data):
        digit = data[place]
        length |= (digit & 127) << shift
        place, shift = place + 1, shift + 7
        if digit < 128:
            end = place + length
            return (data[at], place, end) if end <= len(data) else None
    return None
