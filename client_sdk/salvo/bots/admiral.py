"""Knows all fleets that a rival may have, and fires where most of them are hit, or are told apart.

Fleets are drawn evenly from all that agree with every answer (:mod:`salvo.bots.posterior`). The share of them that has
a ship on a cell is the chance of a hit there. A salvo is worth its expected hits, and a little for what its answer
will tell: the entropy of the number of hits. From the likeliest cells one after the other is exchanged as long as that
makes the salvo worth more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import log2
from random import Random

from salvo.bots.clues import Clue, chart, clues, is_alone
from salvo.bots.density import Density
from salvo.bots.posterior import Candidates, columns, draw_fleets
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View

#: Fleets drawn for one salvo. More are better, slowly: 100 cost 0.05 salvos a board, 2000 gain 0.05.
FLEETS = 500
#: What a bit that the answer tells is worth, in hits.
WORTH_OF_A_BIT = 0.15
#: Cells that are tried in exchange, the likeliest first.
CANDIDATES = 30
#: How often all cells of a salvo are looked at again.
ROUNDS = 2
#: Fleets that it draws for itself, to place the best hidden one.
LAYOUTS = 12


class Admiral(Density):
    """Draws fleets from all that agree with the answers, and weighs hits against news."""

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self._known: dict[tuple[str, bool], Candidates] = {}

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Return the fleet that is hardest to find among some: no ships side by side, and few cells in the middle.

        The hunter needs 17.8 salvos for such a fleet, and 17.0 for any.
        """
        return min((rules.random_fleet(self.random) for _ in range(LAYOUTS)), key=_exposure)

    def choose_at(self, view: View, target: str) -> Sequence[Shot]:
        shots = view.untouched.of(target)
        if len(shots) <= view.shots:
            return shots
        fleets = self._fleets(view, target)
        if not fleets:
            return super().choose_at(view, target)
        grid = view.rules.grid
        by_cell = {grid.cell(shot.x, shot.y): shot for shot in shots}
        return [by_cell[cell] for cell in choose(fleets, grid.size, list(by_cell), view.shots, self.random)]

    def _fleets(self, view: View, target: str) -> list[int]:
        """Return fleets that the target may have; none when that is too hard to say."""
        told = clues(view, target)
        known = partial(self._candidates, view, target, told)
        return draw_fleets(view.rules, alone=is_alone(view), known=known, random=self.random, count=FLEETS)

    def _candidates(self, view: View, target: str, told: Sequence[Clue], alone: bool) -> Candidates:
        """Go on from what is known, unless the clues are others than they were, as after a restart."""
        known = self._known.get((target, alone))
        if known is None or known.clues != told[: len(known.clues)]:
            known = self._known[target, alone] = Candidates(view.rules, alone=alone)
        for clue in told[len(known.clues) :]:
            known.learn(clue)
        return known


def _exposure(fleet: Fleet) -> tuple[int, int]:
    """Return how many neighbours a fleet's cells have in other ships, and how many places of ships cover its cells."""
    sea = chart(fleet.book)
    owner = dict(zip(fleet.cells, fleet.book.ship_of_cell, strict=True))
    width = fleet.book.grid.width
    beside = [(cell, cell + step) for cell in owner for step in (1, width) if step == width or (cell + 1) % width]
    touching = sum(owner.get(other, owner[cell]) != owner[cell] for cell, other in beside)
    return touching, sum(sea.covering[length][cell].bit_count() for cell in owner for length in sea.lengths)


def choose(fleets: Sequence[int], size: int, cells: Sequence[int], shots: int, random: Random) -> list[int]:
    """Return the cells of the salvo that is worth most.

    Args:
        fleets: masks of fleets, each as likely as the others.
        size: number of cells of the board.
        cells: that may be fired at, more than ``shots``.
    """
    covering = columns(fleets, size)
    count = {cell: covering[cell].bit_count() for cell in cells}
    ranked = sorted(cells, key=lambda cell: (-count[cell], random.random()))
    salvo = ranked[:shots]
    if shots == 1:
        return salvo
    total, entropy = len(fleets), _entropy(len(fleets))
    most_news = WORTH_OF_A_BIT * log2(shots + 1) * total
    for _ in range(ROUNDS):
        before = list(salvo)
        for place in range(shots):
            others = salvo[:place] + salvo[place + 1 :]
            split = _split_by_hits([covering[cell] for cell in others], total)
            best, worth = salvo[place], -1.0
            for cell in (salvo[place], *ranked[:CANDIDATES]):
                if count[cell] + most_news <= worth:
                    break
                if cell not in others:
                    news = sum(entropy[many] for many in _split_once_more(split, covering[cell]))
                    value = count[cell] + WORTH_OF_A_BIT * news
                    if value > worth + 1e-9:
                        best, worth = cell, value
            salvo[place] = best
        if salvo == before:
            break
    return salvo


def _split_by_hits(columns: Sequence[int], total: int) -> list[int]:
    """Return by number of hits which of the fleets answer so."""
    split = [(1 << total) - 1]
    for column in columns:
        split = [(fewer & column) | (same & ~column) for fewer, same in zip([0, *split], [*split, 0], strict=True)]
    return split


def _split_once_more(split: Sequence[int], column: int) -> list[int]:
    """Return by number of hits how many of the fleets answer so, with one more shot."""
    counts = [0] * (len(split) + 1)
    for hits, fleets in enumerate(split):
        more = (fleets & column).bit_count()
        counts[hits + 1] += more
        counts[hits] += fleets.bit_count() - more
    return counts


@lru_cache(maxsize=64)
def _entropy(total: int) -> list[float]:
    """Return by count what an answer that so many of all fleets give adds to the entropy, in bits times ``total``."""
    return [0.0] + [count * log2(total / count) for count in range(1, total + 1)]
