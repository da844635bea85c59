"""A socket that is read and written in large pieces.

paho reads a packet in three or four calls to the system and writes each packet with one of its own. Behind this
socket a burst of packets costs one call each way: half of the processor time of a message, and a salvo's results
leave the server together.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Any, Final

_READ_BYTES: Final = 65_536


class BufferedSocket:
    """Looks like the non-blocking socket inside it.

    What is sent leaves with :meth:`flush`; what fits into one read is read at once.
    """

    def __init__(self, plain: socket.socket) -> None:
        self._socket = plain
        self._unread = memoryview(b"")
        self._unsent = bytearray()

    def recv(self, most: int) -> bytes:
        """Return at most so many bytes; empty at the connection's end.

        Raises:
            BlockingIOError: nothing has come; over TLS ``ssl.SSLWantReadError``.
        """
        if not self._unread:
            self._unread = memoryview(self._socket.recv(_READ_BYTES))
        piece = bytes(self._unread[:most])
        self._unread = self._unread[most:]
        return piece

    def pending(self) -> int:
        """How many bytes are there that no selector knows of."""
        inside = getattr(self._socket, "pending", None)  # TLS has a buffer, too
        return len(self._unread) + (inside() if inside is not None else 0)

    def send(self, piece: bytes) -> int:
        """Take bytes for the next :meth:`flush`."""
        self._unsent += piece
        return len(piece)

    def wants_flush(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._unsent)

    def flush(self) -> None:
        """Send what the system takes.

        Raises:
            OSError: the connection is broken.
        """
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            del self._unsent[:sent]

    def close(self) -> None:
        """Send what the system still takes, such as the goodbye, and close."""
        try:
            with contextlib.suppress(OSError):
                self.flush()
        finally:
            self._socket.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)
