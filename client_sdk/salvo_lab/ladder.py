"""How strong a bot is on a frozen ladder of built-in bots: :func:`climb`.

The rungs stand in ``ladder-1.toml``, with their strengths. A bot is compared with the rung in the middle, then with
that in the middle of what is left, and so on: four comparisons at most. That takes for granted that who beats a rung
beats those below it. Each comparison may err with a part of the error of all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from math import inf, log10
from typing import TYPE_CHECKING, Final, NamedTuple

from salvo.bots.player import Bot
from salvo_lab.comparison import ERROR, Comparison, SequentialTest, Verdict, compare
from salvo_lab.time_limits import TURN_SECONDS

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster

#: The frozen ladder's name, which is that of its file.
LADDER: Final = "ladder-1"
#: At most this many games against a rung.
GAMES: Final = 400
#: Points of strength for ten times as many games won as lost.
_TENFOLD: Final = 400


class Rung(NamedTuple):
    """A bot of the ladder.

    Attributes:
        name: with its version, such as ``hunter@0.5-v1``.
        bot: its source, as commands take it.
        strength: in points, the lowest rung's is 0.
    """

    name: str
    bot: str
    strength: int


class Ladder(NamedTuple):
    """Rungs from weak to strong.

    Attributes:
        rules: name of the ruleset that they were measured by.
    """

    name: str
    rules: str
    rungs: tuple[Rung, ...]


def frozen() -> Ladder:
    """Return the ladder that ships."""
    read = tomllib.loads(files("salvo_lab").joinpath(f"{LADDER}.toml").read_text(encoding="utf-8"))
    return Ladder(LADDER, read["rules"], tuple(Rung(**rung) for rung in read["rung"]))


@dataclass(frozen=True, slots=True)
class Climb:
    """Where a bot stands on a ladder.

    Attributes:
        beats: number of rungs below it, 0 for none.
        level: index of the rung above those, if it could not be told from that one within the games; else None.
        met: by index of a rung, the comparison with it, in the order they were made.
        strength: in points; infinite, with either sign, for a bot that has won or lost all games.
        low: bound of the strength; the error is that of one comparison.
        high: likewise.
    """

    ladder: Ladder
    beats: int
    level: int | None
    met: dict[int, Comparison]
    strength: float
    low: float
    high: float

    @property
    def bot(self) -> str:
        """The bot's name in the games."""
        return next(iter(self.met.values())).bots[0]

    @property
    def failed(self) -> bool:
        """Whether a bot failed, so that there is no verdict."""
        return any(found.failures for found in self.met.values())

    @property
    def in_words(self) -> str:
        """The verdict as a sentence, with its error."""
        rungs = self.ladder.rungs
        below = f"beats rung {self.beats}, {rungs[self.beats - 1].name}" if self.beats else "beats no rung"
        above = ""
        if self.level is not None:
            above = f", and is undecided against rung {self.level + 1}, {rungs[self.level].name}"
        elif self.beats < len(rungs):
            above = f", and loses to rung {self.beats + 1}, {rungs[self.beats].name}"
        return f"{self.bot} {below}{above}; the chance that this is wrong is at most {ERROR:.0%}"


def climb(
    bot: str | type[Bot],
    *,
    ladder: Ladder | None = None,
    games: int = GAMES,
    seed: int | str = 0,
    jobs: int | None = None,
    turn_seconds: float = TURN_SECONDS,
    progress: Callable[[Rung, SequentialTest], object] | None = None,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> Climb:
    """Find the rungs between which a bot stands.

    Args:
        ladder: the frozen one by default.
        games: at most this many against a rung.
        progress: called after every pair.
        waiting: as in :func:`salvo_lab.simulation.stream`.

    Raises:
        BotError: as :func:`salvo_lab.comparison.compare`.
    """
    ladder = ladder or frozen()
    low, high = 0, len(ladder.rungs)
    error = ERROR / high.bit_length()  # so many comparisons there are at most
    met: dict[int, Comparison] = {}
    while low < high:
        middle = (low + high) // 2
        rung = ladder.rungs[middle]

        def report(test: SequentialTest, rung: Rung = rung) -> None:
            if progress is not None:
                progress(rung, test)

        found = met[middle] = compare(
            bot,
            rung.bot,
            games=games,
            seed=seed,
            rules=ladder.rules,
            confidence=1 - error,
            margin=None,
            jobs=jobs,
            turn_seconds=turn_seconds,
            progress=report,
            waiting=waiting,
            cluster=cluster,
        )
        if found.failures:
            break
        if found.verdict is Verdict.BETTER:
            low = middle + 1
        else:  # worse, or not told from it: what it beats is below
            high = middle
    above = met.get(low)
    level = low if above is not None and above.verdict is Verdict.UNDECIDED and not above.failures else None
    nearest = min(met, key=lambda rung: abs(met[rung].rate - 0.5))
    rates = (met[nearest].rate, met[nearest].low, met[nearest].high)
    return Climb(ladder, low, level, met, *(ladder.rungs[nearest].strength + points(rate) for rate in rates))


def points(rate: float) -> float:
    """Return the difference in strength at which this share of games is won."""
    if rate in (0.0, 1.0):
        return inf if rate else -inf
    return _TENFOLD * log10(rate / (1 - rate))
