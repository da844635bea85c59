"""The one loop: inbox, authenticator, referee, journal, publications, acknowledgements.

    connection.poll -> Inbox.receive -> authenticator, table -> effects -> journal.commit -> publish -> acknowledge

Everything happens on the thread that calls :meth:`Service.step`; the only other thread of a server derives keys. One
round processes all messages that have arrived, commits their effects at once, and only then publishes the results and
acknowledges the messages (SALVO-BACK-1). So whatever a crash interrupts either had no effect and is delivered again, or
is in the journal and is published again.

The steps return effects (:data:`salvo_server.core.play.Effect`); :meth:`Service._settle` alone carries them out. What
an outage of broker, journal or machine asks for is a table in :mod:`salvo_server.core.outages`.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Literal, Protocol

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.log import SECRET_BYTES
from salvo.distribution import __version__
from salvo.net.inbound import Inbound, Link
from salvo.rules import SALVO, RuleBook
from salvo.topics import Reader
from salvo_server.core.admission import Admission, EntryList
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.chat import Chat
from salvo_server.core.inbox import Inbox
from salvo_server.core.journal import Batch, Journal, JournalUnavailable, Saved
from salvo_server.core.log import KeyOwner, Resends
from salvo_server.core.outages import Duty, Outages, Presence
from salvo_server.core.play import Delivery, Effect, News, Play
from salvo_server.core.recaps import Recaps
from salvo_server.core.recovery import Openings
from salvo_server.core.referee import Referee
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.core.table import Follower, Table

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
Listener = Callable[[str, int, m.Input | None, Sequence[m.Announcement]], None]


class ServerLink(Link, Protocol):
    """A link that also counts what is published and delivered, can be woken, and waits until everything is sent."""

    published: int

    @property
    def delivered(self) -> int: ...
    def wake(self) -> None: ...
    def flush(self, timeout_seconds: float) -> bool: ...


def last_will(table: str, profile: str, identity: KeyOwner | None = None) -> tuple[str, bytes]:
    """Return topic and payload of the last will: offline, with game 0, because the number by then is not known now.

    It has the keys, so that a team that joins meanwhile can still seal its secret.
    """
    status = m.ServerStatus(False, __version__, 0, profile, keys=_keys(identity))
    [publication] = write_announcement(status, table)
    return publication.topic, publication.payload


@dataclass(frozen=True, slots=True)
class _Status:
    """What ``/game/server`` says of a table."""

    profile: str
    first_table: str
    identity: KeyOwner | None
    chat: bool

    def __call__(self, referee: Referee, *, online: bool = True, paused: bool = False) -> m.ServerStatus:
        topic = "" if referee.table == self.first_table else topics.SERVER.of(self.first_table)
        keys = _keys(self.identity)
        players = referee.limits.players
        told = (self.profile, topic, paused, keys, self.chat)
        return m.ServerStatus(online, __version__, referee.number, *told, players=players)


def _keys(identity: KeyOwner | None) -> m.ServerKeys | None:
    return None if identity is None else m.ServerKeys(identity.signing_key, identity.sealing_key)


def epoch_clock() -> Callable[[], int]:
    """Return a clock of epoch milliseconds that never jumps: set once, then driven by the monotonic clock."""
    offset = time.time_ns() - time.monotonic_ns()
    return lambda: (time.monotonic_ns() + offset) // 1_000_000


def steady_clock(clock: Callable[[], int], saved: Saved) -> Callable[[], int]:
    """Return the service's clock, epoch milliseconds, which never goes back.

    If the clock has been set back since the journal's last step, this one continues from that step's time. It must not
    stand still until the clock has caught up, or no deadline would pass.
    """
    last_at = max((game.steps[-1].at if game.steps else game.opened.at for game in saved.games), default=0)
    back_ms = max(0, last_at - clock())

    def now() -> int:
        nonlocal last_at
        last_at = max(last_at, clock() + back_ms)
        return last_at

    return now


@dataclass(slots=True)
class Pending:
    """Effects that wait to be carried out: of this round, or of all rounds since the journal or the broker is away."""

    batch: Batch = field(default_factory=Batch)
    publications: list[Publication] = field(default_factory=list)
    receipts: list[Inbound] = field(default_factory=list)
    news: list[News] = field(default_factory=list)

    def add(self, effects: Iterable[Effect]) -> None:
        """Add effects; the order within each kind is kept."""
        for effect in effects:
            if type(effect) is Publication:
                self.publications.append(effect)
            elif type(effect) is News:
                self.news.append(effect)
            elif type(effect) is Inbound:
                self.receipts.append(effect)
            else:
                self.batch.add(effect)  # type: ignore[arg-type]


class Service:
    """All tables of a server on one connection.

    Attributes:
        counts: number of refused inputs by error code, for the log.
        listener: called once a step of a table is durable, with the table's name, the time, the input (None for the
            opening) and the announcements; for displays and reports.
        on_round: called in each round with how late it is, ms: how long a message or a deadline may have waited for it.
        tables: by name.
        play: turns their inputs into effects.
        gate: opens and verifies sealed commands.
        now: the service's clock, epoch milliseconds, which never goes back.
    """

    def __init__(
        self,
        link: ServerLink,
        tables: Sequence[str],
        *,
        seed: int | str,
        limits: m.Limits | None = None,
        table_limits: Mapping[str, m.Limits] | None = None,
        book: RuleBook = SALVO,
        profile: str = "open",
        clock: Callable[[], int] | None = None,
        gate: Authenticator | None = None,
        journal: Journal | None = None,
        identity: KeyOwner | None = None,
        resume: Resume = "crash",
        follower: Follower | None = None,
        listener: Listener | None = None,
        register: EntryList | None = None,
        draw: m.Draw | Literal["seed", "fair"] = m.Draw.SEED,
        fresh_secret: Callable[[], bytes] = lambda: secrets.token_bytes(SECRET_BYTES),
        chat: bool = True,
        sender_of: Callable[[str, bytes], str | None] = lambda topic, payload: None,
        publisher_of: Callable[[str, bytes], str | None] = lambda topic, payload: None,
    ) -> None:
        """Open tables on a connection, or restore them from the journal; the last will is a status of the first one.

        Args:
            register: the teams that may take part; None admits every team (SALVO-ACCESS-3).
            seed: decides every draw; like ``limits`` and ``book``, from the next game on at a table that is restored.
            limits: of the games of all tables; the defaults if None.
            table_limits: by table, for those whose limits differ.
            book: the ruleset of all tables.
            identity: the server's keys, published in its status; without them nothing can be sealed for it, and nothing
                is published in ``/game/log``.
            resume: when a game from the journal is resumed.
            follower: publishes the referee's view (SALVO-VIEW-4).
            draw: ``fair`` draws from a fresh secret of every game's and the teams' messages, and not from the seed.
            fresh_secret: returns 32 unpredictable bytes for each game with a fair draw.
            chat: whether players may chat (SALVO-CHAT-7).
            sender_of: returns the team that published a shot or a request to take part, by topic and payload; None if
                the broker does not report it.
            publisher_of: returns the connection that published a message, where it stands for no team; None if the
                broker does not report it.

        Raises:
            JournalError: the journal cannot be read, or its steps do not reproduce its games.
        """
        self.counts: Counter[str] = Counter()
        self.listener = listener
        self.on_round: Callable[[int], None] = lambda late_ms: None
        self.tables: dict[str, Table] = {}
        self._link = link
        self._journal = journal or Journal()
        self.gate = gate or Authenticator(wake=link.wake, pepper=self._journal.pepper)
        follower = follower or Follower()
        saved = self._journal.load()
        self._raw_clock = clock or epoch_clock()
        self.now = steady_clock(self._raw_clock, saved)
        self._status = _Status(profile, tables[0], identity, chat)
        self._pending = Pending()
        self._held: list[Inbound] = []
        self._host_commands: SimpleQueue[tuple[str, m.HostCommand]] = SimpleQueue()
        self._outages = Outages(lambda: link.connected)
        self._delivery = Delivery()
        recaps = Recaps(self.tables, self.gate.keyring, self.gate.worker)
        all_limits = dict.fromkeys(tables, limits or m.Limits()) | dict(table_limits or {})
        openings = Openings(book, all_limits, m.Draw(draw), seed, fresh_secret, identity)
        numbers = (saved.last_game, saved.last_step)
        self.play = play = Play(self.tables, openings, self._delivery, self.gate.keyring, recaps, follower, *numbers)
        self._resends = Resends(play.logs)
        self._sweep = RetainedSync(self.tables, tables[0], follower.retained)
        self._admission = Admission(profile, register, identity, play, self.counts)
        talk = Chat(self.counts, on=chat)
        who = sender_of, publisher_of
        self._inbox = Inbox(play, self.gate, self._admission, talk, self._resends, self._sweep, self.counts, *who)
        self.gate.on_forged = self._inbox.note_forged
        self._polled_at: int | None = None
        self._next_retained_check = 0
        self._next_journal_check = 0
        self._retained_count = 0  # retained commands before the last check
        link.on_connect = self._connected
        goes_on = resume == "always" or (resume == "crash" and not saved.ended)
        self._pending.batch.ended = False
        self.gate.burn(saved.burned)
        self._pending.add(play.set_tables(tables, saved, goes_on, self._status, self.now()))

    # --- called from outside --------------------------------------------------------------------------------------

    @property
    def presence(self) -> Presence:
        """Whether the server serves, and why not; from any thread."""
        return self._outages.state

    @property
    def last_step(self) -> int:
        """The number of the latest step, durable or not."""
        return self.play.last_step

    def act(self, table: str, command: m.HostCommand) -> None:
        """Let a person at the server's own terminal act as the host; from any thread."""
        self._host_commands.put((table, command))
        self._link.wake()

    def wait_seconds(self, longest_seconds: float) -> float:
        """Return how long the next round may wait for a message."""
        if self._outages.paused:
            longest_seconds = min(longest_seconds, JOURNAL_RETRY_MS / 1000)
        if self._outages.state in ("just back", "journal stalled, just back"):
            return 0.0
        if self._outages.state != "serving":
            return longest_seconds
        if self._pending.publications:
            return 0.0
        due = [at for at in (self.play.deadline(), self._resends.deadline(self._link.delivered)) if at is not None]
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
        self._pending.add(self._statuses(online=False))
        self._settle()
        if not self._outages.paused:
            self._link.flush(2.0)
            self._note_sent()
            self._pending.batch.ended = True
            self._commit()
        if self._outages.paused:
            self._publish_statuses(online=False)
        if self.counts:
            log.info("refused inputs: %s", dict(self.counts))

    # --- a round: receive, decide, commit, publish, acknowledge ------------------------------------------------------

    def step(self, longest_seconds: float = 0.0) -> None:
        """Wait for the next message, timer or derivation, and do what follows from it."""
        arrived = self._poll(longest_seconds)
        duty = self._outages.begin_round()
        if duty == "announce pause":
            self._publish_statuses(paused=True)
        if self._outages.on("messages arrive") == "hold":
            self._held += arrived
            if not self._retry():
                return
            arrived, self._held = self._held, []
            duty = self._outages.begin_round()
        restarted = self._restart_time(duty)
        self._decide(arrived)
        began = self._raw_clock()
        self._settle()
        # Not after a restart: where every commit is slow, the restart's own would cause the next one, without end.
        self._outages.held_up_ms = 0 if restarted else self._raw_clock() - began

    def _poll(self, longest_seconds: float) -> Sequence[Inbound]:
        """Wait for messages; measure how much longer than allowed that took."""
        wait_seconds, began = self.wait_seconds(longest_seconds), self._raw_clock()
        arrived = self._link.poll(wait_seconds)
        ended = self._raw_clock()
        held_up_ms = ended - began - int(1000 * wait_seconds)
        if self._polled_at is not None:
            self.on_round(began - self._polled_at + max(0, held_up_ms))
        self._polled_at = ended
        self._outages.held_up_ms = max(self._outages.held_up_ms, held_up_ms)
        return arrived

    def _restart_time(self, duty: Duty | None) -> bool:
        """Restart the time to act after an absence of broker or server; True if there was one.

        This comes before the messages that have arrived meanwhile, so that they are not late.
        """
        if duty == "begin again":
            self._pending.add(self.play.restart_time(self.tables.values(), self.now()))
            self._add_statuses()
        if duty != "restart":
            return duty == "begin again"
        away = [table for table in self.tables.values() if self._outages.shortens(table.referee)]
        self._pending.add(self.play.restart_time(away, self.now()))
        if away:
            log.warning("the server was held up for %d ms; the time to act is restarted", self._outages.held_up_ms)
        return bool(away)

    def _decide(self, arrived: Iterable[Inbound]) -> None:
        """Collect the effects of messages, host commands, derived keys and timers."""
        pending, play = self._pending, self.play
        while not self._host_commands.empty():
            name, command = self._host_commands.get()
            pending.add(play.pass_time(self.tables[name], self.now()))
            pending.add(play.carry_out(self.tables[name], command, self.now()))
        pending.add(self._admission.strike_off(self.now()))
        pending.add(play.take_delivered(self._link.delivered, self.now()))  # before any shot of the round
        sweeping = self._sweep.listens
        for message in arrived:
            pending.add(self._inbox.receive(message, self.now()))
        pending.add(self._inbox.finished(self.now()))
        pending.add(play.take_derived())
        if self._outages.on("timer due") == "run":
            pending.add(play.pass_times(self.now()))
            published = self._link.published + len(pending.publications)
            pending.add(self._resends.take_due(self.now(), self._link.delivered, published))
            self._check_retained_commands()
            self._sweep.report_unheard(self.now())
        if sweeping and not self._sweep.listens:
            self._link.unsubscribe(self._sweep.filters())

    def _settle(self) -> None:
        """Carry out the effects: commit; then, if the broker is there, publish, acknowledge and tell listeners."""
        pending = self._pending
        self._note_sent()
        if not (self._commit() if pending.batch else self._check_journal()) or not self._link.connected:
            return
        for topic, payload, retain in pending.publications:
            self._link.publish(topic, payload, retain=retain)
            if retain:
                self._sweep.published(topic, self.now())
        if pending.publications:
            self._delivery.publish(self._link.published, self.play.last_step)
        for message in pending.receipts:
            self._link.acknowledge(message)
        self._pending = Pending(pending.batch)
        if self.listener is not None:
            for news in pending.news:
                self.listener(*news)

    def _note_sent(self) -> None:
        """Add the last step that the broker has acknowledged in full to the next commit."""
        sent_through = self._delivery.take_sent_through(self._link.delivered)
        if sent_through is not None:
            self._pending.batch.sent_through = sent_through

    # --- while the journal cannot be written ------------------------------------------------------------------------

    def _commit(self) -> bool:
        """Make the batch durable; False while the journal cannot be written."""
        try:
            self._journal.commit(self._pending.batch)
        except JournalUnavailable as error:
            self._stall(error)
            return False
        self._pending.batch = Batch()
        return True

    def _check_journal(self) -> bool:
        """Look from time to time whether a journal to which nothing is written could be; False if not."""
        if self.now() < self._next_journal_check:
            return True
        self._next_journal_check = self.now() + JOURNAL_CHECK_MS
        try:
            self._journal.check()
        except JournalUnavailable as error:
            self._stall(error)
            return False
        return True

    def _stall(self, error: JournalUnavailable) -> None:
        if self._outages.on("journal refuses") == "announce pause":
            log.error("%s; nothing is accepted until it can be written again", error)
            self._publish_statuses(paused=True)
        self._outages.retry_at = self.now() + JOURNAL_RETRY_MS

    def _retry(self) -> bool:
        """Try to commit the batch again, once that is due; if it is durable, carry out the other effects."""
        if self.now() < self._outages.retry_at or not self._commit():
            return False
        self._outages.on("journal accepts")
        log.warning("the journal can be written again; the game goes on")
        self._settle()
        return True

    def _publish_statuses(self, *, online: bool = True, paused: bool = False) -> None:
        """Publish the status of all tables immediately: it depends on no step, so it need not wait for a commit."""
        for topic, payload, retain in self._statuses(online=online, paused=paused):
            self._link.publish(topic, payload, retain=retain)

    def _statuses(self, *, online: bool = True, paused: bool = False) -> list[Publication]:
        tables = self.tables.values()
        told = [(table, self._status(table.referee, online=online, paused=paused)) for table in tables]
        return [publication for table, status in told for publication in table.write_status(status)]

    # --- when the broker comes back ---------------------------------------------------------------------------------

    def _connected(self, session_present: bool) -> None:
        """Subscribe; publications wait for the next round.

        At this point the connection has not yet resent what was in flight. Those older messages would replace a status
        that is published now as the one that the broker retains.
        """
        self._link.subscribe([*self._command_filters(), *self._sweep.filters()])
        self._next_retained_check = self.now() + RETAINED_COMMANDS_MS
        self._sweep.begin()
        self._outages.on("connected")

    def _add_statuses(self) -> None:
        """Add the status of all tables to the publications; the first table's ends the sweep."""
        waiting = set(self._pending.publications)
        self._pending.add(publication for publication in self._statuses() if publication not in waiting)

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
            self._link.subscribe(self._command_filters())

    def _command_filters(self) -> list[str]:
        names = {"+" if table else "" for table in self.tables}
        commands = [topic for topic in topics.TOPICS if topic.reader is Reader.SERVER]
        return [topic.filter(name) for name in sorted(names) for topic in commands]
