"""Plays games in processes that may die: a bot that ends its process or hangs beyond all help loses that game only.

Each process plays one game at a time. Shared memory tells until when it waits for a bot, so that this process can end
one that does not return; a new one takes its place, and the game is played again with each bot in a process of its own
(:mod:`salvo_lab.programs.apart`).
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import time
from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing.connection import Connection, wait
from typing import Any, Final, NamedTuple

from salvo.adapter import Adapter, made
from salvo.bot_errors import placed
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.player import Bot
from salvo.programs.debugger import is_debugged
from salvo.programs.exec_bot import QUESTION_SECONDS, ExecBot
from salvo.programs.process_pool import ProgramPool
from salvo.replay_command import seat_names
from salvo.rules import Fleet, RuleBook
from salvo.sources import EXEC, load
from salvo.view import Shot
from salvo_lab import arena
from salvo_lab.loaded_code import LoadedCode
from salvo_lab.programs.apart import apart
from salvo_lab.programs.worker_process import WorkerProcess, end_all
from salvo_lab.tournament.file import TimeLimits, Tournament
from salvo_lab.tournament.games import Played
from salvo_lab.tournament.judge import SHOWN, Absent, Alarm, JudgedApart, Seated, Watch, judged, judged_there
from salvo_lab.tournament.schedule import Pairing

#: How much longer than its time a bot may take before its process is ended: the alarm inside has rung twice by then.
_GRACE_SECONDS: Final = 2.0
#: How often to look whether that is so, and how long ended games are gathered: a disk writes many as quickly as one.
_LOOK_SECONDS: Final = 0.1
#: How much a process is given to do at a time, in seconds and games: it shall neither wait for this process, nor have
#: long games waiting behind a longer one while another process is idle.
_AHEAD_SECONDS: Final = 0.05
_MAX_AHEAD: Final = 32
#: How much more time a bot has in a game that it has played before, in time.
_PATIENCE: Final = 10


@dataclass(frozen=True, slots=True)
class Task:
    """A game to play.

    Attributes:
        apart: whether each bot has a process of its own.
        patient: whether bots have ``_PATIENCE`` times their time, so that a busy machine makes no other game of it.
    """

    pairing: Pairing
    apart: bool = False
    patient: bool = False


class _Clock:
    """Until when a process waits for a bot, visible to another process, in monotonic seconds."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def asks(self, seconds: float) -> None:
        self.memory[0] = time.monotonic() + seconds

    def answered(self) -> None:
        self.memory[0] = 0.0

    @property
    def late(self) -> float:
        """Seconds since the time was up; negative before, and while no bot is asked."""
        deadline = self.memory[0]
        return time.monotonic() - deadline if deadline else -1.0


class _Moves:
    """Listens to every salvo of a game, of players with these names at the table, by seat."""

    def __init__(self, names: Sequence[str]) -> None:
        self._seats = {name: seat for seat, name in enumerate(names)}
        self._salvos: list[tuple[int, tuple[tuple[int, int, int], ...]]] = []

    def __call__(self, shots: Sequence[Shot], result: SalvoResolved) -> None:
        aims = tuple((self._seats[player], x, y) for player, x, y in shots)
        self._salvos.append((self._seats[result.player], aims))

    def digest(self, fleets: Mapping[str, Fleet]) -> str:
        """Return a digest of all fleets and shots: 16 letters."""
        digest = hashlib.blake2b(digest_size=8)
        for name in self._seats:
            digest.update(fleets[name].board)
        digest.update(repr(self._salvos).encode())
        return digest.hexdigest()


#: Makes a bot under limits: its source, and the others at the table.
Seating = Callable[[str, Sequence[str]], Seated]


