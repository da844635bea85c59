"""The base class of a gateway's protocols: connects one program's peer to its seat at the table.

A guest runs on the thread that calls :meth:`Guest.stay`, so a protocol needs no locks: messages from the program and
from the table are handled one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from salvo import messages as m
from salvo.errors import ConnectionLost, SalvoError
from salvo.events import Event
from salvo.seat import Seat
from salvo.session import Session
from salvo.team import Team
from salvo_gateways.peer import Broken, Peer
from salvo_gateways.table_watch import ACCOUNT_SECONDS, TableWatch

log = logging.getLogger(__name__)

#: The longest time between two calls of :meth:`Guest.tick`.
MAX_WAIT_SECONDS: Final = 0.5
#: A program that has not taken a seat is disconnected after this much silence.
IDLE_SECONDS: Final = 600.0
_RETRY_SECONDS: Final = 0.3


class Guest:
    """A connected program; each protocol is a subclass.

    Attributes:
        peer: the program.
        watch: the gateway's view of its table.
        dismissed: whether the gateway is closing.
        abandoned: whether the program has hung up, and all its messages are handled.
    """

    def __init__(self, peer: Peer, watch: TableWatch) -> None:
        self.peer = peer
        self.watch = watch
        self.abandoned = False
        self.dismissed = False
        self._seat: Seat | None = None
        self._team: Team | None = None
        self._name = ""
        self._admission_deadline = 0.0
        self._ended = False
        self._since = self.watch.clock()

    # --- what a protocol overrides --------------------------------------------------------------------------------

    def connected(self) -> None:
        """The program is connected, and has sent nothing yet."""

    def message_received(self, message: str) -> None:
        """The program has sent a message."""
        raise NotImplementedError

    def invalid_message_received(self, broken: Broken) -> None:
        """The program has sent something that is not a valid message."""
        raise NotImplementedError

    def event_received(self, event: Event) -> None:
        """Something has happened to the player: a fleet or a salvo is due, a game has ended, and so on."""
        raise NotImplementedError

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        """The table has announced something; called before :meth:`event_received` with what it means for the player.

        Args:
            retained: whether it was a retained message, announced before the guest subscribed.
        """

    def tick(self, now: float) -> None:
        """Time has passed; called after every message, and at least every :data:`MAX_WAIT_SECONDS`.

        Args:
            now: seconds on the guests' monotonic clock.
        """

    def disconnected(self) -> None:
        """The program has hung up, or the gateway is about to; its seat still exists."""

    def max_wait(self) -> float:
        """Return the seconds between calls of :meth:`tick` for a silent program that has not sat down."""
        return MAX_WAIT_SECONDS

    def lingers(self) -> bool:
        """Whether the guest stays at the table although its program has left (:attr:`abandoned`)."""
        return False

    # --- what a protocol uses -------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The player's session; available only between :meth:`sit_down` and :meth:`stand_up`."""
        assert self._seat is not None, "sit down first"
        return self._seat.session

    @property
    def seated(self) -> bool:
        """Whether the program has a seat, and so a session."""
        return self._seat is not None

    def sit_down(self, name: str) -> None:
        """Take a seat at the table under a name; the session asks to take part once the broker is connected.

        Raises:
            WireError: ``bad_name``.
            GatewayError: ``name_taken``.
        """
        assert self._seat is None
        self._name = name
        self._admission_deadline = self.watch.clock() + ACCOUNT_SECONDS
        self._take(self.watch.seat(name))

    def say(self, text: str, to: str = "") -> None:
        """Send a line of chat to all players, or to one.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` if chat is turned off.
        """
        assert self._team is not None, "sit down first"
        self._team.say(text, to)

    def leave_lobby(self) -> None:
        """Take the player out of the lobby; during a game this does nothing."""
        if self._team is not None:
            self.session.leave()
            self._team.act()

    def stand_up(self) -> None:
        """Leave the table; in a running game the player stays listed, but is absent."""
        if self._seat is not None:
            self.peer.arrived = _ignore
            self._seat.close()
            self.watch.release(self._name)
        self._seat = self._team = None

    def end(self) -> None:
        """Hang up once the current message is handled."""
        self._ended = True

    def dismiss(self) -> None:
        """Hang up once all that has happened is told: the gateway closes; may be called from any thread."""
        self.dismissed = True
        self.peer.wake()

    # --- the loop ---------------------------------------------------------------------------------------------------

    def stay(self) -> None:
        """Serve the program until it leaves or :meth:`end` is called."""
        for _ in self.rounds():
            pass

    def rounds(self) -> Iterator[None]:
        """Do what :meth:`stay` does, round by round, for a caller with something to do in between."""
        try:
            self.connected()
            while not self._ended:
                self._serve()
                yield
            self.disconnected()
        except SalvoError as error:
            log.warning("%s: %s", self.peer.name, error)
        finally:
            self.stand_up()
            self.peer.close()

    def _serve(self) -> None:
        gone = self.peer.gone  # read before taking messages: something may arrive in between
        taken = self.peer.take()
        self.abandoned = gone and not taken
        if taken:
            self._since = self.watch.clock()
        for message in taken:
            if self._ended:
                return
            if isinstance(message, Broken):
                self.invalid_message_received(message)
            else:
                self.message_received(message)
        if self.abandoned and not self.lingers():
            self._ended = True
        if self._ended:
            return
        self.tick(self.watch.clock())
        self._ended |= self.dismissed
        if self._ended:
            return
        if self._team is None:
            if self.watch.clock() - self._since > IDLE_SECONDS:
                self._ended = True
            self.peer.wait(self.max_wait())
            return
        self._since = self.watch.clock()
        self._team.act()
        try:
            self._team.hear(MAX_WAIT_SECONDS)
        except ConnectionLost as error:
            self._retry_admission(error)

    def _take(self, seat: Seat) -> None:
        self._seat = seat
        seat.session.tap = self.announcement_received
        self._team = Team(seat.session, seat.connection, self.event_received, clock=self.watch.clock, meet=seat.meet)
        self.peer.arrived = seat.connection.wake

    def _retry_admission(self, error: ConnectionLost) -> None:
        """Take the seat again while the broker may not know the account yet; otherwise give up."""
        if error.code != "not_authorised" or self.watch.clock() > self._admission_deadline:
            raise error
        assert self._seat is not None
        wants_to_play = self._seat.session.wants_to_play
        self._seat.close()
        self.watch.release(self._name)
        self.peer.wait(_RETRY_SECONDS)
        self._take(self.watch.seat(self._name))
        self.session.wants_to_play = wants_to_play


def _ignore() -> None:
    """Without a seat, there is no connection to wake."""
