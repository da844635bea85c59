"""Games of a run on other hosts, where they are played as on this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

from salvo.errors import BotError
from salvo_lab.arena import Failure
from salvo_lab.cluster import Carrying, Shipped, Work, ship
from salvo_lab.simulation.pool import Pool
from salvo_lab.simulation.worker import GameResults, R, Run


@dataclass(frozen=True, slots=True)
class Games(Work[int, GameResults[R]], Generic[R]):
    """Plays the games of these numbers, which are consecutive."""

    run: Any  # which is a dataclass; without its bots
    bots: dict[str, Shipped]
    turn_seconds: float

    @classmethod
    def shipped(cls, run: Run[R], written: Sequence[str], turn_seconds: float) -> Games[R]:
        """Pack a run's bots.

        Args:
            written: the bots' sources; a class has that of its file.

        Raises:
            BotError: as in :func:`salvo_lab.cluster.ship`; ``bad_bot``: a class that is in no file.
        """
        for name, bot, source in zip(run.bots, run.bots.values(), written, strict=True):
            if not isinstance(bot, str) and ".py:" not in source:
                raise BotError("bad_bot", f"{name} is a class that no other host finds; give its file.py")
        bare: Any = run
        return cls(replace(bare, bots={}), dict(zip(run.bots, ship(written), strict=True)), turn_seconds)

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, GameResults[R]]]:
        """Start a pool, which plays block after block."""
        run: Run[R] = replace(self.run, bots={name: bot.unpacked() for name, bot in self.bots.items()})
        with Pool(run, jobs, self.turn_seconds) as pool:
            yield partial(self._play, pool)

    def _play(self, pool: Pool[R], games: Sequence[int], waiting: Callable[[], None]) -> list[GameResults[R]]:
        try:
            batches = list(pool.play(games[0], len(games), waiting))
        except BotError as error:
            raise BotError(error.code, self._seen_there(error.text), self._seen_there(error.trace)) from None
        for batch in batches:
            batch.failures = [self._as_typed(failure) for failure in batch.failures]
        return batches

    def _as_typed(self, failure: Failure) -> Failure:
        return replace(failure, text=self._seen_there(failure.text), trace=self._seen_there(failure.trace))

    def _seen_there(self, text: str) -> str:
        for bot in self.bots.values():
            text = bot.seen_there(text)
        return text
