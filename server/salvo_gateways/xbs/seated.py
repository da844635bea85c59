"""A client with a seat at a table: a session and a connection of its own, as any other player has."""

from __future__ import annotations

from typing import Final

from salvo import messages as m
from salvo.errors import ConnectionLost
from salvo.join.events import Event
from salvo.join.seat import Seat
from salvo.join.session import Session
from salvo.join.team import TeamSession
from salvo_gateways.client_handler import MAX_WAIT_SECONDS, ClientHandler
from salvo_gateways.peer import ClientConnection
from salvo_gateways.table_watch import ACCOUNT_SECONDS, TableWatch

_RETRY_SECONDS: Final = 0.3


class SeatedHandler(ClientHandler):
    """Messages from the client and from the table are handled one by one.

    Attributes:
        watch: the gateway's view of its table.
    """

    def __init__(self, peer: ClientConnection, watch: TableWatch) -> None:
        super().__init__(peer)
        self.watch = watch
        self.clock = watch.clock
        self._seat: Seat | None = None
        self._team: TeamSession | None = None
        self._name = ""
        self._admission_deadline = 0.0

    # --- what a protocol overrides --------------------------------------------------------------------------------

    def event_received(self, event: Event) -> None:
        """Something has happened to the player: a fleet or a salvo is due, a game has ended, and so on."""
        raise NotImplementedError

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        """The table has announced something; called before :meth:`event_received` with what it means for the player.

        Args:
            retained: whether it was a retained message, announced before the client's session subscribed.
        """

    # --- what a protocol uses -------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The player's session; available only between :meth:`sit_down` and :meth:`stand_up`."""
        assert self._seat is not None, "sit down first"
        return self._seat.session

    @property
    def seated(self) -> bool:
        """Whether the client has a seat, and so a session."""
        return self._seat is not None

    def sit_down(self, name: str) -> None:
        """Take a seat at the table under a name; the session asks to take part once the broker is connected.

        Raises:
            WireError: ``bad_name``.
            GatewayError: ``name_taken``.
        """
        assert self._seat is None
        self._name = name
        self._admission_deadline = self.clock() + ACCOUNT_SECONDS
        self._take(self.watch.seat(name))

    def send_chat(self, text: str, to: str = "") -> None:
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

    # --- the loop ---------------------------------------------------------------------------------------------------

    def wait(self) -> None:
        if self._team is None:
            super().wait()
            return
        self._active_at = self.clock()
        self._team.act()
        try:
            self._team.receive(MAX_WAIT_SECONDS)
        except ConnectionLost as error:
            self._retry_admission(error)

    def close(self) -> None:
        self.stand_up()
        super().close()

    def _take(self, seat: Seat) -> None:
        self._seat = seat
        seat.session.tap = self.announcement_received
        self._team = TeamSession(seat.session, seat.connection, clock=self.clock, meet=seat.meet)
        self._team.on_event = self.event_received
        self.peer.arrived = seat.connection.wake

    def _retry_admission(self, error: ConnectionLost) -> None:
        """Take the seat again while the broker may not know the account yet; otherwise give up."""
        if error.code != "not_authorised" or self.clock() > self._admission_deadline:
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
