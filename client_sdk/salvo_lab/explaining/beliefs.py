"""Infer a rival's board, and predict the answers to shots at it.

A :class:`Belief` consists of fleets drawn evenly from all that agree with the answers; if that is too hard, as with
more than five ships and only a number for each salvo, of chances estimated ship by ship. Boards of several rivals are
taken to be independent of each other: a number of hits on several of them together is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from math import fsum
from random import Random
from typing import Final, NamedTuple

from salvo.view import View
from salvo_lab.bots.chances import estimated
from salvo_lab.bots.clues import Clue, announced_numbers, is_alone, layers_of
from salvo_lab.bots.posterior import draw_fleets, learned, shares

#: Parts of the draws. Everything is counted in each part; they differ only by chance.
PARTS: Final = 4

#: Probability by number of hits.
Numbers = Sequence[float]


class Belief(NamedTuple):
    """What can be inferred about one board.

    Attributes:
        chances: by cell, that a ship lies there.
        parts: the same for each part of the draws; all equal if nothing was drawn.
        fleets: those drawn, or all if they are few, as masks; none if the chances are estimated.
        unused: answers that are left out.
    """

    chances: tuple[float, ...]
    parts: tuple[tuple[float, ...], ...]
    fleets: tuple[int, ...]
    unused: int = 0

    def numbers(self, cells: Sequence[int]) -> Numbers:
        """Return the probability of each number of hits; a repeated cell is hit twice."""
        if not self.fleets:
            return _independent([self.chances[cell] for cell in cells])
        counts = Counter(self.hits(cells))
        return [counts[hits] / len(self.fleets) for hits in range(len(cells) + 1)]

    def hits(self, cells: Sequence[int]) -> list[int]:
        """Return how many of these cells hit, by fleet."""
        layers = layers_of(cells)
        return [sum([(fleet & layer).bit_count() for layer in layers]) for fleet in self.fleets]


def infer(view: View, target: str, known_clues: Sequence[Clue], random: Random, count: int) -> Belief:
    """Return what can be inferred about a board.

    Args:
        known_clues: the view's clues about it.
        count: how many fleets to draw.
    """
    book, known = view.rules, cache(partial(learned, view.rules, known_clues))
    draw = partial(draw_fleets, book, alone=is_alone(view), known=known, random=random)
    # Separately: a heavy fleet is copied within its draw, which must not count as agreement.
    drawn = [draw(count=-(-count // PARTS)) for _ in range(PARTS)]
    every = all(part == drawn[0] for part in drawn)  # all that exist, if they are few
    unused = sum(hits is None for _, hits in announced_numbers(view, known_clues))
    fleets = drawn[0] if every else [fleet for part in drawn for fleet in part]
    if not fleets:
        chances = tuple(estimated(view, target))
        return Belief(chances, (chances,) * PARTS, (), unused)
    parts = tuple(shares(part or fleets, book.grid.size) for part in drawn)
    return Belief(shares(fleets, book.grid.size), parts, tuple(fleets), unused)


def numbers(beliefs: Mapping[str, Belief], cells: Mapping[str, Sequence[int]]) -> Numbers:
    """Return the probability of each number of hits of a salvo.

    Args:
        cells: by player, the cells that are shot at.
    """
    found: Numbers = [1.0]
    for player, aimed in cells.items():
        found = added(found, beliefs[player].numbers(aimed))
    return found


def added(one: Numbers, other: Numbers) -> Numbers:
    """Return the probability of each number of hits on two boards together."""
    both = [0.0] * (len(one) + len(other) - 1)
    for hits, likely in enumerate(one):
        for more, too in enumerate(other):
            both[hits + more] += likely * too
    return both


def _independent(chances: Iterable[float]) -> Numbers:
    numbers: Numbers = [1.0]
    for chance in chances:
        numbers = added(numbers, [1 - chance, chance])
    return numbers


def spread(numbers: Numbers) -> float:
    """Return the standard deviation of a number of hits."""
    mean = fsum(hits * likely for hits, likely in enumerate(numbers))
    return float(fsum(likely * (hits - mean) ** 2 for hits, likely in enumerate(numbers)) ** 0.5)
