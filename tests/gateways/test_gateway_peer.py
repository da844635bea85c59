"""What a foreign program sends is cut into messages, whatever it sends, and bounded."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo_gateways import peer as peers
from salvo_gateways.peer import MAX_WAITING, ClientConnection, Lines, PeerBroken


@pytest.fixture
def pair() -> Iterator[tuple[ClientConnection, socket.socket]]:
    """A peer that reads, and the program's end."""
    ours, theirs = socket.socketpair()
    peer = ClientConnection(ours, "program", Lines(100))
    peer.start()
    yield peer, theirs
    theirs.close()
    peer.close()


def take(peer: ClientConnection, count: int) -> list[str | PeerBroken]:
    """Return the next messages, as many as wanted."""
    found: list[str | PeerBroken] = []
    end = time.monotonic() + 60
    while len(found) < count and time.monotonic() < end:
        peer.wait(0.1)
        found += peer.take()
    return found


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_the_same_in_whatever_pieces_they_come(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    framing, found = Lines(8), list[bytes | PeerBroken]()
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += framing.feed(stream[begin:end])
    assert [one if isinstance(one, bytes) else one.code for one in found] == [
        line if len(line) <= 8 else "too_long" for line in lines
    ]


def test_a_peer_returns_the_lines_received_and_an_error_for_each_invalid_one(
    pair: tuple[ClientConnection, socket.socket],
) -> None:
    peer, program = pair
    program.sendall("grüße\n".encode() + b"\xff\n" + b"y" * 200 + b"\nlast\npart")
    assert [one if isinstance(one, str) else one.code for one in take(peer, 4)] == [
        "grüße",
        "not_text",
        "too_long",
        "last",
    ]


def test_a_flood_waits_in_the_system_and_nothing_of_it_is_lost(pair: tuple[ClientConnection, socket.socket]) -> None:
    peer, program = pair
    many, arrived = threading.Event(), itertools.count(1)
    peer.arrived = lambda: many.set() if next(arrived) >= MAX_WAITING else None
    program.sendall(b"".join(b"%d\n" % number for number in range(MAX_WAITING * 2)))
    assert many.wait(60)
    first = peer.take()
    assert len(first) <= MAX_WAITING
    assert [*first, *take(peer, MAX_WAITING * 2 - len(first))] == [str(number) for number in range(MAX_WAITING * 2)]


def test_a_program_that_reads_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "SEND_SECONDS", 1)
    ours, theirs = socket.socketpair()
    peer = ClientConnection(ours, "deaf", Lines())
    peer.start()
    for _ in range(100):
        peer.send("z" * 65_536)
    assert peer.gone
    peer.close()
    theirs.close()


def test_a_peer_that_is_hung_up_on_can_be_sent_to_without_harm(pair: tuple[ClientConnection, socket.socket]) -> None:
    peer, _ = pair
    peer.hang_up()
    peer.hang_up()
    peer.send("hello")
    assert peer.gone
