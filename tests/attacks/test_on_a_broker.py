"""Attacks that need a broker, on the embedded one: each achieves nothing, and succeeds without its defence.

What mosquitto has of its own, such as its limit of silent connections, cannot be taken away in a test. Rights, wills,
retained messages, passwords and client ids are tried on both brokers in ``server/live/test_access_matrix.py``.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NamedTuple

import pytest

from kit.patches import Patch, without
from kit.raw import ACCEPTED, PATIENCE_SECONDS, Raw, connect_packet, publish_packet, subscribe_packet, upgrade_request
from kit.socketless import Hall, run
from salvo.wire.roles_and_rights import Role
from salvo_game.rate_limit import Rate
from salvo_server.brokers.embedded import peers, tcp_and_websocket
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.limits import READ_BYTES, BrokerLimits
from salvo_server.brokers.embedded.pace import Pace
from salvo_server.brokers.embedded.peers import Peer
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.embedded.routing import Routes
from salvo_server.brokers.embedded.runner import EmbeddedBroker
from salvo_server.storage.register import Account


def _account(user: str, role: Role) -> Account:
    return Account(user, user.partition(".")[0], role, f"pw {user}")


ACCOUNTS = (
    _account("salvo-server", Role.SERVER),
    _account("red", Role.TEAM),
    _account("red.1", Role.SCREEN),
    _account("blue", Role.TEAM),
    _account("hall", Role.WATCHER),
)
#: Small and quick; an attack takes one of them away by a number beyond any test.
LIMITS: dict[str, Any] = {"backlog_bytes": 20_000, "stuck_seconds": 0.4, "connections": 6, "connect_seconds": 0.4}
_limits = dict(LIMITS)
#: How long to wait for a defence: it comes, however slow the machine is.
_patience = {"seconds": PATIENCE_SECONDS}
#: Where it was taken away it never comes; longer than any of them waits.
HOLDS_SECONDS = 2.2


@contextlib.contextmanager
def _contest() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(limits=BrokerLimits(**_limits), access=RosterAccess(ACCOUNTS)) as broker:
        yield broker


def _login(broker: EmbeddedBroker, user: str, client_id: str | None = None, **given: Any) -> Raw:
    return Raw(broker.port, client_id or user, user=user, password=f"pw {user}", **given)


@contextlib.contextmanager
def _client(broker: EmbeddedBroker, user: str, *filters: str, **given: Any) -> Iterator[Raw]:
    with _login(broker, user, **given) as client:
        assert client.read() == ACCEPTED
        if filters:
            client.send(subscribe_packet(*filters))
            client.wait_for(b"\x90")
        yield client


# --- what cannot be a topic --------------------------------------------------------------------------------------


def _publish_to_a_wildcard() -> bool:
    """A name with a wildcard in it would reach everybody's topics at once."""
    with _contest() as broker, _client(broker, "red") as rival:
        rival.send(publish_packet("/players/+/fire", b"{}"))
        return (rival.read() or b"").startswith(b"\x40")


def _publish_to_a_topic_with_nul() -> bool:
    with _contest() as broker, _client(broker, "red") as rival:
        rival.send(publish_packet("/players/a\0b/fire", b"{}"))
        return (rival.read() or b"").startswith(b"\x40")


# --- what it costs ------------------------------------------------------------------------------------------------


def _send_an_endless_packet() -> bool:
    """Announce a packet of 200 MB and see whether the broker waits for it."""
    with _contest() as broker, _client(broker, "red") as rival:
        rival.send(b"\x30\xff\xff\xff\x5f" + b"x" * 1000)
        return rival.read(_patience["seconds"]) is None


def _hold_others_by_not_reading() -> bool:
    """Subscribe to what a team publishes, and read nothing any more; where the roster rules, no team can."""
    with (
        EmbeddedBroker(limits=BrokerLimits(**_limits)) as broker,
        _client(broker, "stuck", "/players/#"),
        _client(broker, "sender") as sender,
    ):
        return not _publishes(sender, 600, _patience["seconds"])


def _publishes(sender: Raw, count: int, seconds: float) -> bool:
    """Whether so many messages are taken in time."""

    def send() -> None:
        with contextlib.suppress(OSError):
            for number in range(1, count + 1):
                sender.send(publish_packet("/players/x/fire", b"f" * 100, number))

    sending = threading.Thread(target=send, daemon=True)
    sending.start()
    end, got = time.monotonic() + seconds, b""
    while time.monotonic() < end and b"\x40\2" + struct.pack("!H", count) not in got:
        got = got[-4:] + (sender.read(0.1) or b"")
    return b"\x40\2" + struct.pack("!H", count) in got


