"""Plays the games of a run one by one, in this process or in a worker: what a simulation and a tournament share."""

from __future__ import annotations

import gc
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from salvo.bots import sources
from salvo.bots.adapter import Adapter, made
from salvo.bots.errors import placed
from salvo.bots.player import Bot
from salvo.bots.programs.process_pool import ProgramPool
from salvo.bots.sources import load
from salvo.errors import BotError, SalvoError
from salvo.rules import Fleet, RuleBook
from salvo_lab import arena
from salvo_lab.arena import SEAT_BITS, Decisions, Failure, Supervision
from salvo_lab.loaded_code import LoadedCode
from salvo_lab.simulation.seats import Seats, places_alike, seating

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: One game as plain numbers, because ten thousand a second go through pipes: its number of turns, then for each bot, in
#: the order of the call, its place, shots, hits, ships sunk and turns.
Row = tuple[int, ...]

#: One game in this many is timed while bots are quick; timing all would cost more than it is worth.
MEASURED = 16
#: Bots that take longer than this on average, in seconds, are timed in every game.
SLOW = 100e-6
#: Objects between two runs of the garbage collector. Games leave no cycles behind; Python's default of 700 means a run
#: every second game, which costs 5 %.
GARBAGE = 50_000

#: What one game leaves behind.
R = TypeVar("R")


@dataclass(slots=True)
class GameResults(Generic[R]):
    """The results of consecutive games.

    Attributes:
        first: number of the first game in the run.
        code: as :meth:`salvo_lab.loaded_code.LoadedCode.fresh`.
    """

    first: int
    rows: list[R] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    times: dict[str, Decisions] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)


class Run(ABC, Generic[R]):
    """What is the same for all games that processes play; it is pickled.

    Attributes:
        bots: by name; a source of :func:`salvo.bots.sources.load`, or a class.
        strict: as in :func:`salvo.bots.sources.load`.
    """

    bots: Mapping[str, str | type[Bot]]
    strict: bool

    @abstractmethod
    def player(self, mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None) -> RunPlayer[R]:
        """Return what plays the games; the arguments are those of :class:`RunPlayer`."""

    @abstractmethod
    def at_table(self, game: int) -> Iterable[str]:
        """Return the names of the bots that play a game."""


def is_program(bot: str | type[Bot]) -> bool:
    """Whether a bot is a program, which is started for a game."""
    return isinstance(bot, str) and sources.is_program(bot)


class RunPlayer(ABC, Generic[R]):
    """Plays games of one run."""

    def __init__(
        self, run: Run[R], mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None
    ) -> None:
        """Load the bots.

        Args:
            mark: two numbers for a supervising process: the mark of :class:`~salvo_lab.arena.Supervision`, and
                the number of the game, 0 while bots are loaded.
            kinds: the bots, if they are loaded already.

        Raises:
            BotError: ``bad_bot``.
        """
        self._strict = run.strict
        self._mark = mark
        self._staying = ProgramPool()
        self._code = LoadedCode((bot for bot in run.bots.values() if isinstance(bot, str)), os.getcwd())
        self._kinds = dict(kinds or {})
        for name, bot in run.bots.items() if kinds is None else ():
            if mark is not None:
                mark[0] += 1  # one more is loaded
            self._kinds[name] = self._load(name, bot)

    def _load(self, name: str, bot: str | type[Bot]) -> type[Bot]:
        return load(bot, strict=self._strict, staying=self._staying) if isinstance(bot, str) else bot

    def play(self, first: int, count: int) -> GameResults[R]:
        """Play consecutive games."""
        batch: GameResults[R] = GameResults(first, times={name: Decisions() for name in self._kinds})
        for game in range(first, first + count):
            if self._mark is not None:
                self._mark[0] = 0
                self._mark[1] = game
            batch.rows.append(self._play(game, batch))
        batch.code = self._code.fresh()
        return batch

    @abstractmethod
    def _play(self, game: int, batch: GameResults[R]) -> R:
        """Play one game, and return what it leaves behind beside what it adds to the batch."""

    def close(self) -> None:
        """End the programs that wait for further games."""
        self._staying.close()

    def _outcome(
        self,
        seated: Mapping[str, type[Bot]],
        supervision: Supervision,
        *,
        seed: int | str,
        game: int,
        book: RuleBook,
        fleets: Mapping[str, Fleet] | None = None,
        starter: int | None = None,
    ) -> arena.Outcome:
        """Play a game; the arguments are those of :func:`salvo_lab.arena.play`, but for classes in place of bots."""
        # New bots for every game: what they remember would depend on which games they played before.
        bots = {
            name: Adapter(self._made(kind, seat, Failed(supervision, name, seed, game)))
            for seat, (name, kind) in enumerate(seated.items())
        }
        outcome = arena.play(
            bots,
            seed=seed,
            game=game,
            book=book,
            fleets=fleets,
            starter=starter,
            supervision=supervision,
        )
        for seat, (name, bot) in enumerate(bots.items()):
            if not bot.overrides("close"):
                bot.end()
            else:
                self._close(bot, outcome.turns + 1, seat, Failed(supervision, name, seed, game))
        return outcome

    def _close(self, bot: Adapter, turn: int, seat: int, failed: Failed) -> None:
        if self._mark is not None:
            self._mark[0] = turn << SEAT_BITS | seat
        try:
            bot.close()
        except BotError as error:
            failed.note(turn, "close", error)

    def _made(self, kind: type[Bot], seat: int, failed: Failed) -> Bot:
        if self._mark is not None:
            self._mark[0] = seat
        try:
            return made(kind)
        except BotError as error:
            failed.note(0, "while it is created", error)
            return _Absent()


