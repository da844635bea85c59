"""The tables in play: turns the inputs of each into effects."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.header import write_header
from salvo.errors import IllegalCommand
from salvo.wire import topics
from salvo_game.journal_interface import (
    BurnedMessage,
    EveningChanged,
    GameClosed,
    GameConcluded,
    GameOpened,
    JournalError,
    KeyLearned,
    ResultAnnulled,
    Saved,
    SavedGame,
    StepTaken,
    TeamAdmitted,
    result_of,
)
from salvo_game.log import TableLog
from salvo_game.recovery import Openings, recover
from salvo_game.referee import Referee
from salvo_game.table import Follower, Table
from salvo_game.table_step import Step
from salvo_server.core.effects import Effects, StepNews
from salvo_server.core.evening import Evening, at_each
from salvo_server.core.keyring import Keyring
from salvo_server.core.recaps import Recaps

log = logging.getLogger(__name__)


class Timers:
    """The next deadline of each table, epoch milliseconds.

    Attributes:
        earliest: never later than the first of them, but earlier when that one was moved: with a thousand tables it is
            looked up again only when it has passed, and not at every message.
    """

    def __init__(self) -> None:
        self.earliest: int | None = None
        self._due: dict[str, int] = {}

    def set(self, table: str, due: int | None) -> None:
        """Set a table's deadline; None for none."""
        if due is None:
            self._due.pop(table, None)
            return
        self._due[table] = due
        if self.earliest is None or due < self.earliest:
            self.earliest = due

    def take_due(self, now: int) -> list[str]:
        """Return the tables whose deadline has passed; they have none until it is set again."""
        if self.earliest is None or now < self.earliest:
            return []
        tables = [table for table, due in self._due.items() if due <= now]
        for table in tables:
            del self._due[table]
        self.earliest = min(self._due.values(), default=None)
        return tables


class Delivery:
    """Compares running numbers of messages on the connection."""

    def __init__(self) -> None:
        self._published: deque[tuple[int, int]] = deque()  # the last message of a round, and the last step before it
        self._begun: dict[str, int] = {}  # turns with a bank whose begin waits to be published, by table
        self._undelivered: dict[str, tuple[int, int]] = {}  # turn, and how much is published with its begin

    def begin_turn(self, table: str, turn: int) -> None:
        """Expect the begin of a turn with a bank in what is published next; an earlier one no longer counts."""
        self._begun[table] = turn
        self._undelivered.pop(table, None)

    def publish(self, published: int, last_step: int) -> None:
        """Note that everything up to a step has been published, so many messages in all."""
        self._published.append((published, last_step))
        self._undelivered |= {table: (turn, published) for table, turn in self._begun.items()}
        self._begun.clear()

    def take_sent_through(self, delivered: int) -> int | None:
        """Return the last step all of whose messages are confirmed; None when that is none since the last call."""
        step = None
        while self._published and self._published[0][0] <= delivered:
            _, step = self._published.popleft()
        return step

    def take_delivered(self, delivered: int) -> list[tuple[str, int]]:
        """Return table and turn of the begins that are confirmed, each once."""
        arrived = [(table, turn) for table, (turn, published) in self._undelivered.items() if published <= delivered]
        for table, _ in arrived:
            del self._undelivered[table]
        return arrived


#: What more follows from than a record, publications and news.
_FOLLOWED: Final = frozenset(
    (
        m.PlayersListed,
        m.StateChanged,
        m.HostActed,
        m.Recap,
        m.PlayerLeft,
        m.TurnBegan,
        m.TurnResumed,
        m.GameWon,
        m.TableReset,
    )
)


def _begins(announcement: m.Announcement) -> bool:
    """Whether a game begins, or a lobby opens: neither is paused."""
    return isinstance(announcement, m.TableReset) or announcement == m.StateChanged(m.State.TURN)


