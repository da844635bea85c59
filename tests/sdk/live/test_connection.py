"""The connection on both brokers."""

from __future__ import annotations

import gc
import random
import time

import pytest

from kit.brokers import Broker
from kit.ports import Port
from kit.programs import on_both_brokers
from salvo.errors import ConnectionLost
from salvo.net.mqtt import MAX_PACKETS_A_POLL, Connection


def _connected(broker: Broker, name: str, topic: str = "") -> Connection:
    connection = Connection(broker.url, name, clean_session=True)
    connection.on_connect = lambda _: connection.subscribe([topic] if topic else [])
    connection.connect(60)
    return connection


@on_both_brokers
def test_a_burst_larger_than_one_poll_is_read_to_its_end(broker: Broker) -> None:
    """What one round leaves in the buffer wakes no selector: once the reader waited for more, which did not come."""
    reader, writer = _connected(broker, "reader", "/x"), _connected(broker, "writer")
    reader.publish("/x", b"subscribed")
    while not reader.poll(1.0):
        pass
    count = MAX_PACKETS_A_POLL + 40
    for number in range(count):
        writer.publish("/x", b"%d" % number)
    assert writer.flush(60)
    got: list[bytes] = []
    end = time.monotonic() + 60
    while len(got) < count and time.monotonic() < end:
        got += [message.payload for message in reader.poll(0.2)]
    for connection in (reader, writer):
        connection.close()
    assert got == [b"%d" % number for number in range(count)]


@on_both_brokers
def test_messages_that_arrive_leave_nothing_for_the_garbage_collector(broker: Broker) -> None:
    """It stops everybody: paho left a cycle for every message, so that a server collected all the time."""
    reader = _connected(broker, "reader", "/x")
    gc.collect()
    gc.disable()
    try:
        for number in range(200):
            reader.publish("/x", b"%d" % number)
            while not (arrived := reader.poll(1.0)):
                pass
            for message in arrived:
                reader.acknowledge(message)
        left = gc.collect()
    finally:
        gc.enable()
    reader.close()
    assert left < 200


def test_pauses_are_not_drawn_from_a_bots_generator(port: Port) -> None:
    connection = Connection(f"mqtt://{port.address}", "alone")
    before = random.getstate()
    with pytest.raises(ConnectionLost, match="unreachable"):
        connection.connect(0.5)
    connection.close()
    assert random.getstate() == before
