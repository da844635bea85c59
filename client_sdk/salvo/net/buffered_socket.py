"""A socket that is read in large pieces.

paho reads a packet in three or four calls to the system. Behind this socket a burst of packets costs one. What is sent
leaves at once: gathering a round's packets for one call was tried, and doubled the round-trip time on loopback, because
the receiver is woken later and from deeper sleep.
"""

from __future__ import annotations

import socket
from typing import Any, Final

_READ_BYTES: Final = 65_536


class BufferedSocket:
    """Looks like the non-blocking socket inside it; what fits into one read is read at once."""

    def __init__(self, plain: socket.socket) -> None:
        self._socket = plain
        self._unread = memoryview(b"")
        # Called for every packet, so without a detour through ``__getattr__``.
        self.send = plain.send

    def recv(self, most: int) -> bytes:
        """Return at most this many bytes; empty at the connection's end.

        Raises:
            BlockingIOError: nothing has come; over TLS ``ssl.SSLWantReadError``.
        """
        if not self._unread:
            self._unread = memoryview(self._socket.recv(_READ_BYTES))
        piece = bytes(self._unread[:most])
        self._unread = self._unread[most:]
        return piece

    def pending(self) -> int:
        """How many bytes are buffered, unknown to a selector."""
        inside = getattr(self._socket, "pending", None)  # TLS has a buffer, too
        return len(self._unread) + (inside() if inside is not None else 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)
