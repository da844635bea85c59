"""A gateway's listener: accepts programs up to a limit, and serves each on its own thread."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from salvo_gateways.accounts import GatewayError
from salvo_gateways.guest import Guest
from salvo_gateways.peer import Framing, Lines, Peer
from salvo_gateways.table_watch import TableWatch
from salvo_server.brokers.embedded import open_files

log = logging.getLogger(__name__)

#: The most programs at once. Each takes three threads and a connection to the broker.
MAX_GUESTS: Final = 128
#: How long a gateway that closes lets its guests tell what has just happened.
GOODBYE_SECONDS: Final = 2.0

#: Makes the guest for a peer that has just connected.
Welcome = Callable[[Peer, TableWatch], Guest]


def _ignore(*_: object) -> None:
    """Most protocols need not know when the gateway opens or closes."""


@dataclass(frozen=True, slots=True)
class Door:
    """A protocol, configured for one table; each protocol's module makes one with its ``door(book)``.

    Attributes:
        welcome: makes the guest for a program.
        framing: makes what splits a program's bytes into messages.
        opened: called before the first guest is admitted.
        closed: called after the last guest has left.
    """

    welcome: Welcome
    framing: Callable[[], Framing] = Lines
    opened: Callable[[TableWatch], None] = _ignore
    closed: Callable[[], None] = _ignore


class Host:
    """Accepts the programs of a gateway, and serves them.

    Attributes:
        address: the host and port that it listens on, once opened.
    """

    def __init__(self, watch: TableWatch, door: Door) -> None:
        self.address = ("", 0)
        self._watch = watch
        self._door = door
        self._opened = False
        self._listener: socket.socket | None = None
        self._guests: dict[int, tuple[Peer, threading.Thread]] = {}
        self._active: dict[int, Guest] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def open(self, host: str, port: int) -> None:
        """Start to listen; port 0 lets the system choose one.

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

    def admit(self, sock: socket.socket, name: str) -> None:
        """Admit a program that is already connected, such as a child process."""
        self._open_door()
        with self._lock:
            if len(self._guests) >= MAX_GUESTS:
                self._make_room()
            if self._closed.is_set() or len(self._guests) >= MAX_GUESTS:
                log.warning("%s: refused, there are already %d guests", name, len(self._guests))
                sock.close()
                return
            peer = Peer(sock, name, self._door.framing())
            thread = threading.Thread(target=self._serve, args=(peer,), name=f"guest {name}", daemon=True)
            self._guests[id(peer)] = peer, thread
            peer.start()
            thread.start()

    def _make_room(self) -> None:
        """Hang up on the oldest program that has never said anything, of the address with most such programs.

        Silent connections, however many a stranger opens, then keep nobody out who speaks, and those of one address
        make room before those of others.
        """
        silent: defaultdict[str, list[Peer]] = defaultdict(list)
        for peer, _ in self._guests.values():
            if peer.silent:
                silent[peer.name.rpartition(":")[0]].append(peer)
        if silent:
            oldest = max(silent.values(), key=len)[0]
            log.warning("%s: hung up on, it has said nothing and others want its place", oldest.name)
            del self._guests[id(oldest)]
            oldest.hang_up()

    def close(self) -> None:
        """Stop listening, and hang up on all guests once they have told what has happened, such as how a game ended."""
        self._closed.set()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        with self._lock:
            guests = list(self._guests.values())
            active = list(self._active.values())
        for guest in active:
            guest.dismiss()
        end = time.monotonic() + GOODBYE_SECONDS
        for peer, thread in guests:
            thread.join(max(0.0, end - time.monotonic()))
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
            self._door.opened(self._watch)

    def _accept(self) -> None:
        assert self._listener is not None
        while not self._closed.is_set():
            try:
                sock, address = self._listener.accept()
            except OSError as error:
                open_files.report(error)
                self._closed.wait(open_files.PAUSE_SECONDS)
                continue
            self.admit(sock, f"{address[0]}:{address[1]}")

    def _serve(self, peer: Peer) -> None:
        try:
            guest = self._door.welcome(peer, self._watch)
            with self._lock:
                self._active[id(peer)] = guest
            if not self._closed.is_set():
                guest.stay()
        except SystemExit:
            pass  # the person who plays here has left
        except Exception:
            log.exception("%s: the gateway failed; the guest is disconnected", peer.name)
        finally:
            peer.close()
            with self._lock:
                self._guests.pop(id(peer), None)
                self._active.pop(id(peer), None)
