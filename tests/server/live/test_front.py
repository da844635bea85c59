"""The one door for strangers: a real HAProxy with the configuration of docker compose, before a real mosquitto."""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import struct
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kit.accounts import KEEPER, SERVER, contest, team
from kit.behind_the_front import RED
from kit.front import Front
from kit.mosquitto import ContestMosquitto
from kit.programs import needs
from kit.raw import ACCEPTED, Raw, connect_packet, packet, publish_packet, text, upgrade_request
from kit.secured import SECONDS, Client
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity

pytestmark = [needs("mosquitto"), needs("haproxy")]
#: No port stays taken for a minute after these sockets, which other tests could be given.
_AT_ONCE = struct.pack("ii", 1, 0)
#: Another address of this machine than the one that everybody else has.
STRANGER = ("127.0.0.9", 0)


@pytest.fixture(scope="module")
def mosquitto() -> Iterator[ContestMosquitto]:
    with ContestMosquitto(SERVER, KEEPER) as running, DynamicSecurity(running.server_url, KEEPER) as security:
        security.sync(contest("red", "blue"), [""])
        security.wait(SECONDS)
        yield running


@pytest.fixture(scope="module")
def front(mosquitto: ContestMosquitto, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with Front(tmp_path_factory.mktemp("front"), mosquitto.port, mosquitto.websocket_port) as running:
        yield running


@contextlib.contextmanager
def logged_in(front: Front) -> Iterator[Raw]:
    """Red's connection, at the first attempt."""
    with Raw(front.port, RED.user, user=RED.user, password=RED.secret, tls=front.certificate.trusted()) as red:
        assert red.read() == ACCEPTED
        yield red


def closed(sock: socket.socket) -> bool:
    """Whether the other side hangs up without a word."""
    sock.settimeout(SECONDS)
    with contextlib.suppress(ConnectionError):
        return sock.recv(1) == b""
    return True


def silent_sockets(stack: contextlib.ExitStack, port: int, number: int, refused: int) -> None:
    """Open so many, and return when the other side has closed some of them."""
    selector = stack.enter_context(selectors.DefaultSelector())
    for _ in range(number):
        silent = stack.enter_context(socket.create_connection(("127.0.0.1", port), source_address=STRANGER))
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        selector.register(silent, selectors.EVENT_READ)
    gone = 0
    while gone < refused:
        found = selector.select(SECONDS)
        assert found, f"only {gone} of {number} silent sockets are closed"
        for key, _ in found:
            selector.unregister(key.fileobj)
            gone += 1


# --- marks --------------------------------------------------------------------------------------------------------

SHOT, WORD = "/players/blue/fire", "/players/red/say"
MARK = re.compile(r"@[0-9a-f]{16} ")


def framed(data: bytes, random: Random) -> bytes:
    """A stream as masked frames that begin and end anywhere, and pings between them."""
    frames = b""
    while data:
        piece, data = (lambda n: (data[:n], data[n:]))(random.choice((1, 2, 125, 126, 3000)))
        key = random.randbytes(4)
        size = bytes((128 | len(piece),)) if len(piece) < 126 else struct.pack("!BH", 128 | 126, len(piece))
        frames += b"\x82" + size + key + bytes(byte ^ key[at % 4] for at, byte in enumerate(piece))
        frames += b"\x89\x82abcdxy" if random.random() < 0.1 else b""
    return frames


def sent_in_pieces(sock: socket.socket, data: bytes, random: Random) -> None:
    while data:
        size = random.choice((1, 100, 1000, 9000))
        sock.sendall(data[:size])
        data = data[size:]


@pytest.mark.parametrize("level", [4, 5])
@pytest.mark.parametrize("websocket", [False, True], ids=["mqtts", "wss"])
def test_each_command_gets_the_mark_of_its_connection_and_nothing_else_is_changed(
    front: Front, mosquitto: ContestMosquitto, level: int, *, websocket: bool
) -> None:
    """More than HAProxy's buffer holds, cut anywhere: 2.6 garbles what a filter reads across the buffer's end."""
    random = Random(f"{level} {websocket}")
    sizes = [random.choice((0, 1, 20, 300, 1500)) for _ in range(120)]
    messages = [(random.choice((SHOT, WORD)), f"{n} {size} ".ljust(size, "x")) for n, size in enumerate(sizes)]
    properties = b"\0" * (level == 5)
    stream = b"".join(packet(0x30, text(topic) + properties + payload.encode()) for topic, payload in messages)
    hello = connect_packet(RED.user, level=level, user=RED.user, password=RED.secret)
    with Client(mosquitto.server_port, SERVER) as server, contextlib.ExitStack() as stack:
        server.subscribe([SHOT, WORD])
        port = front.web_port if websocket else front.port
        plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
        sock = stack.enter_context(front.certificate.trusted().wrap_socket(plain, server_hostname="127.0.0.1"))
        if websocket:
            sock.sendall(upgrade_request())
            assert sock.recv(1000).startswith(b"HTTP/1.1 101")
        sock.sendall(framed(hello, random) if websocket else hello)
        assert sock.recv(100)
        sent_in_pieces(sock, framed(stream, random) if websocket else stream, random)
        server.until(lambda: len(server.received) == len(messages))
        received = {(topic, payload) for topic, payload, _ in server.received}
    marks = {found[0] for topic, payload in received if topic == SHOT and (found := MARK.match(payload))}
    assert len(marks) == 1
    [mark] = marks
    assert received == {(topic, mark + payload if topic == SHOT else payload) for topic, payload in messages}


@pytest.mark.parametrize("level", [4, 5])
def test_a_last_will_that_is_a_command_would_have_no_mark_and_does_not_come_in(front: Front, level: int) -> None:
    given: Any = {"user": RED.user, "password": RED.secret, "will": (SHOT, "x"), "will_retained": False}
    with (
        socket.create_connection(("127.0.0.1", front.port), SECONDS) as plain,
        front.certificate.trusted().wrap_socket(plain, server_hostname="127.0.0.1") as sock,
    ):
        sock.sendall(connect_packet(RED.user, level=level, **given))
        assert closed(sock)


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        (b"", True),
        (b"file://", True),
        (b"https://127.0.0.1:8443", True),
        (b"http://localhost:3000", True),
        (b"null", False),
        (b"https://evil.example", False),
        (b"https://127.0.0.1.evil.example", False),
    ],
)
def test_a_page_of_another_site_opens_no_websocket(front: Front, origin: bytes, *, welcome: bool) -> None:
    with (
        socket.create_connection(("127.0.0.1", front.web_port), SECONDS) as plain,
        front.certificate.trusted().wrap_socket(plain, server_hostname="127.0.0.1") as sock,
    ):
        sock.sendall(upgrade_request(*([b"Origin: " + origin] if origin else [])))
        assert sock.recv(1000).startswith(b"HTTP/1.1 101" if welcome else b"HTTP/1.1 403")


