"""What the stand-ins share, and no protocol: fleets, a hunter that is good enough, and reports on standard output."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

Cell = tuple[int, int]


def around(cell: Cell, *, corners: bool = False) -> list[Cell]:
    """Return the cells beside one, on the board or off it."""
    x, y = cell
    steps = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]
    return [(x + dx, y + dy) for dx, dy in steps if corners or not (dx and dy)]


def place(
    rng: random.Random, width: int, height: int, lengths: Sequence[int], *, apart: bool = False
) -> list[list[Cell]]:
    """Place ships of these lengths, each from its left or top; ``apart``: they touch nowhere, not even at corners."""
    while True:
        ships: list[list[Cell]] = []
        barred: set[Cell] = set()
        for length in lengths:
            free = [
                ship
                for x in range(width)
                for y in range(height)
                for ship in ([(x + i, y) for i in range(length)], [(x, y + i) for i in range(length)])
                if ship[-1][0] < width and ship[-1][1] < height and not barred & set(ship)
            ]
            if not free:
                break
            ship = rng.choice(free)
            ships.append(ship)
            barred |= set(ship)
            if apart:
                barred |= {cell for part in ship for cell in around(part, corners=True)}
        else:
            return ships


class Hunter:
    """Shoots beside its hits, in line with two of them if it can, and anywhere while it has none."""

    def __init__(self, rng: random.Random, width: int, height: int) -> None:
        self._rng = rng
        self.untried = {(x, y) for x in range(width) for y in range(height)}
        self.hits: set[Cell] = set()

    def choose(self) -> Cell:
        best = [
            (x, y)
            for x, y in self.untried
            if any({(x + dx, y + dy), (x + 2 * dx, y + 2 * dy)} <= self.hits for dx, dy in around((0, 0)))
        ]
        best = best or [cell for cell in self.untried if self.hits & set(around(cell))]
        return self._rng.choice(sorted(best or self.untried))

    def learn(self, cell: Cell, hit: bool) -> None:
        self.untried.discard(cell)
        if hit:
            self.hits.add(cell)

    def exclude(self, cells: Iterable[Cell]) -> None:
        self.untried -= set(cells)


class Report:
    """One JSON line an event; whatever the other side must not do is a fault.

    Attributes:
        faults: how many.
    """

    def __init__(self, path: str = "") -> None:
        self.faults = 0
        self._path = path

    def __call__(self, event: str, **details: Any) -> None:
        line = json.dumps({"event": event} | details)
        if self._path:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        else:
            print(line, flush=True)

    def fault(self, text: str, **details: Any) -> None:
        self.faults += 1
        self("fault", text=text, **details)
