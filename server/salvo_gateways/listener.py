"""A gateway's listener: accepts clients up to a limit, and serves each on its own thread."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from salvo.system.log_throttle import SELDOM
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.errors import GatewayError
from salvo_gateways.peer import ClientConnection, Framing, Lines
from salvo_gateways.report import GatewayReport
from salvo_server.brokers.embedded import open_files

log = logging.getLogger(__name__)

#: The most clients at once. Each takes three threads and a connection to the broker.
MAX_CLIENTS: Final = 128
#: How long a gateway that closes lets its handlers send what has just happened.
GOODBYE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class GatewayDoor:
    """A configured protocol; each protocol's package makes one with its ``door(...)``.

    Attributes:
        handler: makes what serves a client that has just connected.
        framing: makes what splits a client's bytes into messages.
        report: of all its clients.
    """

    handler: Callable[[ClientConnection], ClientHandler]
    framing: Callable[[], Framing] = Lines
    report: GatewayReport = field(default_factory=GatewayReport)

    def open_to(self, peer: ClientConnection) -> ClientHandler:
        """Return what serves a client that has just connected."""
        handler = self.handler(peer)
        handler.report = self.report
        return handler


class Listener:
    """Accepts the clients of a gateway, and serves them.

    Attributes:
        address: the host and port that it listens on, once opened.
    """

    def __init__(self, door: GatewayDoor) -> None:
        self.address = ("", 0)
        self._door = door
        self._listener: socket.socket | None = None
        self._clients: dict[int, tuple[ClientConnection, threading.Thread]] = {}
        self._active: dict[int, ClientHandler] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def open(self, host: str, port: int) -> None:
        """Start to listen; port 0 lets the system choose one.

        Raises:
            GatewayError: ``address_in_use``.
        """
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((host, port), family=family)
        except OSError as error:
            raise GatewayError("address_in_use", f"{host}:{port}: {error.strerror or error}") from None
        self.address = self._listener.getsockname()[:2]
        threading.Thread(target=self._accept, name="gateway", daemon=True).start()

    def admit(self, sock: socket.socket, name: str) -> None:
        """Admit a client that is already connected, such as a child process."""
        with self._lock:
            if len(self._clients) >= MAX_CLIENTS:
                self._make_room()
            if self._closed.is_set() or len(self._clients) >= MAX_CLIENTS:
                self._door.report.refused(
                    "full", f"{name}: refused, {len(self._clients)} clients are connected already"
                )
                sock.close()
                return
            peer = ClientConnection(sock, name, self._door.framing())
            thread = threading.Thread(target=self._serve, args=(peer,), name=f"client {name}", daemon=True)
            self._clients[id(peer)] = peer, thread
            peer.start()
            thread.start()

    def _make_room(self) -> None:
        """Hang up on the oldest client that has never sent anything, of the address with most such clients.

        Silent connections, however many a stranger opens, then keep nobody out who plays, and those of one address
        make room before those of others.
        """
        silent: defaultdict[str, list[ClientConnection]] = defaultdict(list)
        for peer, _ in self._clients.values():
            if peer.silent:
                silent[peer.name.rpartition(":")[0]].append(peer)
        if silent:
            oldest = max(silent.values(), key=len)[0]
            why = "disconnected, it has sent nothing and others want its place"
            self._door.report.refused("silent", f"{oldest.name}: {why}")
            del self._clients[id(oldest)]
            oldest.hang_up()

    def close(self) -> None:
        """Stop listening, and hang up on all clients once it is sent what has happened, such as how a game ended."""
        self._closed.set()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        with self._lock:
            clients = list(self._clients.values())
            active = list(self._active.values())
        for handler in active:
            handler.dismiss()
        end = time.monotonic() + GOODBYE_SECONDS
        for peer, thread in clients:
            thread.join(max(0.0, end - time.monotonic()))
            peer.hang_up()
        for _, thread in clients:
            thread.join(10)

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

    def _serve(self, peer: ClientConnection) -> None:
        try:
            handler = self._door.open_to(peer)
            with self._lock:
                self._active[id(peer)] = handler
            if not self._closed.is_set():
                handler.stay()
        except Exception:
            log.exception("%s: the gateway failed; the client is disconnected", peer.name, extra=SELDOM)
        finally:
            peer.close()
            with self._lock:
                self._clients.pop(id(peer), None)
                self._active.pop(id(peer), None)
