"""How many shots more than the best play the built-in bots need, on boards that are small enough to know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import mean, stdev
from typing import Any, Final

from kit.optimum import Optimum
from salvo.bots.player import Bot
from salvo.bots.sources import load
from salvo.rules import STANDARD, Fleet, Grid, RuleBook, ShipClass, Spacing
from salvo_lab.intervals import DEVIATIONS
from salvo_lab.solo import clear

#: Bots that reckon.
BOTS: Final = ("density", "admiral")
#: Boards that a bot clears, at least, each layout equally often.
PLAYS: Final = 600


def pond(side: int, *lengths: int, spacing: Spacing = Spacing.TOUCH) -> RuleBook:
    """Return the rules of ``standard`` on a small board."""
    fleet = tuple(ShipClass(f"ship{number}", length) for number, length in enumerate(lengths, 1))
    return replace(STANDARD, name="pond", grid=Grid(side, side), fleet=fleet, spacing=spacing)


#: Boards whose optimum takes a few seconds at most.
PONDS: Final = (
    pond(3, 2),
    pond(3, 3),
    pond(3, 2, 2),
    pond(3, 3, 2),
    pond(3, 3, 2, spacing=Spacing.NO_COMMON_EDGE),
    pond(4, 2),
    pond(4, 3),
    pond(4, 4),
    pond(4, 4, 3),
    pond(4, 4, 3, spacing=Spacing.APART),
    pond(5, 4),
    pond(5, 5),
)


def small_boards(ponds: tuple[RuleBook, ...] = PONDS, plays: int = PLAYS) -> list[dict[str, Any]]:
    """Return the optimum of every small board, and by bot its gap with half the width of the 95 % interval."""
    return [
        {
            "board": title(book),
            "layouts": len(optimum.layouts),
            "optimum": float(optimum.mean),
            "gaps": {bot: gap(load(bot), book, optimum, plays) for bot in BOTS},
        }
        for book in ponds
        for optimum in [Optimum(book)]
    ]


def gap(make: Callable[[], Bot], book: RuleBook, optimum: Optimum, plays: int) -> tuple[float, float]:
    """Return the shots that a bot needs more than the best play on average, and half the width of the 95 % interval.

    Each layout is played equally often, so the error is that of the bot's own chance.
    """
    fleets = list(_fleets(book, optimum))
    found = [
        mean(clear(make, time, book=book, fleet=fleet, seed=number).shots for number, fleet in enumerate(fleets))
        for time in range(max(4, -(-plays // len(fleets))))
    ]
    return mean(found) - float(optimum.mean), DEVIATIONS * stdev(found) / len(found) ** 0.5


def _fleets(book: RuleBook, optimum: Optimum) -> Iterator[Fleet]:
    place = [{mask: placement for placement, _, mask, _ in choices} for choices in book.choices]
    for ships in optimum.layouts:
        yield Fleet(book, [by_mask[mask] for by_mask, mask in zip(place, ships, strict=True)])


def title(book: RuleBook) -> str:
    """Return a small board in words, such as ``4 x 4, ships of 3 and 2``."""
    ships = " and ".join(str(ship.length) for ship in book.fleet)
    apart = {Spacing.TOUCH: "", Spacing.NO_COMMON_EDGE: ", no common edge", Spacing.APART: ", no common corner"}
    what = "a ship" if len(book.fleet) == 1 else "ships"
    return (
        f"{book.grid.width} x {book.grid.height}, {what} of {ships}{apart[book.spacing] if len(book.fleet) > 1 else ''}"
    )
