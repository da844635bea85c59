"""The state of a table, computed from what it publishes, for programs that follow a table without playing.

:meth:`TableState.apply` takes one piece of news and returns what changed; nothing here reads bytes, waits or draws. The
rules that all followers share:

- Retained topics arrive on every connection, in any order, so a new connection clears all that they say. What is
  reported as a change is what is new since the last report, over any number of connections.
- Salvos are published once. What was counted before a connection was lost is set aside, and counts again when the
  salvo that is retained is the last one that was received: then none was missed. Game numbers do not show that, because
  a server without a journal counts from 1 again.
- A salvo that is repeated, or older than the last, changes nothing.
- Another game number, and the lobby, begin from nothing.
- A game ends once: with a winner and the turn in which it won, whatever winners are published after that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from salvo import messages as m
from salvo.codec.commands import plain_ship
from salvo.errors import WireError
from salvo.messages import Fate, State
from salvo.rules import SALVO, RuleBook
from salvo.rules.board import MAX_SHIPS
from salvo.wire import topics
from salvo.wire.topics import Address

#: Facts of a kind: 26 ships of a thousand players. On an open broker any client may make some up.
MAX_FACTS: Final = 26_000
#: A turn without a shot was given up if it ended before this share of its time.
_EARLY: Final = 0.8

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Fact(NamedTuple):
    """What a topic says that carries no announcement.

    Attributes:
        present: whether it is retained, as of a ship that sank; False when it is cleared.
    """

    address: Address
    present: bool = False


class NewConnection(NamedTuple):
    """A connection stands, on which all that is retained arrives again."""


TableChange = m.Announcement | Fact | NewConnection


class StateMoved(NamedTuple):
    """The table is in another state than the one that was reported last."""

    state: State


class ListChanged(NamedTuple):
    """The players differ from those that were reported last.

    Attributes:
        joined: whether somebody is new.
    """

    names: tuple[str, ...]
    joined: bool


class GameForgotten(NamedTuple):
    """What was known belongs to another game."""


class GameRejoined(NamedTuple):
    """No salvo was missed while the connection was lost."""


class SalvoCounted(NamedTuple):
    """A salvo that was not known before.

    Attributes:
        fates: why players are out with it.
    """

    result: m.SalvoResolved
    fates: dict[str, Fate]


class EndSeen(NamedTuple):
    """A game is over, which is reported once; without a winner if a host has aborted it."""

    won: m.GameWon


Change = StateMoved | ListChanged | GameForgotten | GameRejoined | SalvoCounted | EndSeen


@dataclass(slots=True)
class SalvoTally:
    """A player's salvos, those that were received."""

    last: m.SalvoResolved
    shots: int = 0
    hits: int = 0
    turns: int = 0