def play_game(
    task: Task, sources: Mapping[str, str], book: RuleBook, seat: Seating, code: Callable[[], dict[str, str]] = dict
) -> Played:
    """Play a game.

    Args:
        code: returns the code of its bots, see :class:`~salvo_lab.tournament.games.Played`.
    """
    pairing = task.pairing
    at_table = [sources[name] for name in pairing.bots]
    names = seat_names(at_table)
    bots = {
        name: seat(source, [other for other in names if other != name])
        for name, source in zip(names, at_table, strict=True)
    }
    moves = _Moves(names)
    try:
        outcome = arena.play(bots, seed=pairing.seed, game=pairing.game, book=book, listener=moves)
    finally:
        for bot in bots.values():
            bot.close()
    stats = [outcome.stats[name] for name in names]
    return Played(
        match=pairing.match,
        index=pairing.index,
        bots=pairing.bots,
        players=tuple(names),
        seed=pairing.seed,
        game=pairing.game,
        turns=outcome.turns,
        places=tuple(each.place for each in stats),
        shots=tuple(each.shots for each in stats),
        hits=tuple(each.hits for each in stats),
        strikes=tuple(tuple(bot.strikes) for bot in bots.values()),
        forfeited=tuple(bot.forfeited for bot in bots.values()),
        seconds=tuple(round(bot.thinking, 6) for bot in bots.values()),
        longest=tuple(round(bot.longest, 6) for bot in bots.values()),
        decisions=tuple(bot.decisions for bot in bots.values()),
        moves=moves.digest(outcome.fleets),
        code=code(),
    )


class Unpacked(NamedTuple):
    """Bots that came from another host.

    Attributes:
        sources: by what was typed.
        folders: how the folders of these are called there; None for bots of this host.
    """

    sources: Mapping[str, str] = {}
    folders: Mapping[str, str] | None = None

    def found(self, source: str) -> str:
        """Return where a source is found."""
        return self.sources.get(source, source)


_HERE: Final = Unpacked()


def seated_here(limits: TimeLimits, alarm: Alarm, clock: Watch, unpacked: Unpacked = _HERE) -> Seating:
    """Return what makes bots in this process."""

    def seat(source: str, others: Sequence[str]) -> Seated:
        try:
            return judged(_kind(unpacked.found(source)), others, limits, alarm, clock)
        except BotError as error:
            return Absent(error)

    return seat


def _limits_of(task: Task, limits: TimeLimits) -> TimeLimits:
    if not task.patient:
        return limits
    seconds = {name: _PATIENCE * getattr(limits, name) for name in ("decision_seconds", "bank_seconds")}
    return limits.model_copy(update=seconds)


#: Programs of this process that wait for further games.
_staying = ProgramPool()


@cache
def _kind(source: str) -> type[Bot]:
    # Strict, else a program's failures come as empty salvos, and cost nothing.
    return load(source, strict=True, staying=_staying)


def _work(
    ours: Connection,
    memory: Any,
    sources: Mapping[str, str],
    book: RuleBook,
    limits: TimeLimits,
    unpacked: Unpacked,
) -> None:
    """Play what is sent, in a separate process, until the pipe is closed."""
    alarm, clock = Alarm(), _Clock(memory)
    code = LoadedCode(map(unpacked.found, sources.values()), os.getcwd(), unpacked.folders)
    limits = _limits_here(limits)  # before a bot is loaded: none may grant itself time with its own tracer
    with closing(_staying):
        while True:
            task = ours.recv()
            if isinstance(task, str):
                ours.send(_try_out(task, book))
            else:
                seat = seated_here(_limits_of(task, limits), alarm, clock, unpacked)
                ours.send(play_game(task, sources, book, seat, code.fresh))


def _limits_here(limits: TimeLimits) -> TimeLimits:
    """Return the limits that hold in this process: under a debugger nothing times out."""
    if not is_debugged():
        return limits
    return limits.model_copy(update={"decision_seconds": float("inf"), "bank_seconds": float("inf")})


def _try_out(source: str, book: RuleBook) -> str:
    """Return why a bot cannot be made, or a program ends when it is asked for its first fleet; empty when it can."""
    try:
        kind = _kind(source)
        try:
            bot = Adapter(made(kind))
        except BotError as error:
            return placed(error.text, f"creating {source}")
        if isinstance(bot.bot, ExecBot):
            with closing(bot):
                bot.prepare("trial", "0", 1)
                bot.fleet(book)
    except BotError as error:
        return error.text
    except BaseException as error:
        return f"{source} cannot be made: {type(error).__name__}: {error}"
    return ""


def _context() -> Any:
    return multiprocessing.get_context("spawn")  # a fork would take this process's threads' locks along


class _Worker(WorkerProcess):
    def __init__(self, *given: Any) -> None:
        context = _context()
        self.clock = _Clock(context.RawArray("d", 1))
        super().__init__(context, _work, self.clock.memory, *given)