def _occupy_all_connections_without_a_greeting() -> bool:
    """Half-open: a connection that never says who it is costs the attacker nothing."""
    with _contest() as broker, contextlib.ExitStack() as stack:
        half = [stack.enter_context(_half_open(broker)) for _ in range(LIMITS["connections"])]
        end, answer = time.monotonic() + _patience["seconds"], None
        while answer != ACCEPTED and time.monotonic() < end:
            with _login(broker, "red") as decent:
                answer = decent.read()
        return len(half) == LIMITS["connections"] and answer != ACCEPTED


@contextlib.contextmanager
def _half_open(broker: EmbeddedBroker) -> Iterator[Any]:
    """A greeting that stops in the middle."""
    with socket.create_connection(("127.0.0.1", broker.port), PATIENCE_SECONDS) as half:
        half.sendall(connect_packet("half")[:7])
        yield half


def _keep_browsers_out_by_half_requests() -> bool:
    """Slow loris: requests for the page that never end, as many as there is room for."""
    limits = BrokerLimits(**_limits | {"websockets": LIMITS["connections"]})
    with EmbeddedBroker(websocket="127.0.0.1:0", limits=limits) as broker, contextlib.ExitStack() as stack:
        port = int(str(broker.websocket_url).rpartition(":")[2].partition("/")[0])

        def connected() -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS))

        for _ in range(LIMITS["connections"]):
            connected().sendall(b"GET / HT")
        end, answer = time.monotonic() + _patience["seconds"], b""
        while not answer and time.monotonic() < end:
            with contextlib.suppress(ConnectionError):
                decent = connected()
                decent.sendall(b"GET / HTTP/1.1\r\n\r\n")
                answer = decent.recv(4096)
        return not answer


def _send_frames_without_packets(*frames: bytes) -> Callable[[], bool]:
    """Have the broker read, or even answer, what has no price; return whether it does so at full speed."""

    def act() -> bool:
        with EmbeddedBroker(websocket="127.0.0.1:0", access=RosterAccess(ACCOUNTS)) as broker:
            port = int(str(broker.websocket_url).rpartition(":")[2].partition("/")[0])
            with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as rival:
                rival.sendall(upgrade_request())
                _read_until(rival, b"\r\n\r\n")
                rival.sendall(_frame(0x82, connect_packet("red", user="red", password="pw red")))
                _read_until(rival, ACCEPTED)
                rival.sendall(b"".join(frames) + _frame(0x82, b"\xc0\0"))
                rival.settimeout(0.1)
                answered = b""
                while not broker.faults.get("frames") and b"\x82\2\xd0\0" not in answered:
                    with contextlib.suppress(TimeoutError):
                        part = rival.recv(65_536)
                        assert part, "it was disconnected"
                        answered += part
                return not broker.faults.get("frames")

    return act


def _frame(first: int, payload: bytes = b"") -> bytes:
    return bytes((first, 128 | len(payload))) + bytes(4) + payload


def _read_until(client: socket.socket, wanted: bytes) -> bool:
    """Return whether these bytes come before the end of the connection."""
    got = b""
    while wanted not in got:
        chunk = client.recv(65_536)
        if not chunk:
            return False
        got += chunk
    return True


def _stay_connected_without_a_sign_of_life() -> bool:
    """The cable was pulled; a broker that never asks keeps the session, its will and its place for ever."""
    with _contest() as broker, _client(broker, "red", keep_alive=1) as silent:
        return silent.read(_patience["seconds"]) is None


