"""Considers all fleets that a rival may have, and fires where this salvo and the next one hit most of them.

Fleets are drawn evenly from all that agree with every answer (:mod:`salvo_lab.bots.posterior`). The share of them that
has a ship on a cell is the chance of a hit there. A salvo is worth its expected hits and, as a part of them, those of
the salvo after it: that one is aimed by the answer, so a salvo is worth more when its answer tells fleets apart. The
likeliest cells are taken, and then each is exchanged for another if that makes the salvo worth more.

A single shot goes to the likeliest cell. The chances of the likeliest are close, so more fleets are drawn for it: 3,000
in place of 500 save 0.4 shots a board of ``standard``. Looking two or five shots ahead, or to the end of the game on a
sample, or adding what its answer tells, gained nothing that 10,000 boards could show. Of more than five ships, whole
fleets are drawn too unevenly: the mean field (:mod:`salvo_lab.bots.meanfield`) clears such boards with fewer shots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import sqrt
from random import Random

from salvo.rules import Fleet, RuleBook, Sinkings
from salvo.view import Shot, View
from salvo_lab.bots.clues import Clue, chart, clues, is_alone
from salvo_lab.bots.meanfield import MeanField
from salvo_lab.bots.posterior import MAX_SHIPS_BY_KEYS, Candidates, columns, draw_fleets

#: Fleets drawn for one salvo. 100 cost 0.14 salvos a board, 2000 gain 0.04.
FLEETS = 500
#: Fleets drawn for one shot, by rules that never give more.
FLEETS_FOR_ONE = 2000
#: What a hit of the next salvo is worth. It is fired at the likeliest cells of those fleets that agree with the answer.
WORTH_OF_NEXT = 0.4
#: Cells that are tried for a salvo, more than it has, the likeliest; each costs time.
MORE_TRIED = 5
#: Cells that the next salvo may be fired at, more than it has.
MORE_NEXT = 20
#: Assumed hit rate of a player that has not fired yet, and its weight in shots.
USUAL_HITS, USUAL_SHOTS = 0.22, 10
#: Fleets that it draws for itself, to place the best hidden one.
LAYOUTS = 12


class Admiral(MeanField):
    """Samples fleets that agree with every answer, and looks one salvo ahead."""

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self._known: dict[tuple[str, bool], Candidates] = {}

    def place_fleet(self, rules: RuleBook) -> Fleet:
        """Return the fleet that is hardest to find of several: no ships side by side, and few cells in the middle.

        The hunter needs 18.0 salvos for such a fleet, and 17.2 for any.
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

    def _left(self, view: View, player: str) -> float:
        """Give ships of accurate players more weight, because they are more dangerous.

        Against two hunters and a random bot, this won 1058 games of 1600, and counting only ships won 981.
        """
        left = super()._left(view, player)
        if view.rules.sinkings is not Sinkings.TOLD:
            return left
        tally = view.tallies[player]
        return left * sqrt((tally.hits + USUAL_HITS * USUAL_SHOTS) / (tally.shots + USUAL_SHOTS))

    def _fleets(self, view: View, target: str) -> list[int]:
        """Return fleets that the target may have; none if that is too hard."""
        if len(view.rules.fleet) > MAX_SHIPS_BY_KEYS:
            return []
        known_clues = clues(view, target)
        known = partial(self._candidates, view, target, known_clues)
        count = FLEETS if view.rules.longest_salvo > 1 else FLEETS_FOR_ONE
        return draw_fleets(view.rules, alone=is_alone(view), known=known, random=self.random, count=count)

    def _candidates(self, view: View, target: str, known_clues: Sequence[Clue], alone: bool) -> Candidates:
        """Continue from the previous clues, unless they have changed, as after a restart."""
        known = self._known.get((target, alone))
        if known is None or known.clues != known_clues[: len(known.clues)]:
            known = self._known[target, alone] = Candidates(view.rules, alone=alone)
        for clue in known_clues[len(known.clues) :]:
            known.learn(clue)
        return known


def _exposure(fleet: Fleet) -> tuple[int, int]:
    """Return how many cells of other ships touch a fleet's cells, and how many places of ships cover them."""
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
    ranked = sorted(cells, key=lambda cell: (-covering[cell].bit_count(), random.random()))
    salvo = ranked[:shots]
    if shots == 1:
        return salvo
    for place in reversed(range(shots)):
        others = salvo[:place] + salvo[place + 1 :]
        split = _split_by_hits([covering[cell] for cell in others], len(fleets))
        after = [cell for cell in ranked[: shots + MORE_NEXT] if cell not in others]
        worth = partial(_worth, covering=covering, split=split, after=after, shots=shots)
        tried = [cell for cell in ranked[: shots + MORE_TRIED] if cell not in salvo]
        salvo[place] = max([salvo[place], *tried], key=worth)
    return salvo


def _worth(cell: int, *, covering: Sequence[int], split: Sequence[int], after: Sequence[int], shots: int) -> float:
    """Return what a cell adds to the others of a salvo, in hits times the number of fleets.

    Args:
        covering: by cell, which of the fleets cover it, one bit per fleet.
        split: by number of hits of the others, which of the fleets answer so.
        after: cells that the next salvo may be fired at.
    """
    left = [covering[other] for other in after if other != cell]
    answers = _split_once_more(split, covering[cell])
    return covering[cell].bit_count() + WORTH_OF_NEXT * sum([_most_hits(answer, left, shots) for answer in answers])


def _most_hits(fleets: int, covering: Iterable[int], shots: int) -> int:
    """Return how many hits a salvo scores on all of these fleets together, fired at the cells that hit most."""
    return sum(sorted([(fleets & column).bit_count() for column in covering])[-shots:]) if fleets else 0


def _split_by_hits(covering: Iterable[int], total: int) -> list[int]:
    """Return by number of hits which of the fleets answer so."""
    split = [(1 << total) - 1]
    for column in covering:
        split = _split_once_more(split, column)
    return split


def _split_once_more(split: Sequence[int], column: int) -> list[int]:
    """Return by number of hits which of the fleets answer so, with one more shot."""
    return [(fewer & column) | (same & ~column) for fewer, same in zip([0, *split], [*split, 0], strict=True)]
