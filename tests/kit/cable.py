"""A cable between a client and a server that a test can cut."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


class Cable:
    """Passes bytes on from a port of its own to a server's; :meth:`cut` ends all connections, new ones are taken.

    Attributes:
        plugged: whether new connections are taken.
    """

    def __init__(self, port: int) -> None:
        self._broker = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._changing = threading.Lock()
        self._ends: list[socket.socket] = []
        self.connections = 0
        self.plugged = True

    def __enter__(self) -> Cable:
        threading.Thread(target=self._accept, name="cable", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        self._listener.close()

    def cut(self) -> None:
        """End every connection without a goodbye of MQTT's, also those that were made and are not accepted yet."""
        with self._changing:
            with contextlib.suppress(OSError):
                while True:
                    self._listener.accept()[0].close()
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._ends = []

    def _accept(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the listener is closed
            while select.select([self._listener], [], []):
                with self._changing, contextlib.suppress(BlockingIOError):  # cut() was there first
                    self._connect(self._listener.accept()[0])

    def _connect(self, near: socket.socket) -> None:
        if not self.plugged:
            near.close()
            return
        near.setblocking(True)
        far = socket.create_connection(self._broker)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ends += (near, far)
        self.connections += 1
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=_pass_on, args=(source, sink), name="cable", daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(65_536):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_RDWR)
    source.close()
