"""The socket that reads and writes in large pieces, over a real pair of sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from salvo.buffered_socket import BufferedSocket

Pair = tuple[BufferedSocket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = socket.socketpair()
    near.setblocking(False)
    yield BufferedSocket(near), far
    near.close()
    far.close()


def test_what_came_at_once_is_read_at_once_and_handed_out_in_pieces(pair: Pair) -> None:
    near, far = pair
    far.sendall(b"abcdef")
    assert near.recv(1) == b"a"
    assert near.pending() == 5
    assert (near.recv(3), near.recv(9)) == (b"bcd", b"ef")
    assert near.pending() == 0
    with pytest.raises(BlockingIOError):
        near.recv(1)


def test_the_end_of_the_connection_is_an_empty_read_after_all_that_came(pair: Pair) -> None:
    near, far = pair
    far.sendall(b"bye")
    far.close()
    assert [near.recv(3), near.recv(3)] == [b"bye", b""]


def test_nothing_leaves_before_the_flush_and_then_all_of_it(pair: Pair) -> None:
    near, far = pair
    far.setblocking(False)
    assert (near.send(b"one"), near.send(b"two")) == (3, 3)
    assert near.wants_flush()
    with pytest.raises(BlockingIOError):
        far.recv(10)
    near.flush()
    assert far.recv(10) == b"onetwo"
    assert not near.wants_flush()


def test_a_full_system_takes_the_rest_later_and_in_order(pair: Pair) -> None:
    near, far = pair
    message = bytes(range(256)) * 8000
    near.send(message)
    near.flush()
    assert near.wants_flush()
    got = b""
    while len(got) < len(message):
        got += far.recv(65_536)
        near.flush()
    assert got == message


def test_closing_sends_the_goodbye(pair: Pair) -> None:
    near, far = pair
    near.send(b"goodbye")
    near.close()
    assert far.recv(10) == b"goodbye"


def test_a_broken_connection_is_told_at_the_flush(pair: Pair) -> None:
    near, far = pair
    far.close()
    near.send(b"anybody?")
    with pytest.raises(OSError, match=r"[Pp]ipe"):
        near.flush()
