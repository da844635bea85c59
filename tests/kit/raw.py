"""MQTT 3.1.1 byte by byte, for tests of what a decent client would never do."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
from typing import Any

#: For what is to come; who waits for what is not to come says how long.
PATIENCE_SECONDS = 60.0
#: CONNACK to a client that is let in.
ACCEPTED = b"\x20\2\0\0"

client_ids = (f"client-{number}" for number in itertools.count())


def packet(first: int, body: bytes) -> bytes:
    """Return a packet: type and flags, length, body."""
    length, head = len(body), bytearray((first,))
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    head.append(length)
    return bytes(head) + body


def text(value: str) -> bytes:
    return struct.pack("!H", len(value)) + value.encode()


def connect_packet(client_id: str, *, level: int = 4, clean: bool = True, keep_alive: int = 60, **given: Any) -> bytes:
    flags = 2 * clean
    tail = text(client_id)
    if "will" in given:
        flags |= 4 | 32 * given.get("will_retained", True)
        tail += b"\0" * (level == 5) + text(given["will"][0]) + text(given["will"][1])
    if "user" in given:
        flags |= 128 | 64
        tail += text(given["user"]) + text(given["password"])
    properties = b"\0" if level == 5 else b""
    return packet(0x10, b"\0\4MQTT" + bytes((level, flags)) + struct.pack("!H", keep_alive) + properties + tail)


class Raw:
    """A socket that speaks MQTT byte by byte."""

    def __init__(self, port: int, client_id: str | None = None, **given: Any) -> None:
        """Connect, by ``tls`` if it is given; the first bytes are ``greeting``, else a CONNECT with what is given."""
        greeting, tls = given.pop("greeting", None), given.pop("tls", None)
        self.socket: socket.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.send(connect_packet(client_id or next(client_ids), **given) if greeting is None else greeting)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, seconds: float = PATIENCE_SECONDS) -> bytes | None:
        """The next bytes; empty when the broker hung up, None when nothing comes."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(65_536)
        except TimeoutError:
            return None
        except ConnectionError:
            return b""

    def wait_for(self, wanted: bytes, times: int = 1) -> None:
        """Read until these bytes have come."""
        got = b""
        while got.count(wanted) < times:
            chunk = self.read()
            assert chunk, got[-100:]
            got += chunk

    def drain(self) -> None:
        """Read until the connection ends or nothing comes."""
        with contextlib.suppress(OSError):
            while self.socket.recv(65_536):
                pass

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def subscribe_packet(*filters: str) -> bytes:
    return packet(0x82, b"\0\1" + b"".join(text(name) + b"\1" for name in filters))


def publish_packet(topic: str, payload: bytes, mid: int = 1, retain: bool = False) -> bytes:
    return packet(0x32 | retain, text(topic) + struct.pack("!H", mid) + payload)


def upgrade_request(*lines: bytes) -> bytes:
    """Return what opens a WebSocket for MQTT, with further lines of its head."""
    upgrade = (
        b"GET /mqtt HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: mqtt\r\n"
    )
    return upgrade + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
