"""Games of a simulation on other hosts, where they are played as on this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from salvo.errors import BotError
from salvo.lab.arena import Failure
from salvo.lab.cluster import Carrying, Shipped, Work, ship
from salvo.lab.simulation.pool import Pool
from salvo.lab.simulation.worker import Batch, Spec

#: How much more time a bot has in a game that it is blamed for: hosts are not equally fast.
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Games(Work[int, Batch]):
    """Plays the games of these numbers, which are consecutive."""

    spec: Spec
    bots: dict[str, Shipped]
    turn_seconds: float

    @classmethod
    def shipped(cls, spec: Spec, written: Sequence[str], turn_seconds: float) -> Games:
        """Pack a simulation's bots.

        Args:
            written: the bots' sources; a class has that of its file.

        Raises:
            BotError: as in :func:`salvo.lab.cluster.ship`; ``bad_bot``: a class that is in no file.
        """
        for name, bot, source in zip(spec.bots, spec.bots.values(), written, strict=True):
            if not isinstance(bot, str) and ".py:" not in source:
                raise BotError("bad_bot", f"{name} is a class that no other host finds; give its file.py")
        return cls(replace(spec, bots={}), dict(zip(spec.bots, ship(written), strict=True)), turn_seconds)

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, Batch]]:
        """Start a pool, which plays block after block."""
        spec = replace(self.spec, bots={name: bot.unpacked() for name, bot in self.bots.items()})
        with Pool(spec, jobs, self.turn_seconds) as pool:
            yield partial(self._play, pool, spec)

    def _play(self, pool: Pool, spec: Spec, games: Sequence[int], waiting: Callable[[], None]) -> list[Batch]:
        try:
            batches = list(pool.play(games[0], len(games), waiting))
            for batch in batches:
                for game in sorted({failure.game for failure in batch.failures if failure.code == "bot_hangs"}):
                    self._play_with_patience(spec, batch, game, waiting)
                batch.failures = [self._as_typed(failure) for failure in batch.failures]
        except BotError as error:
            raise BotError(error.code, self._seen_there(error.text), self._seen_there(error.trace)) from None
        return batches

    def _play_with_patience(self, spec: Spec, batch: Batch, game: int, waiting: Callable[[], None]) -> None:
        """Play a game again in which a bot has hung; if it hangs with more time, too, the first result holds."""
        with Pool(spec, 1, PATIENCE * self.turn_seconds) as pool:
            (again,) = pool.play(game, 1, waiting)
        if not any(failure.code == "bot_hangs" for failure in again.failures):
            batch.rows[game - batch.first] = again.rows[0]
            batch.failures = [failure for failure in batch.failures if failure.game != game] + again.failures
            batch.failures.sort(key=lambda failure: (failure.game, failure.turn))

    def _as_typed(self, failure: Failure) -> Failure:
        return replace(failure, text=self._seen_there(failure.text), trace=self._seen_there(failure.trace))

    def _seen_there(self, text: str) -> str:
        for bot in self.bots.values():
            text = bot.seen_there(text)
        return text

    def essence(self, results: list[Batch]) -> object:
        """Return all rows and failures; a host starts batches where it likes."""
        failures = [failure for batch in results for failure in batch.failures]
        return (
            [row for batch in results for row in batch.rows],
            [(failure.player, failure.game, failure.turn, failure.code) for failure in failures],
        )
