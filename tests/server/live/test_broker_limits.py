"""What clients can make the embedded broker hold, and what it does when they want more."""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kit.broker_process import BrokerProcess
from kit.raw import Raw, packet, publish_packet, subscribe_packet, text, upgrade_request
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.runner import EmbeddedBroker


@contextlib.contextmanager
def broker(**limits: Any) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(limits=BrokerLimits(**limits)) as running:
        yield running


# --- all together -------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {
    "connections": 60,
    "websockets": 8,
    "absent_sessions": 20,
    "all_subscriptions": 500,
    "queued_bytes": 2_000_000,
    "all_queued_bytes": 5_000_000,
    "retained_topics": 2000,
    "retained_bytes": 3_000_000,
}


def test_the_broker_never_holds_more_than_its_limits_add_up_to() -> None:
    """The attacks come one after the other and all of them stay; memory for the interpreter's own use is allowed."""
    most = BrokerLimits(**SMALL).most_bytes
    with BrokerProcess(**SMALL) as process, contextlib.ExitStack() as held:
        before = process.resident_bytes()
        for attack in (
            hold_half_packets,
            leave_many_sessions,
            subscribe_to_too_much,
            retain_too_much,
            stop_reading_a_flood,
            send_great_websocket_messages,
            send_tiny_websocket_frames,
        ):
            attack(process, held)
            with Raw(process.port) as other:
                assert other.read() == b"\x20\2\0\0", f"{attack.__name__} harmed somebody else"
        grown = process.resident_bytes(peak=True) - before
    assert grown < most, f"{grown:,} bytes of {most:,}"


def hold_half_packets(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    for _ in range(20):
        client = held.enter_context(Raw(process.port, will=("gone", "w" * 60)))
        client.read()
        with contextlib.suppress(ConnectionError):
            client.send(b"\x30\xff\x7f" + b"h" * 16_000)


def leave_many_sessions(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    for number in range(200):
        with Raw(process.port, f"absent-{number}", clean=False) as client:
            client.read()
            client.send(subscribe_packet("flood/#"))
            client.read()
            client.send(b"\xe0\0")
            client.read()


def subscribe_to_too_much(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    for number in range(10):
        client = held.enter_context(Raw(process.port))
        client.read()
        for _ in range(120):
            levels = "/".join(secrets.token_hex(16) for _ in range(15))
            client.send(subscribe_packet(levels))
        client.wait_for(b"\x90\3\0\1\x80", number)


def retain_too_much(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    client = held.enter_context(Raw(process.port))
    client.read()
    for number in range(20_000):
        client.send(packet(0x31, text(f"kept/{number:05}") + b"r" * 998))


def stop_reading_a_flood(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    for _ in range(3):
        stuck = held.enter_context(Raw(process.port))
        stuck.read()
        stuck.send(subscribe_packet("flood/#"))
        stuck.read()
    with Raw(process.port) as sender:
        sender.read()
        flood = publish_packet("flood/x", b"f" * 8000)
        reader = threading.Thread(target=sender.drain, daemon=True)
        reader.start()
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(4000):
                sender.send(flood)


def upgraded(process: BrokerProcess, held: contextlib.ExitStack) -> socket.socket:
    host, _, port = process.websocket_url.removeprefix("ws://").partition("/")[0].partition(":")
    client = held.enter_context(socket.create_connection((host, int(port)), 5))
    client.sendall(upgrade_request())
    client.recv(4096)
    return client


def send_great_websocket_messages(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    """A message of a mebibyte, in frames that never end it."""
    for _ in range(12):
        with contextlib.suppress(ConnectionError, TimeoutError):
            client = upgraded(process, held)
            client.settimeout(1)
            for first in (b"\2", *[b"\0"] * 63):
                client.sendall(first + b"\xfe\x3f\xff\0\0\0\0" + b"g" * 16_383)


def send_tiny_websocket_frames(process: BrokerProcess, held: contextlib.ExitStack) -> None:
    """After a CONNECT that leaves its answer unread, as many empty frames as go in."""
    for _ in range(12):
        with contextlib.suppress(ConnectionError, TimeoutError):
            client = upgraded(process, held)
            client.settimeout(1)
            for _ in range(20):
                client.sendall(b"\x82\x80\0\0\0\0" * 10_000)


# --- one by one ---------------------------------------------------------------------------------------------------


def test_a_persistent_client_whose_queue_overflowed_starts_a_new_session(caplog: pytest.LogCaptureFixture) -> None:
    """It lost what did not fit, one warning a message, and believed on its return that it had got everything."""
    with broker(queued_bytes=20_000) as running:
        for name in ("sleeper", "second", "third"):
            with Raw(running.port, name, clean=False) as sleeper:
                assert sleeper.read() == b"\x20\2\0\0"
                sleeper.send(subscribe_packet("x"))
                assert sleeper.read() == b"\x90\3\0\1\1"
                sleeper.send(b"\xe0\0")
                assert sleeper.read() == b""
        with caplog.at_level(logging.WARNING), Raw(running.port) as sender:
            assert sender.read() == b"\x20\2\0\0"
            for number in range(100):
                sender.send(publish_packet("x", b"y" * 100, number + 1))
                sender.wait_for(b"\x40\2" + struct.pack("!H", number + 1))
        for name in ("sleeper", "second", "third"):
            with Raw(running.port, name, clean=False) as sleeper:
                assert sleeper.read() == b"\x20\2\0\0"  # session_present is 0: subscribe again
    logged = [record.message for record in caplog.records]
    assert len(logged) == 1
    assert "sleeper has 20" in logged[0]
    assert "its session ends" in logged[0]
