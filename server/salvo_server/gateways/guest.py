"""One program's stay: its peer on one side, its seat at the table on the other.

Everything about a guest happens on the thread that calls :meth:`Guest.stay`, so a protocol needs no locks: messages
from the program and from the table are handled one by one.
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
from salvo_server.gateways.peer import Broken, Peer
from salvo_server.gateways.table_watch import ACCOUNT_SECONDS, TableWatch

log = logging.getLogger(__name__)

#: How often :meth:`Guest.passed` is called at least.
MAX_WAIT_SECONDS: Final = 0.5
#: A program that has not taken a seat and has been silent for this long is in the way.
IDLE_SECONDS: Final = 600.0
_AGAIN_SECONDS: Final = 0.3


class Guest:
    """A program that connected; each protocol is a subclass.

    Attributes:
        peer: the program.
        house: the gateway's table.
        alone: whether the program has hung up, and all its messages are handled.
    """

    def __init__(self, peer: Peer, house: TableWatch) -> None:
        self.peer = peer
        self.house = house
        self.alone = False
        self._seat: Seat | None = None
        self._team: Team | None = None
        self._name = ""
        self._let_in_by = 0.0
        self._ended = False
        self._since = self.house.clock()

    # --- what a protocol does -------------------------------------------------------------------------------------

    def came(self) -> None:
        """The program is connected, and has said nothing yet."""

    def said(self, message: str) -> None:
        """The program has said something."""
        raise NotImplementedError

    def stammered(self, broken: Broken) -> None:
        """The program has sent something that is no message at all."""
        raise NotImplementedError

    def happened(self, event: Event) -> None:
        """Something has happened to the player: a fleet is wanted, a salvo is wanted, a game ended, and so on."""
        raise NotImplementedError

    def announced(self, announcement: m.Announcement, retained: bool) -> None:
        """The table has announced something; comes before what it means for the player (:meth:`happened`).

        Args:
            retained: whether the broker had kept it from before.
        """

    def passed(self, now: float) -> None:
        """Time has passed; called after every message, and at least twice a second.

        Args:
            now: seconds on the monotonic clock.
        """

    def left(self) -> None:
        """The program has hung up, or is being hung up on; its seat is still there."""

    def longest_wait(self) -> float:
        """Seconds after which :meth:`passed` is called for a program that has not sat down and says nothing."""
        return MAX_WAIT_SECONDS

    def lingers(self) -> bool:
        """Whether the guest stays at the table although it is :attr:`alone`."""
        return False

    # --- what a protocol uses -------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The player's session; only between :meth:`sit_down` and :meth:`stand_up`."""
        assert self._seat is not None, "sit down first"
        return self._seat.session

    @property
    def seated(self) -> bool:
        """Whether there is a session."""
        return self._seat is not None

    def sit_down(self, name: str) -> None:
        """Take a place at the table under a name; the session asks to take part as soon as the broker is reached.

        Raises:
            WireError: ``bad_name``.
            GatewayError: ``name_taken``.
        """
        assert self._seat is None
        self._name = name
        self._let_in_by = self.house.clock() + ACCOUNT_SECONDS
        self._take(self.house.seat(name))

    def say(self, text: str, to: str = "") -> None:
        """Say a line to all players, or to one other.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` where chat is turned off.
        """
        assert self._team is not None, "sit down first"
        self._team.say(text, to)

    def leave_lobby(self) -> None:
        """Take the player out of the lobby; in a game nothing happens."""
        if self._team is not None:
            self.session.leave()
            self._team.act()

    def stand_up(self) -> None:
        """Leave the table; the player stays in a game that is on, and is missing."""
        if self._seat is not None:
            self.peer.arrived = _nothing
            self._seat.close()
        self._seat = self._team = None

    def end(self) -> None:
        """Hang up when what is being dealt with is done."""
        self._ended = True

    # --- the loop ---------------------------------------------------------------------------------------------------

    def stay(self) -> None:
        """Serve the program until it leaves or :meth:`end` is called."""
        for _ in self.rounds():
            pass

    def rounds(self) -> Iterator[None]:
        """Do the same round by round, for a caller with something to do in between."""
        try:
            self.came()
            while not self._ended:
                self._serve()
                yield
            self.left()
        except SalvoError as error:
            log.warning("%s: %s", self.peer.name, error)
        finally:
            self.stand_up()
            self.peer.close()

    def _serve(self) -> None:
        gone = self.peer.gone  # looked at first: something may arrive between the two
        taken = self.peer.take()
        self.alone = gone and not taken
        if taken:
            self._since = self.house.clock()
        for message in taken:
            if self._ended:
                return
            if isinstance(message, Broken):
                self.stammered(message)
            else:
                self.said(message)
        if self.alone and not self.lingers():
            self._ended = True
        if self._ended:
            return
        self.passed(self.house.clock())
        if self._ended:
            return
        if self._team is None:
            if self.house.clock() - self._since > IDLE_SECONDS:
                self._ended = True
            self.peer.wait(self.longest_wait())
            return
        self._since = self.house.clock()
        self._team.act()
        try:
            self._team.hear(MAX_WAIT_SECONDS)
        except ConnectionLost as error:
            self._try_again(error)

    def _take(self, seat: Seat) -> None:
        self._seat = seat
        seat.session.tap = self.announced
        self._team = Team(seat.session, seat.connection, self.happened, clock=self.house.clock, meet=seat.meet)
        self.peer.arrived = seat.connection.wake

    def _try_again(self, error: ConnectionLost) -> None:
        """Take the seat again while the broker may not know the account yet; give up for any other reason."""
        if error.code != "not_authorised" or self.house.clock() > self._let_in_by:
            raise error
        assert self._seat is not None
        wants_to_play = self._seat.session.wants_to_play
        self._seat.close()
        self.peer.wait(_AGAIN_SECONDS)
        self._take(self.house.seat(self._name))
        self.session.wants_to_play = wants_to_play


def _nothing() -> None:
    """No one waits."""
