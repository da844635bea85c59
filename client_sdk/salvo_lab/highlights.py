"""The few games of many that a bot's author should look at: lost ones, and why these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from salvo_lab.simulation import Played


class DuelSummary(NamedTuple):
    """A game of two from one player's point of view.

    Attributes:
        worth: 1 for a win, 1/2 for a tie, else 0.
        failed: whether a bot failed in it, which matters more than how it ended.
    """

    game: int
    worth: float
    hits: int
    rival_hits: int
    failed: bool = False

    @property
    def lead(self) -> int:
        """The lead in hits; negative if the rival had it."""
        return self.hits - self.rival_hits

    @property
    def is_lost(self) -> bool:
        """Whether it was lost, and not because a bot failed."""
        return not self.worth and not self.failed


class LostGame(NamedTuple):
    """A lost game worth looking at, and why: a few words."""

    why: str
    score: DuelSummary

    @property
    def in_words(self) -> str:
        """Return it for people."""
        return f"{self.why}, {self.score.hits} hits to {self.score.rival_hits}"


def score_of(game: Played, name: str) -> DuelSummary:
    """Return a game of two from the point of view of the player with this name."""
    [rival] = (stats for other, stats in game.stats.items() if other != name)
    worth = 1 / len(game.winners) if name in game.winners else 0.0
    return DuelSummary(game.game, worth, game.stats[name].hits, rival.hits, bool(game.failures))


def lost_by_most(scores: Iterable[DuelSummary]) -> LostGame | None:
    """Return the game lost by the largest margin, the first of several; None if none was lost."""
    return _lost("lost by most", scores, min)


def lost_by_least(scores: Iterable[DuelSummary]) -> LostGame | None:
    """Return the game lost by the smallest margin, the first of several; None if none was lost."""
    return _lost("lost by least", scores, max)


def _lost(why: str, scores: Iterable[DuelSummary], first: Callable[..., DuelSummary]) -> LostGame | None:
    lost = [score for score in scores if score.is_lost]
    return LostGame(why, first(lost, key=lambda score: score.lead)) if lost else None


def lost_since(scores: Sequence[DuelSummary], earlier: Sequence[DuelSummary]) -> LostGame | None:
    """Return the game that got worse by most, of those won before and lost now; None if there is none."""
    fell = [
        (new.lead - old.lead, new) for new, old in zip(scores, earlier, strict=True) if old.worth == 1 and new.is_lost
    ]
    return LostGame("won before, lost now", min(fell)[1]) if fell else None
