"""Bots and posterior against the best play, on boards that are small enough to know it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bench.optimum import PONDS, gap, pond, title
from kit.optimum import Optimum
from salvo.bots.sources import load
from salvo.rules import Grid, RuleBook, Spacing, generator
from salvo_lab.bots.clues import Clue
from salvo_lab.bots.posterior import Candidates, draw_by_keys

SMALL = [
    pond(3, 2),
    pond(3, 3, 2),
    pond(3, 3, 2, spacing=Spacing.NO_COMMON_EDGE),
    replace(pond(3, 2, 2), grid=Grid(3, 2)),
]
LARGER = [pytest.param(book, marks=pytest.mark.slow) for book in PONDS]


def naive(optimum: Optimum, size: int, agreeing: int, hits: int, cells: int) -> int:
    """The best of all shots that may hit, without bounds and without memory."""
    if hits.bit_count() == cells:
        return 0
    useful = [
        cell
        for cell in range(size)
        if not hits >> cell & 1
        and any(sum(ships) >> cell & 1 for n, ships in enumerate(optimum.layouts) if agreeing >> n & 1)
    ]
    return agreeing.bit_count() + min(
        sum(naive(optimum, size, left, after, cells) for left, after in optimum.answers(cell, agreeing, hits))
        for cell in useful
    )


def test_the_optimum_is_that_of_all_ways_to_play() -> None:
    book = SMALL[3]
    optimum = Optimum(book)
    every = (1 << len(optimum.layouts)) - 1
    total = naive(optimum, book.grid.size, every, 0, len(book.ship_of_cell))
    assert optimum.mean * len(optimum.layouts) == total


@pytest.mark.parametrize("book", SMALL, ids=title)
def test_the_fleets_that_agree_are_those_of_the_enumeration(book: RuleBook) -> None:
    optimum = Optimum(book)
    random = generator("enumeration", book.grid.width)
    for truth, ships in enumerate(optimum.layouts):
        candidates, agreeing, hits = Candidates(book, alone=True), (1 << len(optimum.layouts)) - 1, 0
        for cell in random.sample(range(book.grid.size), 4):
            [answer] = [found for found in optimum.answers(cell, agreeing, hits) if found[0] >> truth & 1]
            sunk = tuple(n for n, ship in enumerate(ships) if ship >> cell & 1 and not ship & ~answer[1])
            agreeing, hits, aimed = *answer, 1 << cell
            candidates.learn(Clue((aimed,), None, aimed & sum(ships), aimed & ~sum(ships), sunk))
            wanted = Counter(sum(found) for n, found in enumerate(optimum.layouts) if agreeing >> n & 1)
            assert Counter(draw_by_keys(candidates, random, 1000)) == wanted


@pytest.mark.parametrize("book", [pond(3, 2), pytest.param(pond(3, 3, 2), marks=pytest.mark.long), *LARGER], ids=title)
@pytest.mark.parametrize(("bot", "most"), [("admiral", 0.4), ("density", 1.2)])
def test_bots_are_close_to_the_optimum_and_never_better(book: RuleBook, bot: str, most: float) -> None:
    found, error = gap(load(bot), book, Optimum(book), 40)
    assert -2 * error - 0.1 < found < most + error
