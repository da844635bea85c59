"""All layouts of a small fleet, by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from salvo_lab.bots.clues import ShipPlaces


def layouts(sea: ShipPlaces) -> Iterator[tuple[int, ...]]:
    for ships in product(*[sea.places[length] for length in sea.lengths]):
        if all(not sea.margin[one] & other for n, one in enumerate(ships) for other in ships[n + 1 :]):
            yield ships
