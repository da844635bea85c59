"""Finds out whether somebody else connects as the same user, or the broker dies again and again.

A user has one connection, the newest (SALVO-ACCESS-4), and MQTT 3.1.1 does not say why a connection ended. A broker
that throws somebody out is there all the time; one that was killed may be back after a few milliseconds, before its
client has noticed anything. So a second connection, on which nothing is ever said, is held beside one that was made
after a loss: it ends with the broker, or with the network, but not because of anybody's user.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final

#: So often in a row a connection must end, the broker there all the time, until somebody else is thought to use its
#: user. Of two that throw each other out the older one comes to it first, so the newest stays.
MAX_THROWN_OUT: Final = 3
#: Who has held a user for so long is established: a newcomer that it throws out at once gives way, and it stays.
ESTABLISHED_SECONDS: Final = 3.0
#: So often in a row an established one is thrown out until it gives way, too: many newcomers come one after another,
#: and each of them throws it out once; what does not give way throws it out for ever.
MAX_ESTABLISHED_THROWN_OUT: Final = 30
#: So soon after it was accepted such a connection ends, because the other one comes back as fast as it can. Less than
#: brokers wait for a first packet: ours 10 s.
THROWN_OUT_SECONDS: Final = 8.0
#: A broker that was killed has ended all its connections by then.
DECIDE_SECONDS: Final = 0.25


class Takeovers:
    """Counts how often a connection was thrown out in a row.

    Attributes:
        count: of the losses that somebody else may have brought about; the first one counts however old the connection
            was.
        undecided: whether :meth:`decide` is to be called, :data:`DECIDE_SECONDS` after the loss.
    """

    def __init__(self, *, newcomer_gives_way: bool = False) -> None:
        """Begin with nothing lost.

        Args:
            newcomer_gives_way: whether of two the newcomer gives way, after the first time, and not the older one.
        """
        self.count = 0
        self.undecided = False
        self._newcomer_gives_way = newcomer_gives_way
        self._established = False
        self._accepted_at = 0.0
        self._silent: socket.socket | None = None

    @property
    def most(self) -> int:
        """How often in a row it must be thrown out until somebody else is thought to use its user."""
        if not self._newcomer_gives_way:
            return MAX_THROWN_OUT
        return MAX_ESTABLISHED_THROWN_OUT if self._established else 1

    def accepted(self, connection: socket.socket, now: float) -> None:
        """The broker has accepted a connection.

        Where the next loss may count a silent one is made beside it, without waiting for it: after a loss, and at once
        for a newcomer that gives way.
        """
        self._accepted_at = now
        self.close()
        if not self.count and self.most > 1:
            return
        self._silent = socket.socket(connection.family, socket.SOCK_STREAM)
        self._silent.setblocking(False)
        with contextlib.suppress(OSError):  # under way; or refused, and then it is not there when it is looked at
            self._silent.connect_ex(connection.getpeername())

    def lost(self, now: float) -> None:
        """The other side has ended an accepted connection."""
        self._established = self._established or now - self._accepted_at >= ESTABLISHED_SECONDS
        self.undecided = self._silent is not None and now - self._accepted_at < THROWN_OUT_SECONDS
        if not self.undecided:
            self.close()
            self.count = 1

    def decide(self) -> int:
        """Return the count, with the last loss if the broker was there all the time."""
        self.undecided = False
        self.count = self.count + 1 if self._is_there() else 0
        self.close()
        return self.count

    def forget(self) -> None:
        """Begin anew: the broker was not there, or the connection broke in another way."""
        self.count = 0
        self.undecided = False
        self._established = False
        self.close()

    def tend(self, now: float) -> None:
        """Let go of the silent connection when the other one has held for long enough."""
        if self._silent is not None and not self.undecided and now - self._accepted_at >= THROWN_OUT_SECONDS:
            self.forget()

    def close(self) -> None:
        """Let go of the silent connection."""
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
