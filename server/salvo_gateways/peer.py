"""Messages to and from one program, over a socket: a TCP connection, or a child process's standard streams.

A separate thread reads, so that the owner of a peer can wait for something else. What the program sends faster than it
is handled stays in the system's buffers; a message without an end is cut off.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

#: Messages that wait for the owner; with that many the reader waits.
MAX_WAITING: Final = 256
#: What a program may send: a client that plays sends one or two messages a turn.
MESSAGES_A_SECOND: Final = 200.0
MESSAGES_AT_ONCE: Final = 400.0
#: A program that has not read what was sent to it for this long is gone.
SEND_SECONDS: Final = 5
_READ_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class PeerBroken:
    """Something that is not a message.

    Attributes:
        code: ``too_long``, ``not_text``, or what the framing calls it.
        text: what is wrong with it.
    """

    code: str
    text: str


class Framing(Protocol):
    """Finds where messages end; keeps what has not ended yet, and never more than a message."""

    def feed(self, data: bytes) -> Iterable[bytes | PeerBroken]: ...
    def write(self, message: str) -> bytes: ...


class Lines:
    """Messages that end with a line feed."""

    def __init__(self, longest_bytes: int = 4095) -> None:
        """Start at the beginning of a line.

        Args:
            longest_bytes: of a line, without its end; a longer one is :class:`PeerBroken`, and thrown away as it comes.
        """
        self._longest = longest_bytes
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterable[bytes | PeerBroken]:
        """Return what has ended."""
        found: list[bytes | PeerBroken] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._rest += piece
            if self._skipping:
                self._skipping = False
            elif len(self._rest) > self._longest:
                found.append(self._too_long())
            else:
                found.append(bytes(self._rest))
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._longest:
            if not self._skipping:
                found.append(self._too_long())
            self._skipping = True
            self._rest.clear()
        return found

    def write(self, message: str) -> bytes:
        """Return a message as it is sent."""
        return f"{message}\n".encode()

    def _too_long(self) -> PeerBroken:
        return PeerBroken("too_long", f"a line has at most {self._longest} bytes")


class ClientConnection:
    """The program at the other end.

    Attributes:
        name: what the log calls it.
        gone: whether it has hung up, or was hung up on; what it said before can still be taken.
        silent: whether it has never said anything.
        arrived: called from other threads when there is something to do; to be set by the owner.
    """

    def __init__(self, sock: socket.socket, name: str, framing: Framing) -> None:
        """Use a connected socket, which this peer closes."""
        self.name = name
        self.gone = False
        self.silent = True
        self._woken = False
        self.arrived: Callable[[], None] = lambda: None
        self._socket = sock
        self._framing = framing
        self._waiting: deque[str | PeerBroken] = deque()
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, name=f"peer {name}", daemon=True)
        self._allowance, self._allowed_at = MESSAGES_AT_ONCE, time.monotonic()
        sock.setblocking(True)
        with contextlib.suppress(OSError):  # no such option for the socket of a child process
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0))

    def start(self) -> None:
        """Begin to read."""
        self._reader.start()

    def take(self) -> list[str | PeerBroken]:
        """Return what has arrived, in order."""
        with self._changed:
            taken = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        return taken

    def wait(self, longest_seconds: float) -> None:
        """Wait until there is something to take or the peer is gone, but not longer than so."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self.gone or self._woken, longest_seconds)

    def wake(self) -> None:
        """Let the owner wait no longer, now and later; may be called from any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
        self.arrived()

    def send(self, *messages: str) -> None:
        """Send messages; nothing to a program that is gone, and one that does not read is gone then."""
        if self.gone or not messages:
            return
        try:
            self._socket.sendall(b"".join(map(self._framing.write, messages)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has left; the reader finds its end after all that it said before
        except OSError:
            self.hang_up()

    def end_sending(self) -> None:
        """Let the program see the end of what is sent to it, and read on: then nothing that was sent is lost."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def hang_up(self) -> None:
        """End the connection; may be called from any thread, and twice."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._leave()

    def close(self) -> None:
        """Hang up and let go of the socket; the owner's last call."""
        self.hang_up()
        if self._reader.ident is not None:
            self._reader.join(SEND_SECONDS)
        self._socket.close()

    # --- the reader's thread ------------------------------------------------------------------------------------

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._socket.recv(_READ_BYTES):
                for message in self._framing.feed(data):
                    self.silent = False
                    self._put(_text(message) if isinstance(message, bytes) else message)
                    self._slow_down()
                if self.gone:
                    break
        self._leave()

    def _put(self, message: str | PeerBroken) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING or self.gone)
            self._waiting.append(message)
            self._changed.notify_all()
        self.arrived()

    def _slow_down(self) -> None:
        """Let a flood wait; a program that sends like a player never does."""
        now = time.monotonic()
        self._allowance += (now - self._allowed_at) * MESSAGES_A_SECOND
        self._allowance = min(MESSAGES_AT_ONCE, self._allowance) - 1
        self._allowed_at = now
        if self._allowance < 0:
            time.sleep(1 / MESSAGES_A_SECOND)

    def _leave(self) -> None:
        with self._changed:
            self.gone = True
            self._changed.notify_all()
        self.arrived()


def _text(message: bytes) -> str | PeerBroken:
    try:
        return message.decode()
    except UnicodeDecodeError as error:
        return PeerBroken("not_text", f"byte {error.start + 1} of a message is not UTF-8")
