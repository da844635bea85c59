"""Games of a simulation on other hosts, where they are played as on this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from salvo.errors import BotError
from salvo_lab.arena import Failure
from salvo_lab.cluster import Carrying, Shipped, Work, ship
from salvo_lab.simulation.pool import Pool
from salvo_lab.simulation.worker import Batch, Row, Spec

#: How much more time a bot has in a game that it is blamed for: hosts are not equally fast.
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Games(Work[int, Batch[Row]]):
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
            BotError: as in :func:`salvo_lab.cluster.ship`; ``bad_bot``: a class that is in no file.
        """
        for name, bot, source in zip(spec.bots, spec.bots.values(), written, strict=True):
            if not isinstance(bot, str) and ".py:" not in source:
                raise BotError("bad_bot", f"{name} is a class that no other host finds; give its file.py")
        return cls(replace(spec, bots={}), dict(zip(spec.bots, ship(written), strict=True)), turn_seconds)

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, Batch[Row]]]:
        """Start a pool, which plays block after block."""
        spec = replace(self.spec, bots={name: bot.unpacked() for name, bot in self.bots.items()})
        with Pool(spec, jobs, self.turn_seconds) as pool:
            yield partial(self._play, pool, spec, set())

    def _play(
        self, pool: Pool[Row], spec: Spec, hanging: set[str], games: Sequence[int], waiting: Callable[[], None]
    ) -> list[Batch[Row]]:
        try:
            batches = list(pool.play(games[0], len(games), waiting))
            for batch in batches:
                for game in sorted({failure.game for failure in batch.failures if _is_new(failure, hanging)}):
                    self._play_with_patience(spec, batch, game, hanging, waiting)
                batch.failures = [self._as_typed(failure) for failure in batch.failures]
        except BotError as error:
            raise BotError(error.code, self._seen_there(error.text), self._seen_there(error.trace)) from None
        return batches

    def _play_with_patience(
        self, spec: Spec, batch: Batch[Row], game: int, hanging: set[str], waiting: Callable[[], None]
    ) -> None:
        """Play a game again in which a bot has hung; if it hangs with more time, too, the first result holds.

        Args:
            hanging: bots that are known to; one that hangs now is added.
        """
        with Pool(spec, 1, PATIENCE * self.turn_seconds) as pool:
            (again,) = pool.play(game, 1, waiting)
        hanging |= (known := {failure.player for failure in again.failures if failure.code == "bot_hangs"})
        if not known:
            batch.rows[game - batch.first] = again.rows[0]
            batch.failures = [failure for failure in batch.failures if failure.game != game] + again.failures
            batch.failures.sort(key=lambda failure: (failure.game, failure.turn))

    def _as_typed(self, failure: Failure) -> Failure:
        return replace(failure, text=self._seen_there(failure.text), trace=self._seen_there(failure.trace))

    def _seen_there(self, text: str) -> str:
        for bot in self.bots.values():
            text = bot.seen_there(text)
        return text

    def essence(self, results: list[Batch[Row]]) -> dict[str, object]:
        """Return the row and the failures of each game in which no bot hangs."""
        found: dict[str, object] = {}
        for batch in results:
            for game, row in enumerate(batch.rows, batch.first):
                failures = [(each.player, each.turn, each.code) for each in batch.failures if each.game == game]
                if all(code != "bot_hangs" for _, _, code in failures):
                    found[f"game {game}"] = row, failures
        return found


def _is_new(failure: Failure, hanging: set[str]) -> bool:
    return failure.code == "bot_hangs" and failure.player not in hanging
