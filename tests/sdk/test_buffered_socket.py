"""The socket that reads in large pieces, over a real pair of sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from salvo.net.buffered_socket import BufferedSocket

Pair = tuple[BufferedSocket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    near, far = socket.socketpair()
    near.setblocking(False)
    yield BufferedSocket(near), far
    near.close()
    far.close()


def test_a_burst_is_read_at_once_and_handed_out_in_pieces(pair: Pair) -> None:
    near, far = pair
    far.sendall(b"abcdef")
    assert near.recv(1) == b"a"
    assert near.pending() == 5
    assert (near.recv(3), near.recv(9)) == (b"bcd", b"ef")
    assert near.pending() == 0
    with pytest.raises(BlockingIOError):
        near.recv(1)


def test_a_closed_connection_reads_empty_after_all_data_received(pair: Pair) -> None:
    near, far = pair
    far.sendall(b"bye")
    far.close()
    assert [near.recv(3), near.recv(3)] == [b"bye", b""]
