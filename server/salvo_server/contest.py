"""A running server: a broker if it brings its own, the connection, the tables, and a clean end."""

from __future__ import annotations

import contextlib
import logging
import secrets
import signal
import threading
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Final

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.errors import ConnectionLost
from salvo.net.mqtt import BrokerUrl
from salvo.wire.roles_and_rights import Role
from salvo_game.journal_interface import Journal, JournalUnavailable
from salvo_game.recovery import Openings
from salvo_game.table import Follower, Table
from salvo_game.table_step import Step
from salvo_server.brokers import embedded
from salvo_server.brokers.embedded.addresses import check_free
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID, Access
from salvo_server.brokers.embedded.open_access import OpenAccess
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.embedded.tls import ServerTls
from salvo_server.brokers.mosquitto.config import open_server
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.brokers.mosquitto.marks import Marks
from salvo_server.core.server_status import last_will
from salvo_server.service import ServiceListener
from salvo_server.settings import ServerSettings, check_rights, identity_path, roster_path
from salvo_server.spectators.headlines import Headlines
from salvo_server.spectators.live_standings import CountedJournal, LiveStandings
from salvo_server.spectators.referee_view import RefereeViews
from salvo_server.standby import ServerConnection, Standby
from salvo_server.storage.identity import Identity, load_identity
from salvo_server.storage.register import Account, Register
from salvo_server.storage.roster import SERVER_USER, Roster
from salvo_server.storage.roster_watcher import RosterWatcher
from salvo_server.wiring import open_service

if TYPE_CHECKING:
    from salvo_server.brokers.embedded.attached import AttachedLink

log = logging.getLogger(__name__)

#: The default table, whose topics are the specification's.
DEFAULT_TABLE = ""
#: For a broker to accept the server, and its first users and rights; one that is not up yet is tried again. Longer than
#: it takes to notice that no answer comes, so that a broker without the plugin is reported at once.
FURNISH_SECONDS: Final = 8.0
#: For the journal's database to come up; as long as its first start takes on a slow machine.
DATABASE_SECONDS: Final = 30.0


def open_journal(settings: ServerSettings, standby: Standby | None = None) -> Journal:
    """Return the journal that the settings name; a database that starts together with the server is waited for.

    Args:
        standby: waits as long as another server has the journal, or its database is away.

    Raises:
        Interrupted: the operator has ended the wait.
        JournalError: it cannot be used.
    """
    if settings.journal in (None, "none"):
        return Journal()
    from salvo_server.storage.journal.database import DatabaseJournal

    safe = settings.journal_safe == "power"
    end, tell = time.monotonic() + DATABASE_SECONDS, log.warning
    while True:
        try:
            return DatabaseJournal(
                str(settings.journal), key_file=settings.journal_key, power_safe=safe, standby=standby
            )
        except JournalUnavailable as error:
            if error.code != "journal_away" or (standby is None and time.monotonic() > end):
                raise
            tell("%s; retrying", error)
            tell = log.debug
            time.sleep(1)
            if standby is not None:
                standby()


def open_identity(settings: ServerSettings) -> Identity:
    """Return the server's keys, also for a server that keeps no journal: teams remember them (SALVO-IDENT-2).

    Raises:
        IdentityError: the file cannot be used.
    """
    return load_identity(identity_path(settings.identity))


def check_start(settings: ServerSettings) -> None:
    """Find out what would keep a server from starting, before anything is made: files, addresses, the certificate.

    Raises:
        SettingsError: ``file_rights``.
        BrokerError: ``bad_address``, ``address_in_use``.
        TlsError: ``bad_tls``.
        ConnectionLost: ``bad_url``.
    """
    check_rights(settings)
    for address in filter(None, (settings.web, settings.metrics)):
        check_free(address)
    if settings.broker is not None:
        BrokerUrl.parse(settings.broker)
        return
    for address in filter(None, (settings.listen, settings.websocket)):
        check_free(address)
    if settings.tls_cert is not None and settings.tls_key is not None:
        ServerTls(settings.tls_cert, settings.tls_key).context()


#: Gives a broker its users and rights.
Furnish = Callable[[Sequence[Account]], None]


def _let_be(accounts: Sequence[Account]) -> None:
    """Leave a broker's users and rights as they are."""


