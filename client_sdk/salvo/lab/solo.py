"""How many shots a bot needs to clear a board that never shoots back.

The rival is a :class:`Target`: it has a fleet drawn evenly from all legal layouts and passes every turn, so the bot
always has the shots of a whole fleet. It is a game like any other, by the arena and its engine. Board and bot are drawn
from the seed and the board's number: all bots meet the same boards, in whatever order and by how many processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import fsum
from typing import Any, Final, NamedTuple

from salvo.errors import BotError
from salvo.lab import arena
from salvo.notebook import Pictured
from salvo.player import Bot, settle
from salvo.rules import SALVO, Fleet, RuleBook
from salvo.view import Shot, View

#: What the players of a solo game are called.
SHOOTER: Final = "solo"
TARGET: Final = "board"
#: Salvos that a bot may take for each cell of the board before it is said never to clear it.
MAX_SALVOS_A_CELL: Final = 10
#: Lines of a histogram.
MAX_LINES: Final = 24


class Cleared(NamedTuple):
    """A board that was cleared.

    Attributes:
        board: its number, from 1.
        salvos: turns in which the bot was asked.
        shots: that it fired.
        seconds: processor time of each answer.
    """

    board: int
    salvos: int
    shots: int
    seconds: list[float]


class Target(Bot):
    """Never shoots."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return ()


def clear(
    make: Callable[[], Bot], board: int, *, seed: int | str = 0, book: RuleBook = SALVO, fleet: Fleet | None = None
) -> Cleared:
    """Let a bot clear one board; by rules with points, reach the goal.

    Args:
        make: makes the bot, a new one for each board.
        board: its number, from 1; each is another one.
        seed: decides the boards, and what the bot draws.
        fleet: that lies on the board; by default it is drawn.

    Raises:
        BotError: as :func:`salvo.lab.arena.play`; ``not_cleared`` when the bot passes turn after turn, or fires
            on and on without an end.
    """
    with closing(make()) as bot:
        clock = _Clock(bot.choose_salvo, MAX_SALVOS_A_CELL * book.grid.size)
        bot.choose_salvo = clock  # type: ignore[method-assign]
        laid = {} if fleet is None else {TARGET: fleet}
        players = {SHOOTER: bot, TARGET: Target()}
        outcome = arena.play(players, seed=seed, game=board, book=book, fleets=laid, passive=(TARGET,))
    stats = outcome.stats[SHOOTER]
    if outcome.winners != (SHOOTER,):
        raise BotError("not_cleared", f"board {board}, seed {seed}: the bot passed its turns after {stats.shots} shots")
    return Cleared(board, stats.turns, stats.shots, clock.seconds)


class _Clock:
    """A bot's ``choose_salvo`` with a stop-watch, and an end."""

    def __init__(self, choose: Callable[[View], Any], most: int) -> None:
        self._choose = choose
        self._most = most
        self.seconds: list[float] = []

    def __call__(self, view: View) -> Any:
        if len(self.seconds) >= self._most:
            raise BotError("not_cleared", f"not cleared after {self._most} answers")
        start = time.process_time()
        answer = settle(self._choose(view))
        self.seconds.append(time.process_time() - start)
        return answer


@dataclass(frozen=True, slots=True)
class Summary(Pictured):
    """Figures of one count, such as the salvos, over many boards.

    Attributes:
        error: standard error of the mean; 0 for one board.
        histogram: number of boards by count, ascending, without gaps.
    """

    mean: float
    error: float
    median: float
    histogram: dict[int, int]

    def lines(self) -> list[tuple[str, int]]:
        """Return the histogram in few lines: the counts that share one, and how many boards they have."""
        counts = list(self.histogram)
        step = -(-len(counts) // MAX_LINES)
        shared = [counts[first : first + step] for first in range(0, len(counts), step)]
        return [
            (f"{line[0]}-{line[-1]}" if len(line) > 1 else f"{line[0]}", sum(self.histogram[count] for count in line))
            for line in shared
        ]


def summary(counts: Iterable[int]) -> Summary:
    """Return the figures of at least one count."""
    ranked = sorted(counts)
    boards = len(ranked)
    mean = sum(ranked) / boards
    squares = fsum((count - mean) ** 2 for count in ranked)
    error = (squares / (boards - 1) / boards) ** 0.5 if boards > 1 else 0.0
    median = (ranked[(boards - 1) // 2] + ranked[boards // 2]) / 2
    histogram = {count: ranked.count(count) for count in range(ranked[0], ranked[-1] + 1)}
    return Summary(mean, error, median, histogram)
