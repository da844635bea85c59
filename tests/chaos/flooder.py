"""Forged shots at a pace, as the front lets them through: ``python flooder.py PORT A_SECOND``, until it is killed.

It comes back as often as the broker does.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import struct
import sys
import time

from salvo.wire.seal import make_blob

_SHOTS, _AT_ONCE = 2000, 20
_AGAIN_SECONDS = 0.05
_TOPIC = b"/players/a/fire"


def _connect(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), 60)
    client.sendall(b"\x10\x11\0\4MQTT\4\2\0\x3c\0\5flood")
    assert client.recv(4) == b"\x20\2\0\0"
    return client


def _shots() -> bytes:
    """Shots of nobody under salts that nobody has seen."""
    packets = bytearray()
    for number in range(1, _SHOTS + 1):
        blob = make_blob(b"{}", bytes(32), secrets.token_bytes(16)).encode()
        payload = b'{"data":{"x":1,"y":1},"signature":"%s"}' % blob
        body = struct.pack("!H", len(_TOPIC)) + _TOPIC + struct.pack("!H", number) + payload
        packets += bytes((0x32, len(body) & 127 | 128, len(body) >> 7)) + body
    return bytes(packets)


def _flood(port: int, a_second: int) -> None:
    shots = _shots()
    size = len(shots) // _SHOTS * _AT_ONCE
    with _connect(port) as client:
        while True:
            for at in range(0, len(shots), size):
                client.settimeout(60)
                client.sendall(shots[at : at + size])
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    client.recv(65_536)
                time.sleep(_AT_ONCE / a_second)


if __name__ == "__main__":
    while True:
        with contextlib.suppress(OSError, AssertionError):
            _flood(*map(int, sys.argv[1:]))
        time.sleep(_AGAIN_SECONDS)
