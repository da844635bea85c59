"""The fewest shots that clear a small board, on average over all layouts: by dynamic programming, exactly.

What is known after some shots is which layouts agree with the answers, and which cells were hit; with the same of
both, the same shots are best. One shot a turn, and a sunk ship is named. A certain hit may better wait: fired later,
it may tell which ship it sinks.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from kit.layouts import layouts
from salvo.rules import RuleBook
from salvo_lab.bots.clues import chart


class Optimum:
    """The best play on a small board, where each layout is as likely as the others.

    Attributes:
        layouts: by number, the masks of the ships.
    """

    def __init__(self, book: RuleBook) -> None:
        self.layouts = list(layouts(chart(book)))
        self._cells = len(book.ship_of_cell)
        self._covering = [
            sum(1 << number for number, ships in enumerate(self.layouts) if sum(ships) >> cell & 1)
            for cell in range(book.grid.size)
        ]
        #: By ship and place, the layouts where it lies there.
        self._lying: list[dict[int, int]] = [{} for _ in book.fleet]
        for number, ships in enumerate(self.layouts):
            for lying, place in zip(self._lying, ships, strict=True):
                lying[place] = lying.get(place, 0) | 1 << number
        self.shots, self._least = cache(self._shots), cache(self._least)  # type: ignore[method-assign]

    @property
    def mean(self) -> Fraction:
        """The mean number of shots of the best play."""
        return Fraction(self.shots((1 << len(self.layouts)) - 1, 0), len(self.layouts))

    def _shots(self, agreeing: int, hits: int) -> int:
        """Return the shots of the best play for all layouts that agree, together.

        Args:
            agreeing: layouts, as a bit mask of their numbers.
            hits: cells, as a bit mask.
        """
        count, left = agreeing.bit_count(), self._cells - hits.bit_count()
        if count == 1 or not left:
            return count * left
        chances = [
            ((agreeing & covering).bit_count(), cell)
            for cell, covering in enumerate(self._covering)
            if not hits >> cell & 1 and agreeing & covering
        ]
        chances.sort(reverse=True)
        best = count * 1000
        for _, cell in chances:
            best = min(best, self._at(cell, agreeing, hits, best))
        return best

    def _at(self, cell: int, agreeing: int, hits: int, enough: int) -> int:
        """Return the shots if the next one is at this cell; any number from ``enough`` on if it is not fewer."""
        answers = sorted(self.answers(cell, agreeing, hits), key=lambda answer: answer[0].bit_count())
        least = [self._least(*answer) for answer in answers]
        total = agreeing.bit_count() + sum(least)
        for answer, bound in zip(answers, least, strict=True):
            if total >= enough:
                return enough
            total += self.shots(*answer) - bound
        return total

    def _least(self, agreeing: int, hits: int) -> int:
        """Return a bound of what the best play needs: as long as all shots miss, each finds no more than the first."""
        count = agreeing.bit_count()
        most = max(
            (agreeing & covering).bit_count() for cell, covering in enumerate(self._covering) if not hits >> cell & 1
        )
        misses = sum(range(count - most, 0, -most)) if most else 0
        return count * (self._cells - hits.bit_count()) + misses

    def answers(self, cell: int, agreeing: int, hits: int) -> Iterator[tuple[int, int]]:
        """Yield the layouts of each answer to a shot, and the hits then."""
        if missed := agreeing & ~self._covering[cell]:
            yield missed, hits
        struck, after = agreeing & self._covering[cell], hits | 1 << cell
        for places in self._lying:
            sunk = 0
            for place, lying in places.items():
                if place >> cell & 1 and not place & ~after:
                    sunk |= struck & lying
            if sunk:  # the ship is named, but not where it lay
                yield sunk, after
                struck &= ~sunk
        if struck:
            yield struck, after
