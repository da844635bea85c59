"""Battleship with a hit that shoots again.

Two or more players place ten ships on a grid of 10 x 10: one of four cells, two of three, three of two, and four of
one. No two ships of a fleet touch, not even at their corners. A turn is one shot at a cell of another player's
board that no one has shot at yet. It is announced, and the answer is miss, hit, or hit and sunk. After a hit the
same player has the next turn, after a miss the next player. A player with no ship afloat is defeated; the last one
left wins. Then all boards are shown to everybody.
"""

from __future__ import annotations

from typing import Final

from salvo.rules.board import Grid, ShipClass, Spacing
from salvo.rules.book import Announce, Ending, Order, Repeats, RuleBook, Shots, Starter, Targets

STREAK: Final = RuleBook(
    name="streak",
    grid=Grid(10, 10),
    fleet=(
        ShipClass("four", 4),
        ShipClass("three1", 3),
        ShipClass("three2", 3),
        ShipClass("two1", 2),
        ShipClass("two2", 2),
        ShipClass("two3", 2),
        ShipClass("one1", 1),
        ShipClass("one2", 1),
        ShipClass("one3", 1),
        ShipClass("one4", 1),
    ),
    spacing=Spacing.APART,
    shots=Shots.ONE,
    order=Order.STREAK,
    announce=Announce.CELLS,
    ending=Ending.LAST_AFLOAT,
    starter=Starter.FIRST,
    targets=Targets.OTHERS,
    repeats=Repeats.REFUSED,
    reveal=True,
)
