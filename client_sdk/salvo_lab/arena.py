"""Bots against bots in this process, without a broker: thousands of games a second.

The engine is the referee's, the draws come from the same seeds, and the views have the same news in the same order, so
a game here is the same as in a contest with that seed. But here the views fetch news only when a bot reads them: most
bots read little, and keeping all views up to date would take longer than the game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from time import perf_counter
from typing import Any

from salvo.bots import surroundings
from salvo.bots.adapter import NO_TEXT, Adapter, texts_of
from salvo.bots.errors import placed
from salvo.bots.player import MAX_UNSAID, Answer, Bot, Line
from salvo.errors import BotError, SalvoError, let_interruptions_pass
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import (
    SALVO,
    Announce,
    Fleet,
    Grid,
    Order,
    Repeats,
    RuleBook,
    Shots,
    Targets,
    generator,
    own_seed,
)
from salvo.rules.game import Game, begin
from salvo.rules.starter import draw_starter, set_starter
from salvo.view import Feed, SalvoNews, Shot, View, board_shots
from salvo.wire.chat_text import clean_text

#: Turns in a row without a shot that defeat a player, as in a contest by default (SALVO-TURN-6).
EMPTY_TURNS = 3

GameListener = Callable[[Sequence[Shot], SalvoResolved], None]


class Placed:
    """Winners and places, for anything that has the players' statistics."""

    __slots__ = ()
    stats: dict[str, PlayerStats]

    @property
    def winners(self) -> tuple[str, ...]:
        """The winners, several after a tie."""
        return tuple(name for name, stats in self.stats.items() if stats.place == 1)

    @property
    def places(self) -> dict[str, int]:
        """Place by player, 1 for the winner, best first."""
        return dict(sorted(((name, s.place) for name, s in self.stats.items()), key=lambda pair: pair[1]))


@dataclass(frozen=True, slots=True)
class Outcome(Placed):
    """How a game ended.

    Attributes:
        winner: empty after a tie.
        stats: by player, in play order.
        turns: salvos of all players together.
        fleets: by player.
        silent: players that were defeated for turns without a shot (SALVO-TURN-6), in that order.
    """

    winner: str
    seed: int | str
    game: int
    turns: int
    stats: dict[str, PlayerStats]
    fleets: dict[str, Fleet] = field(repr=False)
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A bot failed, and its game went on without it.

    Attributes:
        turn: the turn in which it failed; 0 while it placed its fleet.
        trace: see :class:`~salvo.errors.BotError`.
    """

    player: str
    game: int
    turn: int
    code: str
    text: str
    trace: str = field(default="", compare=False, repr=False)


@dataclass(slots=True)
class Decisions:
    """How long a bot thought about its salvos, in seconds.

    Attributes:
        count: how many were measured.
    """

    count: int = 0
    seconds: float = 0.0
    worst: float = 0.0

    @property
    def mean(self) -> float:
        """Mean time; 0 if none was measured."""
        return self.seconds / self.count if self.count else 0.0

    def note(self, seconds: float) -> None:
        """Count one more."""
        self.count += 1
        self.seconds += seconds
        self.worst = max(self.worst, seconds)

    def check(self) -> None:
        """Do nothing: there are no limits here.

        Raises:
            BotError: a limit is exceeded.
        """

    def add(self, other: Decisions) -> None:
        """Count those of another game."""
        self.count += other.count
        self.seconds += other.seconds
        self.worst = max(self.worst, other.worst)


#: Codes of failures after which a bot is out, whatever its strikes: its process has gone, or nothing would count.
FINAL = ("bank_empty", "bot_crashed", "bot_hangs", "not_cleared")

#: Bits of the seat in :attr:`Supervision.mark`; the rest is the turn.
SEAT_BITS = 16


@dataclass(slots=True)
class Supervision:
    """Lets games go on without a bot that fails, as a contest goes on without a program that has ended.

    Once it has failed as often as that takes, the bot is not asked any more: its turns are empty, so it is soon
    defeated (SALVO-TURN-6).

    Attributes:
        mark: its first item is set to ``turn << SEAT_BITS | seat`` whenever a bot is called, for another process to
            read.
        times: by seat; measured if given.
        failures: what went wrong, in order.
        strikes: failures of a bot after which it is out; before, each costs it a turn.
    """

    mark: MutableSequence[int] | memoryview | None = None
    times: Sequence[Decisions] | None = None
    failures: list[Failure] = field(default_factory=list)
    strikes: int = 1


class _Unsaid(deque[Line]):
    """A bot's lines, which go to all in the order in which they are said, and are of its seat, whatever its name."""

    def __init__(self, seat: int, lines: deque[tuple[int, Line]]) -> None:
        super().__init__(maxlen=0)
        self._seat, self._lines = seat, lines

    def append(self, line: Line) -> None:
        self._lines.append((self._seat, line))


