"""MQTT over WebSocket through the web front: who may come, how often, and what the broker knows of each visitor."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

from kit.secured import Client
from kit.web_front import in_this_process, web_front
from salvo.net.mqtt import BrokerUrl
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_watch.web.mqtt_channel import MqttChannels, Upstream

SECONDS = 60.0
UPGRADE = (
    b"GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
VISITOR, OTHER = "203.0.113.9", "2001:db8::7"


@contextlib.contextmanager
def front(broker: str, *, hosts: tuple[str, ...] = (), **limits: int) -> Iterator[int]:
    """Run a web front that has nothing but the channel, behind a proxy; its port."""
    upstream = Upstream(BrokerUrl.parse(broker), takes_proxy_protocol=True)
    channels = type("Small", (MqttChannels,), limits)(upstream, hosts)
    with in_this_process(WebSocketRoute("/mqtt", channels.__call__)) as port:
        yield port


def visit(port: int, address: str = VISITOR, **headers: str) -> ClientConnection:
    """Open a WebSocket as a proxy does for a visitor."""
    return connect(
        f"ws://127.0.0.1:{port}/mqtt",
        subprotocols=[Subprotocol("mqtt")],
        additional_headers={"X-Forwarded-For": address, **headers},
        open_timeout=SECONDS,
    )


def refused(port: int, address: str = VISITOR, **headers: str) -> tuple[int, str]:
    """The status and the words with which a visitor is refused."""
    with pytest.raises(InvalidStatus) as refusal:
        visit(port, address, **headers)
    return refusal.value.response.status_code, refusal.value.response.body.decode()


def talk(channel: Connection, packets: bytes | list[bytes]) -> None:
    """Send a message, in pieces if it is a list, and wait for an answer."""
    channel.send(packets)
    channel.recv(SECONDS)


def ended(visit: Connection) -> str:
    """Wait for the other side to end it; its reason."""
    with pytest.raises(ConnectionClosed) as end:
        visit.recv(SECONDS)
    assert end.value.rcvd is not None
    return end.value.rcvd.reason


def test_mqtt_clients_connect_through_the_web_front() -> None:
    with EmbeddedBroker() as broker, web_front(broker.url) as web:
        assert web.get("/mqtt")[0] == 426
        with Client(web.port, None, "ann", websocket=True) as ann, Client(web.port, None, "bob", websocket=True) as bob:
            bob.subscribe(["/to/bob"])
            ann.publish(["/to/bob"], "x" * 5000)
            bob.wait_for("/to/bob", "x" * 5000)


def test_the_broker_knows_whom_a_connection_is_made_for(caplog: pytest.LogCaptureFixture) -> None:
    for visitor in (VISITOR, OTHER):
        with EmbeddedBroker() as broker, front(broker.url) as port, visit(port, visitor) as channel:
            channel.send(b"\x20\2\0\0")
            assert ended(channel) == "the broker has ended the connection"
    assert caplog.messages == [f"{visitor} the first packet is not a CONNECT; refused" for visitor in (VISITOR, OTHER)]


def test_a_page_of_another_site_does_not_come_in() -> None:
    with EmbeddedBroker() as broker, front(broker.url, hosts=("battleship.example",)) as port:
        assert refused(port, Origin="https://evil.example")[0] == 403
        assert refused(port, Origin="null")[0] == 403
        for origin in ("https://battleship.example", f"http://127.0.0.1:{port}", "http://localhost:9"):
            visit(port, Origin=origin).close()
    with web_front("mqtt://127.0.0.1:1") as web, socket.create_connection(("127.0.0.1", web.port)) as sock:
        with pytest.raises(InvalidStatus) as refusal:
            connect("ws://evil.example/mqtt", sock=sock)
        assert refusal.value.response.status_code == 421


@pytest.mark.parametrize("without", [False, True])
def test_visitors_have_so_many_connections_each_and_together(without: bool) -> None:
    limits: dict[str, Any] = {} if without else {"most_of_visitor": 2, "most": 3}
    with EmbeddedBroker() as broker, front(broker.url, **limits) as port, contextlib.ExitStack() as stack:
        first = visit(port)
        for address in (VISITOR, OTHER):
            stack.enter_context(visit(port, address))
        if without:
            stack.enter_context(visit(port))
            return
        assert refused(port)[0] == 429
        assert refused(port, "203.0.113.10")[0] == 503
        first.close()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(InvalidStatus):
                stack.enter_context(visit(port))
                return
        raise AssertionError("a place was never given back")


def test_a_visitor_that_tries_without_end_is_refused() -> None:
    with EmbeddedBroker() as broker, front(broker.url) as port:
        codes = set()
        while 429 not in codes:
            codes.add(refused_or_in(port))
        visit(port, OTHER).close()


def refused_or_in(port: int) -> int:
    """The status of an attempt."""
    try:
        visit(port).close()
    except InvalidStatus as refusal:
        return refusal.response.status_code
    return 101


def test_a_frame_that_no_mqtt_client_sends_ends_the_connection() -> None:
    with EmbeddedBroker() as broker, front(broker.url) as port:
        with visit(port) as channel:
            channel.send("a text")
            assert ended(channel) == "MQTT comes in binary frames"
        for too_much in (bytes(1001), [b"x"] * 100):
            with visit(port) as channel, pytest.raises(ConnectionClosed):
                talk(channel, too_much)


def test_a_visitor_that_leaves_before_the_broker_answers_is_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked, gone = threading.Event(), threading.Event()
    connection = Upstream.connection

    def late(upstream: Upstream, visitor: str) -> Any:
        asked.set()
        gone.wait(SECONDS)
        return connection(upstream, visitor)

    monkeypatch.setattr(Upstream, "connection", late)
    with EmbeddedBroker() as broker, front(broker.url) as port:
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(UPGRADE)
            asked.wait(SECONDS)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.set()
        visit(port).close()
    assert caplog.messages == []


def test_a_missing_broker_is_answered_with_status_503() -> None:
    with EmbeddedBroker() as broker:
        url = broker.url
    with front(url) as port:
        status, text = refused(port)
    assert (status, text.endswith("does not answer\n")) == (503, True)
