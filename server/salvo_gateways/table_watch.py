"""What all guests of a gateway share: where the table is, the accounts, and what a spectator knows of the table."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from salvo import messages as m
from salvo.cli.output import places_line
from salvo.codec.announcement_reader import read_announcement
from salvo.errors import ConnectionLost, ProtocolError, WireError
from salvo.join.seat import Seat
from salvo.messages import State
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.rules import RuleBook
from salvo.table_state import Change, EndSeen, Fact, NewConnection, StateMoved, TableState
from salvo.wire import topics
from salvo_gateways.accounts import Accounts
from salvo_gateways.errors import GatewayError
from salvo_gateways.report import GatewayReport
from salvo_server.storage.roster import Credentials

log = logging.getLogger(__name__)

#: An account that was just written into the roster is at the broker within a second; until then it refuses it.
ACCOUNT_SECONDS: Final = 10.0
#: Retained messages come at once; a table that is silent for this long does not exist.
TABLE_SECONDS: Final = 5.0
#: The state comes last: until it has arrived, what was known on the connection before is shown.
_FOLLOWED: Final = (topics.RULES, topics.LIST, topics.SERVER, topics.TURN, topics.STATS, topics.WINNER, topics.STATE)
_AGAIN_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class TableNews:
    """What is public about the table at this moment.

    Attributes:
        rules: None until the table has announced them.
        players: in the order of arrival; in play order once the game began.
        wanted: with how many of them the game begins, as the server announced when it was last there; None where the
            table sets no number.
        turn: of the running game; None outside one.
    """

    rules: m.RulesAnnounced | None = None
    state: State | None = None
    players: tuple[str, ...] = ()
    wanted: int | None = None
    server: m.ServerStatus | None = None
    turn: m.TurnBegan | m.TurnResumed | None = None


class TableWatch:
    """A gateway's table.

    Attributes:
        url: the broker, without a user.
        table: ``""`` for the default table.
        news: what the gateway's own connection has received; a new object whenever something changes.
        clock: the guests' time, in seconds that never go back.
        report: the gateway's, which has the table's games.
    """

    def __init__(self, url: str, table: str, accounts: Accounts, *, ca: str | None = None, pin: bool = True) -> None:
        """Prepare; :meth:`open` connects."""
        self.url = url
        self.table = table
        self.news = TableNews()
        self.report = GatewayReport()
        self._state = TableState()
        self.clock: Callable[[], float] = time.monotonic
        self._accounts = accounts
        self._ca = ca
        self._pin = pin
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._observe, name="observer", daemon=True)
        self._failed: ConnectionLost | None = None

    def open(self) -> RuleBook:
        """Follow the table and return what is played there.

        Raises:
            GatewayError: ``no_table``: no server has it.
            ConnectionLost: the broker refuses the gateway's own account.
        """
        self._thread.start()
        with self._changed:
            self._changed.wait_for(
                lambda: self._failed or (self.news.rules and self.news.state), ACCOUNT_SECONDS + TABLE_SECONDS
            )
        if self._failed is not None:
            raise self._failed
        if self.news.rules is None or self.news.state is None:
            self.close()
            which = f"table {self.table!r}" if self.table else "the default table"
            raise GatewayError("no_table", f"no server has {which} at {self.url}; start salvo serve first")
        return self.news.rules.book

    def close(self) -> None:
        """Disconnect."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(10)

    def secret_of(self, name: str) -> str:
        """Return a guest's secret.

        Raises:
            WireError: ``bad_name``.
            GatewayError: ``name_taken``.
        """
        return self._accounts.secret_of(name)

    def release(self, name: str) -> None:
        """Note that a guest's seat is free."""
        self._accounts.release(name)

    def spelled_otherwise(self, name: str) -> bool:
        """Whether a guest's name has an account in another spelling."""
        return self._accounts.spelled_otherwise(name)

    def seat(self, name: str) -> Seat:
        """Return a guest's place at the table; raises what :meth:`secret_of` does."""
        return Seat(
            self.url,
            name,
            self.secret_of(name),
            Random(),
            table=self.table,
            ca=self._ca,
            pin=self._pin,
            client="salvo-guest",
        )

    # --- the observer's thread ------------------------------------------------------------------------------------

    def _observe(self) -> None:
        try:
            self._follow_once_admitted(self._accounts.onlooker(self.table))
        except ConnectionLost as error:
            with self._changed:
                self._failed = error
                self._changed.notify_all()
            log.error("the gateway's observer: %s", error)

    def _follow_once_admitted(self, user: Credentials | None) -> None:
        deadline = time.monotonic() + ACCOUNT_SECONDS
        while not self._stop.is_set():
            connection = Connection(
                BrokerUrl.parse(self.url),
                f"salvo-gateway-{secrets.token_hex(4)}",  # another gateway's would send this one away
                clean_session=True,
                username=None if user is None else user.user,
                password=None if user is None else user.secret,
                ca=self._ca,
                gives_way=False,
            )
            connection.on_connect = lambda _: self.connected(connection)  # noqa: B023
            try:
                self._follow(connection)
            except ConnectionLost as error:
                if error.code != "not_authorised" or time.monotonic() > deadline:
                    raise
                self._stop.wait(_AGAIN_SECONDS)
            finally:
                connection.close()

    def connected(self, connection: Connection) -> None:
        """Subscribe; all that is retained arrives again."""
        self._state.apply(NewConnection())
        connection.subscribe([topic.filter(self.table) for topic in _FOLLOWED])

    def _follow(self, connection: Connection) -> None:
        while not self._stop.is_set():
            for message in connection.poll(_POLL_SECONDS):
                connection.acknowledge(message)
                self.receive(message.topic, message.payload)

    def receive(self, topic: str, payload: bytes) -> None:
        """Receive a message; what no server of ours would publish is noise on an open broker."""
        try:
            address = topics.parse(topic)
            if address.table == self.table and address.topic in _FOLLOWED:
                for change in self._state.apply(read_announcement(address, payload) or Fact(address)):
                    self._report(change)
                self._show()
        except (ProtocolError, WireError) as error:
            self.report.refused("noise", f"ignored noise on {topic}: {error}")

    def _report(self, change: Change) -> None:
        game, where = self._state.game, f"table {self.table}: " if self.table else ""
        match change:
            case StateMoved(State.TURN):
                self.report.happened(f"{where}a game is on: {', '.join(self._state.names)}")
            case EndSeen():
                how = places_line(game.places) or "a host has aborted it"
                turns = "" if game.turn is None else f" after {game.turn.turn} turns"
                self.report.happened(f"{where}game {game.number} is over{turns}: {how}")
            case _:
                pass

    def _show(self) -> None:
        now = self._state
        if now.state is not None:
            written = now.status is not None and now.status.game > 0  # a last will has neither number nor players
            wanted = now.status.players if now.status is not None and written else self.news.wanted
            with self._changed:
                self.news = TableNews(now.rules, now.state, now.names, wanted, now.status, now.playing)
                self._changed.notify_all()
