"""Processes that clear boards for ``salvo solo``, here and on other hosts."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from multiprocessing.connection import Connection, wait
from typing import Final

from salvo.adapter import made
from salvo.errors import BotError
from salvo.programs.keeper import how_it_ended
from salvo.programs.process_pool import ProgramPool
from salvo.rules import RuleBook
from salvo.sources import load
from salvo_lab.programs.worker_process import LOOK_SECONDS, WorkerProcess, end_all
from salvo_lab.solo import Cleared, clear

#: Boards that a process is given at a time.
_AT_ONCE: Final = 8


class Clearers:
    """Processes that clear boards. Use it in a ``with`` block."""

    def __init__(self, bot: str, seed: str, book: RuleBook, jobs: int) -> None:
        self._given = (bot, seed, book)
        self._jobs = jobs
        self._workers: list[WorkerProcess] = []

    def __enter__(self) -> Clearers:
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self._workers)

    def clear(self, boards: Sequence[int], look: Callable[[], object] | None = None) -> Iterator[Cleared]:
        """Clear board after board, in their order, on as many processes as there is work for.

        Args:
            look: called about ten times a second.

        Raises:
            BotError: of the first board that fails, as :func:`salvo_lab.solo.clear`; ``bad_bot``; ``bot_crashed``:
                the bot ended its process.
        """
        context = multiprocessing.get_context("spawn")
        while len(self._workers) < min(self._jobs, -(-len(boards) // _AT_ONCE)):
            self._workers.append(WorkerProcess(context, _work, *self._given))
        waiting = deque(boards)
        found: dict[int, Cleared | BotError] = {}
        for board in boards:
            while board not in found:
                if look is not None:
                    look()
                for worker in self._workers:
                    while waiting and len(worker.tasks) < _AT_ONCE:
                        worker.give(waiting.popleft())
                found.update(self._collected())
            cleared = found.pop(board)
            if isinstance(cleared, BotError):
                raise cleared
            yield cleared

    def _collected(self) -> Iterator[tuple[int, Cleared | BotError]]:
        """Wait for answers, and return them by board; a process that has ended is no longer one of the workers."""
        ready = wait([worker.pipe for worker in self._workers if worker.tasks], LOOK_SECONDS)
        for worker in [busy for busy in self._workers if busy.pipe in ready]:
            board = worker.tasks[0]
            try:
                answer = worker.receive()
                yield board, answer if isinstance(answer, Cleared) else BotError(*answer)
            except EOFError:
                bot, seed, _ = self._given
                text = f"{bot}, board {board}, seed {seed}: ended the process: {how_it_ended(worker.kill())}"
                self._workers.remove(worker)
                yield board, BotError("bot_crashed", text)


def _work(pipe: Connection, bot: str, seed: str, book: RuleBook) -> None:
    """Clear the boards that are asked for; send an error as its code, text and trace."""
    with closing(ProgramPool()) as staying:
        kind = cache(partial(load, bot, staying=staying))
        while True:
            board = pipe.recv()
            try:
                pipe.send(clear(lambda: made(kind()), board, seed=seed, book=book))
            except BotError as error:
                pipe.send((error.code, error.text, error.trace))