SeatAim = tuple[int, int]


@lru_cache(maxsize=64)
def _aims(players: tuple[str, ...], grid: Grid) -> dict[Shot, SeatAim]:
    """(seat, cell) by shot."""
    return {
        shot: (seat, cell) for seat, player in enumerate(players) for cell, shot in enumerate(board_shots(player, grid))
    }


def play(
    bots: Mapping[str, Bot | Adapter],
    *,
    seed: int | str = 0,
    game: int = 1,
    table: str = "",
    book: RuleBook = SALVO,
    opening: Callable[[Mapping[str, Fleet]], None] | None = None,
    listener: GameListener | None = None,
    fleets: Mapping[str, Fleet] | None = None,
    starter: int | None = None,
    supervision: Supervision | None = None,
    passive: Collection[str] = (),
) -> Outcome:
    """Play one game to its end.

    Args:
        bots: by name, in play order; two or more.
        seed: decides everything that is drawn; each bot gets its own seed derived from it.
        game: the game's number; games of one seed with different numbers differ.
        opening: called with all fleets before the first turn.
        listener: called after every salvo with its shots and its result.
        fleets: by name, for bots that are not asked to place theirs.
        starter: the seat that begins; by default, the rules and the seed decide.
        supervision: lets the game go on without bots that fail.
        passive: players that are not defeated for silence, such as a mere target.

    Raises:
        BotError: a bot raised, placed an illegal fleet or answered with an illegal salvo; the text names the bot,
            the turn and the seed.
    """
    adapters = {name: Adapter.of(bot) for name, bot in bots.items()}
    try:
        match = _Match(adapters, seed, game, table, book, listener, fleets or {}, starter, supervision, passive)
        if opening is not None:
            opening(match.fleets)
        return match.play()
    finally:
        for name, adapter in adapters.items():
            if adapter is not bots[name]:
                adapter.end()


class MatchRecord:
    """Everything that happened in a match, and who may know what of it."""

    def __init__(self, number: int, names: Sequence[str], game: Game) -> None:
        #: The last salvo as it was fired, including void shots. For all others, the game has every shot.
        self.last_aims: Sequence[SeatAim] = ()
        self._number = number
        self._names = names
        self._game = game
        self._results: list[SalvoResolved] = []

    def results(self) -> list[SalvoResolved]:
        """Return the public result of every turn so far."""
        results = self._results
        fresh = self._game.salvos[len(results) :]
        results += [SalvoResolved.of(self._number, self._names, self._game.book, salvo) for salvo in fresh]
        return results

    def news(self, player: str, first: int) -> list[SalvoNews]:
        """Return one player's news of the turns from index ``first`` on, counted from 0."""
        game = self._game
        news_so_far: list[SalvoNews] = []
        for salvo, result in zip(game.salvos[first:], self.results()[first:], strict=True):
            fired = self.shots(salvo.aims)
            landed = [shot for shot in fired if shot.player == player]
            if result.player != player:
                fired = []
            elif game.over and salvo.turn == game.turn and self.last_aims:
                fired = self.shots(self.last_aims)  # no one is defeated in a game for points
            news_so_far.append((result, fired, landed))
        return news_so_far

    def shots(self, aims: Iterable[SeatAim]) -> list[Shot]:
        """Return shots as views have them."""
        grid, names = self._game.book.grid, self._names
        return [board_shots(names[seat], grid)[cell] for seat, cell in aims]


