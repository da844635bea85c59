"""A flood of forged shots from a process of its own, as fast as the broker takes them.

``python flood.py PORT QOS ENOUGH`` floods until its standard input ends. It says when enough messages were taken, and
at the end how many: at QoS 1 those that were acknowledged, at QoS 0 those that went out.
"""

from __future__ import annotations

import secrets
import selectors
import socket
import struct
import sys

from salvo.seal import make_blob

_TOPIC = b"/players/a/fire"


def _connect(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), 60)
    client.sendall(b"\x10\x11\0\4MQTT\4\2\0\x3c\0\5flood")
    assert client.recv(4) == b"\x20\2\0\0"
    client.setblocking(False)
    return client


def _shots(count: int, qos: int) -> bytes:
    """Shots of nobody under salts that nobody has seen."""
    packets = bytearray()
    for number in range(1, count + 1):
        blob = make_blob(b"{}", bytes(32), secrets.token_bytes(16)).encode()
        payload = b'{"data":{"x":1,"y":1},"signature":"%s"}' % blob
        body = struct.pack("!H", len(_TOPIC)) + _TOPIC + struct.pack("!H", number)[: 2 * qos] + payload
        packets += bytes((0x30 | qos << 1, len(body) & 127 | 128, len(body) >> 7)) + body
    return bytes(packets)


def flood(port: int, qos: int, enough: int) -> int:
    """Write whenever the socket takes anything; return the number of messages that were taken."""
    count = 2000
    client, shots = _connect(port), _shots(count, qos)
    selector = selectors.DefaultSelector()
    selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
    selector.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    at = sent = acknowledged = 0
    reported = False
    while True:
        taken = acknowledged // 4 if qos else sent * count // len(shots)
        if taken >= enough and not reported:
            reported = True
            print("enough", flush=True)
        for key, events in selector.select():
            if key.fileobj is sys.stdin:
                return taken
            if events & selectors.EVENT_READ:
                acknowledged += len(client.recv(65_536))
            if events & selectors.EVENT_WRITE:
                written = client.send(shots[at : at + 65_536])
                sent, at = sent + written, (at + written) % len(shots)


if __name__ == "__main__":
    print(flood(*map(int, sys.argv[1:])))