@dataclass(slots=True)
class GameState:
    """What is known of a game.

    Attributes:
        number: 0 until it is known.
        turn: that began last; it stands after its salvo and after the end.
        result: the last salvo that was received.
        whole: whether every salvo so far was received, so that the tallies are right.
        fates: why players are out, as far as that is known.
        removed: by a host.
        sunk: player and ship, by its name in the ruleset.
        boards: the cells that everybody may know, by player, where the rules announce them.
        turn_times: turns and their milliseconds by player, of those that were seen whole and that nothing stopped.
        won: None while the game is on.
    """

    number: int = 0
    turn: m.TurnBegan | m.TurnResumed | None = None
    result: m.SalvoResolved | None = None
    whole: bool = True
    tallies: dict[str, SalvoTally] = field(default_factory=dict)
    fates: dict[str, Fate] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    sunk: set[tuple[str, str]] = field(default_factory=set)
    out: set[str] = field(default_factory=set)
    stats: dict[str, m.PlayerStats] = field(default_factory=dict)
    boards: dict[str, str] = field(default_factory=dict)
    turn_times: dict[str, tuple[int, int]] = field(default_factory=dict)
    won: m.GameWon | None = None
    _stopped: bool = False  # by a host, since the turn began

    @property
    def last_turn(self) -> int:
        """The turn of the last salvo; 0 before the first."""
        return 0 if self.result is None else self.result.turn

    @property
    def winners(self) -> tuple[str, ...]:
        """All winners; none before the end and of an aborted game."""
        return () if self.won is None else self.won.winners

    @property
    def aborted(self) -> bool:
        """Whether a host has ended it."""
        return self.won is not None and not self.won.winners

    @property
    def places(self) -> dict[str, int]:
        """The places by player; none in an aborted game."""
        return {} if self.aborted else {name: stats.place for name, stats in self.stats.items()}

    def turn_seconds(self, players: Sequence[str]) -> float | None:
        """Return how long a turn of these players takes, the pause after it included; None before each has had one."""
        times = [self.turn_times[player] for player in players if player in self.turn_times]
        if not times or len(times) < len(players):
            return None
        return sum(ms / turns for turns, ms in times) / len(times) / 1000

    def begin(self, turn: m.TurnBegan | m.TurnResumed) -> None:
        """Begin a turn, which ends the one before; the length of a turn that was resumed or paused is not counted."""
        before, self.turn = self.turn, turn
        whole = isinstance(before, m.TurnBegan) and isinstance(turn, m.TurnBegan) and not self._stopped
        if before is not None and whole and turn.turn == before.turn + 1:
            turns, ms = self.turn_times.get(before.player, (0, 0))
            _store(self.turn_times, before.player, (turns + 1, ms + max(0, turn.now - before.now)))
        self._stopped = False

    def take_command(self, acted: m.HostActed) -> None:
        """Take in what a host did."""
        self._stopped = self._stopped or acted.paused
        if acted.do is m.HostAction.REMOVE:
            _mark(self.removed, acted.team, present=True)

    def count(self, result: m.SalvoResolved) -> dict[str, Fate]:
        """Count a salvo; return why players are out with it."""
        if result.turn != self.last_turn + 1:
            self.whole = False
            self.tallies.clear()
        self.result = result
        if result.player in self.tallies or len(self.tallies) < MAX_FACTS:
            tally = self.tallies.setdefault(result.player, SalvoTally(result))
            tally.last, tally.turns = result, tally.turns + 1
            tally.shots, tally.hits = tally.shots + result.shots, tally.hits + result.hits
        for ship in result.sunk:
            _mark(self.sunk, (ship.player, ship.ship), present=True)
        if not result.defeated:
            return {}
        fates = {name: result.fate(name, self.removed) for name in result.defeated}
        for name, fate in fates.items():
            _mark(self.out, name, present=True)
            _store(self.fates, name, fate)
        return fates

    def precedes(self, later: m.TurnBegan | m.TurnResumed | m.SalvoResolved) -> bool:
        """Whether a turn or a salvo can follow in the same game."""
        return later.game == self.number and later.turn > self.last_turn

    def rejoin(self, lost: GameState) -> None:
        """Go on where a connection was lost; what is retained has arrived again, or will."""
        self.result, self.whole, self.tallies = lost.result, lost.whole, lost.tallies
        self.turn_times = lost.turn_times | self.turn_times
        self.fates = lost.fates | self.fates
        self.removed |= lost.removed