def _keep_the_broker_busy(packets: bytes) -> Callable[[], bool]:
    """Send packets at full speed, and have them all handled before another client gets its turn."""

    def act() -> bool:
        async def play(hall: Hall) -> int:
            rival, victim = hall.connect("red", "blue")
            rival.send(packets * (READ_BYTES // len(packets)))
            victim.send(b"\xc0\0")
            while b"\xd0\0" not in victim.received:
                await hall.turn()
            return len(rival.received)

        return _answered(play) > 300

    return act


def _have_the_broker_work_for_one(*users: str, packets: bytes) -> Callable[[], bool]:
    """Send packets at full speed for a second, each handled in its turn, and have more handled than a team may send."""

    def act() -> bool:
        async def play(hall: Hall) -> int:
            rivals = hall.connect(*users)
            for rival in rivals:
                rival.send(packets * (8000 // len(users)))
            await hall.wait(1.0, steps=10)
            return sum(len(rival.received) for rival in rivals)

        return _answered(play) > 2 * 3500

    return act


def _have_what_is_forbidden_routed() -> bool:
    """Send messages to ever new topics of many levels, past many filters, and have receivers looked up for them."""

    async def play(hall: Hall) -> int:
        [rival] = hall.connect("red")
        levels = "a/" * 15
        rival.send(subscribe_packet(*(f"+/{levels[: 2 * at]}#" for at in range(5))))
        rival.send(b"".join(publish_packet(f"{levels}{number}", b"x") for number in range(50)))
        await hall.settle()
        return len(hall.broker.routes._found)

    return _answered(play) > 1


def _answered(play: Callable[[Hall], Coroutine[Any, Any, int]]) -> int:
    """Play at a contest without sockets; return what came of it, such as how many bytes the rival was answered."""
    found = []

    async def scene() -> None:
        found.append(await play(Hall(RosterAccess(ACCOUNTS))))

    run(scene())
    return found[0]


# --- the list -----------------------------------------------------------------------------------------------------


def _without(**unlimited: Any) -> Callable[[Patch], None]:
    def remove(patch: Patch) -> None:
        for name, value in unlimited.items():
            patch.setitem(_limits, name, value)

    return remove


_allow_everything = without(RosterAccess, "allows", lambda *given: True)
_route_any_topic = without(Routes, "_read", lambda self, name: name[2:].decode())
_never_look_for_life = without(Peer, "_watch_keep_alive", lambda self: None)


def _let_newcomers_stay(patch: Patch) -> None:
    _without(connect_seconds=1000.0)(patch)
    patch.setattr(HardenedBroker, "make_room", lambda self: None)


def _let_half_requests_stay(patch: Patch) -> None:
    _without(connect_seconds=1000.0)(patch)
    patch.setattr(HardenedBroker, "_make_room_for_websocket", lambda self: None)


_count_no_frames = without(tcp_and_websocket, "IDLE_FRAMES", Rate(1e9, 1e9))
_let_turns_have_no_end = without(peers, "MAX_TURN_PRICE", 10**9)
_charge_each_connection = without(RosterAccess, "payer", lambda self, username: (username, 1))
_charge_nothing = without(Pace, "wait_seconds", lambda *given: 0.0)


class Attack(NamedTuple):
    """Something a rival may try; ``act`` returns whether it got what it wanted."""

    name: str
    act: Callable[[], bool]
    remove: Callable[[Patch], None]


ATTACKS = [
    Attack("a wildcard as topic", _publish_to_a_wildcard, _route_any_topic),
    Attack("NUL in a topic", _publish_to_a_topic_with_nul, _route_any_topic),
    Attack("an endless packet", _send_an_endless_packet, _without(packet_bytes=10**9)),
    Attack("a stuck reader", _hold_others_by_not_reading, _without(stuck_seconds=1000.0)),
    Attack("half-open connections", _occupy_all_connections_without_a_greeting, _let_newcomers_stay),
    Attack("half requests for the page", _keep_browsers_out_by_half_requests, _let_half_requests_stay),
    *(
        Attack(f"a flood of {name}", _send_frames_without_packets(*frames), _count_no_frames)
        for name, frames in {
            "WebSocket pings": [_frame(0x89, b"x" * 125)] * 200,
            "WebSocket pongs": [_frame(0x8A)] * 200,
            "empty WebSocket messages": [_frame(0x82)] * 200,
            "WebSocket fragments": [_frame(0x02), *[_frame(0x00)] * 200, _frame(0x80)],
        }.items()
    ),
    *(
        Attack(f"a turn full of {name}", _keep_the_broker_busy(packets), _let_turns_have_no_end)
        for name, packets in {
            "PINGREQ": b"\xc0\0",
            "SUBSCRIBE": subscribe_packet("/x"),
            "UNSUBSCRIBE": b"\xa2\6\0\1\0\2/x",
        }.items()
    ),
    Attack("PINGREQ at full speed", _have_the_broker_work_for_one("red", packets=b"\xc0\0"), _charge_nothing),
    Attack(
        "PINGREQ from two connections",
        _have_the_broker_work_for_one("red", "red.1", packets=b"\xc0\0"),
        _charge_each_connection,
    ),
    Attack("ever new topics", _have_what_is_forbidden_routed, _allow_everything),
    Attack("a connection without life", _stay_connected_without_a_sign_of_life, _never_look_for_life),
]
each_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


@each_attack
def test_an_attack_achieves_nothing(attack: Attack) -> None:
    assert not attack.act()


@pytest.mark.long
@each_attack
def test_an_attack_succeeds_without_its_defence(attack: Attack, monkeypatch: Patch) -> None:
    attack.remove(monkeypatch)
    monkeypatch.setitem(_patience, "seconds", HOLDS_SECONDS)
    assert attack.act()
