"""Ports for programs that must be told one: chosen by the system, and kept for as long as a test needs them."""

from __future__ import annotations

import socket
from types import TracebackType


class Port:
    """A port of this machine that nobody else is given, whether somebody listens on it or not.

    It is bound, and not listened on: then Linux gives it to nobody who asks for any port, nor to a client that calls,
    but lets a program listen that asks for this very one with SO_REUSEADDR, as servers do, over and over again. It is
    bound for all addresses: mosquitto listens with WebSockets on all, and could not while 127.0.0.2 calls from it.

    Attributes:
        number: the port's.
        address: ``HOST:PORT``.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("", 0))
        self.number: int = self._socket.getsockname()[1]
        self.address = f"127.0.0.1:{self.number}"

    def close(self) -> None:
        """Give it back."""
        self._socket.close()

    def __enter__(self) -> Port:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
