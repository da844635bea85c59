"""What the embedded broker does on its connections, and what it mends in amqtt."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from kit.raw import PATIENCE_SECONDS, Raw, packet, publish_packet, text
from salvo_server.brokers.embedded.addresses import BrokerError
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.packets import with_length
from salvo_server.brokers.embedded.runner import EmbeddedBroker


@contextlib.contextmanager
def ours(**limits: Any) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(limits=BrokerLimits(**limits)) as broker:
        yield broker


def test_a_repeated_qos_2_message_is_delivered_once() -> None:
    with ours() as broker, Raw(broker.port) as reader:
        assert reader.read() == b"\x20\2\0\0"
        reader.send(packet(0x82, b"\0\1" + text("x") + b"\2"))
        assert reader.read() == b"\x90\3\0\1\1"  # granted QoS 1, which MQTT allows
        message = text("x") + b"\0\7once"
        with Raw(broker.port, "twice", clean=False) as sender:
            assert sender.read() == b"\x20\2\0\0"
            sender.send(packet(0x34, message))
            assert sender.read() == b"\x50\2\0\7"
            sender.send(packet(0x3C, message))
            assert sender.read() == b"\x50\2\0\7"
        with Raw(broker.port, "twice", clean=False) as sender:
            assert sender.read() == b"\x20\2\1\0"
            sender.send(packet(0x3C, message))
            assert sender.read() == b"\x50\2\0\7"
            for _ in range(2):
                sender.send(b"\x62\2\0\7")
                assert sender.read() == b"\x70\2\0\7"
            sender.send(packet(0x34, text("x") + b"\0\7next"))  # released: the packet id is free again
            assert sender.read() == b"\x50\2\0\7"
        got = b""
        while b"next" not in got:
            chunk = reader.read()
            assert chunk, got
            got += chunk
        assert got == packet(0x32, text("x") + b"\0\1once") + packet(0x32, text("x") + b"\0\2next")


# --- what has to work besides ------------------------------------------------------------------------------------


def test_a_taken_port_is_a_clear_error() -> None:
    with ours() as broker, pytest.raises(BrokerError, match="address_in_use"):
        EmbeddedBroker(f"127.0.0.1:{broker.port}").start()


def _greeting(flags: int, *texts: bytes, first: int = 0x10) -> bytes:
    return packet(first, b"\0\4MQTT\4" + bytes((flags, 0, 60)) + b"".join(map(with_length, texts)))


@pytest.mark.parametrize(
    "greeting",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
        pytest.param(publish_packet("x", b"y"), id="PUBLISH first"),
        pytest.param(packet(0x10, b"\0\6MQIsdp\3\2\0\x3c" + text("old")), id="MQTT 3.1"),
        pytest.param(b"\x10\xff\xff\xff\xff\xff", id="length without end"),
        pytest.param(_greeting(0x02, b"a", first=0x11), id="flag in the first byte"),
        pytest.param(_greeting(0x03, b"a"), id="reserved flag"),
        pytest.param(_greeting(0x0A, b"a"), id="QoS of no will"),
        pytest.param(_greeting(0x22, b"a"), id="retained without a will"),
        pytest.param(_greeting(0x1E, b"a", b"/will", b"gone"), id="will at QoS 3"),
        pytest.param(_greeting(0x06, b"a", b"/will/+", b"gone"), id="will on a filter"),
        pytest.param(_greeting(0x42, b"a", b"password"), id="password without user"),
        pytest.param(_greeting(0x82, b"a", b"\xff"), id="user is not UTF-8"),
        pytest.param(_greeting(0x02, b"a\0b"), id="U+0000"),
        pytest.param(_greeting(0xC2, b"a", b"user"), id="cut off"),
        pytest.param(_greeting(0x02, b"a", b"more"), id="too long"),
        pytest.param(b"\x10\0", id="empty"),
        pytest.param(_greeting(0x00, b""), id="stored session without a client id"),
    ],
)
def test_a_wrong_greeting_is_refused_harms_nobody_and_leaves_one_line(
    greeting: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with ours() as broker:
        with socket.create_connection(("127.0.0.1", broker.port), PATIENCE_SECONDS) as client:
            client.sendall(greeting)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := client.recv(100):
                    answer += part
        assert answer[:4] != b"\x20\2\0\0"
        with Raw(broker.port) as other:
            assert other.read() == b"\x20\2\0\0"
    [line] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert line.endswith("; refused")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(packet(0x80, b"\0\1" + text("/x") + b"\1"), id="SUBSCRIBE without its flag"),
        pytest.param(packet(0x82, b"\0\0" + text("/x") + b"\1"), id="SUBSCRIBE with id 0"),
        pytest.param(packet(0x82, b"\0\1"), id="SUBSCRIBE to nothing"),
        pytest.param(packet(0x82, b"\0\1" + text("/x") + b"\3"), id="SUBSCRIBE at QoS 3"),
        pytest.param(packet(0x82, b"\0\1" + text("/x")), id="SUBSCRIBE that is cut off"),
        pytest.param(packet(0x82, b"\0\1" + text("/x\0") + b"\1"), id="SUBSCRIBE with U+0000"),
        pytest.param(packet(0x82, b"\0\1\0\1\xff\1"), id="SUBSCRIBE that is not UTF-8"),
        pytest.param(packet(0xA0, b"\0\1" + text("/x")), id="UNSUBSCRIBE without its flag"),
        pytest.param(packet(0xA2, b"\0\0" + text("/x")), id="UNSUBSCRIBE with id 0"),
        pytest.param(packet(0x60, b"\0\1"), id="PUBREL without its flag"),
        pytest.param(packet(0x62, b"\0"), id="PUBREL that is cut off"),
        pytest.param(packet(0x40, b"\0\1\0"), id="PUBACK that is too long"),
        pytest.param(packet(0x42, b"\0\1"), id="PUBACK with a flag"),
        pytest.param(packet(0x50, b"\0\1"), id="PUBREC for nothing"),
        pytest.param(b"\xc1\0", id="PINGREQ with a flag"),
        pytest.param(packet(0xC0, b"x"), id="PINGREQ with a body"),
        pytest.param(packet(0xE0, b"\0") + b"\xc0\0", id="DISCONNECT with a body"),
        pytest.param(packet(0x32, text("/x") + b"\0\0y"), id="PUBLISH with id 0"),
        pytest.param(packet(0x38, text("/x") + b"y"), id="PUBLISH again at QoS 0"),
        pytest.param(packet(0x36, text("/x") + b"\0\1y"), id="PUBLISH at QoS 3"),
        pytest.param(packet(0x30, text("") + b"y"), id="PUBLISH to nothing"),
        pytest.param(packet(0x30, text("/#") + b"y"), id="PUBLISH to a filter"),
        pytest.param(packet(0x30, b"\0\1\xff"), id="PUBLISH that is not UTF-8"),
        pytest.param(packet(0x32, text("/x") + b"\0"), id="PUBLISH that is cut off"),
        pytest.param(packet(0x30, b"\0\x09x"), id="PUBLISH whose topic is cut off"),
        pytest.param(packet(0x82, b"\0\1\0\x09x"), id="SUBSCRIBE whose filter is cut off"),
        pytest.param(packet(0xA2, b"\0\1\0\x09x"), id="UNSUBSCRIBE whose filter is cut off"),
        pytest.param(packet(0x90, b"\0\1\1"), id="SUBACK"),
        pytest.param(packet(0x20, b"\0\0"), id="CONNACK"),
        pytest.param(packet(0x10, _greeting(0x02, b"a")[2:]), id="CONNECT again"),
        pytest.param(packet(0xF0, b"\0\0"), id="AUTH"),
        pytest.param(packet(0x00, b""), id="no packet"),
    ],
)
def test_a_malformed_packet_ends_the_connection_and_leaves_one_line(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with ours() as broker:
        with Raw(broker.port) as client:
            assert client.read() == b"\x20\2\0\0"
            client.send(sent + b"\xc0\0")
            assert client.read() == b""  # neither an answer, nor one to the ping
        with Raw(broker.port) as other:
            assert other.read() == b"\x20\2\0\0"
    [line] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert line.endswith("; disconnected")
