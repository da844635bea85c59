"""How many shots a bot needs to clear a board that never shoots back.

The rival is a :class:`Target`: it has a fleet drawn evenly from all legal layouts and passes every turn, so the bot
always has the shots of a whole fleet. Otherwise it is an ordinary game in the arena. Board and bot are seeded from the
seed and the board's number: all bots get the same boards, whatever the order and the number of processes.
:class:`Boards` is what processes play, here and on other hosts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final, NamedTuple

from salvo.bots.adapter import Adapter, closing, made, method, replace
from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.rules import SALVO, Fleet, RuleBook, generator
from salvo.rules.fleet import fleet_ship_by_ship
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.arena import Failure
from salvo_lab.simulation.worker import GameResults, Run, RunPlayer

#: Names of the players in a solo game.
SHOOTER: Final = "solo"
TARGET: Final = "board"
#: Salvos per cell of the board after which a bot is considered never to clear it.
MAX_SALVOS_A_CELL: Final = 10
#: Lines of a histogram.
MAX_LINES: Final = 24


class Cleared(NamedTuple):
    """A board that was cleared.

    Attributes:
        board: its number, from 1.
        salvos: turns in which the bot was asked.
        shots: how many it fired.
        seconds: processor time of each answer.
        trouble: what went wrong when the bot was closed; mostly empty.
    """

    board: int
    salvos: int
    shots: int
    seconds: list[float]
    trouble: str = ""


class Target(Bot):
    """Never shoots."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return ()


def clear(
    make: Callable[[], Bot], board: int, *, seed: int | str = 0, book: RuleBook = SALVO, fleet: Fleet | None = None
) -> Cleared:
    """Let a bot clear one board, or reach the goal if the rules have points.

    Args:
        make: creates the bot, a new one for each board.
        board: its number, from 1.
        seed: decides the boards, and the bot's draws.
        fleet: the one on the board; by default it is drawn.

    Raises:
        BotError: as :func:`salvo_lab.arena.play`; ``not_cleared`` if the bot keeps passing, or never stops
            firing.
    """
    trouble: list[str] = []
    with closing(make(), SHOOTER, trouble.append) as adapter:
        clock = _Clock(adapter, MAX_SALVOS_A_CELL * book.grid.size)
        replace(adapter.bot, "choose_salvo", clock)
        laid = {} if fleet is None else {TARGET: fleet}
        players: dict[str, Bot | Adapter] = {SHOOTER: adapter, TARGET: Target()}
        outcome = arena.play(players, seed=seed, game=board, book=book, fleets=laid, passive=(TARGET,))
    stats = outcome.stats[SHOOTER]
    if outcome.winners != (SHOOTER,):
        raise BotError("not_cleared", f"board {board}, seed {seed}: the bot passed its turns after {stats.shots} shots")
    return Cleared(board, stats.turns, stats.shots, clock.seconds, "".join(trouble))


@dataclass(frozen=True, slots=True)
class Boards(Run[Cleared]):
    """What is the same for all boards; a board that is not cleared is a failure of its game, whose number it has.

    Attributes:
        ship_by_ship: whether fleets are drawn so, instead of evenly from all legal layouts.
    """

    bots: Mapping[str, str | type[Bot]]
    seed: str
    book: RuleBook
    strict: bool = False
    ship_by_ship: bool = False

    def player(
        self, mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None
    ) -> RunPlayer[Cleared]:
        """Return what clears the boards."""
        return _Clearing(self, mark, kinds)

    def at_table(self, game: int) -> Iterable[str]:
        """Return the bot's name."""
        return self.bots


class _Clearing(RunPlayer[Cleared]):
    def __init__(self, boards: Boards, mark: memoryview | None, kinds: Mapping[str, type[Bot]] | None) -> None:
        super().__init__(boards, mark, kinds)
        self._boards = boards

    def _play(self, game: int, batch: GameResults[Cleared]) -> Cleared:
        [(name, kind)] = self._kinds.items()
        try:
            seed, book = self._boards.seed, self._boards.book
            fleet = None
            if self._boards.ship_by_ship:
                fleet = fleet_ship_by_ship(book, generator(seed, "ship by ship", game))
            return clear(lambda: made(kind), game, seed=seed, book=book, fleet=fleet)
        except BotError as error:
            batch.failures.append(Failure(name, game, 0, error.code, error.text, error.trace))
            return Cleared(game, 0, 0, [])


class _Clock:
    """A bot's ``choose_salvo`` with a stopwatch and a limit."""

    def __init__(self, adapter: Adapter, most: int) -> None:
        self._choose, self._settled = method(adapter.bot, "choose_salvo"), adapter.settled
        self._most = most
        self.seconds: list[float] = []

    def __call__(self, view: View) -> Any:
        if len(self.seconds) >= self._most:
            raise BotError("not_cleared", f"not cleared after {self._most} answers")
        start = time.process_time()
        answer = self._settled(self._choose(view))
        self.seconds.append(time.process_time() - start)
        return answer


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of one count, such as the salvos, over many boards.

    Attributes:
        error: standard error of the mean; 0 for one board.
        histogram: number of boards by count, ascending, without gaps.
    """

    mean: float
    error: float
    median: float
    histogram: dict[int, int]

    def lines(self) -> list[tuple[str, int]]:
        """Return the histogram in few lines: ranges of counts, with their numbers of boards."""
        counts = list(self.histogram)
        step = -(-len(counts) // MAX_LINES)
        shared = [counts[first : first + step] for first in range(0, len(counts), step)]
        return [
            (f"{line[0]}-{line[-1]}" if len(line) > 1 else f"{line[0]}", sum(self.histogram[count] for count in line))
            for line in shared
        ]


def summary(counts: Iterable[int]) -> Summary:
    """Return the statistics of one or more counts."""
    ranked = sorted(counts)
    boards = len(ranked)
    mean = sum(ranked) / boards
    squares = fsum((count - mean) ** 2 for count in ranked)
    error = (squares / (boards - 1) / boards) ** 0.5 if boards > 1 else 0.0
    median = (ranked[(boards - 1) // 2] + ranked[boards // 2]) / 2
    histogram = {count: ranked.count(count) for count in range(ranked[0], ranked[-1] + 1)}
    return Summary(mean, error, median, histogram)
