"""Listens, and lets guests in: one thread each, with a bound on how many."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from salvo_server.gateways.accounts import GatewayError
from salvo_server.gateways.guest import Guest
from salvo_server.gateways.peer import Framing, Lines, Peer
from salvo_server.gateways.table_watch import TableWatch

log = logging.getLogger(__name__)

#: Programs at once. Each costs three threads and a connection to the broker.
MAX_GUESTS: Final = 128

#: Makes the guest of a peer that has just come.
Welcome = Callable[[Peer, TableWatch], Guest]


def _nothing(*_: object) -> None:
    """Most doors have nothing to do."""


@dataclass(frozen=True, slots=True)
class Door:
    """A protocol, ready for one table: what ``door(book)`` of its module returns.

    Attributes:
        framing: finds the messages of one program.
        opened: called before the first guest is let in.
        closed: called when the last one has left.
    """

    welcome: Welcome
    framing: Callable[[], Framing] = Lines
    opened: Callable[[TableWatch], None] = _nothing
    closed: Callable[[], None] = _nothing


class Host:
    """A gateway's listener.

    Attributes:
        address: host and port that it listens on, once opened.
    """

    def __init__(self, house: TableWatch, door: Door) -> None:
        self.address = ("", 0)
        self._house = house
        self._door = door
        self._opened = False
        self._listener: socket.socket | None = None
        self._guests: dict[int, tuple[Peer, threading.Thread]] = {}
        self._staying: dict[int, Guest] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def open(self, host: str, port: int) -> None:
        """Begin to listen; port 0 lets the system choose.

        Raises:
            GatewayError: ``cannot_listen``.
        """
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((host, port), family=family)
        except OSError as error:
            raise GatewayError("cannot_listen", f"{host}:{port}: {error.strerror or error}") from None
        self.address = self._listener.getsockname()[:2]
        self._open_door()
        threading.Thread(target=self._accept, name="gateway", daemon=True).start()

    def let_in(self, sock: socket.socket, name: str) -> None:
        """Let a program in that is connected already, such as a child process."""
        self._open_door()
        with self._lock:
            if self._closed.is_set() or len(self._guests) >= MAX_GUESTS:
                log.warning("%s: there are %d guests already", name, len(self._guests))
                sock.close()
                return
            peer = Peer(sock, name, self._door.framing())
            thread = threading.Thread(target=self._serve, args=(peer,), name=f"guest {name}", daemon=True)
            self._guests[id(peer)] = peer, thread
            peer.start()
            thread.start()

    def close(self) -> None:
        """Hang up on all guests and stop listening."""
        self._closed.set()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        with self._lock:
            guests = list(self._guests.values())
            staying = list(self._staying.values())
        for guest in staying:
            guest.end()
        for peer, _ in guests:
            peer.hang_up()
        for _, thread in guests:
            thread.join(10)
        if self._opened:
            self._door.closed()

    def _open_door(self) -> None:
        with self._lock:
            if self._opened:
                return
            self._opened = True
            self._door.opened(self._house)

    def _accept(self) -> None:
        assert self._listener is not None
        while not self._closed.is_set():
            try:
                sock, address = self._listener.accept()
            except OSError:
                if not self._closed.wait(0.1):  # out of descriptors: some will be free again
                    continue
                return
            self.let_in(sock, f"{address[0]}:{address[1]}")

    def _serve(self, peer: Peer) -> None:
        try:
            guest = self._door.welcome(peer, self._house)
            with self._lock:
                self._staying[id(peer)] = guest
            if not self._closed.is_set():
                guest.stay()
        except Exception:
            log.exception("%s: the gateway failed; the guest is sent away", peer.name)
        finally:
            peer.close()
            with self._lock:
                self._guests.pop(id(peer), None)
                self._staying.pop(id(peer), None)
