"""The processes that play a run of games: what they work on, and what happens when a bot takes one down."""

from __future__ import annotations

import contextlib
import heapq
import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pickle import PicklingError
from typing import Any, Generic

from salvo.bots.programs import linux
from salvo.bots.programs.exec_bot import QUESTION_SECONDS
from salvo.errors import BotError
from salvo_lab.arena import SEAT_BITS
from salvo_lab.loaded_code import check_same
from salvo_lab.programs.apart import Apart, Lost, apart
from salvo_lab.programs.worker_process import LOOK_SECONDS, WorkerProcess, end_all
from salvo_lab.simulation.worker import GameResults, R, Run, is_program, work

#: How long a process should work on one batch, in seconds: short compared with a run, so that all end together and show
#: progress, and long compared with the way through the pipe.
BATCH_SECONDS = 0.15
MAX_AT_ONCE = 2000
#: How long bots may take to load: as long as a team has to place its fleet (SALVO-JOIN-4).
LOAD_SECONDS = 60.0

#: First game and number of games.
Task = tuple[int, int]


def play_here(run: Run[R], first: int, games: int) -> Iterator[GameResults[R]]:
    """Play all games in this process, where a debugger reaches the bots."""
    count = 1
    with contextlib.closing(run.player()) as player:
        while games:
            start = time.monotonic()
            count = min(count, games)
            yield player.play(first, count)
            first, games = first + count, games - count
            count = _next_count(count, time.monotonic() - start)


def _next_count(count: int, seconds: float) -> int:
    return max(1, min(int(count * BATCH_SECONDS / max(seconds, 1e-6)), 8 * count, MAX_AT_ONCE))


