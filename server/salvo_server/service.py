"""The one loop: inbox, authenticator, referee, journal, publications, acknowledgements.

    connection.poll -> topics, codec -> authenticator -> table -> journal.commit -> publish -> acknowledge

Everything happens on the thread that calls :meth:`Service.step`; the only other thread of a server derives keys. One
round works through all that has arrived, commits it in one go, and only then says what came of it and tells the broker
that it is dealt with (SALVO-BACK-1). So whatever a crash interrupts either had no effect and is delivered again, or is
in the journal and is published again.

While the broker is away, the journal takes nothing or the machine stands still, no time to act runs at the tables
(SALVO-BACK-2, SALVO-BACK-5).
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.command_reader import (
    Sealed,
    SealedParticipation,
    SealedPlacement,
    SignedLeave,
    SignedSkip,
    read_command,
)
from salvo.codec.commands import ParticipationRequest, ResendRequest
from salvo.codec.log import SECRET_BYTES
from salvo.codec.transcript import read_header, write_header
from salvo.errors import SealError, WireError
from salvo.messages import Limits, State
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, RuleBook
from salvo.topics import Publisher
from salvo_server import __version__
from salvo_server.core.admission import AdmissionPolicy
from salvo_server.core.authenticator import WAITING, Authenticator, Opened, Proof
from salvo_server.core.chat import Chat
from salvo_server.core.identity import Identity
from salvo_server.core.journal import (
    Batch,
    GameOpened,
    Journal,
    JournalUnavailable,
    KeyLearned,
    NoJournal,
    SavedGame,
    StepTaken,
    TeamAdmitted,
)
from salvo_server.core.log import TableLog
from salvo_server.core.recaps import Recaps
from salvo_server.core.recovery import Recovered, recover
from salvo_server.core.referee import Referee
from salvo_server.core.register import Register
from salvo_server.core.resend import Resends
from salvo_server.core.retained_sync import RetainedSync
from salvo_server.core.table import Step, Table

log = logging.getLogger(__name__)

#: Longest wait for the next message; short enough to notice a stop request without being woken.
MAX_WAIT_SECONDS = 1.0
#: How often a journal that takes nothing is tried again.
JOURNAL_RETRY_MS = 1000
#: How often the broker is asked again for commands that it retains (SALVO-FRESH-4). A late explorer sees them that
#: long; a subscription of seven filters costs nothing at this rate.
KEPT_COMMANDS_MS = 8_000
#: A server that its machine or its disk holds up for less than this, or for less than a tenth of the time to act, does
#: not count as away: teams lose little by it, and every restart announces a new deadline (SALVO-BACK-5).
HELD_UP_MS = 250
HELD_UP_SHARE = 10
#: Restarts of a lobby's placement time until another team is listed: otherwise a flood that holds the server up could
#: hold the lobby open forever.
MAX_EXTENSIONS = 3

#: When a game from the journal is resumed: after a crash, after any shutdown, or never.
Resume = Literal["crash", "always", "never"]
Listener = Callable[[str, int, m.Input | None, Sequence[m.Announcement]], None]


class Edge(Protocol):
    """What the service needs of a connection; :class:`salvo.net.mqtt.Connection` is the one for brokers."""

    on_connect: Callable[[bool], None] | None
    connected: bool
    published: int

    @property
    def delivered(self) -> int: ...
    def poll(self, timeout_seconds: float) -> Sequence[Inbound]: ...
    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...
    def subscribe(self, filters: Iterable[str]) -> None: ...
    def unsubscribe(self, filters: Iterable[str]) -> None: ...
    def acknowledge(self, message: Inbound) -> None: ...
    def wake(self) -> None: ...
    def flush(self, timeout_seconds: float) -> bool: ...


class Follower(Protocol):
    """Follows the tables' steps, and publishes something about them some time later.

    Attributes:
        retained: payload by topic, of what the broker should retain for it now.
    """

    retained: dict[str, bytes]

    def follow(self, table: Table, step: Step) -> list[Publication]: ...
    def deadline(self) -> int | None: ...
    def take_due(self, now: int) -> list[Publication]: ...
    def catch_up(self, now: int) -> list[Publication]: ...


class NoFollower:
    """Follows nothing."""

    def __init__(self) -> None:
        self.retained: dict[str, bytes] = {}

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Publish nothing about a step."""
        return []

    def deadline(self) -> int | None:
        """Wait for nothing."""
        return None

    def take_due(self, now: int) -> list[Publication]:
        """Publish nothing later."""
        return []

    catch_up = take_due


