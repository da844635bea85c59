"""The one loop: inbox, authenticator, referee, journal, publications, acknowledgements.

    connection.poll -> Inbox.receive -> authenticator, table -> effects -> journal.commit -> publish -> acknowledge

Everything happens on the thread that calls :meth:`Service.step`. Keys are derived on the threads of
:mod:`salvo_server.foresight`, which wake the loop. One round processes all messages that have arrived, commits their
effects at once, and only then publishes the results and acknowledges the messages (SALVO-BACK-1). So whatever a crash
interrupts either had no effect and is delivered again, or is in the journal and is published again.

The steps return :class:`~salvo_server.core.effects.Effects`; :meth:`Service._settle` alone carries them out. What
an outage of broker, journal or machine asks for is a table in :mod:`salvo_server.core.outages`.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Literal, Protocol

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.errors import IllegalCommand
from salvo.net.inbound import Inbound, Link
from salvo.wire import topics
from salvo.wire.topics import Reader
from salvo_game.journal_interface import Journal, JournalProgress, JournalUnavailable
from salvo_game.log import Resends
from salvo_game.table import Table
from salvo_server.core.admission import Admission
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.effects import Effects
from salvo_server.core.inbox import Inbox
from salvo_server.core.outages import Duty, Outages, Presence
from salvo_server.core.play import Play
from salvo_server.core.retained_sync import ECHO_MS, RetainedSync
from salvo_server.core.server_status import StatusWriter

log = logging.getLogger(__name__)

#: Longest wait for the next message; short enough to notice a stop request without being woken.
MAX_WAIT_SECONDS = 1.0
#: How often a journal that cannot be written is tried again.
JOURNAL_RETRY_MS = 1000
#: How often it is made sure that the journal is where it was, while nothing is written.
JOURNAL_CHECK_MS = 1000
#: How often the broker is asked again for commands that it retains, which have to be cleared within ten seconds
#: (SALVO-FRESH-4); a subscription of seven filters costs nothing at this rate.
RETAINED_COMMANDS_MS = 8_000
#: The same while the last answer brought some: a broker that retains more of them than fit into a queue drops the rest.
MORE_RETAINED_COMMANDS_MS = 500

#: When a game from the journal is resumed: after a crash, after any shutdown, or never.
Resume = Literal["crash", "always", "never"]
ServiceListener = Callable[[str, int, m.Input | None, Sequence[m.Announcement]], None]


class ServerLink(Link, Protocol):
    """A link that also counts what is published and delivered, can be woken, and waits until everything is sent."""

    published: int

    @property
    def delivered(self) -> int: ...
    def wake(self) -> None: ...
    def flush(self, timeout_seconds: float) -> bool: ...


@dataclass(slots=True, eq=False)
class Service:
    """All tables of a server on one connection; :func:`salvo_server.wiring.open_service` puts it together.

    Attributes:
        play: turns the inputs of the tables into effects.
        gate: opens and verifies sealed commands.
        admission: takes teams that leave the roster off their tables.
        inbox: reads what arrives.
        sync: corrects what the broker retains.
        resends: publishes parts of the logs again.
        outages: whether the server serves, and why not.
        now: the service's clock, epoch milliseconds, which never goes back.
        counts: number of refused inputs by error code, for the log.
        listener: called once a step of a table is durable, with the table's name, the time, the input (None for the
            opening) and the announcements; for displays and reports.
        pending: the effects of this round, or of all rounds since the journal or the broker is away.
        doubtful: the tables whose games come from the journal, until they are compared with what the broker retains.
        on_round: called in each round with how late it is, ms: how long a message or a deadline may have waited for it.
    """

    link: ServerLink
    journal: Journal
    play: Play
    gate: Authenticator
    admission: Admission
    inbox: Inbox
    sync: RetainedSync
    resends: Resends
    outages: Outages
    status: StatusWriter
    now: Callable[[], int]
    counts: Counter[str]
    listener: ServiceListener | None
    pending: Effects
    doubtful: frozenset[str] = frozenset()
    on_round: Callable[[int], None] = lambda late_ms: None
    _compares_until: int | None = None
    _is_compared: bool = False  # with this connection, so that the statuses are published already
    _progress: JournalProgress = field(default_factory=lambda: JournalProgress(ended=False))
    _unread: list[Inbound] = field(default_factory=list)
    _host_commands: SimpleQueue[tuple[str, m.HostCommand]] = field(default_factory=SimpleQueue)
    _polled_at: int | None = None
    _next_journal_check: int = 0
    _next_retained_check: int = 0
    _retained_count: int = 0  # retained commands before the last check

    # --- called from outside --------------------------------------------------------------------------------------

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name."""
        return self.play.tables

    @property
    def presence(self) -> Presence:
        """Whether the server serves, and why not; from any thread."""
        return self.outages.state

    @property
    def last_step(self) -> int:
        """The number of the latest step, durable or not."""
        return self.play.last_step

    def act(self, table: str, command: m.HostCommand) -> None:
        """Let a person at the server's own terminal act as the host; from any thread."""
        self._host_commands.put((table, command))
        self.link.wake()

    def wait_seconds(self, longest_seconds: float) -> float:
        """Return how long the next round may wait for a message."""
        if self.outages.paused:
            longest_seconds = min(longest_seconds, JOURNAL_RETRY_MS / 1000)
        if self._compares_until is not None:
            return min(longest_seconds, max(0.0, (self._compares_until - self.now()) / 1000))
        if self.outages.state in ("just back", "journal stalled, just back"):
            return 0.0
        if self.outages.state != "serving":
            return longest_seconds
        if self.pending.publications:
            return 0.0
        due = [at for at in (self.play.deadline(), self.resends.deadline(self.link.delivered)) if at is not None]
        if not due:
            return longest_seconds
        return min(longest_seconds, max(0.0, (min(due) - self.now()) / 1000))

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set, then go offline."""
        while not stop.is_set():
            self.step(MAX_WAIT_SECONDS)
        self.go_offline()

    def go_offline(self) -> None:
        """Publish the offline status, because a clean end sends no last will, and record a clean shutdown."""
        self.pending.publications += self._statuses(online=False)
        self._settle()
        if not self.outages.paused:
            self.link.flush(2.0)
            self._note_sent()
            self._progress = self._progress._replace(ended=True)
            self._commit()
        if self.outages.paused:
            self._publish_statuses(online=False)
        if self.counts:
            log.info("refused inputs: %s", dict(self.counts))

    # --- a round: receive, decide, commit, publish, acknowledge ------------------------------------------------------

    def step(self, longest_seconds: float = 0.0) -> None:
        """Wait for the next message, timer or derivation, and do what follows from it."""
        arrived = self._poll(longest_seconds)
        if self.doubtful and self.outages.state == "just back":
            self._compare(arrived)
            if self.doubtful:
                return
            arrived, self._unread = self._unread, []
        duty = self.outages.begin_round()
        if duty == "announce pause":
            self._publish_statuses(paused=True)
        if self.outages.on("messages arrive") == "hold":
            self._unread += arrived
            if not self._retry():
                return
            arrived, self._unread = self._unread, []
            duty = self.outages.begin_round()
        restarted = self._restart_time(duty)
        self._decide(arrived)
        began = self.now()
        self._settle()
        # Not after a restart: where every commit is slow, the restart's own would cause the next one, without end.
        self.outages.held_up_ms = 0 if restarted else self.now() - began

    def _poll(self, longest_seconds: float) -> Sequence[Inbound]:
        """Wait for messages; measure how much longer than allowed that took."""
        wait_seconds, began = self.wait_seconds(longest_seconds), self.now()
        arrived = self.link.poll(wait_seconds)
        ended = self.now()
        held_up_ms = ended - began - int(1000 * wait_seconds)
        if self._polled_at is not None:
            self.on_round(began - self._polled_at + max(0, held_up_ms))
        self._polled_at = ended
        self.outages.held_up_ms = max(self.outages.held_up_ms, held_up_ms)
        return arrived

    def _compare(self, arrived: Iterable[Inbound]) -> None:
        """Compare the games from the journal with what the broker retains, before anything more of them is signed.

        A broker that has more of a game shows that the journal has lost something. Commands wait meanwhile.
        """
        if self._compares_until is None:
            self._compares_until, self._is_compared = self.now() + ECHO_MS, True
            for topic, payload, retain in self._statuses():
                self.link.publish(topic, payload, retain=retain)
                self.sync.published(topic, self.now())
        for message in arrived:
            if self.sync.is_of_server(message):
                waiting, corrected = set(self.pending.publications), self.inbox.receive(message, self.now())
                corrected.publications = [each for each in corrected.publications if each not in waiting]
                self.pending += corrected
            else:
                self._unread.append(message)
        if self.sync.active and self.now() < self._compares_until:
            return
        for name in self.sync.ahead:
            if name in self.doubtful:
                why = "the broker has more of it than the journal, which has lost something"
                self.pending += self.play.give_up(self.tables[name], why, self.now())
        self.doubtful, self._compares_until = frozenset(), None

    def _restart_time(self, duty: Duty | None) -> bool:
        """Restart the time to act after an absence of broker or server; True if there was one.

        This comes before the messages that have arrived meanwhile, so that they are not late.
        """
        if duty == "begin again":
            self.pending += self.play.restart_time(self.tables.values(), self.now())
            if not self._is_compared:
                self._add_statuses()
            self._is_compared = False
        if duty != "restart":
            return duty == "begin again"
        away = [table for table in self.tables.values() if self.outages.shortens(table.referee)]
        self.pending += self.play.restart_time(away, self.now())
        if away:
            log.warning("the server was held up for %d ms; the time to act is restarted", self.outages.held_up_ms)
        return bool(away)

    def _decide(self, arrived: Iterable[Inbound]) -> None:
        """Collect the effects of messages, host commands, derived keys and timers."""
        pending, play = self.pending, self.play
        while not self._host_commands.empty():
            name, command = self._host_commands.get()
            try:
                play.check_host(self.tables[name], command)
            except IllegalCommand as error:
                log.warning("%s is not possible: %s", command.do, error)
            else:
                pending += play.carry_out(self.tables[name], command, self.now())[1]
        pending += self.admission.strike_off(self.now())
        pending += play.take_delivered(self.link.delivered, self.now())  # before any shot of the round
        sweeping = self.sync.listens
        for message in arrived:
            pending += self.inbox.receive(message, self.now())
        pending += self.inbox.finished(self.now())
        pending += play.take_derived()
        if self.outages.on("timer due") == "run":
            pending += play.pass_times(self.now())
            published = self.link.published + len(pending.publications)
            pending.publications += self.resends.take_due(self.now(), self.link.delivered, published)
            self._check_retained_commands()
            self.sync.report_unheard(self.now())
        if sweeping and not self.sync.listens:
            self.link.unsubscribe(self.sync.filters())

    def _settle(self) -> None:
        """Carry out the effects: commit; then, if the broker is there, publish, acknowledge and report to listeners."""
        pending = self.pending
        self._note_sent()
        if not (self._commit() if pending.records else self._check_journal()) or not self.link.connected:
            return
        for topic, payload, retain in pending.publications:
            self.link.publish(topic, payload, retain=retain)
            if retain:
                self.sync.published(topic, self.now())
        if pending.publications:
            self.play.delivery.publish(self.link.published, self.play.last_step)
        for message in pending.receipts:
            self.link.acknowledge(message)
        self.pending = Effects()
        if self.listener is not None:
            for news in pending.news:
                self.listener(*news)

    def _note_sent(self) -> None:
        """Add the last step that the broker has acknowledged in full to the next commit."""
        sent_through = self.play.delivery.take_sent_through(self.link.delivered)
        if sent_through is not None:
            self._progress = self._progress._replace(sent_through=sent_through)

    # --- while the journal cannot be written ------------------------------------------------------------------------

    def _commit(self) -> bool:
        """Make the batch durable; False while the journal cannot be written."""
        try:
            self.journal.commit([*self.pending.records, self._progress])
        except JournalUnavailable as error:
            self._stall(error)
            return False
        self.pending.records, self._progress = [], JournalProgress()
        return True

    def _check_journal(self) -> bool:
        """Look from time to time whether a journal to which nothing is written could be; False if not."""
        if self.now() < self._next_journal_check:
            return True
        self._next_journal_check = self.now() + JOURNAL_CHECK_MS
        try:
            self.journal.check()
        except JournalUnavailable as error:
            self._stall(error)
            return False
        return True

    def _stall(self, error: JournalUnavailable) -> None:
        if self.outages.on("journal refuses") == "announce pause":
            log.error("%s; nothing is accepted until it can be written again", error)
            self._publish_statuses(paused=True)
        self.outages.retry_at = self.now() + JOURNAL_RETRY_MS

    def _retry(self) -> bool:
        """Try to commit the batch again, once that is due; if it is durable, carry out the other effects."""
        if self.now() < self.outages.retry_at or not self._commit():
            return False
        self.outages.on("journal accepts")
        log.warning("the journal can be written again; the games resume")
        self._settle()
        return True

    def _publish_statuses(self, *, online: bool = True, paused: bool = False) -> None:
        """Publish the status of all tables immediately: it depends on no step, so it need not wait for a commit."""
        for topic, payload, retain in self._statuses(online=online, paused=paused):
            self.link.publish(topic, payload, retain=retain)

    def _statuses(self, *, online: bool = True, paused: bool = False) -> list[Publication]:
        tables = self.tables.values()
        statuses = [(table, self.status(table.referee, online=online, paused=paused)) for table in tables]
        return [publication for table, status in statuses for publication in table.write_status(status)]

    # --- when the broker comes back ---------------------------------------------------------------------------------

    def connected(self, session_present: bool) -> None:
        """Subscribe; publications wait for the next round.

        At this point the connection has not yet resent what was in flight. Those older messages would replace a status
        that is published now as the one that the broker retains.
        """
        self.link.subscribe([*self._command_filters(), *self.sync.filters()])
        self._next_retained_check = self.now() + RETAINED_COMMANDS_MS
        self._compares_until, self._is_compared = None, False
        self.sync.begin()
        self.outages.on("connected")

    def _add_statuses(self) -> None:
        """Add the status of all tables to the publications; the first table's ends the sweep."""
        waiting = set(self.pending.publications)
        self.pending.publications += [status for status in self._statuses() if status not in waiting]

    def _check_retained_commands(self) -> None:
        """Subscribe again, from time to time, to receive retained commands with their flag.

        To clients that are already subscribed, the broker sends them without it (MQTT 3.1.1, 3.3.1.3). A repeated
        subscription brings the retained copies, and interrupts nothing.
        """
        now = self.now()
        if self.counts["retained_command"] > self._retained_count:
            self._retained_count = self.counts["retained_command"]
            self._next_retained_check = min(self._next_retained_check, now + MORE_RETAINED_COMMANDS_MS)
        if now >= self._next_retained_check:
            self._next_retained_check = now + RETAINED_COMMANDS_MS
            self.link.subscribe(self._command_filters())

    def _command_filters(self) -> list[str]:
        names = {"+" if table else "" for table in self.tables}
        commands = [topic for topic in topics.TOPICS if topic.reader is Reader.SERVER]
        return [topic.filter(name) for name in sorted(names) for topic in commands]