@dataclass(slots=True)
class Play:
    """All tables of a server, and what follows their steps.

    Attributes:
        tables: by name.
        evening: what is on at them.
        openings: with what they open their games.
        keyring: the teams at the tables, for whom ``recaps`` seals.
        last_game: the number of the latest game of any table, on from what the journal has; likewise ``last_step``.
        games: the numbers of the games in play, by table.
        logs: of these games, by table; empty for a server without an identity.
        retained: what the broker should retain of the evening, by topic.
    """

    tables: dict[str, Table]
    evening: Evening
    openings: Openings
    keyring: Keyring
    recaps: Recaps
    follower: Follower
    last_game: int
    last_step: int
    games: dict[str, int] = field(default_factory=dict)
    logs: dict[str, TableLog] = field(default_factory=dict)
    retained: dict[str, bytes] = field(default_factory=dict)
    timers: Timers = field(default_factory=Timers)
    delivery: Delivery = field(default_factory=Delivery)
    _settled: m.EveningShown | None = None
    _resumed: set[int] = field(default_factory=set)  # numbers of games, as in ``games``
    _insists: bool = False
    _doubts: dict[int, set[str]] = field(default_factory=dict)  # players that have more of these games than the journal

    @property
    def resumed(self) -> frozenset[str]:
        """The tables whose games come from the journal."""
        return frozenset(name for name, game in self.games.items() if game in self._resumed)

    @property
    def doubtful(self) -> frozenset[str]:
        """Those of them that are given up if teams have more; not those that an operator resumes all the same."""
        return frozenset() if self._insists else self.resumed

    # --- one step -------------------------------------------------------------------------------------------------

    def carry_out(
        self, table: Table, command: m.Input, now: int, proof: BurnedMessage | None = None
    ) -> tuple[Step, Effects]:
        """Return the step that a command is at a table, and what follows.

        What time does there comes first, in a step of its own, which is in the journal without the command's proof.
        """
        effects = self.pass_time(table, now)
        step = table.carry_out(command, now)
        effects += self.follow(table, step, proof)
        return step, effects

    def _step(self, table: Table, input: m.Input, now: int) -> Effects:
        """Give a table an input of the server's own."""
        return self.follow(table, table.carry_out(input, now))

    def follow(self, table: Table, step: Step, proof: BurnedMessage | None = None) -> Effects:
        """Return what follows from a step of a table.

        Args:
            proof: what the step has burned.
        """
        effects = Effects()
        if not step.recorded and not step.announcements:  # a repetition, or noise
            return effects
        if step.recorded:
            self.last_step += 1
            game = self.games[table.name]
            effects.records.append(StepTaken(self.last_step, game, step.at, step.text, step.check, proof))
        effects.publications += step.publications
        if table.name in self.logs:
            effects.publications += self.logs[table.name].take_in(step)
        effects.publications += self.follower.follow(table, step)
        effects.news.append(StepNews(table.name, step.at, step.command, step.announcements))
        for announcement in step.announcements:
            if type(announcement) in _FOLLOWED:
                effects += self._follow(table, step, announcement)
        if self.evening.paused and any(_begins(announcement) for announcement in step.announcements):
            # A league's command, or a host's for one table, that the break has overtaken.
            effects += self._step(table, m.HostCommand(m.TERMINAL_HOST, m.HostAction.PAUSE), step.at)
        self.timers.set(table.name, table.referee.deadline())
        if self.evening.shown is not self._settled:
            effects += self.settle_evening(step.at)
        return effects

    def _follow(self, table: Table, step: Step, announcement: m.Announcement) -> Effects:
        """Return what follows from an announcement beside its table."""
        effects = Effects()
        match announcement:
            case m.PlayersListed(names):
                self.evening.list_teams(names, step.at)
            case m.StateChanged(m.State.TURN):
                self.evening.begin_game(step.at)
            case m.HostActed(everywhere=True):
                effects += self._act_everywhere(announcement, step.at)
            case m.Recap(to):
                effects.publications += self.recaps.recall(table.name, to)
            case m.HostActed(by=by, do=m.HostAction.ANNUL, game=int(number)):
                effects.records.append(ResultAnnulled(table.name, number, by, step.at))
            case m.PlayerLeft():
                self.keyring.retain(table.name, table.referee.players)
            case m.TurnBegan(turn=turn) | m.TurnResumed(turn=turn) if table.referee.limits.bank_ms is not None:
                self.delivery.begin_turn(table.name, turn)
            case m.GameWon():
                rules = table.header.rules.book.name
                result = result_of(table.name, step.game, step.at, rules, step.announcements)
                if result is not None:
                    effects.records.append(GameConcluded(self.games[table.name], result))
            case m.TableReset():
                self.keyring.retain(table.name, ())
                effects.records.append(GameClosed(self.games[table.name]))
                effects += self._open_game(table, step.at)
            case _:
                pass
        return effects

    # --- the evening ------------------------------------------------------------------------------------------------

    def check_host(self, table: Table, command: m.HostCommand) -> None:
        """Make sure that a command for all tables is possible now, and was given at the first one.

        Raises:
            IllegalCommand: see :meth:`Evening.check`.
        """
        if not command.everywhere:
            return
        if table.name != self.openings.first_table:
            raise IllegalCommand("wrong_state", "a command for all tables is given at the first one")
        self.evening.check(command, {name for each in self.tables.values() for name in each.referee.players})

    def _act_everywhere(self, did: m.HostActed, now: int) -> Effects:
        """Do at each table, and in the evening, what a host has commanded for all."""
        self.evening.act(did, now)
        effects = self.settle_evening(now)
        for table, command in at_each(self.tables.values(), did, held=self.evening.held):
            effects += self.carry_out(table, command, now)[1]
        return effects

    def settle_evening(self, now: int) -> Effects:
        """Record and publish what is on, if it has changed, and hold the lobbies or let go of them."""
        effects = Effects()
        if self.evening.shown is self._settled:
            return effects
        self._settled = self.evening.shown
        text, topic = self.evening.text, topics.LEAGUE.of(self.openings.first_table)
        self.retained[topic] = text.encode()
        effects.records.append(EveningChanged(text))
        effects.publications.append(Publication(topic, text.encode(), True))
        if self.openings.held != self.evening.held:
            self.openings.held = self.evening.held
            for table in self.tables.values():
                self.openings.configure(table.referee)
                referee = table.referee
                if self.openings.held and referee.state is m.State.LOBBY and not referee.limits.by_host:
                    effects += self._step(table, m.HostCommand(m.TERMINAL_HOST, m.HostAction.NEXT), now)
        return effects

    def _open_game(self, table: Table, now: int) -> Effects:
        self.last_game += 1
        self.games[table.name] = self.last_game
        header = write_header(table.header)
        effects = Effects()
        effects.records.append(GameOpened(self.last_game, table.name, table.referee.number, now, header))
        self.openings.configure(table.referee)
        game_log = self.openings.log(table.header)
        if game_log is not None:
            self.logs[table.name] = game_log
            effects.publications += game_log.opening()
        return effects

    def admit(self, table: Table, name: str, secret: str, now: int) -> TeamAdmitted:
        """Let a listed team be known by its secret."""
        self.keyring.admit(table.name, name, secret, now)
        return TeamAdmitted(self.games[table.name], name, secret)

    def take_derived(self) -> Effects:
        """Return what follows from the keys that are there now: recaps that waited, and what the journal keeps."""
        effects = Effects(publications=self.recaps.take_due())
        learned = self.keyring.take_learned()
        effects.records += [KeyLearned(self.games[k.table], k.name, k.salt, k.key) for k in learned]
        return effects

    # --- a game that cannot go on -----------------------------------------------------------------------------------

    def give_up(self, table: Table, why: str, now: int) -> Effects:
        """Open a table's next lobby in place of its game, and announce why (SALVO-BACK-7).

        Nothing more is signed of that game: the teams have more of its log than this server.
        """
        game = table.referee.number
        effects = self.follow(table, table.give_up(now))
        effects += self._explain(table, game, why, now)
        return effects

    def doubt(self, table: Table, player: str, now: int) -> Effects:
        """Note that a player has more of a game's log than there is; give the game up when most of its players do.

        Only a game from the journal can lack anything. One player alone does not end a game.
        """
        game = self.games[table.name]
        if table.name not in self.doubtful or table.referee.state is not m.State.TURN:
            return Effects()
        doubts = self._doubts.setdefault(game, set())
        doubts.add(player)
        if 2 * len(doubts) <= len(table.referee.players):
            return Effects()
        return self.give_up(table, "its teams have more of its log than the journal, which has lost something", now)

    def _explain(self, table: Table, game: int, why: str, now: int) -> Effects:
        """Announce why a game does not resume, which the operator reads, too."""
        text = f"game {game} does not resume: {why}"
        return self._step(table, m.HostCommand(m.TERMINAL_HOST, m.HostAction.ANNOUNCE, text=text), now)

    # --- time -----------------------------------------------------------------------------------------------------

    def deadline(self) -> int | None:
        """Return when time passes next at a table or for the evening; epoch ms, and perhaps too early."""
        due = [at for at in (self.timers.earliest, self.evening.deadline()) if at is not None]
        return min(due, default=None)

    def pass_times(self, now: int) -> Effects:
        """Run what is due at all tables."""
        effects = Effects()
        for name in self.timers.take_due(now):
            effects += self.pass_time(self.tables[name], now)
            self.timers.set(name, self.tables[name].referee.deadline())
        effects.publications += self.follower.take_ready()
        self.evening.pass_time(now)
        effects += self.settle_evening(now)
        return effects

    def pass_time(self, table: Table, now: int) -> Effects:
        """Run what is due at one table."""
        due = table.referee.deadline()
        return Effects() if due is None or due > now else self._step(table, m.TimePassed(), now)

    def restart_time(self, tables: Iterable[Table], now: int) -> Effects:
        """Restart the time to act at these tables (SALVO-BACK-2)."""
        effects = Effects()
        for table in tables:
            if table.referee.deadline() is not None and table.referee.state is not m.State.OVER:
                effects += self._step(table, m.Resumed(), now)
        return effects

    def take_delivered(self, delivered: int, now: int) -> Effects:
        """Let banks count whose turn the broker has confirmed to be on (SALVO-TIME-2)."""
        effects = Effects()
        for name, turn in self.delivery.take_delivered(delivered):
            if self.tables[name].referee.awaits_delivery() == turn:
                effects += self._step(self.tables[name], m.TurnDelivered(turn), now)
        return effects

    # --- the opening ------------------------------------------------------------------------------------------------

    def set_tables(self, saved: Saved, resumes: bool, status: Callable[[Referee], m.ServerStatus], now: int) -> Effects:
        """Set tables as the journal has them.

        Args:
            resumes: whether their games are resumed; otherwise each table opens its next one, and announces why if the
                journal is behind.
            status: makes what ``/game/server`` says of a table.
        """
        effects = self.settle_evening(now)
        self._insists = resumes and bool(saved.behind)
        for former in saved.former:
            if former.opened.table in self.openings.limits:
                effects.publications += self._unsent_end(former, saved.sent_through, status)
        stored = {game.opened.table: game for game in saved.games}
        for name in self.openings.limits:
            game = stored.pop(name, None)
            if game is not None and resumes and game.steps:
                effects.publications += self._restore_table(game, saved.sent_through, status, now)
                continue
            behind = bool(saved.behind) and not resumes
            table = Table(self.openings.set_table(name, game, behind=behind), status)
            self.tables[name] = table
            announcements, publications = table.open()
            self.follower.open(table)
            if game is not None:
                effects.records.append(GameClosed(game.opened.id))
            effects.publications += publications
            effects += self._open_game(table, now)
            effects.news.append(StepNews(name, now, None, announcements))
            if behind and game is not None and game.steps:
                effects += self._explain(table, game.opened.number, saved.behind, now)
        for name in stored if resumes else ():
            log.warning("the journal has a game of table %r, which the settings lack; it waits", name)
        return effects

    def _unsent_end(
        self, game: SavedGame, sent_through: int, status: Callable[[Referee], m.ServerStatus]
    ) -> list[Publication]:
        """Return what of a game's end may not have been published; nothing of a game that was given up.

        What is retained is left out: it is the next game's by now.
        """
        try:
            recovered = recover(game, status, sent_through, signer=self.openings.identity)
        except JournalError as error:  # which must not keep the next game from going on
            log.error("%s; the rest of its end stays unpublished", error)
            return []
        has_ended = recovered.table.referee.number != game.opened.number
        return [each for each in recovered.unsent if not each.retain] if has_ended else []

    def _restore_table(
        self, game: SavedGame, sent_through: int, status: Callable[[Referee], m.ServerStatus], now: int
    ) -> list[Publication]:
        """Restore a game; return what of it may not have been published.

        The time of its turn is restarted with the first connection (``outages``), before any deadline.
        """
        recovered = recover(game, status, sent_through, self.follower.follow, self.openings.identity)
        table, referee = recovered.table, recovered.table.referee
        self.tables[table.name] = table
        self.games[table.name] = game.opened.id
        self._resumed.add(game.opened.id)
        if recovered.log is not None:
            self.logs[table.name] = recovered.log
        self.openings.configure(referee)
        for team in game.teams:
            if team.name in referee.players:
                self.keyring.admit(table.name, team.name, team.secret, now)
                self.keyring.restore(table.name, team.name, team.keys)
                referee.players[team.name].credential = self.keyring.credential(team.name, team.secret)
        self.timers.set(table.name, referee.deadline())
        where = (table.name, referee.number, referee.state, table.steps)
        log.info("table %r: game %d resumes in state %s after %d steps", *where)
        return list(recovered.unsent)
