"""MQTT over WebSocket on the embedded broker: packets in any frames, and how a connection is refused and ended."""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

from kit.raw import PATIENCE_SECONDS, connect_packet, publish_packet, subscribe_packet
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import Access


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(websocket="127.0.0.1:0") as running:
        yield running


def opened(broker: EmbeddedBroker) -> Connection:
    subprotocols = [Subprotocol("mqtt")]
    return connect(str(broker.websocket_url), subprotocols=subprotocols, proxy=None, ping_interval=None)


def read(client: Connection) -> bytes:
    """Return all that comes until the broker closes."""
    got = b""
    with contextlib.suppress(ConnectionClosed):
        while True:
            got += client.recv(PATIENCE_SECONDS, decode=False)
    return got


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("fragments", [False, True])
def test_packets_may_come_byte_by_byte_in_messages_or_fragments(broker: EmbeddedBroker, fragments: bool) -> None:
    count = 40
    sent = connect_packet("slow") + subscribe_packet("/x")
    sent += b"".join(publish_packet("/x", b"%d" % number, number) for number in range(1, count + 1))
    with opened(broker) as client:
        if fragments:
            client.send(bytes((byte,)) for byte in sent)
        else:
            for byte in sent:
                client.send(bytes((byte,)))
        got = b""
        while got.count(b"\x40\2") < count or got.count(b"/x\0") < count:
            got += client.recv(PATIENCE_SECONDS, decode=False)
    assert "frames" not in broker.faults


# --- refusals -----------------------------------------------------------------------------------------------------


class NobodyIsKnown(Access):
    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        return False


@pytest.mark.parametrize("level", [3, 4, 5, 6])
@pytest.mark.parametrize("web", [False, True])
def test_a_refused_greeting_leaves_one_line_at_every_level_of_the_protocol(
    level: int, web: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker(websocket="127.0.0.1:0", access=NobodyIsKnown()) as broker:
        if web:
            with opened(broker) as client:
                client.send(connect_packet("stranger", level=level))
                answer = read(client)
                assert client.protocol.close_code == 1008
        else:
            with socket.create_connection(("127.0.0.1", broker.port), PATIENCE_SECONDS) as plain:
                plain.sendall(connect_packet("stranger", level=level))
                answer = b"".join(iter(lambda: plain.recv(100), b""))
    if level == 5:  # followed by a reason in words
        assert (answer[0], answer[2:4]) == (0x20, b"\0\x86")
        assert b"connect with a team's name as user and its secret as password" in answer
    else:
        assert answer == {4: b"\x20\2\0\4"}.get(level, b"\x20\2\0\1")
    [line] = lines(caplog)
    assert line.endswith("; refused")


# --- farewells over TCP -------------------------------------------------------------------------------------------


def test_a_farewell_arrives_although_the_client_goes_on_sending(broker: EmbeddedBroker) -> None:
    """Closed with something unread, the system resets the connection, and the last word is lost."""
    with socket.create_connection(("127.0.0.1", broker.port), PATIENCE_SECONDS) as client:
        client.sendall(connect_packet("talker", level=5))
        assert client.recv(100)[0] == 0x20
        flood = struct.pack("!BBH", 0x30, 4, 2) + b"/x"
        client.sendall(b"\xf0\0" + flood * 20_000)
        assert b"".join(iter(lambda: client.recv(100), b"")) == b"\xe0\2\x82\0"
