"""The base class of a gateway's protocols: serves one client, on the thread that calls :meth:`ClientHandler.stay`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from salvo.errors import SalvoError
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.report import GatewayReport

#: The longest time between two calls of :meth:`ClientHandler.tick`.
MAX_WAIT_SECONDS: Final = 0.5
#: A client that sends nothing for so long is disconnected; one with a seat at a table is not.
IDLE_SECONDS: Final = 600.0


class ClientHandler:
    """A connected client; each protocol is a subclass, and needs no locks of its own.

    Attributes:
        peer: the client's connection.
        report: the gateway's.
        clock: seconds that never go back.
        dismissed: whether the gateway is closing, or the person who plays there has left.
        abandoned: whether the client has hung up, and all its messages are handled.
    """

    def __init__(self, peer: ClientConnection) -> None:
        self.peer = peer
        self.report = GatewayReport()
        self.clock: Callable[[], float] = time.monotonic
        self.abandoned = False
        self.dismissed = False
        self._ended = False
        self._active_at = 0.0  # when the client last sent something

    # --- what a protocol overrides --------------------------------------------------------------------------------

    def connected(self) -> None:
        """The client is connected, and has sent nothing yet."""

    def message_received(self, message: str) -> None:
        """The client has sent a message."""
        raise NotImplementedError

    def invalid_message_received(self, broken: PeerBroken) -> None:
        """The client has sent something that is not a valid message."""
        raise NotImplementedError

    def tick(self, now: float) -> None:
        """Time has passed; called after every message, and at least every :data:`MAX_WAIT_SECONDS`."""

    def disconnected(self) -> None:
        """The client has hung up, or the gateway is about to."""

    def title(self) -> str:
        """Return what the log calls the client."""
        return self.peer.name

    def farewell(self) -> str:
        """Return what the log adds when the client has gone; empty for nothing."""
        return ""

    def lingers(self) -> bool:
        """Whether to stay although the client has left (:attr:`abandoned`)."""
        return False

    def max_wait(self) -> float:
        """Return the seconds between calls of :meth:`tick` for a silent client."""
        return MAX_WAIT_SECONDS

    def wait(self) -> None:
        """Wait for what comes next; end a client that has been silent for long."""
        if self.clock() - self._active_at > IDLE_SECONDS:
            self.report.refused("idle", f"{self.title()}: has sent nothing for {IDLE_SECONDS:g} s, and is disconnected")
            self.end()
        self.peer.wait(self.max_wait())

    def close(self) -> None:
        """Hang up; a protocol's last act."""
        self.peer.close()

    # --- what a protocol uses -------------------------------------------------------------------------------------

    def end(self) -> None:
        """Hang up once the current message is handled."""
        self._ended = True

    def dismiss(self) -> None:
        """Hang up once everything that has happened is sent: the gateway closes; may be called from any thread."""
        self.dismissed = True
        self.peer.wake()

    def stay(self) -> None:
        """Serve the client until it leaves or :meth:`end` is called."""
        for _ in self.rounds():
            pass

    def rounds(self) -> Iterator[None]:
        """Do what :meth:`stay` does, round by round, for a caller with something to do in between."""
        self._active_at = self.clock()
        self.report.happened(f"{self.title()}: connected")
        try:
            try:
                self.connected()
                while not self._ended:
                    self._serve()
                    yield
            except SystemExit:  # the person who plays here has left
                self.dismissed = True
            self.disconnected()
            self._report_end()
        except SalvoError as error:
            self.report.refused(error.code, f"{self.title()}: disconnected: {error}")
        finally:
            self.close()

    def _report_end(self) -> None:
        how = "gone" if self.abandoned else "disconnected" + ", the gateway ends" * self.dismissed
        also = self.farewell()
        self.report.happened(f"{self.title()}: {how}{also and f'; {also}'}")

    def _serve(self) -> None:
        self._handle_messages()
        self._ended |= self.abandoned and not self.lingers()
        if not self._ended:
            self.tick(self.clock())
        self._ended |= self.dismissed
        if not self._ended:
            self.wait()

    def _handle_messages(self) -> None:
        gone = self.peer.gone  # read before taking messages: something may arrive in between
        taken = self.peer.take()
        self.abandoned = gone and not taken
        if taken:
            self._active_at = self.clock()
        for message in taken:
            if self._ended:
                return
            if isinstance(message, PeerBroken):
                self.invalid_message_received(message)
            else:
                self.message_received(message)
