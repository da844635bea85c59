"""The one loop: inbox, gate, referee, publications.

    connection.poll -> topics, wire -> gate -> referee.receive -> wire -> publish -> acknowledge

Everything happens on the thread that calls :meth:`Service.step`; the only other thread of a server derives keys. A
message is acknowledged to the broker after all that followed from it has been handed to the connection.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from salvo import messages as m
from salvo import topics, wire
from salvo.errors import WireError
from salvo.messages import State
from salvo.mqtt import Inbound
from salvo.topics import BY_NAME, Publisher
from salvo_server import __version__
from salvo_server.gate import Gate, Opened, SealedRecap
from salvo_server.referee import Referee

log = logging.getLogger(__name__)

#: Longest wait for the next message; short enough to notice a stop request without being woken.
LONGEST_WAIT_SECONDS = 1.0
#: How often the broker is asked anew for commands that it keeps (SALVO-FRESH-4). A late explorer sees them that long; a
#: subscription of six filters costs nothing at this rate.
KEPT_COMMANDS_MS = 8_000
#: What stays retained after a reset (SALVO-END-4).
_KEPT = ("state", "rules", "server")

Listener = Callable[[str, int, m.Command | None, Sequence[m.Announcement]], None]


class Edge(Protocol):
    """What the service needs of a connection; :class:`salvo.mqtt.Connection` is the one for brokers."""

    on_connect: Callable[[bool], None] | None

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]: ...
    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...
    def subscribe(self, filters: Iterable[str]) -> None: ...
    def unsubscribe(self, filters: Iterable[str]) -> None: ...
    def acknowledge(self, message: Inbound) -> None: ...
    def wake(self) -> None: ...


def last_will(table: str, profile: str) -> tuple[str, bytes]:
    """Return topic and payload of the last will: offline, and no game that anyone could know by then."""
    [publication] = wire.write_announcement(m.ServerStatus(False, __version__, 0, profile), table)
    return publication.topic, publication.payload


def epoch_clock() -> Callable[[], int]:
    """Return a clock of epoch milliseconds that never jumps: set once, then driven by the monotonic clock."""
    offset = time.time_ns() - time.monotonic_ns()
    return lambda: (time.monotonic_ns() + offset) // 1_000_000


class Service:
    """All tables of a server on one connection.

    Attributes:
        counts: refused inputs by error code, for the log.
        listener: called after every step of a table with its name, the time, the command (None for a timer) and the
            announcements; for transcripts and progress displays.
    """

    def __init__(
        self,
        edge: Edge,
        tables: Sequence[Referee],
        *,
        profile: str = "literal",
        clock: Callable[[], int] | None = None,
        gate: Gate | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Put tables on a connection; the first one's ``/game/server`` carries the last will."""
        self.counts: Counter[str] = Counter()
        self.listener = listener
        self.tables = {referee.table: referee for referee in tables}
        self.gate = gate or Gate(wake=edge.wake)
        self._edge = edge
        self._clock = clock or epoch_clock()
        self._profile = profile
        self._first_table = tables[0].table
        self._retained: dict[str, dict[str, bytes]] = {referee.table: {} for referee in tables}
        self._sweeping = False
        self._due: dict[str, int] = {}
        self._earliest: int | None = None
        self._next_look = 0
        self._opened = False
        edge.on_connect = self._connected

    # --- life ---------------------------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set, then say that the server is offline."""
        while not stop.is_set():
            self.step(LONGEST_WAIT_SECONDS)
        self.say_goodbye()

    def step(self, longest_seconds: float = 0.0) -> None:
        """Wait for the next message, timer or derivation, and do what follows from it."""
        for message in self._edge.poll(self._wait_seconds(longest_seconds)):
            self._receive(message)
            self._edge.acknowledge(message)
        for opened in self.gate.finished():
            self._carry_out(opened, self._clock())
        for recap in self.gate.sealed():
            self._publish_recap(recap)
        self._run_timers()
        self._look_for_kept_commands()

    def say_goodbye(self) -> None:
        """Publish what the last will would, before a clean end."""
        for table in self.tables:
            self._publish_status(table, online=False)
        if self.counts:
            log.info("refused inputs: %s", dict(self.counts))

    def _open(self) -> None:
        self._opened = True
        for table, referee in self.tables.items():
            self._announce(table, self._clock(), None, referee.open())

    def _wait_seconds(self, longest_seconds: float) -> float:
        if self._earliest is None:
            return longest_seconds
        return min(longest_seconds, max(0.0, (self._earliest - self._clock()) / 1000))

    def _run_timers(self) -> None:
        """Run what is due.

        ``_earliest`` is never later than the first deadline, but may be earlier when that one was moved: with a
        thousand tables it is looked up anew only when it has passed, and not at every message.
        """
        if self._earliest is None or self._clock() < self._earliest:
            return
        now = self._clock()
        for table in [table for table, due in self._due.items() if due <= now]:
            self._announce(table, now, None, self.tables[table].handle_timer(now))
        self._earliest = min(self._due.values(), default=None)

    def _look_for_kept_commands(self) -> None:
        """Ask for retained commands: what is retained while we listen comes without its flag (MQTT 3.1.1, 3.3.1.3).

        A repeated subscription brings the kept copies, with the flag, and loses nothing else.
        """
        now = self._clock()
        if self._opened and now >= self._next_look:
            self._next_look = now + KEPT_COMMANDS_MS
            self._edge.subscribe(self._command_filters())

    # --- the broker's side ----------------------------------------------------------------------------------------

    def _connected(self, session_present: bool) -> None:
        """Subscribe, sweep away what an earlier server left behind, and say again what is retained.

        Everything retained below the tables' topics comes in once, in answer to the subscription; what this server
        does not stand for is cleared. Our own state message, published after the subscription and so delivered
        after them, tells that all came by.
        """
        self._edge.subscribe([*self._command_filters(), *self._sweep_filters()])
        self._next_look = self._clock() + KEPT_COMMANDS_MS
        self._sweeping = True
        if not self._opened:
            self._open()
            return
        for values in self._retained.values():
            for topic, payload in values.items():
                self._edge.publish(topic, payload, retain=True)

    def _command_filters(self) -> list[str]:
        names = {"+" if table else "" for table in self.tables}
        commands = [topic for topic in topics.TOPICS if topic.publisher is not Publisher.SERVER]
        return [topic.filter(name) for name in sorted(names) for topic in commands]

    def _sweep_filters(self) -> list[str]:
        names = {"+" if table else "" for table in self.tables}
        return [f"{topics.prefix(name)}/{root}/#" for name in sorted(names) for root in sorted(topics.ROOTS)]

    def _swept(self, address: topics.Address, message: Inbound) -> None:
        own = self._retained.get(address.table)
        if own is None:
            return
        if message.retain and message.payload and own.get(message.topic) != message.payload:
            if message.topic not in own:
                log.info("cleared %s, left by an earlier server", message.topic)
                self._edge.publish(message.topic, b"", retain=True)
        elif not message.retain and address.topic.name == "state" and address.table == self._first_table:
            self._sweeping = False
            self._edge.unsubscribe(self._sweep_filters())

    def _publish(self, table: str, publication: wire.Publication) -> None:
        topic, payload, retain = publication
        if retain:
            if payload:
                self._retained[table][topic] = payload
            elif self._retained[table].pop(topic, None) is None:
                return
        self._edge.publish(topic, payload, retain=retain)

    # --- one message --------------------------------------------------------------------------------------------

    def _receive(self, message: Inbound) -> None:
        try:
            address = topics.parse(message.topic)
        except WireError as error:
            self._count(error, message)
            return
        if address.topic.publisher is Publisher.SERVER:
            if self._sweeping:
                self._swept(address, message)
            return
        referee = self.tables.get(address.table)
        if referee is None or not message.payload:
            return
        now = self._clock()
        if message.retain:
            self._count(WireError("retained_command", "commands must not be retained"), message)
            self._edge.publish(message.topic, b"", retain=True)
            return
        try:
            request = wire.read_command(address, message.payload, referee.book)
        except WireError as error:
            self._count(error, message)
            self._answer_unreadable(referee, address, error, now)
            return
        self._admit(referee, request, now)

    def _admit(self, referee: Referee, request: wire.Request, now: int) -> None:
        if isinstance(request, wire.ParticipationRequest):
            self._participate(referee, request, now)
            return
        if isinstance(request, wire.SealedPlacement):
            likely: Sequence[str] = (request.player,)
            expected = referee.state is State.LOBBY
        else:
            current = referee.current
            likely = sorted(referee.players, key=lambda name: current is None or name != current.name)
            expected = current is not None
        opened = self.gate.open(request, likely, now, expected=expected)
        if opened is not None:
            self._carry_out(opened, now)

    def _participate(self, referee: Referee, request: wire.ParticipationRequest, now: int) -> None:
        command = m.Participate(request.name, self.gate.credential(request.name, request.secret))
        announcements = referee.receive(command, now)
        player = referee.players.get(request.name)
        if player is not None and player.credential == command.credential:
            self.gate.admit(referee.table, request.name, request.secret, now)
        self._announce(referee.table, now, command, announcements)

    def _carry_out(self, opened: Opened, now: int) -> None:
        command = opened.command
        announcements = self.tables[opened.table].receive(command, now)
        if opened.spent and not isinstance(command, m.Unreadable) and not _refused(announcements, command.player):
            self.gate.well_spent(opened.table, command.player)
        self._announce(opened.table, now, command, announcements)

    def _answer_unreadable(self, referee: Referee, address: topics.Address, error: WireError, now: int) -> None:
        """Tell whom it may concern: the player in the topic, or for a shot the one whose turn it is."""
        match address.topic.name:
            case "place":
                spelling = address.ship if error.code != "unknown_ship" else ""
                command = m.Unreadable(address.player, spelling, error.code, error.text)
            case "fire" if referee.current is not None:
                command = m.Unreadable(referee.current.name, "", error.code, error.text)
            case _:
                return
        self._announce(referee.table, now, command, referee.receive(command, now))

    def _count(self, error: WireError, message: Inbound) -> None:
        self.counts[error.code] += 1
        log.debug("refused a message on %r: %s", message.topic[:120], error)

    # --- announcements ------------------------------------------------------------------------------------------

    def _announce(
        self, table: str, now: int, command: m.Command | None, announcements: Sequence[m.Announcement]
    ) -> None:
        referee = self.tables[table]
        for announcement in announcements:
            self._publish_announcement(table, announcement)
        due = referee.deadline()
        if due is None:
            self._due.pop(table, None)
        else:
            self._due[table] = due
            if self._earliest is None or due < self._earliest:
                self._earliest = due
        if self.listener is not None:
            self.listener(table, now, command, announcements)

    def _publish_announcement(self, table: str, announcement: m.Announcement) -> None:
        match announcement:
            case m.Recap():
                recap = self.gate.seal_recap(table, announcement.to, wire.write_recap(announcement))
                if recap is not None:
                    self._publish_recap(recap)
            case m.TableOpened():
                self._publish_status(table, online=True)
            case m.PlayerLeft(player):
                self.gate.retain(table, self.tables[table].players)
                self._clear(table, lambda address: address.player == player)
            case m.GameForgotten():
                self.gate.retain(table, ())
                self._clear(table, lambda address: address.topic.name not in _KEPT)
            case _:
                for publication in wire.write_announcement(announcement, table):
                    self._publish(table, publication)

    def _publish_recap(self, recap: SealedRecap) -> None:
        topic = BY_NAME["recap"].of(recap.table, player=recap.player)
        self._edge.publish(topic, recap.payload)

    def _publish_status(self, table: str, *, online: bool) -> None:
        for publication in wire.write_announcement(self._status(table, online=online), table):
            self._publish(table, publication)

    def _status(self, table: str, *, online: bool) -> m.ServerStatus:
        first = table == self._first_table
        status_topic = "" if first else BY_NAME["server"].of(self._first_table)
        return m.ServerStatus(online, __version__, self.tables[table].number, self._profile, status_topic)

    def _clear(self, table: str, goes: Callable[[topics.Address], bool]) -> None:
        for topic in [topic for topic in self._retained[table] if goes(topics.parse(topic))]:
            self._publish(table, wire.Publication(topic, b"", True))


def _refused(announcements: Sequence[m.Announcement], player: str) -> bool:
    return any(isinstance(a, (m.CommandRefused, m.PlacementRefused)) and a.to == player for a in announcements)