class TableState:
    """How a table stands.

    Attributes:
        opened: the game whose lobby was opened last, for those who follow a server from inside; 0 until it is known.
        rules: None until they are known; a new connection does not clear them.
        book: their rulebook; the default one until it is known.
        state: None until it is known.
        names: the players, in order of arrival; in play order once the game has begun.
        status: of the table, which may point to that of the first table.
        hosted: what a host did last since the lobby opened.
        approved: the ships whose placement is good, by player.
    """

    def __init__(self) -> None:
        """Begin with a table of which nothing is known."""
        self.opened = 0
        self.rules: m.RulesAnnounced | None = None
        self.book: RuleBook = SALVO
        self.state: State | None = None
        self.names: tuple[str, ...] = ()
        self.status: m.ServerStatus | None = None
        self.hosted: m.HostActed | None = None
        self.approved: dict[str, set[str]] = {}
        self.game = GameState()
        self._lost = GameState()  # as it was when a connection was lost
        self._reported_state: State | None = None
        self._reported_names: tuple[str, ...] | None = None
        self._ended: m.TurnBegan | m.TurnResumed | None = None  # the turn in which the last game ended

    @property
    def paused(self) -> bool:
        """Whether a host has stopped the clock."""
        return self.hosted is not None and self.hosted.paused

    @property
    def playing(self) -> m.TurnBegan | m.TurnResumed | None:
        """The turn, while the table is in a game."""
        return self.game.turn if self.state is State.TURN else None

    @property
    def complete(self) -> frozenset[str]:
        """The players whose whole fleet is approved; none before the rules are known."""
        if self.rules is None:
            return frozenset()
        whole = len(self.book.fleet)
        return frozenset(name for name in self.names if len(self.approved.get(name, ())) >= whole)

    def apply(self, news: TableChange) -> Sequence[Change]:
        """Take in a piece of news; return what changed, in order."""
        step = _STEPS.get(type(news))
        return () if step is None else step(self, news)

    def enter(self, number: int) -> Sequence[Change]:
        """Take in which game is on."""
        if self.game.number in (0, number):
            self.game.number = number
            return ()
        self.game = GameState(number)
        return (GameForgotten(),)

    # --- connections and lobbies ----------------------------------------------------------------------------------

    def _connect(self, _: NewConnection) -> Sequence[Change]:
        self.state = self.status = self.hosted = None
        self.names, self.approved = (), {}
        if self.game.result is not None:
            self._lost = self.game
        self.game = GameState()
        return ()

    def _open(self, opened: m.TableOpened) -> Sequence[Change]:
        self.opened = opened.game
        return ()

    def _reset(self, _: m.TableReset) -> Sequence[Change]:
        self._forget_game()
        self.hosted, self.names, self.approved = None, (), {}
        self._reported_names = None
        return (GameForgotten(),)

    def _forget_game(self) -> None:
        self.game, self._lost, self._ended = GameState(), GameState(), None

    def _leave(self, left: m.PlayerLeft) -> Sequence[Change]:
        self.approved.pop(left.player, None)
        return ()

    # --- announcements --------------------------------------------------------------------------------------------

    def _rules(self, rules: m.RulesAnnounced) -> Sequence[Change]:
        self.rules, self.book = rules, rules.book
        return ()

    def _status(self, status: m.ServerStatus) -> Sequence[Change]:
        self.status = status
        return ()

    def _move(self, changed: m.StateChanged) -> Sequence[Change]:
        if changed.state is self.state:
            return ()
        self.state = changed.state
        if self.state is State.LOBBY:
            self._forget_game()
        if self.state is self._reported_state:
            return ()
        self._reported_state = self.state
        if self.state is State.LOBBY:
            self._reported_names = None
        return (StateMoved(self.state),)

    def _list(self, listed: m.PlayersListed) -> Sequence[Change]:
        joined = not set(listed.names) <= set(self.names)
        self.names = listed.names
        if self.names == self._reported_names:
            return ()
        self._reported_names = self.names
        return (ListChanged(self.names, joined),)

    def _judge(self, judged: m.PlacementJudged) -> Sequence[Change]:
        return self._approve(judged.player, judged.spelling, approved=judged.approved)

    def _approve(self, player: str, spelling: str, *, approved: bool) -> Sequence[Change]:
        ships = self.approved.get(player)
        if ships is None and approved and len(self.approved) < MAX_FACTS:
            ships = self.approved[player] = set()
        if ships is not None and (not approved or len(ships) < MAX_SHIPS):
            _mark(ships, plain_ship(spelling), present=approved)
        return ()

    def _drop_spelling(self, dropped: m.SpellingDropped) -> Sequence[Change]:
        return self._approve(dropped.player, dropped.spelling, approved=False)

    def _begin_turn(self, turn: m.TurnBegan | m.TurnResumed) -> Sequence[Change]:
        changes = self.enter(turn.game)
        lost = self._lost
        if lost.result is not None and turn != lost.turn and not lost.precedes(turn):
            self._lost, changes = GameState(), (GameForgotten(),)
        self.game.begin(turn)
        return changes if self.game.won is None else (*changes, *self._end())

    def _resolve(self, result: m.SalvoResolved) -> Sequence[Change]:
        changes = self.enter(result.game)
        lost, self._lost = self._lost, GameState()
        if result == lost.result:
            self.game.rejoin(lost)
            return (*changes, GameRejoined())
        if lost.result is not None and not lost.precedes(result):
            changes = (GameForgotten(),)
        if result.turn <= self.game.last_turn:
            return changes
        counted = SalvoCounted(result, self.game.count(result))
        return (*changes, counted) if changes else (counted,)

    def _show_board(self, shown: m.BoardShown) -> Sequence[Change]:
        _store(self.game.boards, shown.player, shown.cells)
        return ()

    def _sum_up(self, stats: m.PlayerStats) -> Sequence[Change]:
        _store(self.game.stats, stats.player, stats)
        return ()

    def _win(self, won: m.GameWon) -> Sequence[Change]:
        self.game.won = won
        return self._end()

    def _end(self) -> Sequence[Change]:
        won, turn = self.game.won, self.game.turn
        if won is None or turn is None or turn == self._ended:
            return ()
        self._ended = turn
        return (EndSeen(won),)

    def _host(self, acted: m.HostActed) -> Sequence[Change]:
        self.hosted = acted
        self.game.take_command(acted)
        return ()

    # --- topics without an announcement ---------------------------------------------------------------------------

    def _take_fact(self, fact: Fact) -> Sequence[Change]:
        address, game = fact.address, self.game
        match address.topic:
            case topics.SUNK:
                _mark(game.sunk, (address.player, plain_ship(address.ship)), present=fact.present)
            case topics.DEFEATED:
                _mark(game.out, address.player, present=fact.present)
            case _ if not fact.present:
                self._clear(address)
            case _:
                pass  # repeats, in the specification's form, what another topic has in full
        return ()

    def _clear(self, address: Address) -> None:
        match address.topic:
            case topics.STATE:
                self.state = None
            case topics.SERVER:
                self.status = None
            case topics.LIST:
                self.names, self._reported_names = (), None
            case topics.APPROVED:
                self._approve(address.player, address.ship, approved=False)
            case topics.HOSTED:
                self.hosted = None
            case topics.TURN:
                self.game.turn = None
            case topics.STATS:
                self.game.stats.pop(address.player, None)
            case topics.BOARD:
                self.game.boards.pop(address.player, None)
            case topics.WINNER:
                self.game.won = None
            case _:
                pass  # a salvo that is cleared was fired all the same