@dataclass(frozen=True, slots=True)
class Failed:
    """Whose failure it is that happens outside of the arena."""

    supervision: Supervision
    name: str
    seed: int | str
    game: int

    def note(self, turn: int, where: str, error: BotError) -> None:
        """Add a failure."""
        text = placed(error.text, f"{self.name}, {where}; seed {self.seed}, game {self.game}")
        self.supervision.failures.append(Failure(self.name, self.game, turn, error.code, text, error.trace))


class _Absent(Bot):
    """Takes the place of a bot that is gone."""

    def choose_salvo(self, view: Any) -> Sequence[tuple[str, int, int]]:
        return ()


# --- a simulation ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spec(Run[Row]):
    """What is the same for all games of a simulation."""

    bots: dict[str, str | type[Bot]]
    seed: int | str
    book: RuleBook
    seats: Seats
    strict: bool = False

    def player(self, mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None) -> RunPlayer[Row]:
        """Return what plays the games."""
        return _Simulating(self, mark, kinds)

    def at_table(self, game: int) -> Iterable[str]:
        """Return the names of all bots."""
        return self.bots


class _Simulating(RunPlayer[Row]):
    def __init__(self, spec: Spec, mark: memoryview | None, kinds: Mapping[str, type[Bot]] | None) -> None:
        super().__init__(spec, mark, kinds)
        self._spec = spec
        self._exchanged = places_alike(list(self._kinds.values()))
        self._slow = False

    def _play(self, game: int, batch: GameResults[Row]) -> Row:
        spec, names = self._spec, tuple(self._kinds)
        order, fleets, starter = seating(spec.seats, names, spec.seed, game, spec.book, exchanged=self._exchanged)
        supervision = Supervision(self._mark, None, batch.failures)
        if self._slow or game % MEASURED == 1:
            supervision.times = [Decisions() for _ in names]
        seated = {name: self._kinds[name] for name in order}
        outcome = self._outcome(
            seated, supervision, seed=spec.seed, game=game, book=spec.book, fleets=fleets, starter=starter
        )
        if supervision.times is not None:
            for name, decisions in zip(order, supervision.times, strict=True):
                batch.times[name].add(decisions)
            # Without the worst of each, when the machine may have been busy elsewhere.
            self._slow = any(times.seconds - times.worst > SLOW * times.count for times in supervision.times)
        row = [outcome.turns]
        for name in names:
            stats = outcome.stats[name]
            row += (stats.place, stats.shots, stats.hits, stats.sunk, stats.turns)
        return tuple(row)


def work(pipe: Connection, shared: Any, run: Run[Any]) -> None:
    """Play the games requested through a pipe until it closes.

    Args:
        shared: two numbers shared with the supervising process; see :class:`RunPlayer`.
    """
    # A file that is saved twice in a second may keep its size, and Python would use the old bytecode.
    sys.dont_write_bytecode = True
    gc.set_threshold(GARBAGE, 20, 20)
    mark = memoryview(shared).cast("B").cast("q")
    try:
        with closing(run.player(mark)) as player:
            pipe.send(None)
            while True:
                pipe.send(player.play(*pipe.recv()))
    except SalvoError as error:
        pipe.send((error.code, error.text, getattr(error, "trace", "")))
    except (EOFError, OSError):
        pass  # the pipe is closed: no more tasks
    os._exit(0)  # without waiting for bots' threads
