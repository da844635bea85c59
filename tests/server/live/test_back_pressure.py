"""Who floods goes at the pace of whom he floods, and nobody else pays."""

from __future__ import annotations

import contextlib
import select
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from kit.raw import PATIENCE_SECONDS, Raw, publish_packet, subscribe_packet
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.runner import EmbeddedBroker


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    limits = BrokerLimits(backlog_bytes=100_000, stuck_seconds=0.5, queued_bytes=1_000_000)
    with EmbeddedBroker(limits=limits) as running:
        yield running


def greeted(broker: EmbeddedBroker, client_id: str | None = None, *filters: str) -> Raw:
    client = Raw(broker.port, client_id)
    assert client.read() == b"\x20\2\0\0"
    if filters:
        client.send(subscribe_packet(*filters))
        assert client.read() == b"\x90" + bytes((2 + len(filters), 0, 1)) + b"\1" * len(filters)
    return client


def flood(client: Raw, count: int) -> None:
    """Publish to /x until everything is acknowledged."""
    reader = threading.Thread(target=client.wait_for, args=(b"\x40\2" + struct.pack("!H", count),))
    reader.start()
    for number in range(1, count + 1):
        client.send(publish_packet("/x", b"f" * 100, number))
    reader.join(60)
    assert not reader.is_alive(), "not all is acknowledged"


def test_a_reader_that_works_off_its_backlog_slowly_is_waited_for_and_loses_nothing() -> None:
    """It needs longer than the time that a stuck one gets, at some ten times the pace that is asked of it."""
    with EmbeddedBroker(limits=BrokerLimits(backlog_bytes=20_000, stuck_seconds=2)) as broker:
        _flood_a_slow_reader(broker, 1000)


def _flood_a_slow_reader(broker: EmbeddedBroker, messages: int) -> None:
    reader = Connection(broker.url, "slow", clean_session=True)
    reader.on_connect = lambda _: reader.subscribe(["/x"])
    reader.connect(60)
    reader.publish("/x", b"here")
    while not (received := reader.poll(1.0)):  # only then is the subscription in force
        pass
    reader.acknowledge(received[0])
    with greeted(broker) as sender:
        flooding = threading.Thread(target=flood, args=(sender, messages))
        flooding.start()
        count, end = 0, time.monotonic() + 60
        while count < messages and time.monotonic() < end:
            for message in reader.poll(1.0):
                count += 1
                time.sleep(0.003)
                reader.acknowledge(message)
        flooding.join(60)
    reader.close()
    assert count == messages


def test_two_clients_held_back_for_each_other_do_not_wait_for_ever(broker: EmbeddedBroker) -> None:
    with greeted(broker, "one", "/x/one") as one, greeted(broker, "two", "/x/two") as two:
        for number in range(1, 3000):
            for client, topic in ((one, "/x/two"), (two, "/x/one")):
                with contextlib.suppress(OSError):
                    client.socket.settimeout(0.01)
                    client.send(publish_packet(topic, b"f" * 100, number))
        read = b"?"
        while read:
            readable, _, _ = select.select([one.socket, two.socket], [], [], PATIENCE_SECONDS)
            assert readable, "neither of them is dropped"
            read = next(client for client in (one, two) if client.socket in readable).read() or b""