_STEPS: Final[dict[type, Callable[[TableState, Any], Sequence[Change]]]] = {
    Fact: TableState._take_fact,
    NewConnection: TableState._connect,
    m.TableOpened: TableState._open,
    m.TableReset: TableState._reset,
    m.PlayerLeft: TableState._leave,
    m.RulesAnnounced: TableState._rules,
    m.ServerStatus: TableState._status,
    m.StateChanged: TableState._move,
    m.PlayersListed: TableState._list,
    m.PlacementJudged: TableState._judge,
    m.SpellingDropped: TableState._drop_spelling,
    m.TurnBegan: TableState._begin_turn,
    m.TurnResumed: TableState._begin_turn,
    m.SalvoResolved: TableState._resolve,
    m.BoardShown: TableState._show_board,
    m.PlayerStats: TableState._sum_up,
    m.GameWon: TableState._win,
    m.HostActed: TableState._host,
}


class ServerStatuses:
    """The statuses of a broker's tables, and so whether the server of each is there.

    A server has one connection, which leaves one last will: the status of a further table has no word of it, but names
    the topic that has.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._by_table: dict[str, m.ServerStatus] = {}

    def receive(self, table: str, status: m.ServerStatus | None) -> None:
        """Take a table's status; None when it is cleared."""
        if status is None:
            self._by_table.pop(table, None)
        else:
            self._by_table[table] = status

    def clear(self) -> None:
        """Forget all of them: they arrive again."""
        self._by_table.clear()

    def holder(self, table: str) -> str | None:
        """Return the table whose status has the word of this one's server; None while that is not known."""
        own = self._by_table.get(table)
        if own is None or not own.status_topic:
            return None if own is None else table
        try:  # any client of an open broker may have announced it: no wildcard
            address = topics.parse(own.status_topic)
            held = topics.check_name(address.table, "table") if address.table else ""
        except WireError:
            return None
        return held if address.topic is topics.SERVER else None

    def of(self, table: str) -> m.ServerStatus | None:
        """Return the status with the word of a table's server; None while that is not known."""
        holder = self.holder(table)
        status = None if holder is None else self._by_table.get(holder)
        return None if status is None or status.status_topic else status


class TurnClock:
    """When a turn ends, on the reader's clock.

    Attributes:
        ends: on that clock, in seconds; never changes by itself.
    """

    def __init__(self, ahead_seconds: float | None = None) -> None:
        """Begin without a turn.

        Args:
            ahead_seconds: the server's clock before the reader's; None until a turn has begun before its eyes.
        """
        self.ends = 0.0
        self.ahead_seconds = ahead_seconds

    def begin(self, turn: m.TurnBegan | m.TurnResumed, now: float, *, retained: bool) -> None:
        """Reckon when a turn ends; of one that had begun before this connection, only what is left is still to come."""
        left = (turn.deadline - turn.now) / 1000
        if not retained:
            self.ahead_seconds = turn.now / 1000 - now
        elif self.ahead_seconds is not None:
            left = min(left, turn.deadline / 1000 - self.ahead_seconds - now)
        self.ends = now + max(0.0, left)


class TurnLength:
    """How long the present turn has taken, which shows whether it was given up: its time cannot have run out."""

    def __init__(self) -> None:
        self._turn: m.TurnBegan | m.TurnResumed | None = None  # none that a host has ended, or that began unseen
        self._began = 0.0

    def receive(self, news: m.TurnBegan | m.TurnResumed | m.HostActed, now: float, *, retained: bool) -> None:
        """Note that a turn has begun, or that a host has ended it; ``now`` in seconds that never go back."""
        if not isinstance(news, m.HostActed):
            self._turn, self._began = None if retained else news, now
        elif news.do in (m.HostAction.SKIP, m.HostAction.REMOVE):
            self._turn = None

    def was_given_up(self, result: m.SalvoResolved, now: float) -> bool:
        """Whether a turn has ended without a shot, before most of its time was over; later, it may have run out."""
        turn = self._turn
        if turn is None or turn.turn != result.turn or result.shots:
            return False
        return now - self._began < _EARLY * (turn.deadline - turn.now) / 1000


def _store(facts: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if key in facts or len(facts) < MAX_FACTS:
        facts[key] = value


def _mark(facts: set[_Key], fact: _Key, *, present: bool) -> None:
    if not present:
        facts.discard(fact)
    elif len(facts) < MAX_FACTS:
        facts.add(fact)
