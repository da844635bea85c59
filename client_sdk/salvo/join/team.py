"""A team on a connection: what arrives becomes events for a handler, and the session's messages are sent.

The handler may be a bot (:class:`salvo.join.client.Contestant`), or a person or a foreign program, which answer
whenever they like. Nothing happens between the calls, and time comes from the given clock. A
:class:`~salvo.join.seated_team.SeatedTeam` also goes to another table.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from salvo.errors import BotError, SalvoError, WireError, printable
from salvo.join.events import Event, ServerMet
from salvo.join.session import Session
from salvo.messages import ServerKeys, State
from salvo.net.inbound import Inbound, TeamLink
from salvo.rules import Fleet
from salvo.system.log_throttle import SELDOM

log = logging.getLogger(__name__)

#: How long a team that goes waits until it is off the list: Ctrl-C does not wait for a server that is away.
GOODBYE_SECONDS: Final = 2.0


class TeamSession:
    """A session on a connection.

    The owner calls :meth:`receive`, then :meth:`act`, in a loop, all on one thread. Firing and skipping are the
    session's own methods; the next :meth:`act` sends their messages.

    Attributes:
        session: the one at the table where the team is now.
        on_event: gets every event, in order; it may call the session's methods. Set it before the first
            :meth:`receive`.
    """

    on_event: Callable[[Event], None]

    def __init__(
        self,
        session: Session,
        link: TeamLink,
        *,
        clock: Callable[[], float] = time.monotonic,
        meet: Callable[[ServerKeys | None], None] | None = None,
    ) -> None:
        """Take the connection's ``on_connect``.

        Args:
            clock: seconds that never go back.
            meet: receives the server's identity before anything is sent; raises if it has changed.
        """
        self.session = session
        self._link = link
        self._clock = clock
        self._meet = meet
        link.on_connect = self._connected

    def receive(self, longest_seconds: float) -> None:
        """Wait at most this long for the next message, and handle everything that has arrived."""
        for message in self._link.poll(longest_seconds):
            self._handle_events(self._read(message))
            self._link.acknowledge(message)

    def act(self) -> None:
        """Do what is due, and send the session's messages.

        Nothing is due while the connection is down: repetitions would only pile up.
        """
        if self._link.connected:
            self._handle_events(self.session.handle_timer(self._clock()))
        self._send()

    def _send(self) -> None:
        for publication in self.session.take_outbox():
            self._link.publish(publication.topic, publication.payload)

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """Leave the lobby at the end of a block, however it ends; not where the team was refused, or trusts no server.

        A program that its server ends with itself ends by ``SystemExit``, and leaves nobody.
        """
        try:
            yield
        except BaseException as error:
            if isinstance(error, BotError) or not isinstance(error, (SalvoError, SystemExit)):
                self.leave()
            raise
        self.leave()

    def leave(self) -> None:
        """Leave the lobby, and wait at most :data:`GOODBYE_SECONDS` for that (SALVO-JOIN-15).

        In a game, or without a connection, do nothing. Whoever interrupts the wait ends the connection as well.
        """
        if not self._link.connected:
            return
        end = self._clock() + GOODBYE_SECONDS
        self.session.leave()
        try:
            with contextlib.suppress(SalvoError):  # the connection was lost, or the bot fails once more
                self.act()
                while self._may_be_listed and (left := end - self._clock()) > 0:
                    self.receive(left)
                    self.act()
        except KeyboardInterrupt:
            self._link.close(0.0)
            raise

    @property
    def _may_be_listed(self) -> bool:
        session = self.session
        return self._link.connected and session.state is State.LOBBY and session.listed

    def ask_for_log(self) -> None:
        """Only ask for missing entries of the log, if there are any: the last game is over."""
        for publication in self.session.missed_log(self._clock()):
            self._link.publish(publication.topic, publication.payload)

    def place(self, fleet: Fleet) -> None:
        """Place a fleet, ship by ship; the next :meth:`act` sends it."""
        self.session.place(fleet, self._clock())

    def say(self, text: str, to: str = "") -> None:
        """Say a line to everybody, or to one other player, at once.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` if the chat is off.
        """
        line = self.session.say(text, to)
        self._link.publish(line.topic, line.payload)

    def _handle_events(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, ServerMet) and self._meet is not None:
                self._meet(event.keys)
            self.on_event(event)

    def _connected(self, session_present: bool) -> None:
        self._link.subscribe(self._filters())
        self.session.connected(self._clock())

    def _filters(self) -> list[str]:
        """Return the topics to subscribe to."""
        return self.session.filters()

    def _read(self, message: Inbound) -> Sequence[Event]:
        """Hear a message; what our server would never send is noise on an open broker."""
        try:
            return self.session.receive(message.topic, message.payload, message.retain, self._clock())
        except WireError as error:
            log.warning("ignored noise on %s: %s", printable(message.topic, 200), error, extra=SELDOM)
            return ()