# --- bounds -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_700_silent_sockets_of_one_address_do_not_block_other_addresses(front: Front) -> None:
    with contextlib.ExitStack() as stack:
        silent_sockets(stack, front.port, 700, refused=500)
        for _ in range(12):
            with logged_in(front):
                pass


@pytest.mark.slow
def test_a_flood_of_one_team_reaches_mosquitto_at_a_pace_and_another_teams_shot_overtakes_it(
    front: Front, mosquitto: ContestMosquitto
) -> None:
    """With mosquitto alone 10,000 messages waited for the server at once, and it dropped what it had acknowledged."""
    shot, sent = publish_packet("/players/blue/fire", b"x"), 20_000
    with (
        Client(mosquitto.server_port, SERVER) as server,
        Client(mosquitto.port, team("blue")[0]) as blue,
        logged_in(front) as red,
    ):
        server.subscribe(["#"])
        red.socket.setblocking(False)
        for _ in range(sent):
            with contextlib.suppress(OSError):  # full: the front takes no more
                red.send(shot)
        blue.publish(["/players/red/fire"], "an honest shot")
        server.wait_for("/players/red/fire", "an honest shot")
        red.socket.settimeout(SECONDS)
        taken = len(red.socket.recv(1 << 20)) // 4
        assert 0 < taken < sent // 4


def test_a_client_that_was_paced_and_falls_silent_leaves_the_front_as_it_was(front: Front) -> None:
    """HAProxy 2.6 ended itself within two seconds: the time at which the filter was to go on had passed for good."""
    with logged_in(front) as red:
        red.send(publish_packet("/players/blue/fire", b"x" * 100) * 180 + b"\xc0\0")
        red.wait_for(b"\xd0\0")
        assert red.read(3) is None
    with logged_in(front):
        pass
