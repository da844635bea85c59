"""The server's link to the broker of its own process: what its other link has from TCP, this one has by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from kit.accounts import SERVER, contest, team
from kit.attached import attached, receive
from kit.raw import PATIENCE_SECONDS, Raw, packet, publish_packet, subscribe_packet, text
from kit.secured import Client
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID, BrokerLimits
from salvo_server.brokers.embedded.roster_access import RosterAccess

PING = b"\xc0\0"
PONG = b"\xd0\0"
FLOOD = 3_000


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(limits=BrokerLimits(in_flight=10, backlog_bytes=50_000)) as running:
        yield running


def test_an_unacknowledged_message_is_delivered_again_despite_a_takeover() -> None:
    with EmbeddedBroker(access=RosterAccess(contest("red"))) as broker, Client(broker.port, team("red")[0]) as red:
        server = attached(broker, SERVER.user, "/players/+/fire")
        red.publish(["/players/blue/fire"], "first")
        receive(server, 1)
        server.flush(PATIENCE_SECONDS)
        red.publish(["/players/blue/fire"], "second")
        [before] = receive(server, 1, acknowledge=False)
        account = {"user": SERVER.user, "password": SERVER.secret}
        with Raw(broker.port, SERVER.user, clean=False, **account) as thief:  # who acknowledges nothing
            thief.wait_for(b"\x20\2\1\0")
            assert not server.connected
            [after] = receive(server, 1)
            thief.drain()
            assert thief.socket.recv(1) == b""
        assert (after.payload, after.team, after.connection) == (b"second", "red", 2)
        server.acknowledge(before)  # of the earlier attachment: means nothing now
        red.publish(["/players/blue/fire"], "third")
        assert [message.payload for message in receive(server, 1)] == [b"third"]
        server.close()


@pytest.mark.parametrize("qos", [0, 1])
def test_a_flood_waits_in_the_broker_within_its_bounds_and_comes_in_order(broker: EmbeddedBroker, qos: int) -> None:
    server = attached(broker, SERVER_CLIENT_ID, "/x")
    with Raw(broker.port) as sender, Raw(broker.port) as other:
        assert sender.read() == other.read() == b"\x20\2\0\0"
        flood = b"".join(_numbered(number, qos) for number in range(FLOOD))
        sending = threading.Thread(target=sender.send, args=(flood,))
        sending.start()
        first = receive(server, 10, acknowledge=False)
        for _ in range(50):  # the broker's loop turns, and hands over nothing that would be the eleventh
            other.send(PING)
            assert other.read() == PONG
        assert server.poll(0) == []
        for message in first:
            server.acknowledge(message)
        arrived = [*first, *receive(server, FLOOD - 10)]
        sending.join()
    assert [int(message.payload) for message in arrived] == list(range(FLOOD))
    server.close()


def _numbered(number: int, qos: int) -> bytes:
    payload = b"%d" % number
    return publish_packet("/x", payload, number + 1) if qos else packet(0x30, text("/x") + payload)


def test_publications_of_the_server_reach_everybody_in_order_and_are_counted(broker: EmbeddedBroker) -> None:
    server = attached(broker, SERVER_CLIENT_ID)
    with Raw(broker.port, "reader") as reader:
        assert reader.read() == b"\x20\2\0\0"
        reader.send(subscribe_packet("/y"))
        reader.wait_for(b"\x90\3")
        server.publish("/y/#", b"goes nowhere, and takes nothing with it")
        for number in range(600):
            server.publish("/y", b"<%d>" % number)
        server.publish("/kept", b"x", retain=True)
        assert server.unconfirmed == 602
        assert server.flush(PATIENCE_SECONDS)
        assert server.delivered == 602
        reader.wait_for(b"<9>")  # as many as may be in flight
    [retained] = receive(attached(broker, SERVER_CLIENT_ID, "/kept"), 1)
    assert (retained.payload, retained.retain) == (b"x", True)
    assert broker.faults["malformed"] == 1