class _Match:
    def __init__(
        self,
        bots: Mapping[str, Adapter],
        seed: int | str,
        game: int,
        table: str,
        book: RuleBook,
        listener: GameListener | None,
        laid: Mapping[str, Fleet],
        starter: int | None,
        supervision: Supervision | None,
        passive: Collection[str],
    ) -> None:
        if len(bots) < 2:
            raise BotError("too_few_players", f"{len(bots)} bots; a game has two or more")
        self._names = tuple(bots)
        self._bots = list(bots.values())
        self._seed = seed
        self._number = game
        self._book = book
        self._listener = listener
        self._supervision = supervision
        self._mark = supervision.mark if supervision is not None else None
        self._gone: dict[str, int] = {}  # by name, the turn from which a bot is not called any more
        self._passive = {seat for seat, name in enumerate(self._names) if name in passive}
        self._aims = _aims(self._names, book.grid)
        self._boards = [board_shots(name, book.grid) for name in self._names]
        self._seen = len(surroundings.events())
        self._times = supervision.times if supervision is not None else None
        self._silent = [0] * len(bots)
        self._failed = [0] * len(bots)
        self._silenced: list[str] = []
        self._hearing = [(seat, bot) for seat, bot in enumerate(self._bots) if bot.overrides("on_result")]
        self._unsaid: deque[tuple[int, Line]] = deque(maxlen=MAX_UNSAID * len(bots))  # with seats, in order
        fleets = [self._fleet_of(seat, laid.get(name)) for seat, name in enumerate(self._names)]
        if starter is None:
            starter = set_starter(book, game, self._names)
        if starter is None:
            starter = draw_starter(book, seed, table, game, len(fleets))
        self._game = begin(book, fleets, starter)
        self._all_see = book.announce is Announce.CELLS
        # Under other rules, shots that a view has dealt may be illegal by now, or may not be fired all at once.
        free = book.targets is Targets.EVERYBODY and book.repeats is not Repeats.REFUSED
        self._at_one_stroke = free and book.shots is not Shots.UNTIL_MISS
        self._fired: dict[int, Sequence[SeatAim]] = {}  # by turn, until listeners were called
        self._reported = 0  # how many salvos listeners were called for
        self._chronicle = MatchRecord(game, self._names, self._game)
        self._views = [
            View(book, name, self._names, game, fleet, adapter.random, partial(self._chronicle.news, name))
            for name, adapter, fleet in zip(self._names, self._bots, fleets, strict=True)
        ]
        self._choosers = [self._chooser(seat) for seat in range(len(fleets))]

    @property
    def fleets(self) -> dict[str, Fleet]:
        """By player."""
        return dict(zip(self._names, self._game.fleets, strict=True))

    def _fleet_of(self, seat: int, laid: Fleet | None) -> Fleet:
        """Return a player's given fleet, or the one that its bot places; if that fails, one is drawn."""
        name, adapter = self._names[seat], self._bots[seat]
        own = own_seed(self._seed, name, self._number)
        self._note(seat, 0)
        where = "prepare"
        try:
            try:
                adapter.prepare(name, own, self._number)
            finally:
                adapter.collect(_Unsaid(seat, self._unsaid))
            if laid is None:
                where = "place_fleet"
                return adapter.fleet(self._book)
        except BotError as error:
            self._give_up(seat, 0, self._in_game(seat, where, error), error.__cause__)
        return laid or self._book.random_fleet(generator(own, "fleet"))

    def _chooser(self, seat: int) -> Callable[[View], Answer]:
        adapter = self._bots[seat]
        choose = adapter.chooser()
        return choose if self._times is None else _timed(choose, self._times[seat], adapter.settled)

    def play(self) -> Outcome:
        game, views, silent, mark, unsaid = self._game, self._views, self._silent, self._mark, self._unsaid
        choosers, gone, aim_of = self._choosers, self._gone, self._aims.__getitem__
        events, seen = surroundings.events(), self._seen
        at_one_stroke, boards = self._at_one_stroke, self._boards
        followed = self._hearing or self._listener or self._all_see or self._book.order is Order.ROUNDS
        fallen, buried = game.fallen, 0
        # Hot path: a quick bot takes 40 turns a game, so asking, checking and firing happen here without calls.
        while not game.over:
            seat = game.current
            view = views[seat]
            view.turn = turn = game.turn
            view.shots = shots = game.shots_left
            if mark is not None:
                mark[0] = turn << SEAT_BITS | seat
            aims = None
            try:
                answer: Any = () if gone and self._is_gone(seat, turn) else choosers[seat](view)
            except BaseException as error:
                answer = self._without(seat, turn, error)
            if len(events) != seen:
                self._tidy(seat)
            if at_one_stroke and type(answer) is list and len(answer) == shots:
                try:
                    aims = list(map(aim_of, answer))
                except BaseException as error:
                    let_interruptions_pass(error)
                    aims = None  # not shots: checked below
            if aims is not None:
                game.fire_salvo(aims)
                if not view.untouched.discard_dealt(answer):
                    view.untouched.discard([boards[at][cell] for at, cell in aims])  # and not the bot's own objects
                view.shots = silent[seat] = 0
            else:
                aims = self._fire_in_parts(seat, view, answer)
            if len(fallen) != buried:
                self._bury(fallen[buried:], aims)
                buried = len(fallen)
            if followed:
                self._follow(turn, aims)
            if unsaid:
                self._pass_on()
        return self._outcome()

    def _fire_in_parts(self, seat: int, view: View, answer: object) -> list[SeatAim]:
        """Fire and ask until the turn's shots are spent or the bot gives up the rest; then end the turn.

        Returns all shots.
        """
        game = self._game
        parts: list[SeatAim] = []
        while fired := self._checked(seat, view, answer):
            aims = [self._aims[shot] for shot in fired]
            game.fire(aims)
            Feed(view).fired(fired)
            parts += aims
            if not game.shots_left or game.over:
                break
            Feed(view).begin_turn(game.turn, game.shots_left)
            answer = self._ask(seat, view)
        self._silent[seat] = 0 if parts else self._silent[seat] + 1
        if not parts and seat not in self._passive and game.judge_silence(self._silent, EMPTY_TURNS):
            self._silenced.append(self._names[seat])
        game.end_turn()
        Feed(view).end_turn()
        return parts

    def _ask(self, seat: int, view: View) -> object:
        """Return the bot's answer, empty if it has failed."""
        try:
            answer = () if self._is_gone(seat, view.turn) else self._choosers[seat](view)
        except BaseException as error:
            answer = self._without(seat, view.turn, error)
        if len(surroundings.events()) != self._seen:
            self._tidy(seat)
        return answer

    def _without(self, seat: int, turn: int, error: BaseException) -> tuple[()]:
        """Return the answer of a bot that has raised."""
        if len(surroundings.events()) != self._seen:
            self._tidy(seat)
        self._give_up(seat, turn, self._in_game(seat, f"turn {turn}", self._bots[seat].failure(error)), error)
        return ()

    def _tidy(self, seat: int) -> None:
        """See to what a bot's answer has done to this process."""
        if not self._bots[seat].settle(self._seen):
            self._choosers[seat] = self._chooser(seat)

    def _checked(self, seat: int, view: View, answer: object) -> list[Shot]:
        """Return the shots of an answer, which may be anything; none unless it is a legal salvo."""
        adapter = self._bots[seat]
        try:
            return list(adapter.checked(adapter.settled(answer), view))
        except BaseException as error:
            self._without(seat, view.turn, error)
        return []

    def _is_gone(self, seat: int, turn: int) -> bool:
        first = self._gone.get(self._names[seat])
        return first is not None and first <= turn

    def _note(self, seat: int, turn: int) -> None:
        if self._mark is not None:
            self._mark[0] = turn << SEAT_BITS | seat

    def _give_up(self, seat: int, turn: int, error: BotError, cause: BaseException | None = None) -> None:
        """Go on without a bot, under supervision.

        Raises:
            BotError: there is no supervision.
        """
        if self._supervision is None:
            raise error from cause
        name = self._names[seat]
        self._failed[seat] += 1
        if self._failed[seat] >= self._supervision.strikes or error.code in FINAL:
            self._gone[name] = min(turn, self._gone.get(name, turn))
        self._supervision.failures.append(Failure(name, self._number, turn, error.code, error.text, error.trace))

    def _bury(self, fallen: Sequence[int], aims: Sequence[SeatAim]) -> None:
        """Keep cells of the defeated from being drawn, whether or not the news is ever read."""
        self._chronicle.last_aims = aims
        for view in self._views:
            for seat in fallen:
                view.untouched.discard_player(self._names[seat])

    def _follow(self, turn: int, aims: Sequence[SeatAim]) -> None:
        """Show where shots fell if that is public, and call those who listen to every salvo."""
        if self._all_see:
            for view in self._views:
                view.untouched.discard_those_left(self._chronicle.shots(aims))
        if self._hearing or self._listener:
            self._fired[turn] = aims
            self._speak()

    def _speak(self) -> None:
        results = self._chronicle.results()
        for result in results[self._reported :]:
            for seat, bot in self._hearing:
                self._call(seat, result.turn, f"turn {result.turn}, on_result", bot.on_result, result)
            if self._listener is not None:
                self._listener(self._chronicle.shots(self._fired.pop(result.turn)), result)
        self._reported = len(results)

    def _pass_on(self) -> None:
        """Deliver chat lines to everybody, as a server would; replies are delivered after the next turn."""
        lines = list(self._unsaid)
        self._unsaid.clear()
        for seat, line in lines:
            sender, turn = self._names[seat], self._game.turn
            text, to = texts_of(line)
            if to and (to == sender or to not in self._names):
                about = f"sent a line to {to!r:.80}, who is not another player"
                self._give_up(seat, turn, self._error(sender, "unknown_player", about))
                continue
            try:
                if text is None or to is None:
                    raise BotError("bad_text", NO_TEXT)
                text = clean_text(text)
            except SalvoError as error:
                self._give_up(seat, turn, self._error(sender, "bad_text", f"sent {text!r:.80}: {error.text}"), error)
                continue
            for seat, (name, bot) in enumerate(zip(self._names, self._bots, strict=True)):
                if name == to or (not to and name != sender):
                    self._call(seat, turn, f"turn {turn}, on_message", bot.on_message, sender, text, bool(to))

    def _call(self, seat: int, turn: int, where: str, method: Callable[..., None], *arguments: object) -> None:
        """Notify a bot, if it is still there."""
        if self._gone and self._is_gone(seat, turn):
            return
        self._note(seat, turn)
        try:
            method(*arguments)
        except BotError as error:
            self._give_up(seat, turn, self._in_game(seat, where, error), error.__cause__)

    def _outcome(self) -> Outcome:
        game, places = self._game, self._game.places()
        stats = {
            name: PlayerStats(name, tally.shots, tally.hits, tally.sank, tally.turns, place)
            for name, tally, place in zip(self._names, game.tally(), places, strict=True)
        }
        winner = self._names[places.index(1)] if places.count(1) == 1 else ""
        for seat, bot in enumerate(self._bots):
            if bot.overrides("on_game_over"):
                self._call(seat, game.turn + 1, "on_game_over", bot.on_game_over, winner, stats)
        self._pass_on()
        return Outcome(winner, self._seed, self._number, game.turn, stats, self.fleets, tuple(self._silenced))

    def _in_game(self, seat: int, where: str, error: BotError) -> BotError:
        return self._error(self._names[seat], error.code, error.text, where, error.trace)

    def _error(self, name: str, code: str, text: str, where: str = "", trace: str = "") -> BotError:
        whose = f"{name}, {where}" if where else name
        return BotError(code, placed(text, f"{whose}; seed {self._seed}, game {self._number}"), trace)


def _timed(
    choose: Callable[[View], Answer], decisions: Decisions, settled: Callable[[Any], Any]
) -> Callable[[View], Any]:
    """Return ``choose`` with a stopwatch."""

    def choose_timed(view: View) -> object:
        start = perf_counter()
        try:
            answer = settled(choose(view))
        finally:
            decisions.note(perf_counter() - start)
        decisions.check()
        return answer

    return choose_timed
