"""Two servers for one contest: one serves, the other waits for the journal's lock, and takes the broker over then.

The lock decides who serves, and the journal's epoch is the fence behind it (:mod:`salvo_server.storage.journal`). A
server that serves gives its place up when that helps: it cannot reach the broker, and a standby says that it can.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Final

from salvo.errors import ConnectionLost, SalvoError
from salvo.net.inbound import Inbound
from salvo.net.mqtt import CONNECT_SECONDS, BrokerUrl, Connection
from salvo_game.journal_interface import Journal

log = logging.getLogger(__name__)

#: How often a standby asks for the lock, and how often it tries the broker.
ASK_SECONDS: Final = 0.1
PROBE_SECONDS: Final = 1.0
#: How long a server whose connection to the broker is lost tries to come back before a standby gets its place.
AWAY_SECONDS: Final = 0.5
#: How long a server with a standby waits for the broker's TCP to answer.
SILENT_SECONDS: Final = 1.25
#: The keep-alives that go with that: after a second of silence, each second, twice.
_KEEP_ALIVE: Final = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 2}


class Interrupted(Exception):
    """The operator has ended a standby."""


class StandDown(SalvoError):
    """``stood_down``: this server gives its place to a standby."""


class Standby:
    """A server's wait for its place."""

    def __init__(self, broker: str, report: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            broker: its URL.
            report: called with ``journal`` or ``broker`` whenever the standby begins to wait for it.
        """
        self._broker = BrokerUrl.parse(broker)
        self._report = report
        self._waits_for = ""
        self._ended = threading.Event()
        self._began = self._next_probe = 0.0
        self._reaches_broker = False
        self.waited = False

    def __call__(self) -> bool:
        """Wait a moment, but for the first time; return whether the broker can be reached.

        Raises:
            Interrupted: the operator has ended the wait.
        """
        if self._began:
            self.waited = True
            self._tell("journal" if self._reaches_broker else "broker")
            self._ended.wait(ASK_SECONDS)
        if self._ended.is_set():
            raise Interrupted
        now = time.monotonic()
        self._began = self._began or now
        if now >= self._next_probe:
            self._reaches_broker = self._probe()
            self._next_probe = time.monotonic() + PROBE_SECONDS
        return self._reaches_broker

    def _tell(self, waits_for: str) -> None:
        if waits_for != self._waits_for:
            self._waits_for = waits_for
            self._report(waits_for)

    def _probe(self) -> bool:
        try:
            socket.create_connection((self._broker.host, self._broker.port), PROBE_SECONDS).close()
        except OSError:
            return False
        return True

    @contextlib.contextmanager
    def until_signalled(self) -> Iterator[None]:
        """Let Ctrl-C and SIGTERM end the wait during a ``with`` block."""

        def ended(number: int, frame: FrameType | None) -> None:
            self._ended.set()

        before = {number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class ServerConnection(Connection):
    """The server's own connection to its broker, which another server may take over.

    It connects again only as long as the journal is this server's: under the same name it would throw out the other.
    """

    def __init__(
        self,
        journal: Journal,
        *given: Any,
        standby: bool,
        on_subscribed: Callable[[], None] = lambda: None,
        unpack: Callable[[Sequence[Inbound]], Sequence[Inbound]] = lambda messages: messages,
        **named: Any,
    ) -> None:
        """Prepare a connection, as :class:`~salvo.net.mqtt.Connection` does.

        Args:
            journal: says whether this server has its place still.
            standby: whether a standby may wait: then it takes seconds to notice that the broker is out of reach.
            on_subscribed: called whenever the broker has granted subscriptions: from then on, what it acknowledges to
                others comes here, or waits for this server.
            unpack: what has arrived goes through it.
        """
        self._unpack = unpack
        self._journal = journal
        self._standby = standby
        self._away_since: float | None = None
        connect_seconds = SILENT_SECONDS / 2 if standby else CONNECT_SECONDS
        super().__init__(*given, gives_way=False, connect_seconds=connect_seconds, **named)
        self._subscribed = False
        self._on_subscribed = on_subscribed
        self._client.on_subscribe = self._granted

    def _granted(self, *_: Any) -> None:
        self._subscribed = True
        self._on_subscribed()

    def subscribe_first(self, patience_seconds: float) -> None:
        """Connect; return when the broker has granted the subscriptions. What arrives waits for :meth:`poll`.

        Raises:
            ConnectionLost: ``unreachable`` when the patience is over; what :meth:`poll` raises.
            JournalError, StandDown: see :meth:`poll`.
        """
        end = time.monotonic() + patience_seconds
        while not self._subscribed:
            left = end - time.monotonic()
            if left <= 0:
                raise ConnectionLost("unreachable", f"no broker answers at {self.url} within {patience_seconds:g} s")
            self._keep_place()
            self._step(left)

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Keep the connection up and return what has arrived; see :meth:`salvo.net.mqtt.Connection.poll`.

        Raises:
            JournalError: ``taken_over``.
            StandDown: ``stood_down``.
        """
        self._keep_place()
        return self._unpack(super().poll(timeout_seconds))

    def _keep_place(self) -> None:
        """Make sure that the place is this server's, and worth having."""
        holding = self._journal.confirm(fresh=not self.connected)
        if self.connected:
            self._away_since = None
            return
        now = time.monotonic()
        self._away_since = self._away_since or now
        if not holding.standby:
            return
        if not holding.sure:
            raise StandDown(
                "stood_down", "this server reaches neither broker nor journal; a standby may have its place"
            )
        if now - self._away_since >= AWAY_SECONDS:
            raise StandDown("stood_down", "this server cannot reach the broker, and leaves its place to the standby")

    def _socket_opened(self, client: Any, userdata: Any, sock: Any) -> None:
        super()._socket_opened(client, userdata, sock)
        plain = self._client.plain
        if not self._standby or plain is None:
            return
        options = {**_KEEP_ALIVE, "TCP_USER_TIMEOUT": round(1000 * SILENT_SECONDS)}
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options.items():
            if (number := getattr(socket, name, None)) is not None:  # not on every system
                plain.setsockopt(socket.IPPROTO_TCP, number, value)
