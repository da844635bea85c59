"""Plain HTTP on the embedded broker's WebSocket listener: one refusal for anybody, however rude."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from salvo.net.mqtt import BrokerUrl
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.plain_http import MAX_HEAD_BYTES

_SECONDS = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(websocket="127.0.0.1:0", limits=BrokerLimits(connect_seconds=_SECONDS)) as running:
        yield running


def asked(broker: EmbeddedBroker, request: bytes) -> bytes:
    """Return what comes until the other side hangs up."""
    received = b""
    port = BrokerUrl.parse(str(broker.websocket_url)).port
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as client, contextlib.suppress(ConnectionError):
        client.sendall(request)
        while part := client.recv(65_536):
            received += part
    return received


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 426),
        (b"GET /index.html HTTP/1.1\r\n\r\n", 426),
        (b"GET /?user=hall&secret=x HTTP/1.1\r\n\r\n", 426),
        (b"GET // HTTP/1.1\r\n\r\n", 426),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", 426),
        (b"GET /%2e%2e/ HTTP/1.1\r\n\r\n", 426),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 426),
        (b"CONNECT elsewhere:22 HTTP/1.1\r\n\r\n", 426),
        (b"HEAD /mqtt HTTP/1.1\r\n\r\n", 426),
        (b"OPTIONS * HTTP/1.1\r\n\r\n", 426),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 426),
        (b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 426),
        (b"DELETE / HTTP/1.1\r\n\r\n", 426),
        (b"get / HTTP/1.1\r\n\r\n", 426),
        (b"POST / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", 426),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://elsewhere\r\nUpgrade: websocket\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: elsewhere.example\r\nOrigin: null\r\nUpgrade: websocket\r\n\r\n", 403),
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        (b"\x10\x0c\0\4MQTT\4\2\0\0\0\0\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n", 431),
        (b"GET /" + b"x" * MAX_HEAD_BYTES, 431),
    ],
)
def test_a_request_that_is_no_websocket_is_refused_without_an_echo(
    broker: EmbeddedBroker, request_: bytes, expected: int
) -> None:
    answer = asked(broker, request_)
    assert answer.startswith(b"HTTP/1.1 %d " % expected)
    assert b"hello" not in answer
    assert b"elsewhere" not in answer
