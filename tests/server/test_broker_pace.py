"""A client that floods the embedded broker takes no turns from others, and its team pays for every packet.

Only PUBLISH had a price, and everything read at once was handled at once: a flood of any other packet from one team's
five connections slowed the game at another table twenty times and more.
"""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from typing import Any

import pytest

from kit.raw import packet, publish_packet, subscribe_packet, text
from kit.socketless import Hall, Line, run
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.embedded.limits import Access
from salvo_server.brokers.embedded.packets import Message, with_length
from salvo_server.brokers.embedded.peers import Peer
from salvo_server.brokers.embedded.retained import RetainedMessage
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.storage.register import Account

PING, PONG = b"\xc0\0", b"\xd0\0"
TEAM = ("red", "red.1", "red.2", "red.3", "red.4")
#: Packets of the lowest price in one turn of a connection.
TURN = 32
#: What a team may spend in a second; a burst is twice as much.
A_SECOND = RosterAccess.messages_a_second


def unsubscribe_packet(*filters: str) -> bytes:
    return packet(0xA2, b"\0\1" + b"".join(map(text, filters)))


FLOODS = {
    "PINGREQ": PING * 4000,
    "PUBACK of nothing": b"\x40\2\0\7" * 4000,
    "PUBREL of nothing": b"\x62\2\0\7" * 4000,
    "PUBLISH": publish_packet("/players/blue/fire", b"{}") * 600,
    "PUBLISH where it must not": publish_packet("/game/state", b"over") * 600,
    "UNSUBSCRIBE": unsubscribe_packet("/x", "/y") * 900,
    "SUBSCRIBE": subscribe_packet("/x/y") * 900,
    "SUBSCRIBE with wildcards": subscribe_packet("/+/game/#", "#", "/players/#") * 400,
}
each_flood = pytest.mark.parametrize("flood", FLOODS.values(), ids=list(FLOODS))


def account(user: str, role: Role) -> Account:
    return Account(user, user.partition(".")[0], role, f"pw {user}")


def contest(screens: int = 4, tables: int = 1) -> Hall:
    """A contest of teams red and blue and a hall of watchers, with what its tables retain."""
    accounts = [account("salvo-server", Role.SERVER), *(account(user, Role.TEAM) for user in (*TEAM, "blue"))]
    accounts += [account(f"hall.{number}", Role.WATCHER) for number in range(1, screens + 1)]
    names = ["", *(f"t{number}" for number in range(1, tables))]
    hall = Hall(RosterAccess(accounts, names))
    for prefix in ("", *(f"/{name}" for name in names[1:])):
        for name in ("state", "current", "turn", "rules", "result", "server", "winner", "hits"):
            topic = f"{prefix}/game/{name}"
            hall.broker.retained.store(topic, RetainedMessage(Message(with_length(topic), b"something"), 1, ""), True)
    return hall


def served(monkeypatch: pytest.MonkeyPatch) -> Counter[Peer]:
    """Count the packets that are handled, by connection."""
    counts: Counter[Peer] = Counter()
    handle = Peer._handle

    def counted(self: Peer, first: int, body: bytes) -> Any:
        counts[self] += 1
        return handle(self, first, body)

    monkeypatch.setattr(Peer, "_handle", counted)
    return counts


# --- turns ----------------------------------------------------------------------------------------------------------


@each_flood
def test_between_two_turns_of_another_client_five_floods_are_served_a_turn_each(
    flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an open broker clients have no allowance, but turns all the same."""
    counts = served(monkeypatch)

    async def play() -> None:
        hall = Hall(Access())
        floods, [honest] = hall.connect(*TEAM), hall.connect("blue")
        for line in floods:
            line.send(flood)
        for number in range(1, 12):
            before = counts.copy()
            honest.send(PING)
            await hall.turn()
            assert honest.received.count(PONG) == number
            assert max((counts - before)[line.peer] for line in floods) <= TURN

    run(play())


# --- the allowance --------------------------------------------------------------------------------------------------


@each_flood
def test_five_connections_of_a_team_cost_no_more_than_one_may_and_stay(
    flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = served(monkeypatch)

    async def play() -> None:
        hall = contest()
        lines = hall.connect(*TEAM)
        counts.clear()
        for _ in range(10):
            for line in lines:
                line.to_send = flood
            await hall.wait(1.0, steps=20)
        assert 100 < counts.total() <= A_SECOND * (2 + 10) + len(TEAM) * TURN
        assert all(line.is_open for line in lines)

    run(play())


# --- honest clients --------------------------------------------------------------------------------------------------


def test_a_client_that_follows_everything_may_acknowledge_everything() -> None:
    """That is far more than a team may publish, but the server decides how much."""

    async def play() -> None:
        hall = contest()
        server, watcher = hall.connect("salvo-server", "hall.1")
        watcher.send(subscribe_packet("#"))
        await hall.settle()
        for number in range(5 * A_SECOND):
            server.send(publish_packet("/game/hits", b"x"))
            await hall.turn()
            watcher.send(b"\x40\2" + (number % 65_535 + 1).to_bytes(2, "big"))
        await hall.settle()
        assert watcher.received.count(text("/game/hits")) > 5 * A_SECOND
        assert not watcher.peer.is_held

    run(play())


def test_a_packet_in_pieces_costs_as_much_as_a_packet_for_each() -> None:
    """A WebSocket client chooses how little comes at a time: 16,384 reads for the price of one."""

    async def play() -> None:
        [red] = contest().connect("red")
        taken = 0
        red.peer.feed(b"\x30\xff\x7f")
        while not red.peer.is_held:
            red.peer.feed(b"x")
            taken += 1
        assert taken < 2 * A_SECOND

    run(play())


def test_a_team_that_comes_again_and_again_leaves_no_connection_behind() -> None:
    """It rests ever longer for what it spends, up to twenty seconds: 45 KB with TLS, hundreds of times a second."""

    async def play() -> None:
        hall = contest()
        peers = []
        for _ in range(500):
            peers.append(weakref.ref(Line(hall.broker, "red").peer))
            await hall.turn()
        gc.collect()
        assert sum(peer() is not None for peer in peers) <= 2

    run(play())
