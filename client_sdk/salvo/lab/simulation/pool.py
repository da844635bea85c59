"""The processes of a simulation: what they work on, and what happens when a bot takes one down."""

from __future__ import annotations

import contextlib
import heapq
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from pickle import PicklingError
from typing import Any

from salvo.errors import BotError
from salvo.lab.arena import SEAT_BITS, Failure
from salvo.lab.programs.worker_process import WorkerProcess, end_all, how_it_ended
from salvo.lab.simulation.seats import seating
from salvo.lab.simulation.worker import Batch, Player, Spec, work

#: How long a process should work on one batch, in seconds: short compared with a run, so that all end together and show
#: progress, and long compared with the way through the pipe.
BATCH_SECONDS = 0.15
MAX_AT_ONCE = 2000
#: How often to look whether a bot still answers, in seconds.
LOOK_SECONDS = 0.1

#: How long bots may take to load: as long as a team has to place its fleet (SALVO-JOIN-4).
LOAD_SECONDS = 60.0

#: First game, number of games, and by bot, the turn from which it is gone.
Task = tuple[int, int, dict[str, int]]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_here(spec: Spec, first: int, games: int) -> Iterator[Batch]:
    """Play all games in this process, where a debugger reaches the bots."""
    count = 1
    with contextlib.closing(Player(spec)) as player:
        while games:
            start = time.monotonic()
            count = min(count, games)
            yield player.play(first, count, {})
            first, games = first + count, games - count
            count = _next_count(count, time.monotonic() - start)


def _next_count(count: int, seconds: float) -> int:
    return max(1, min(int(count * BATCH_SECONDS / max(seconds, 1e-6)), 8 * count, MAX_AT_ONCE))


class Pool:
    """Plays games in worker processes. Use it in a ``with`` block."""

    def __init__(self, spec: Spec, jobs: int, turn_seconds: float) -> None:
        self._spec = spec
        self._turn_seconds = turn_seconds
        self._count = 1
        self._tasks: list[Task] = []
        self._failures: dict[int, list[Failure]] = {}  # by game, from processes that ended
        self._left = 0
        # A fork starts at once, but inherits locks of other threads for ever. Classes of a notebook or a script, which
        # only this process has, are worth that risk.
        are_here = any(not isinstance(bot, str) for bot in spec.bots.values())
        forks = sys.platform == "linux" and (are_here or _is_single_threaded())
        self._context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._workers: list[_Worker] = []
        self._jobs = jobs

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self._workers)

    def play(self, first: int, games: int, waiting: Callable[[], object] | None) -> Iterator[Batch]:
        """Play games, and yield them in order.

        Args:
            waiting: called about every :data:`LOOK_SECONDS` during games.

        Raises:
            BotError: ``bad_bot``: a bot cannot be loaded.
        """
        self._tasks = [(first, games, {})]
        self._left = games
        done: dict[int, Batch] = {}
        called = time.monotonic()
        while self._left:
            if waiting is not None and time.monotonic() - called >= LOOK_SECONDS:
                waiting()
                called = time.monotonic()
            self._give()
            for batch in self._collect():
                done[batch.first] = batch
                self._left -= len(batch.rows)
            while first in done:
                batch = done.pop(first)
                first += len(batch.rows)
                yield batch

    def _give(self) -> None:
        """Give every idle process something to do."""
        while self._tasks and len(self._workers) < self._jobs:
            self._workers.append(_Worker(self._context, self._spec, self._workers))
        for worker in self._workers:
            if self._tasks and not worker.tasks:
                first, games, gone = heapq.heappop(self._tasks)
                count = max(1, min(self._count, games, -(-self._left // (2 * self._jobs))))
                if count < games:
                    heapq.heappush(self._tasks, (first + count, games - count, gone))
                worker.give((first, count, gone))

    def _collect(self) -> Iterator[Batch]:
        """Yield finished batches; wait a little for them."""
        ready = wait([worker.pipe for worker in self._workers], min(LOOK_SECONDS, self._turn_seconds / 4))
        for worker in list(self._workers):
            if worker.pipe in ready:
                try:
                    said = worker.receive()
                except EOFError:
                    self._bury(worker, f"ended the process: {how_it_ended(worker.kill())}")
                    continue
                if isinstance(said, Batch):
                    self._count = _next_count(len(said.rows), time.monotonic() - worker.since)
                    for game in range(said.first, said.first + len(said.rows)) if self._failures else ():
                        said.failures += self._failures.pop(game, [])
                    said.failures.sort(key=lambda failure: (failure.game, failure.turn))
                    yield said
                elif said is not None:
                    raise BotError(*said)
                else:
                    worker.is_ready = True
            else:
                patience = self._turn_seconds if worker.is_ready else LOAD_SECONDS
                if worker.is_stuck(patience):
                    self._bury(worker, f"did not answer within {patience:g} s")

    def _bury(self, worker: _Worker, how: str) -> None:
        """Queue the rest of a lost process's games, without the bot at fault in the game where it happened."""
        self._workers.remove(worker)
        worker.kill()
        where, game = worker.mark
        turn, seat = divmod(where, 1 << SEAT_BITS)
        names = tuple(self._spec.bots)
        if not worker.is_ready:
            raise BotError("bad_bot", f"{names[seat]}, while it is loaded: {how}")
        if not worker.tasks:
            return  # it was idle, so nothing is lost
        first, count, gone = worker.tasks[0]
        order = seating(self._spec.seats, names, 0, game, self._spec.book, exchanged=False).order
        name = order[seat]
        text = f"{name}, seed {self._spec.seed}, game {game}: turn {turn}: {how}"
        code = "bot_hangs" if "answer" in how else "bot_crashed"
        self._failures.setdefault(game, []).append(Failure(name, game, turn, code, text))
        if gone.get(name) == 0:
            raise BotError("bad_simulation", f"{text}, without being asked anything")
        for task in (
            (first, game - first, gone),
            (game, 1, {**gone, name: 0 if name in gone else turn}),  # a bot that fails again is not asked at all
            (game + 1, first + count - game - 1, gone),
        ):
            if task[1]:
                heapq.heappush(self._tasks, task)


class _Worker(WorkerProcess):
    """Loads the bots, which is its first task, then plays games.

    Attributes:
        is_ready: whether it has loaded the bots.
        since: start of its current task, on the monotonic clock.
    """

    def __init__(self, context: Any, spec: Spec, others: list[_Worker]) -> None:
        self._shared = context.RawArray("q", 2)
        try:
            super().__init__(context, work, self._shared, spec, others=others)
        except (PicklingError, AttributeError, TypeError) as error:
            raise BotError("bad_bot", f"a class that no other process finds ({error}); give its file.py") from None
        self.is_ready = False
        self.tasks.append(None)
        self.since = time.monotonic()
        self._seen = (self.mark, self.since)

    @property
    def mark(self) -> tuple[int, int]:
        """Which bot is being asked, as :class:`~salvo.lab.arena.Supervision` marks it, and in which game."""
        return self._shared[0], self._shared[1]

    def give(self, task: Task) -> None:
        """Send games to play."""
        self.since = time.monotonic()
        self._seen = (self.mark, self.since)
        super().give(task)

    def is_stuck(self, seconds: float) -> bool:
        """Whether the same bot has been busy with the same thing for longer than this."""
        now = time.monotonic()
        if self._seen[0] != self.mark or not self.tasks:
            self._seen = (self.mark, now)
        return now - self._seen[1] > seconds


def _is_single_threaded() -> bool:
    return len(list(Path("/proc/self/task").iterdir())) == 1
