"""Finds out whether another client keeps connecting as the same user, or the broker keeps dying.

A user has one connection, the newest (SALVO-ACCESS-4), and MQTT 3.1.1 does not say why a connection ended. A broker
that throws a client out stays up; one that was killed may be back after a few milliseconds, before its client has
noticed. So after a loss, a second, silent connection is held next to the new one: it ends with the broker, or with the
network, but not because of a user.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final

#: How often in a row a connection must end, with the broker up all the time, before another client is assumed to use
#: its user. Of two that throw each other out, the older one gets there first, so the newest stays.
MAX_THROWN_OUT: Final = 3
#: A connection that has lasted this long is established: it stays, and a newcomer that it throws out gives way.
ESTABLISHED_SECONDS: Final = 3.0
#: How often in a row an established one is thrown out before it gives way, too: of many newcomers in succession, each
#: throws it out once; a client that never gives way throws it out for ever.
MAX_ESTABLISHED_THROWN_OUT: Final = 30
#: A connection that is thrown out ends within this time, because the other client reconnects as fast as it can. It is
#: shorter than brokers wait for a first packet: ours waits 10 s.
THROWN_OUT_SECONDS: Final = 8.0
#: Within this time, a broker that was killed has ended all its connections.
DECIDE_SECONDS: Final = 0.25


class Takeovers:
    """Counts how often a connection was thrown out in a row.

    Attributes:
        count: how many losses another client may have caused; the first one counts however old the connection was.
        undecided: whether :meth:`decide` is to be called, :data:`DECIDE_SECONDS` after the loss.
    """

    def __init__(self, *, newcomer_gives_way: bool = False) -> None:
        """Begin with nothing lost.

        Args:
            newcomer_gives_way: whether the newcomer gives way, at its first loss, instead of the older one.
        """
        self.count = 0
        self.undecided = False
        self._newcomer_gives_way = newcomer_gives_way
        self._established = False
        self._accepted_at = 0.0
        self._silent: socket.socket | None = None

    @property
    def most(self) -> int:
        """How often in a row it must be thrown out before another client is assumed to use its user."""
        if not self._newcomer_gives_way:
            return MAX_THROWN_OUT
        return MAX_ESTABLISHED_THROWN_OUT if self._established else 1

    def accepted(self, connection: socket.socket, now: float) -> None:
        """The broker has accepted a connection.

        If the next loss may count, a silent connection is opened too, without waiting for it: after a loss, and at once
        for a newcomer that gives way.
        """
        self._accepted_at = now
        self.close()
        if not self.count and self.most > 1:
            return
        with contextlib.suppress(OSError):  # no file is left, or in progress; if refused, _is_there() finds out
            self._silent = socket.socket(connection.family, socket.SOCK_STREAM)
            self._silent.setblocking(False)
            self._silent.connect_ex(connection.getpeername())

    def lost(self, now: float) -> None:
        """The other side has ended an accepted connection."""
        self._established = self._established or now - self._accepted_at >= ESTABLISHED_SECONDS
        self.undecided = self._silent is not None and now - self._accepted_at < THROWN_OUT_SECONDS
        if not self.undecided:
            self.close()
            self.count = 1

    def decide(self) -> int:
        """Return the count, including the last loss if the broker was up all the time."""
        self.undecided = False
        self.count = self.count + 1 if self._is_there() else 0
        self.close()
        return self.count

    def forget(self) -> None:
        """Start over: the broker was down, or the connection broke in another way."""
        self.count = 0
        self.undecided = False
        self._established = False
        self.close()

    def tend(self, now: float) -> None:
        """Close the silent connection once the other one has lasted long enough."""
        if self._silent is not None and not self.undecided and now - self._accepted_at >= THROWN_OUT_SECONDS:
            self.forget()

    def close(self) -> None:
        """Close the silent connection."""
        if self._silent is not None:
            self._silent.close()
            self._silent = None

    def _is_there(self) -> bool:
        if self._silent is None:
            return False
        try:
            return bool(self._silent.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False