class Followers(Follower):
    """Several followers as one."""

    def __init__(self, *followers: Follower) -> None:
        self._followers = followers
        self.retained = ChainMap(*(follower.retained for follower in followers))

    def open(self, table: Table) -> None:
        """Let all take in a table."""
        for follower in self._followers:
            follower.open(table)

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Let all follow a step."""
        return [publication for follower in self._followers for publication in follower.follow(table, step)]

    def take_ready(self) -> list[Publication]:
        """Return what all have made beside the loop."""
        return [publication for follower in self._followers for publication in follower.take_ready()]


def _own_account(settings: ServerSettings) -> Account | None:
    """Return the server's account in an open contest; None where it has none, on somebody else's broker.

    There is no roster of teams. At a mosquitto that we have set up, the server's name comes from the roster's key all
    the same; the embedded broker gets a new one at each start.
    """
    if settings.broker is None:
        return Account(SERVER_USER, SERVER_USER, Role.SERVER, secrets.token_urlsafe(16))
    return None if settings.roster is None else open_server(Roster(settings.roster).server)


class Contest:
    """Everything that ``salvo serve`` starts.

    Attributes:
        seed: what all draws of this run come from, when the operator set one; else they are fair.
        journal: where what was accepted is kept.
        identity: what it signs with and what is sealed for it.
        roster: the accounts that are admitted; None in the profile open, which admits everybody.
        guarded: whether the broker keeps from its clients what only the server may read: always but on somebody else's
            broker in the profile open.
        url: the broker that the tables are on.
        own_url: where programs on this machine find it, without a user.
        websocket_url: where the embedded broker speaks MQTT over WebSocket; None when it does not.
        embedded: the embedded broker; None when another one was given.
        connection: the server's own, to the broker.
    """

    def __init__(
        self,
        settings: ServerSettings,
        listener: ServiceListener | None = None,
        *,
        journal: Journal | None = None,
        identity: Identity | None = None,
        gateway_tables: Mapping[str, bool] | None = None,
    ) -> None:
        """Start the embedded broker, unless another one was given, and set up the tables.

        Args:
            journal: the one to use, already open; that of the settings when not given.
            identity: the one to use; that of the settings when not given.
            gateway_tables: those to which programs of older systems come, and whether people sit at them.

        Raises:
            BrokerError: the embedded broker cannot listen.
            JournalError: the journal cannot be used.
            IdentityError, RosterError, TlsError: their files cannot be used.
            DynamicSecurityError: the broker cannot be given users and rights.
            ConnectionLost: ``bad_url``, ``not_authorised``.
        """
        self.seed = settings.seed
        self.identity = identity or open_identity(settings)
        self.stop = threading.Event()
        self.roster = None if settings.profile == "open" else Roster(roster_path(settings.roster))
        self._own = _own_account(settings) if self.roster is None else self.roster.server
        self.guarded = settings.profile != "open" or self._own is not None
        self.journal = journal or open_journal(settings)
        self.websocket_url: str | None = None
        self.embedded: embedded.EmbeddedBroker | None = None
        self._security: DynamicSecurity | None = None
        self._access = Access()
        with contextlib.ExitStack() as opened:
            opened.callback(self.journal.close)
            self._start(settings, listener, opened, gateway_tables or {})
            self._opened = opened.pop_all()

    def _start(
        self,
        settings: ServerSettings,
        listener: ServiceListener | None,
        opened: contextlib.ExitStack,
        gateway_tables: Mapping[str, bool],
    ) -> None:
        """Start everything; what needs closing goes onto ``opened``, and is closed in reverse order."""
        tables = [DEFAULT_TABLE, *settings.tables]
        register = None if self.roster is None else Register()
        self._start_broker(settings, tables, register, opened)
        self.connection = self._connect(settings, tables[0])
        opened.callback(self.connection.close)
        standings = LiveStandings(self.journal, tables[0], self.connection.wake)
        opened.callback(standings.close)
        limits = dict.fromkeys(tables, settings.limits) | {
            table: settings.gateway_limits(for_people=people) for table, people in gateway_tables.items()
        }
        views = [] if register is None else [RefereeViews(register.has_referee)]
        draw = m.Draw.FAIR if self.seed is None else m.Draw.SEED
        self.service = open_service(
            self.connection,
            Openings(limits, self.seed or "", settings.book, draw, identity=self.identity),
            profile=settings.profile,
            journal=CountedJournal(self.journal, standings),
            resume=settings.resume,
            follower=Followers(standings, Headlines(), *views),
            chat=settings.chat,
            listener=listener,
            register=register,
        )
        opened.callback(self.service.gate.close)
        self._come_first()

    def _start_broker(
        self, settings: ServerSettings, tables: Sequence[str], register: Register | None, opened: contextlib.ExitStack
    ) -> None:
        """Start or reach the broker, and keep its users equal to the roster.

        Nobody else comes in before the server is subscribed.
        """
        if settings.broker is None:
            furnish = self._embed_broker(settings, tables, opened)
        else:
            furnish = self._reach_broker(settings, settings.broker, tables, opened)
        if self.roster is not None and register is not None:
            doorkeeper = RosterWatcher(self.roster, register, furnish)
            doorkeeper.look()
            doorkeeper.start()
            opened.callback(doorkeeper.stop)

    def _connect(self, settings: ServerSettings, first_table: str) -> ServerConnection | AttachedLink:
        will = last_will(first_table, settings.profile, self.identity)
        if self.embedded is not None:
            assert self._own is not None
            return self.embedded.attach(self._own.user, self.journal, will)
        assert settings.broker is not None
        user = None if BrokerUrl.parse(settings.broker).username else self._own
        return ServerConnection(
            self.journal,
            settings.broker,
            SERVER_CLIENT_ID if user is None else user.user,
            username=None if user is None else user.user,
            password=None if user is None else user.secret,
            ca=None if settings.tls_ca is None else str(settings.tls_ca),
            will=will,
            standby=settings.standby,
            on_subscribed=(lambda: None) if self._security is None else self._security.open,
            unpack=Marks().take_off,
        )

    def _come_first(self) -> None:
        """Subscribe before others come in, to whom the broker would acknowledge what nobody receives.

        A broker that is away, or that is not set up by this server, is left to :meth:`run`.
        """
        if self.embedded is not None:
            self.connection.subscribe_first(FURNISH_SECONDS)
            self.embedded.open()
        if self._security is None:
            return
        try:
            self._security.wait(FURNISH_SECONDS)
            self.connection.subscribe_first(FURNISH_SECONDS)
            self._security.wait(FURNISH_SECONDS)
        except ConnectionLost as error:
            if error.code != "unreachable":
                raise
            log.warning("%s; retrying", error)

    def _embed_broker(self, settings: ServerSettings, tables: Sequence[str], opened: contextlib.ExitStack) -> Furnish:
        access, furnish = self._embedded_rights(tables)
        tls = None
        if settings.tls_cert is not None and settings.tls_key is not None:
            tls = ServerTls(settings.tls_cert, settings.tls_key)
        broker = embedded.EmbeddedBroker(
            settings.listen,
            settings.websocket,
            access=access,
            tls=tls,
            hosts=settings.hosts,
            server_first=True,
        ).start()
        opened.callback(broker.stop)
        self.embedded = broker
        self.url, self.websocket_url, self.own_url = broker.url, broker.websocket_url, broker.own_url
        return furnish

    def _embedded_rights(self, tables: Sequence[str]) -> tuple[Access, Furnish]:
        if self.roster is None:
            assert self._own is not None
            self._access = OpenAccess(self._own, tables)
            return self._access, _let_be
        access = self._access = RosterAccess()
        return access, partial(access.replace, tables=tables)

    def _reach_broker(
        self, settings: ServerSettings, broker: str, tables: Sequence[str], opened: contextlib.ExitStack
    ) -> Furnish:
        """Prepare to set up a broker's accounts, unless its URL has a user: then they are its operator's business."""
        url = BrokerUrl.parse(broker)
        self.url = self.own_url = str(url)  # without a password, as it is printed
        if self.roster is None or url.username is not None:
            return _let_be
        ca = None if settings.tls_ca is None else str(settings.tls_ca)
        self._security = DynamicSecurity(
            url, self.roster.keeper, ca=ca, ships=[ship.name for ship in settings.book.fleet], server_first=True
        ).start()
        opened.callback(self._security.close)
        return partial(self._security.sync, tables=tables)

    def run(self, beside: contextlib.AbstractContextManager[None] | None = None) -> None:
        """Serve until :meth:`end` is called, then say goodbye; the broker goes last, also after what runs beside."""
        with self._opened, beside or contextlib.nullcontext():
            self.service.run(self.stop)

    def end(self) -> None:
        """Make :meth:`run` return; from any thread or signal handler."""
        self.stop.set()
        self.connection.wake()

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
