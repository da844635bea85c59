"""Plays the games of a simulation one by one, in this process or in a worker."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from salvo.adapter import Adapter, made
from salvo.bot_errors import placed
from salvo.errors import BotError, SalvoError
from salvo.player import Bot
from salvo.programs.process_pool import ProgramPool
from salvo.rules import RuleBook
from salvo.sources import EXEC, load
from salvo_lab import arena
from salvo_lab.arena import SEAT_BITS, Decisions, Failure, Supervision
from salvo_lab.loaded_code import LoadedCode
from salvo_lab.simulation.seats import Seats, places_alike, seating

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


@dataclass(frozen=True, slots=True)
class Spec:
    """What is the same for all games of a simulation.

    Attributes:
        bots: by name at the table; a source of :func:`salvo.sources.load`, or a class.
        strict: as in :func:`salvo.sources.load`.
    """

    bots: dict[str, str | type[Bot]]
    seed: int | str
    book: RuleBook
    seats: Seats
    strict: bool = False


@dataclass(slots=True)
class Batch:
    """The results of consecutive games.

    Attributes:
        code: as :meth:`salvo_lab.loaded_code.LoadedCode.fresh`.
    """

    first: int
    rows: list[Row] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    times: dict[str, Decisions] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)


def is_program(bot: str | type[Bot]) -> bool:
    """Whether a bot is a program, which is started for a game."""
    return isinstance(bot, str) and bot.startswith(EXEC)


class Player:
    """Plays games of one simulation."""

    def __init__(
        self, spec: Spec, mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None
    ) -> None:
        """Load the bots.

        Args:
            mark: two numbers for a supervising process: the mark of :class:`~salvo_lab.arena.Supervision`, and
                the number of the game, 0 while bots are loaded.
            kinds: the bots, if they are loaded already.

        Raises:
            BotError: ``bad_bot``.
        """
        self._spec = spec
        self._mark = mark
        self._staying = ProgramPool()
        self._code = LoadedCode((bot for bot in spec.bots.values() if isinstance(bot, str)), os.getcwd())
        self._kinds = dict(kinds or {})
        for name, bot in spec.bots.items() if kinds is None else ():
            if mark is not None:
                mark[0] += 1  # one more is loaded
            self._kinds[name] = (
                bot if not isinstance(bot, str) else load(bot, strict=spec.strict, staying=self._staying)
            )
        self._exchanged = places_alike(list(self._kinds.values()))
        self._slow = False

    def play(self, first: int, count: int) -> Batch:
        """Play consecutive games."""
        batch = Batch(first, times={name: Decisions() for name in self._kinds})
        for game in range(first, first + count):
            batch.rows.append(self._play(game, batch))
        batch.code = self._code.fresh()
        return batch

    def close(self) -> None:
        """End the programs that wait for further games."""
        self._staying.close()

    def _play(self, game: int, batch: Batch) -> Row:
        spec, mark, names = self._spec, self._mark, tuple(self._kinds)
        seated = seating(spec.seats, names, spec.seed, game, spec.book, exchanged=self._exchanged)
        if mark is not None:
            mark[0] = 0
            mark[1] = game
        supervision = Supervision(mark, None, batch.failures)
        if self._slow or game % MEASURED == 1:
            supervision.times = [Decisions() for _ in names]
        # New bots for every game: what they remember would depend on which games they played before.
        bots = {name: Adapter(self._made(name, seat, game, batch)) for seat, name in enumerate(seated.order)}
        outcome = arena.play(
            bots,
            seed=spec.seed,
            game=game,
            book=spec.book,
            fleets=seated.fleets,
            starter=seated.starter,
            supervision=supervision,
        )
        for seat, (name, bot) in enumerate(bots.items()):
            if self._kinds[name].close is Bot.close:
                bot.end()
            else:
                self._close(name, seat, bot, outcome, batch)
        if supervision.times is not None:
            for name, decisions in zip(seated.order, supervision.times, strict=True):
                batch.times[name].add(decisions)
            # Without the worst of each, when the machine may have been busy elsewhere.
            self._slow = any(times.seconds - times.worst > SLOW * times.count for times in supervision.times)
        stats = outcome.stats
        row = [outcome.turns]
        for name in names:
            one = stats[name]
            row += (one.place, one.shots, one.hits, one.sunk, one.turns)
        return tuple(row)

    def _close(self, name: str, seat: int, bot: Adapter, outcome: arena.Outcome, batch: Batch) -> None:
        turn = outcome.turns + 1
        if self._mark is not None:
            self._mark[0] = turn << SEAT_BITS | seat
        try:
            bot.close()
        except BotError as error:
            text = placed(error.text, f"{name}, close; seed {self._spec.seed}, game {outcome.game}")
            batch.failures.append(Failure(name, outcome.game, turn, error.code, text, error.trace))

    def _made(self, name: str, seat: int, game: int, batch: Batch) -> Bot:
        kind = self._kinds[name]
        if kind.__init__ is object.__init__:
            return kind()
        if self._mark is not None:
            self._mark[0] = seat
        try:
            return made(kind)
        except BotError as error:
            text = placed(error.text, f"{name}, while it is created; seed {self._spec.seed}, game {game}")
            batch.failures.append(Failure(name, game, 0, error.code, text, error.trace))
            return _Absent()


class _Absent(Bot):
    """Takes the place of a bot that is gone."""

    def choose_salvo(self, view: Any) -> Sequence[tuple[str, int, int]]:
        return ()


def work(pipe: Connection, shared: Any, spec: Spec) -> None:
    """Play the games requested through a pipe until it closes.

    Args:
        shared: two numbers shared with the supervising process; see :class:`Player`.
    """
    # A file that is saved twice in a second may keep its size, and Python would use the old bytecode.
    sys.dont_write_bytecode = True
    gc.set_threshold(GARBAGE, 20, 20)
    mark = memoryview(shared).cast("B").cast("q")
    try:
        with closing(Player(spec, mark)) as player:
            pipe.send(None)
            while True:
                pipe.send(player.play(*pipe.recv()))
    except SalvoError as error:
        pipe.send((error.code, error.text, getattr(error, "trace", "")))
    except (EOFError, OSError):
        pass  # the pipe is closed: no more tasks
    os._exit(0)  # without waiting for bots' threads