class Workers:
    """Processes that play the games of a tournament."""

    def __init__(
        self,
        tournament: Tournament,
        jobs: int,
        book: RuleBook | None = None,
        unpacked: Unpacked = _HERE,
    ) -> None:
        """Start no process yet.

        Args:
            book: the tournament's rules, whose file only another host has.
        """
        self._limits = tournament.time
        self._given = (tournament.bots, book or tournament.book, tournament.time, unpacked)
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._tried = False  # whether the first of them has imported a bot

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self._workers)
        self._workers = []

    def try_out(self, source: str) -> str:
        """Return why a bot cannot be made; empty when it can.

        A bot's file that is imported for longer than its time for a game is one that hangs.
        """
        if not self._workers:
            self._workers.append(_Worker(*self._given))
        worker, is_alone = self._workers[0], not self._tried
        worker.give(source)
        seconds = self._limits.bank_seconds + _START_SECONDS
        try:
            if worker.pipe.poll(seconds):
                said: str = worker.receive()
                self._tried = True
                return said
            reason = f"is not imported after {seconds:g} s"
        except EOFError:
            reason = "ends its process when it is imported"
        self._workers.remove(worker)
        worker.kill()
        self._tried = False
        return f"{source} {reason}" if is_alone else self.try_out(source)  # a bot of before may have done it

    def play(self, pairings: Iterable[Pairing]) -> Iterator[list[Played]]:
        """Play games, and return them as they end, all together that end in a tenth of a second."""
        return self.carry_out(Task(pairing) for pairing in pairings)

    def carry_out(self, tasks: Iterable[Task], look: Callable[[], object] | None = None) -> Iterator[list[Played]]:
        """Play games as :meth:`play` does; what is given is called about ten times a second."""
        waiting = deque(tasks)
        while len(self._workers) < min(self._jobs, len(waiting)):
            self._workers.append(_Worker(*self._given))
        ended: list[Played] = []
        began = since = time.monotonic()
        count = 0
        while waiting or any(worker.tasks for worker in self._workers):
            pace = count / (time.monotonic() - began + 1e-9) / len(self._workers)
            while waiting and waiting[0].apart:
                ended.append(self._play_apart(waiting.popleft(), look))
            for place in range(1 + min(int(pace * _AHEAD_SECONDS), _MAX_AHEAD)):
                for worker in self._workers:
                    if waiting and len(worker.tasks) == place:
                        worker.give(waiting.popleft())
            if look is not None:
                look()
            ready = wait([worker.pipe for worker in self._workers], _LOOK_SECONDS)
            for index, worker in enumerate(self._workers):
                if worker.pipe in ready:
                    try:
                        ended.append(worker.receive())
                        count += 1
                        continue
                    except EOFError:
                        pass
                elif worker.clock.late < _GRACE_SECONDS:
                    continue
                waiting.extendleft(reversed(self._bury(worker)))
                self._workers[index] = _Worker(*self._given)
            if ended and time.monotonic() - since >= _LOOK_SECONDS:
                yield ended
                ended, since = [], time.monotonic()
        if ended:
            yield ended

    def _bury(self, worker: _Worker) -> list[Task]:
        """End a process and return the games that it left, the one that it was at to be played apart."""
        worker.kill()
        return [replace(task, apart=place == 0) for place, task in enumerate(worker.tasks)]

    def _play_apart(self, task: Task, look: Callable[[], object] | None) -> Played:
        """Play a game with each bot in a process of its own."""
        sources, book, limits, unpacked = self._given
        limits = _limits_of(task, limits)
        kinds: list[type[JudgedApart]] = []
        with ExitStack() as processes:

            def seat(source: str, others: Sequence[str]) -> Seated:
                starting = QUESTION_SECONDS if source.startswith(EXEC) else 0.0
                loaded = apart(
                    _context(),
                    unpacked.found(source),
                    load_seconds=limits.bank_seconds + _START_SECONDS,
                    seconds=limits.decision_seconds + starting + _GRACE_SECONDS,
                    wrap=partial(judged_there, tuple(others), limits),
                    shown=SHOWN,
                    kind=JudgedApart,
                    folders=unpacked.folders,
                    waiting=look,
                )
                try:
                    kind = processes.enter_context(loaded)
                    kinds.append(kind)
                    return kind()
                except BotError as error:
                    return Absent(error)

            return play_game(task, sources, book, seat, lambda: dict(ChainMap(*(kind.code for kind in kinds))))


#: Seconds that a process may take to start, on a busy machine.
_START_SECONDS: Final = 30.0