class Pool(Generic[R]):
    """Plays games in worker processes. Use it in a ``with`` block."""

    def __init__(self, run: Run[R], jobs: int, turn_seconds: float, *, forks: bool = True) -> None:
        """Start no process yet.

        Args:
            forks: whether processes may have what this one has open.
        """
        self._run = run
        self._turn_seconds = turn_seconds
        self._count = 1
        self._tasks: list[Task] = []
        self._lost: list[int] = []  # games whose process has ended or hung
        self._left = 0
        self._code: dict[str, str] = {}  # digests by file
        self._allowed = turn_seconds + (QUESTION_SECONDS if any(map(is_program, run.bots.values())) else 0.0)
        # A fork starts at once, but inherits locks of other threads for ever. Classes of a notebook or a script, which
        # only this process has, are worth that risk.
        are_here = any(not isinstance(bot, str) for bot in run.bots.values())
        forks = forks and linux.IS_HERE and (are_here or linux.is_single_threaded())
        self._context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._workers: list[_Worker] = []
        self._jobs = jobs

    def __enter__(self) -> Pool[R]:
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self._workers)

    def play(self, first: int, games: int, waiting: Callable[[], object] | None = None) -> Iterator[GameResults[R]]:
        """Play games, and yield them in order.

        Args:
            waiting: called about every :data:`LOOK_SECONDS` during games.

        Raises:
            BotError: ``bad_bot``: a bot cannot be loaded; ``code_changed``: it was saved while games were played.
        """
        self._tasks = [(first, games)]
        self._left = games
        done: dict[int, GameResults[R]] = {}
        called = time.monotonic()
        while self._left:
            if waiting is not None and time.monotonic() - called >= LOOK_SECONDS:
                waiting()
                called = time.monotonic()
            self._give()
            for batch in self._collect(waiting):
                check_same(self._code, batch.code)
                done[batch.first] = batch
                self._left -= len(batch.rows)
            while first in done:
                batch = done.pop(first)
                first += len(batch.rows)
                yield batch

    def _give(self) -> None:
        """Give every idle process something to do."""
        while self._tasks and len(self._workers) < self._jobs:
            self._workers.append(_Worker(self._context, self._run, self._workers))
        for worker in self._workers:
            if self._tasks and not worker.tasks:
                first, games = heapq.heappop(self._tasks)
                count = max(1, min(self._count, games, -(-self._left // (2 * self._jobs))))
                if count < games:
                    heapq.heappush(self._tasks, (first + count, games - count))
                worker.give((first, count))

    def _collect(self, waiting: Callable[[], object] | None) -> Iterator[GameResults[R]]:
        """Yield finished batches; wait a little for them."""
        ready = wait([worker.pipe for worker in self._workers], min(LOOK_SECONDS, self._turn_seconds / 4))
        for worker in list(self._workers):
            if worker.pipe in ready:
                try:
                    answer = worker.receive()
                except EOFError:
                    self._bury(worker)
                    continue
                if isinstance(answer, GameResults):
                    self._count = _next_count(len(answer.rows), time.monotonic() - worker.since)
                    yield answer
                elif answer is not None:
                    raise BotError(*answer)
                else:
                    worker.is_ready = True
            elif worker.has_ended or worker.is_stuck(self._patience(worker)):
                self._bury(worker)
        while self._lost:
            yield self._play_apart(self._lost.pop(), waiting)

    def _patience(self, worker: _Worker) -> float:
        """Return how many seconds a process may be busy with the same thing."""
        if not worker.is_ready:
            return LOAD_SECONDS
        return self._turn_seconds if worker.mark[0] >> SEAT_BITS else self._allowed  # before turn 1, programs start

    def _bury(self, worker: _Worker) -> None:
        """End a process; queue the rest of its games, and the one that it was at to be played apart."""
        self._workers.remove(worker)
        worker.kill()
        if worker.is_ready and not worker.tasks:
            return  # it was idle, so nothing is lost
        task: Task | None = worker.tasks[-1] or (heapq.heappop(self._tasks) if self._tasks else None)
        if task is None:
            return
        first, count = task
        game = worker.mark[1] if first <= worker.mark[1] < first + count else first
        self._lost.append(game)
        for rest in ((first, game - first), (game + 1, first + count - game - 1)):
            if rest[1]:
                heapq.heappush(self._tasks, rest)

    def _play_apart(self, game: int, waiting: Callable[[], object] | None) -> GameResults[R]:
        """Play a game with each bot in a process of its own.

        Raises:
            BotError: ``bad_bot``: one ends its process, or does not answer, while it is loaded.
        """
        with contextlib.ExitStack() as processes:
            kinds: dict[str, type[Apart]] = {}
            for name in self._run.at_table(game):
                bot = self._run.bots[name]
                others = [*self._workers, *(kind.process for kind in kinds.values())]
                loaded = apart(
                    self._context,
                    bot,
                    load_seconds=LOAD_SECONDS,
                    seconds=self._turn_seconds + (QUESTION_SECONDS if is_program(bot) else 0.0),
                    strict=self._run.strict,
                    others=others,
                    waiting=waiting,
                )
                try:
                    kinds[name] = processes.enter_context(loaded)
                except Lost as error:
                    raise BotError("bad_bot", f"{name}, while it is loaded: {error.text}") from None
            batch = self._run.player(kinds=kinds).play(game, 1)
            for kind in kinds.values():
                batch.code |= kind.code
            return batch


class _Worker(WorkerProcess):
    """Loads the bots, which is its first task, then plays games.

    Attributes:
        is_ready: whether it has loaded the bots.
        since: start of its current task, on the monotonic clock.
    """

    def __init__(self, context: Any, run: Run[Any], others: list[_Worker]) -> None:
        self._shared = context.RawArray("q", 2)
        try:
            super().__init__(context, work, self._shared, run, others=others)
        except (PicklingError, AttributeError, TypeError) as error:
            raise BotError("bad_bot", f"a class that no other process finds ({error}); give its file.py") from None
        self.is_ready = False
        self.tasks.append(None)
        self.since = time.monotonic()
        self._seen = (self.mark, self.since)

    @property
    def mark(self) -> tuple[int, int]:
        """Which bot is being asked, as :class:`~salvo_lab.arena.Supervision` marks it, and in which game."""
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
