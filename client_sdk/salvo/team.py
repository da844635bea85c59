"""A team on a connection: what arrives becomes events for somebody, what the session has to say is sent.

Who that somebody is, the team does not know: a bot (:class:`salvo.client.Contestant`), or a person or a foreign
program, who answer when they please. Nothing happens between the calls, and time is the given clock's.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from salvo.errors import WireError
from salvo.events import Event, ServerMet
from salvo.messages import ServerKeys
from salvo.net.inbound import Inbound
from salvo.session import Session

log = logging.getLogger(__name__)


class Edge(Protocol):
    """What a team needs of a connection; :class:`salvo.net.mqtt.Connection` is the one for brokers."""

    on_connect: Callable[[bool], None] | None
    connected: bool

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]: ...
    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...
    def subscribe(self, filters: Iterable[str]) -> None: ...
    def acknowledge(self, message: Inbound) -> None: ...


class Team:
    """A session on a connection.

    Whoever owns it calls :meth:`hear` and then :meth:`act`, again and again, all on one thread. To place, to fire and
    to skip are the session's own methods; what comes of them is sent by the next :meth:`act`.
    """

    def __init__(
        self,
        session: Session,
        edge: Edge,
        handle: Callable[[Event], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        meet: Callable[[ServerKeys | None], None] | None = None,
    ) -> None:
        """Take the connection's ``on_connect``.

        Args:
            handle: gets every event, in order; it may call the session's methods.
            clock: seconds that never go back.
            meet: told who the server is before anything is sent to it; raises if it is another one than before.
        """
        self.session = session
        self._edge = edge
        self._handle = handle
        self._clock = clock
        self._meet = meet
        edge.on_connect = self._connected

    def hear(self, longest_seconds: float) -> None:
        """Wait for the next message, but not longer than so, and hand on what follows from all that arrived."""
        for message in self._edge.poll(longest_seconds):
            self._tell(self._read(message))
            self._edge.acknowledge(message)

    def act(self) -> None:
        """Do what is due, and send all that the session has to say.

        While the connection is away nothing is due: what is repeated then would only pile up in front of it.
        """
        if self._edge.connected:
            self._tell(self.session.handle_timer(self._clock()))
        for publication in self.session.take_outbox():
            self._edge.publish(publication.topic, publication.payload)

    def ask_for_log(self) -> None:
        """Ask for what is missing of the log, where something is, and do nothing else: the last game is over."""
        for publication in self.session.missed_log(self._clock()):
            self._edge.publish(publication.topic, publication.payload)

    def say(self, text: str, to: str = "") -> None:
        """Say a line to everybody, or to one other player, at once.

        Raises:
            WireError: ``bad_text``, or ``chat_off`` where nobody may say anything.
        """
        line = self.session.say(text, to)
        self._edge.publish(line.topic, line.payload)

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, ServerMet) and self._meet is not None:
                self._meet(event.keys)
            self._handle(event)

    def _connected(self, session_present: bool) -> None:
        self._edge.subscribe(self.session.filters())
        self.session.connected(self._clock())

    def _read(self, message: Inbound) -> Sequence[Event]:
        """Hear a message; what a server of ours would not say is somebody's noise on an open broker."""
        try:
            return self.session.receive(message.topic, message.payload, message.retain, self._clock())
        except WireError as error:
            log.warning("ignored noise on %s: %s", message.topic, error)
            return ()
