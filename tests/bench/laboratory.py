"""The laboratory: games a second through ``salvo_lab.simulate``, and how often ``salvo_lab.compare`` errs.

Processor time stands beside time on the wall: on a machine that others use, only the former is the program's own.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from bench.figures import row
from salvo.rules import generator
from salvo.view import Shot, View
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.comparison import SequentialTest, Verdict, compare
from salvo_lab.simulation import Seats, simulate

#: Share of games in which :class:`Mixed` hunts; found so that it beats the random bot in 55 of 100 games.
HUNTS = 0.1
#: Most games of a comparison.
MOST = 4000


class Mixed(Hunter):
    """Hunts in a tenth of its games and fires at random in the others; its own randomness draws which."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if view.turn <= len(view.players):
            self.hunts = self.random.random() < HUNTS
        return super().choose_salvo(view) if self.hunts else view.untouched.sample(view.shots)


def bench_simulate(games: int) -> None:
    """The same games with one process and with two, in turns, so that the machine's load falls on both."""
    wall: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for jobs in (1, 2):
            start, before = time.monotonic(), _processor_seconds()
            simulate(["random", "random"], games=games, seed=1, jobs=jobs)
            wall[jobs].append(games / (time.monotonic() - start))
            cpu[jobs].append(games / (_processor_seconds() - before))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    for jobs in (1, 2):
        row(f"simulate, random bots, {jobs} processes", f"{max(wall[jobs]):,.0f} games/s", load)
        row(f"simulate, random bots, {jobs} processes", f"{max(cpu[jobs]):,.0f} games/s of processor time")
    row("simulate, two processes / one, on the wall", f"{max(wall[2]) / max(wall[1]):.2f} x", "goal: at least 1.8 x")
    alone = 2 * max(cpu[2]) / max(cpu[1])
    row("simulate, two processes / one, if each had a core of its own", f"{alone:.2f} x", "by processor time")


def bench_compare(repetitions: int) -> None:
    """Verdicts about a bot that wins 55 games in 100 and about an equal one, with a stated error of 5 %."""
    for margin in (None, 0.05):
        for name, chance in (("55 %", 0.55), ("equal", 0.5)):
            tests = [_judged(_coins(seed, chance), margin) for seed in range(repetitions)]
            _row_of(f"compare, coins of {name}, margin {margin}", [(test.verdict, 2 * test.pairs) for test in tests])
    for name, bot in (("Mixed", Mixed), ("random", RandomBot)):
        found = [
            compare(bot, RandomBot, games=MOST, seed=seed, margin=0.05, jobs=2) for seed in range(repetitions // 4)
        ]
        rate = sum(one.rate * one.games for one in found) / sum(one.games for one in found)
        _row_of(f"compare, {name} against random, margin 0.05", [(one.verdict, one.games) for one in found], rate)
    sample = simulate({"mixed": Mixed, "random": RandomBot}, games=100 * repetitions, seed=9, seats=Seats.PAIRED)
    row("win rate of Mixed against random", f"{sample.rate('mixed'):.1%}", f"{len(sample):,} games")


def _row_of(what: str, found: list[tuple[Verdict, int]], rate: float | None = None) -> None:
    counts = Counter(verdict for verdict, _ in found)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    games = sum(count for _, count in found) / len(found)
    row(what, f"{told} of {len(found)}", f"{games:,.0f} games on average" + (f", rate {rate:.1%}" if rate else ""))


def _coins(seed: int, chance: float) -> Iterator[float]:
    random = generator("compare", seed, chance).random
    while True:
        yield ((random() < chance) + (random() < chance)) / 2


def _judged(pairs: Iterator[float], margin: float | None) -> SequentialTest:
    test = SequentialTest(0.05, margin)
    while 2 * test.pairs < MOST and not test.is_decided:
        test.add(next(pairs))
    return test


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