def last_will(table: str, profile: str, identity: Identity | None = None) -> tuple[str, bytes]:
    """Return topic and payload of the last will: offline, and no game that anyone could know by then.

    The keys stay, so that a team that comes meanwhile need not write its secret openly.
    """
    status = m.ServerStatus(False, __version__, 0, profile, keys=_keys(identity))
    [publication] = write_announcement(status, table)
    return publication.topic, publication.payload


def epoch_clock() -> Callable[[], int]:
    """Return a clock of epoch milliseconds that never jumps: set once, then driven by the monotonic clock."""
    offset = time.time_ns() - time.monotonic_ns()
    return lambda: (time.monotonic_ns() + offset) // 1_000_000


class _Said(NamedTuple):
    """The last message of a step, by its running number on the connection."""

    published: int
    step: int


class Service:
    """All tables of a server on one connection.

    Attributes:
        counts: refused inputs by error code, for the log.
        listener: called once a step of a table is durable, with the table's name, the time, the input (None for the
            opening) and the announcements; for displays and reports.
        tables: by name.
    """

    def __init__(
        self,
        edge: Edge,
        tables: Sequence[str],
        *,
        seed: int | str,
        limits: Limits | None = None,
        table_limits: Mapping[str, Limits] | None = None,
        book: RuleBook = SALVO,
        profile: str = "literal",
        clock: Callable[[], int] | None = None,
        gate: Authenticator | None = None,
        journal: Journal | None = None,
        identity: Identity | None = None,
        resume: Resume = "crash",
        follower: Follower | None = None,
        listener: Listener | None = None,
        register: Register | None = None,
        draw: m.Draw | Literal["seed", "fair"] = m.Draw.SEED,
        fresh_secret: Callable[[], bytes] = lambda: secrets.token_bytes(SECRET_BYTES),
        chat: bool = True,
    ) -> None:
        """Put tables on a connection, as the journal knows them; the first one's status carries the last will.

        Args:
            register: the teams that may take part; None admits every team (SALVO-ACCESS-3).
            seed: decides every draw, from the next game on at a table that comes out of the journal.
            limits: likewise.
            table_limits: of those tables whose limits differ.
            book: likewise.
            identity: the server's keys, published in its status; without them nothing can be sealed for it, and nothing
                is published in ``/game/log``.
            resume: when a game from the journal is resumed.
            follower: publishes the referee's view (SALVO-VIEW-4).
            draw: ``fair`` draws from a fresh secret of every game's and the teams' messages, and not from the seed.
            fresh_secret: 32 unpredictable bytes for each game with a fair draw.
            chat: whether players may chat (SALVO-CHAT-7).

        Raises:
            JournalError: the journal cannot be read, or does not give the games that it recorded.
        """
        self.counts: Counter[str] = Counter()
        self.listener = listener
        self.tables: dict[str, Table] = {}
        self._journal = journal or NoJournal()
        self.gate = gate or Authenticator(wake=edge.wake, pepper=self._journal.pepper)
        self._recaps = Recaps(self.tables, self.gate.keyring, self.gate.worker)
        self._identity = identity
        self._edge = edge
        self._clock = clock or epoch_clock()
        self._profile = profile
        self._entrance = AdmissionPolicy(profile, register, identity)
        self._logs: dict[str, TableLog] = {}
        self._resends = Resends(self._logs)
        self._draw = m.Draw(draw)
        self._fresh_secret = fresh_secret
        self._seed = seed
        self._limits = dict.fromkeys(tables, limits or Limits()) | dict(table_limits or {})
        self._first_table = tables[0]
        self._follower = follower or NoFollower()
        self._sweep = RetainedSync(self.tables, tables[0], self._follower.retained)
        self._batch = Batch()
        self._outbox: list[Publication] = []
        self._receipts: list[Inbound] = []
        self._news: list[tuple[str, int, m.Input | None, Sequence[m.Announcement]]] = []
        self._said: deque[_Said] = deque()
        self._held: deque[Inbound] = deque()
        self._stalled_until: int | None = None
        self._connected_anew = False
        self._held_up_ms = 0
        self._due: dict[str, int] = {}
        self._begun: dict[str, int] = {}  # turns with a bank whose begin waits to be published, by table
        self._undelivered: dict[str, tuple[int, int]] = {}  # turn, and how much is published with its begin
        self._chat = Chat(self.counts, on=chat)
        self._earliest: int | None = None
        self._last_at = 0
        self._clock_is_back_ms = 0
        self._next_look = 0
        edge.on_connect = self._connected
        self._set_tables(tables, book, resume)

    def _set_tables(self, names: Sequence[str], book: RuleBook, resume: Resume) -> None:
        saved = self._journal.load()
        self._go_on_from(saved.games)
        goes_on = resume == "always" or (resume == "crash" and not saved.ended)
        self._batch.ended = False
        self._last_game, self._last_step = saved.last_game, saved.last_step
        self.gate.burn(saved.burned)
        self._games: dict[str, int] = {}
        kept = {game.opened.table: game for game in saved.games}
        for name in names:
            number, seed = 1, self._next_seed()
            if name in kept:
                game = kept.pop(name)
                if goes_on and game.steps:
                    follow = self._follower.follow
                    self._take_over(recover(game, self._status, saved.sent_through, follow, self._identity), book)
                    continue
                self._batch.closed.append(game.opened.id)
                number = game.opened.number + bool(game.steps)
                seed = self._opened_seed(game) or seed
            table = Table(Referee(seed, name, book, self._limits[name], number, self._draw), self._status)
            self.tables[name] = table
            announcements, publications = table.open()
            self._outbox += publications
            self._enter_game(table)
            self._news.append((name, self._now(), None, announcements))
        for name in kept if goes_on else ():
            log.warning("the journal has a game of table %r, which is not set; it waits", name)

    def _go_on_from(self, games: Iterable[SavedGame]) -> None:
        """Let the time go on from where the journal's games left it, should the clock have been set back since.

        It must not stand still until the clock is there again: deadlines would not pass.
        """
        self._last_at = max((game.steps[-1].at if game.steps else game.opened.at for game in games), default=0)
        self._clock_is_back_ms = max(0, self._last_at - self._clock())

    def _next_seed(self) -> int | str:
        return self._fresh_secret().hex() if self._draw is m.Draw.FAIR else self._seed

    def _opened_seed(self, game: SavedGame) -> str:
        """Return the secret of a game in which nothing has happened yet: it is opened, and committed to, as it was."""
        if game.steps or self._draw is not m.Draw.FAIR:
            return ""
        try:
            header = read_header(game.opened.header)
        except WireError:
            return ""
        return header.seed if header.draw is m.Draw.FAIR else ""

    def _take_over(self, recovered: Recovered, book: RuleBook) -> None:
        table = recovered.table
        self.tables[table.name] = table
        self._games[table.name] = recovered.game.opened.id
        if recovered.log is not None:
            self._logs[table.name] = recovered.log
        table.referee.configure(self._next_seed(), self._limits[table.name], self._draw, book)
        for team in recovered.game.teams:
            if team.name in table.referee.players:
                self.gate.keyring.admit(table.name, team.name, team.secret, self._now())
                self.gate.keyring.restore(table.name, team.name, team.keys)
                table.referee.players[team.name].credential = self.gate.keyring.credential(team.name, team.secret)
        self._outbox += recovered.unsent
        self._outbox += self._follower.catch_up(self._now())
        self._schedule(table)
        log.info(
            "table %r: game %d resumes in state %s after %d steps",
            table.name,
            table.referee.number,
            table.referee.state,
            table.steps,
        )

    # --- life ---------------------------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set, then say that the server is offline."""
        while not stop.is_set():
            self.step(MAX_WAIT_SECONDS)
        self.say_goodbye()

    def step(self, longest_seconds: float = 0.0) -> None:
        """Wait for the next message, timer or derivation, and do what follows from it."""
        wait_seconds, began = self._wait_seconds(longest_seconds), self._clock()
        arrived = self._edge.poll(wait_seconds)
        self._held_up_ms = max(self._held_up_ms, self._clock() - began - int(1000 * wait_seconds))
        if self._stalled_until is not None:
            self._held += arrived
            if not self._retry():
                return
            arrived = list(self._held)
            self._held.clear()
        begun_anew = self._begin_anew()
        self._strike_off()
        self._note_delivered()
        for message in arrived:
            self._receive(message)
        for receipt, opened in self.gate.finished():
            if opened is not None:
                self._admit_opened(opened, self._now())
            if isinstance(receipt, Inbound):
                self._receipts.append(receipt)
        self._outbox += self._recaps.take_due()
        self._keep_keys()
        if self._edge.connected:
            self._run_timers()
            self._outbox += self._follower.take_due(self._now())
            published = self._edge.published + len(self._outbox)
            self._outbox += self._resends.take_due(self._now(), self._edge.delivered, published)
            self._look_for_kept_commands()
        began = self._clock()
        self._settle()
        # Where each commit is slow, the one of the new beginning would bring the next, and so without end.
        self._held_up_ms = 0 if begun_anew else self._clock() - began

    def say_goodbye(self) -> None:
        """Publish what the last will would, before a clean end, and note that all has left."""
        for table in self.tables.values():
            self._outbox += table.write_status(self._status(table.referee, online=False))
        self._settle()
        if self._stalled_until is None:
            self._edge.flush(2.0)
            self._note_sent()
            self._batch.ended = True
            self._commit()
        if self.counts:
            log.info("refused inputs: %s", dict(self.counts))

    def _now(self) -> int:
        """Return the time, which never goes back, not even over a restart with the clock set back."""
        self._last_at = max(self._last_at, self._clock() + self._clock_is_back_ms)
        return self._last_at

    def _wait_seconds(self, longest_seconds: float) -> float:
        if self._stalled_until is not None:
            return min(longest_seconds, JOURNAL_RETRY_MS / 1000)
        if self._connected_anew or (self._outbox and self._edge.connected):
            return 0.0
        resend = self._resends.deadline(self._edge.delivered)
        due = [at for at in (self._earliest, self._follower.deadline(), resend) if at is not None]
        if not due or not self._edge.connected:
            return longest_seconds
        return min(longest_seconds, max(0.0, (min(due) - self._now()) / 1000))

    def _run_timers(self) -> None:
        """Run what is due.

        ``_earliest`` is never later than the first deadline, but may be earlier when that one was moved: with a
        thousand tables it is looked up again only when it has passed, and not at every message.
        """
        if self._earliest is None or self._now() < self._earliest:
            return
        now = self._now()
        for name in [name for name, due in self._due.items() if due <= now]:
            self._pass_time(self.tables[name], now)
        self._earliest = min(self._due.values(), default=None)

    def _pass_time(self, table: Table, now: int) -> None:
        due = table.referee.deadline()
        if due is not None and due <= now:
            self._carry_out(table, m.TimePassed(), now)

    # --- durable first, then said, then acknowledged --------------------------------------------------------------

    def _settle(self) -> None:
        """Commit what this round accepted; then publish what came of it and acknowledge what it came from."""
        self._note_sent()
        if self._batch and not self._commit():
            return
        if not self._edge.connected:
            return
        for topic, payload, retain in self._outbox:
            self._edge.publish(topic, payload, retain=retain)
            if retain:
                self._sweep.published(topic)
        self._undelivered |= {name: (turn, self._edge.published) for name, turn in self._begun.items()}
        self._begun.clear()
        if self._outbox:
            self._outbox.clear()
            self._said.append(_Said(self._edge.published, self._last_step))
        for message in self._receipts:
            self._edge.acknowledge(message)
        self._receipts.clear()
        if self._news:
            news, self._news = self._news, []
            if self.listener is not None:
                for each in news:
                    self.listener(*each)

    def _note_delivered(self) -> None:
        """Let banks count whose turn the broker has confirmed to be on (SALVO-TIME-2), before any shot of the round."""
        if not self._undelivered:
            return
        delivered, now = self._edge.delivered, self._now()
        for name, (turn, published) in list(self._undelivered.items()):
            if published <= delivered:
                del self._undelivered[name]
                if self.tables[name].referee.awaits_delivery() == turn:
                    self._carry_out(self.tables[name], m.TurnDelivered(turn), now)

    def _note_sent(self) -> None:
        """Remember how far the broker has acknowledged; it travels with the next commit."""
        delivered = self._edge.delivered
        while self._said and self._said[0].published <= delivered:
            self._batch.sent_through = self._said.popleft().step

    def _commit(self) -> bool:
        """Make the batch durable; False while the journal takes nothing."""
        try:
            self._journal.commit(self._batch)
        except JournalUnavailable as error:
            if self._stalled_until is None:
                log.error("%s; nothing is accepted until there is room, nothing accepted is lost", error)
                self._say_paused()
            self._stalled_until = self._now() + JOURNAL_RETRY_MS
            return False
        self._batch = Batch()
        return True

    def _say_paused(self) -> None:
        """Publish at once; no step follows from it, so it need not wait."""
        for table in self.tables.values():
            for topic, payload, retain in table.write_status(self._status(table.referee, paused=True)):
                self._edge.publish(topic, payload, retain=retain)

    def _retry(self) -> bool:
        """Try the journal again; once it takes the batch, the tables' clocks are restarted."""
        assert self._stalled_until is not None
        if self._now() < self._stalled_until or not self._commit():
            return False
        self._stalled_until = None
        log.warning("the journal can be written again; the game goes on")
        self._settle()
        self._connected_anew = self._edge.connected
        return True

    def _look_for_kept_commands(self) -> None:
        """Ask for retained commands: what is retained while we listen comes without its flag (MQTT 3.1.1, 3.3.1.3).

        A repeated subscription brings the kept copies, with the flag, and loses nothing else.
        """
        now = self._now()
        if now >= self._next_look:
            self._next_look = now + KEPT_COMMANDS_MS
            self._edge.subscribe(self._command_filters())

    # --- the broker's side ----------------------------------------------------------------------------------------

    def _connected(self, session_present: bool) -> None:
        """Subscribe; what is to be said waits for the next round.

        Here the connection has not yet sent again what was under way, and the older message would be the one that
        the broker keeps.
        """
        self._edge.subscribe([*self._command_filters(), *self._sweep.filters()])
        self._next_look = self._now() + KEPT_COMMANDS_MS
        self._sweep.begin()
        self._connected_anew = True

    def _begin_anew(self) -> bool:
        """Restart the time to act after an absence of broker or server; True if there was one.

        It comes before what has arrived meanwhile: that is not late.
        """
        greets, self._connected_anew = self._connected_anew, False
        if not greets and (self._held_up_ms < HELD_UP_MS or not self._edge.connected):
            return False
        now = self._now()
        away = [t for t in self.tables.values() if greets or _long_for(t.referee, self._held_up_ms)]
        for table in away:
            if table.referee.deadline() is not None and table.referee.state is not State.OVER:
                self._carry_out(table, m.Resumed(), now)
        if greets:
            self._greet()
        elif away:
            log.warning("the server was held up for %d ms; the time to act is restarted", self._held_up_ms)
        return bool(away)

    def _greet(self) -> None:
        """Publish the status of all tables; the first table's ends the sweep."""
        waiting = set(self._outbox)
        for table in self.tables.values():
            status = table.write_status(self._status(table.referee))
            self._outbox += [publication for publication in status if publication not in waiting]

    def _command_filters(self) -> list[str]:
        names = {"+" if table else "" for table in self.tables}
        commands = [topic for topic in topics.TOPICS if topic.publisher is not Publisher.SERVER]
        return [topic.filter(name) for name in sorted(names) for topic in commands]

    # --- one message --------------------------------------------------------------------------------------------

    def _receive(self, message: Inbound) -> None:
        """Do what follows from a message, and note to acknowledge it unless it waits for a key."""
        if self._read(message) is not WAITING:
            self._receipts.append(message)

    def _read(self, message: Inbound) -> Any:
        try:
            address = topics.parse(message.topic)
        except WireError as error:
            return self._count(error, message)
        if address.topic.publisher is Publisher.SERVER:
            return self._put_right(address, message)
        table = self.tables.get(address.table)
        if table is None or not message.payload:
            return None
        now = self._now()
        if message.retain:
            self._outbox.append(Publication(message.topic, b"", True))
            return self._count(WireError("retained_command", "commands must not be retained"), message)
        if address.topic is topics.SAY:
            self._outbox += self._chat.hear(address, message.payload, table.referee.players, now)
            return None
        try:
            request = read_command(address, message.payload, table.referee.book)
        except WireError as error:
            self._count(error, message)
            return self._answer_unreadable(table, address, error, now)
        if isinstance(request, SealedParticipation):
            return self._unseal(table, request, message, now)
        if isinstance(request, ParticipationRequest):
            return self._participate(table, request, now)
        if isinstance(request, ResendRequest):
            if request.player in table.referee.players:
                self._resends.ask(table.name, request.player, request.first, now)
            return None
        return self._open(table.referee, request, message, now)

    def _unseal(self, table: Table, request: SealedParticipation, message: Inbound, now: int) -> None:
        """Open a request that is sealed for this server; what does not open changes nothing (SALVO-IDENT-5)."""
        try:
            opened = self._entrance.unseal(table.name, request)
        except (SealError, WireError) as error:
            self._count(error, message)
        else:
            self._participate(table, opened, now, sealed=True)

    def _open(self, referee: Referee, request: Sealed, message: Inbound, now: int) -> Any:
        current = referee.current
        if isinstance(request, (SealedPlacement, SignedLeave)):
            likely = [request.player]
            expected = referee.state is State.LOBBY
        elif isinstance(request, SignedSkip):
            likely = [request.player]
            expected = current is not None and current.name == request.player
        else:
            likely = list(referee.players)
            if current is not None:
                likely.remove(current.name)
                likely.insert(0, current.name)
            expected = current is not None
        opened = self.gate.open(request, likely, now, expected=expected, receipt=message)
        if isinstance(opened, Opened):
            self._admit_opened(opened, now)
        return opened

    def _participate(self, table: Table, request: ParticipationRequest, now: int, *, sealed: bool = False) -> None:
        refused = self._entrance.why_not(request, sealed)
        if refused is not None:
            self.counts[refused.code] += 1
            if self._entrance.may_answer(request.name, refused.code, now):
                self._outbox += write_announcement(refused, table.name)
            return
        self._pass_time(table, now)
        command = m.Participate(request.name, self.gate.keyring.credential(request.name, request.secret))
        known = table.referee.players.get(request.name)
        rotated = self._entrance.vouches and known is not None and known.credential != command.credential
        if known is not None and rotated:  # the roster vouches for the secret: the team plays on with it
            known.credential = command.credential
            self._admit(table, request, now)
        step = table.carry_out(command, now)
        if step.recorded:
            self._admit(table, request, now)
        elif not self._entrance.may_answer(f"{table.name}/{request.name}", type(step.announcements[0]).__name__, now):
            return
        self._follow(table, step, None)

    def _admit(self, table: Table, request: ParticipationRequest, now: int) -> None:
        admitted = TeamAdmitted(self._games[table.name], request.name, request.secret)
        self._batch.teams = [team for team in self._batch.teams if team[:2] != admitted[:2]] + [admitted]
        self.gate.keyring.admit(table.name, request.name, request.secret, now)

    def _strike_off(self) -> None:
        """Take teams that the roster no longer has out of their lobbies (SALVO-ACCESS-8), which they would hold up."""
        if not self._entrance.roster_changed():
            return
        now = self._now()
        for table in self.tables.values():
            gone = self._entrance.struck_off(self.gate.keyring.teams(table.name))
            if gone:
                self._pass_time(table, now)
            for name in gone:
                if table.referee.state is State.LOBBY:
                    self._carry_out(table, m.StruckOff(name), now)

    def _admit_opened(self, opened: Opened, now: int) -> None:
        table = self.tables[opened.table]
        self._pass_time(table, now)
        command = table.referee.hold_to_bounds(self._entrance.hold_to_profile(opened.command))
        repeated = table.referee.has_had(command)  # changes nothing, so it need not be remembered either
        announcements = () if repeated else self._carry_out(table, command, now, opened.proof)
        refused = isinstance(command, m.Unreadable) or not announcements or _refused(announcements, command.player)
        if opened.spent and not refused:
            self.gate.keyring.refund(opened.table, command.player)
        if refused and opened.proof is not None:
            self.gate.keyring.penalize(opened.table, command.player, now)

    def _answer_unreadable(self, table: Table, address: topics.Address, error: WireError, now: int) -> None:
        """Answer the player in the topic, or for a shot the one whose turn it is."""
        current = table.referee.current
        match address.topic:
            case topics.PLACE:
                spelling = address.ship if error.code != "unknown_ship" else ""
                command = m.Unreadable(address.player, spelling, error.code, error.text)
            case topics.SKIP | topics.LEAVE:
                command = m.Unreadable(address.player, "", error.code, error.text)
            case topics.FIRE if current is not None:
                command = m.Unreadable(current.name, "", error.code, error.text)
            case _:
                return
        self._pass_time(table, now)
        self._carry_out(table, command, now)

    def _put_right(self, address: topics.Address, message: Inbound) -> None:
        was_active = self._sweep.active
        self._outbox += self._sweep.receive(address, message)
        if was_active and not self._sweep.active:
            self._edge.unsubscribe(self._sweep.filters())

    def _count(self, error: SealError | WireError, message: Inbound) -> None:
        self.counts[error.code] += 1
        # A text names the value that was wrong; of a request to take part that may be the secret, in the wrong place.
        asked = message.topic.endswith(topics.REQUEST_PARTICIPATION.pattern)
        log.debug("refused a message on %r: %s", message.topic[:120], error.code if asked else error)

    # --- one step -----------------------------------------------------------------------------------------------

    def _carry_out(
        self, table: Table, command: m.Input, now: int, proof: Proof | None = None
    ) -> Sequence[m.Announcement]:
        step = table.carry_out(command, now)
        self._follow(table, step, proof)
        return step.announcements

    def _follow(self, table: Table, step: Step, proof: Proof | None) -> None:
        """Note a step for the journal, and what it says for afterwards."""
        if step.recorded:
            self._last_step += 1
            game = self._games[table.name]
            self._batch.steps.append(StepTaken(self._last_step, game, step.at, step.text, step.check, proof))
        self._outbox += self._follower.follow(table, step)
        self._outbox += step.publications
        if table.name in self._logs:
            self._outbox += self._logs[table.name].take_in(step)
        self._outbox += self._follower.take_due(step.at)
        for announcement in step.announcements:
            match announcement:
                case m.Recap(to):
                    self._outbox += self._recaps.recall(table.name, to)
                case m.PlayerLeft():
                    self.gate.keyring.retain(table.name, table.referee.players)
                case m.TurnBegan(turn=turn) | m.TurnResumed(turn=turn) if table.referee.limits.bank_ms is not None:
                    self._begun[table.name] = turn
                    self._undelivered.pop(table.name, None)
                case m.TableReset():
                    self.gate.keyring.retain(table.name, ())
                    self._batch.closed.append(self._games[table.name])
                    self._enter_game(table)
                case _:
                    pass
        self._schedule(table)
        self._news.append((table.name, step.at, step.command, step.announcements))

    def _enter_game(self, table: Table) -> None:
        self._last_game += 1
        self._games[table.name] = self._last_game
        opened = GameOpened(self._last_game, table.name, table.referee.number, self._now(), write_header(table.header))
        self._batch.games.append(opened)
        table.referee.configure(self._next_seed(), self._limits[table.name], self._draw)
        if self._identity is not None:
            self._logs[table.name] = TableLog(table.header, self._identity)
            self._outbox += self._logs[table.name].opening()

    def _schedule(self, table: Table) -> None:
        due = table.referee.deadline()
        if due is None:
            self._due.pop(table.name, None)
            return
        self._due[table.name] = due
        if self._earliest is None or due < self._earliest:
            self._earliest = due

    def _keep_keys(self) -> None:
        learned = self.gate.keyring.take_learned()
        self._batch.keys += [KeyLearned(self._games[k.table], k.name, k.salt, k.key) for k in learned]

    def _status(self, referee: Referee, *, online: bool = True, paused: bool = False) -> m.ServerStatus:
        first = referee.table == self._first_table
        status_topic = "" if first else topics.SERVER.of(self._first_table)
        keys = _keys(self._identity)
        return m.ServerStatus(
            online, __version__, referee.number, self._profile, status_topic, paused, keys, self._chat.on
        )


def _long_for(referee: Referee, away_ms: int) -> bool:
    """Whether an absence costs a player so much of its time to act that the time must be restarted."""
    limits, in_lobby = referee.limits, referee.state is State.LOBBY
    to_act_ms = limits.placement_ms if in_lobby else limits.turn_ms
    return away_ms > to_act_ms // HELD_UP_SHARE and not (in_lobby and referee.extensions >= MAX_EXTENSIONS)


def _keys(identity: Identity | None) -> m.ServerKeys | None:
    return None if identity is None else m.ServerKeys(identity.signing_key, identity.sealing_key)


def _refused(announcements: Sequence[m.Announcement], player: str) -> bool:
    return any(isinstance(a, (m.CommandRefused, m.PlacementRefused)) and a.to == player for a in announcements)
