"""Who gets a place at a gateway when there is none left."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

import pytest

from gateways.gateway_hall import NoAccounts
from salvo_gateways.guest import Guest
from salvo_gateways.host import Door, Host
from salvo_gateways.peer import Broken
from salvo_gateways.table_watch import TableWatch


class Echo(Guest):
    """Says again what it hears, and says goodbye."""

    def message_received(self, message: str) -> None:
        self.peer.send(message)

    def invalid_message_received(self, broken: Broken) -> None:
        self.end()

    def tick(self, now: float) -> None:
        if self.dismissed:
            self.peer.send("goodbye")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A gateway with four places."""
    monkeypatch.setattr("salvo_gateways.host.MAX_GUESTS", 4)
    opened = Host(TableWatch("mqtt://127.0.0.1:1", "", NoAccounts()), Door(Echo))
    opened.open("127.0.0.1", 0)
    with contextlib.closing(opened):
        yield opened


class Program:
    """A program that comes from an address."""

    def __init__(self, host: Host, address: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection(host.address, timeout=60, source_address=(address, 0))
        self._lines = self._socket.makefile("rb")

    def hear(self) -> bytes:
        """Return the next line; b"" once the other side has hung up."""
        try:
            return self._lines.readline()
        except OSError:
            return b""

    def speak(self) -> bytes:
        """Say something, and return what comes back."""
        with contextlib.suppress(OSError):
            self._socket.sendall(b"hello\n")
        return self.hear()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture
def come(host: Host) -> Iterator[Callable[..., Program]]:
    """Connect, until the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *address: stack.enter_context(contextlib.closing(Program(host, *address)))


Come = Callable[..., Program]


def test_silent_programs_make_room_the_oldest_of_the_address_with_most_of_them_first(come: Come) -> None:
    """140 silent connections filled all places, for ten minutes each."""
    honest, speaking = come("127.0.0.2"), come()
    assert speaking.speak() == b"hello\n"
    silent = [come() for _ in range(10)]
    last = come("127.0.0.3")
    assert [each.speak() for each in (last, speaking, honest)] == [b"hello\n"] * 3
    assert [each.hear() for each in silent[:9]] == [b""] * 9


def test_nobody_who_has_spoken_makes_room(come: Come) -> None:
    guests = [come() for _ in range(4)]
    assert [each.speak() for each in guests] == [b"hello\n"] * 4
    assert come().speak() == b""
    assert [each.speak() for each in guests] == [b"hello\n"] * 4


def test_guests_of_a_gateway_that_closes_say_goodbye(host: Host, come: Come) -> None:
    guests = [come() for _ in range(2)]
    assert [each.speak() for each in guests] == [b"hello\n"] * 2
    host.close()
    assert [each.hear() for each in guests] == [b"goodbye\n"] * 2
    assert [each.hear() for each in guests] == [b""] * 2
