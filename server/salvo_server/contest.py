"""A running server: a broker if it brings its own, the connection, the tables, and a clean end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from salvo.mqtt import Connection
from salvo_server.broker import EmbeddedBroker
from salvo_server.broker.limits import SERVER_CLIENT_ID
from salvo_server.identity import Identity
from salvo_server.journal import Journal, NoJournal
from salvo_server.service import Listener, Service, last_will
from salvo_server.settings import ServerSettings, identity_path

#: The default table, whose topics are the specification's.
DEFAULT_TABLE = ""


def open_journal(settings: ServerSettings) -> Journal:
    """Return the journal that the settings name.

    Raises:
        JournalError: it cannot be used.
    """
    if settings.journal in (None, "none"):
        return NoJournal()
    from salvo_server.journal.database import DatabaseJournal

    safe = settings.journal_safe == "power"
    return DatabaseJournal(str(settings.journal), key_file=settings.journal_key, power_safe=safe)


def open_identity(settings: ServerSettings) -> Identity:
    """Return the server's keys: those of the settings' file; a server that keeps no journal may go without a file.

    Raises:
        IdentityError: the file cannot be used.
    """
    if settings.identity is None and settings.journal in (None, "none"):
        return Identity.fresh()
    return Identity.at(identity_path(settings.identity))


class Contest:
    """Everything that ``salvo serve`` starts.

    Attributes:
        seed: what all draws of this run come from, when the operator set one; else they are fair.
        identity: what the server signs with.
        journal: where what was accepted is kept.
        url: the broker that the tables are on.
        websocket_url: where the embedded broker speaks MQTT over WebSocket; None when it does not.
    """

    def __init__(
        self,
        settings: ServerSettings,
        listener: Listener | None = None,
        *,
        journal: Journal | None = None,
        identity: Identity | None = None,
    ) -> None:
        """Start the embedded broker, unless there is another one, and set the tables.

        Args:
            journal: the one to use, already open; that of the settings when not given.
            identity: the one to use; that of the settings when not given.

        Raises:
            BrokerError: the embedded broker cannot listen.
            JournalError: the journal cannot be used.
            IdentityError: the server's keys cannot be used.
            ConnectionLost: ``bad_url``.
        """
        self.seed = settings.seed
        self.identity = identity or open_identity(settings)
        self.stop = threading.Event()
        self.journal = journal or open_journal(settings)
        self._embedded: EmbeddedBroker | None = None
        self.websocket_url: str | None = None
        try:
            self._start(settings, listener)
        except BaseException:
            self._close()
            raise

    def _start(self, settings: ServerSettings, listener: Listener | None) -> None:
        if settings.broker is None:
            self._embedded = EmbeddedBroker(settings.listen, settings.websocket).start()
            self.url = self._embedded.url
            self.websocket_url = self._embedded.websocket_url
        else:
            self.url = settings.broker
        tables = [DEFAULT_TABLE, *settings.tables]
        will = last_will(tables[0], settings.profile, self.identity)
        self._connection = Connection(self.url, SERVER_CLIENT_ID, will=will)
        self.service = Service(
            self._connection,
            tables,
            seed=self.seed or "",
            draw="fair" if self.seed is None else "seed",
            limits=settings.limits,
            book=settings.book,
            profile=settings.profile,
            journal=self.journal,
            identity=self.identity,
            resume=settings.resume,
            referee_delay_ms=settings.referee_delay_ms,
            listener=listener,
        )

    def run(self) -> None:
        """Serve until :meth:`end` is called, then say goodbye; the broker goes last."""
        try:
            self.service.run(self.stop)
        finally:
            self._connection.close()
            self.service.gate.close()
            self._close()

    def _close(self) -> None:
        self.journal.close()
        if self._embedded is not None:
            self._embedded.stop()

    def end(self) -> None:
        """Make :meth:`run` return; from any thread or signal handler."""
        self.stop.set()
        self._connection.wake()

    @contextlib.contextmanager
    def in_background(self) -> Iterator[None]:
        """Serve on another thread for the length of a ``with`` block."""
        thread = threading.Thread(target=self.run, name="server", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.end()
            thread.join(10)

    def end_on_signals(self) -> None:
        """End cleanly on Ctrl-C and on SIGTERM."""

        def ended(number: int, frame: FrameType | None) -> None:
            self.end()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, ended)
