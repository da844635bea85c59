"""Who gets a place at a gateway when there is none left."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

import pytest

from gateways.gateway_stage import hosting
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.listener import GatewayDoor, Listener
from salvo_gateways.peer import PeerBroken


class Echo(ClientHandler):
    """Sends every line back, and a goodbye."""

    def message_received(self, message: str) -> None:
        self.peer.send(message)

    def invalid_message_received(self, broken: PeerBroken) -> None:
        self.end()

    def tick(self, now: float) -> None:
        if self.dismissed:
            self.peer.send("goodbye")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """A gateway with four places."""
    monkeypatch.setattr("salvo_gateways.listener.MAX_CLIENTS", 4)
    with hosting(GatewayDoor(Echo)) as opened:
        yield opened


class Program:
    """A program that comes from an address."""

    def __init__(self, host: Listener, address: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection(host.address, timeout=60, source_address=(address, 0))
        self._lines = self._socket.makefile("rb")

    def read(self) -> bytes:
        """Return the next line; b"" once the other side has hung up."""
        try:
            return self._lines.readline()
        except OSError:
            return b""

    def send(self) -> bytes:
        """Send a line, and return what comes back."""
        with contextlib.suppress(OSError):
            self._socket.sendall(b"hello\n")
        return self.read()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture
def come(host: Listener) -> Iterator[Callable[..., Program]]:
    """Connect, until the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *address: stack.enter_context(contextlib.closing(Program(host, *address)))


Come = Callable[..., Program]


def test_silent_programs_make_room_the_oldest_of_the_address_with_most_of_them_first(come: Come) -> None:
    """140 silent connections filled all places, for ten minutes client."""
    honest, speaking = come("127.0.0.2"), come()
    assert speaking.send() == b"hello\n"
    silent = [come() for _ in range(10)]
    last = come("127.0.0.3")
    assert [client.send() for client in (last, speaking, honest)] == [b"hello\n"] * 3
    assert [client.read() for client in silent[:9]] == [b""] * 9


def test_a_client_that_has_sent_something_is_not_disconnected_for_another(come: Come) -> None:
    clients = [come() for _ in range(4)]
    assert [client.send() for client in clients] == [b"hello\n"] * 4
    assert come().send() == b""
    assert [client.send() for client in clients] == [b"hello\n"] * 4


def test_clients_of_a_closing_gateway_receive_a_goodbye(host: Listener, come: Come) -> None:
    clients = [come() for _ in range(2)]
    assert [client.send() for client in clients] == [b"hello\n"] * 2
    host.close()
    assert [client.read() for client in clients] == [b"goodbye\n"] * 2
    assert [client.read() for client in clients] == [b""] * 2
