"""The Battleship of a well-known experiment in planning, by whose rules other programs can be compared.

Two or more players place five ships, 6, 5, 4, 3 and 2 cells long, on a grid of 10 x 10. No two ships of a fleet have an
edge or a corner in common. The starter is drawn at random; then play goes round, one shot a turn at a cell of another
player's board that no one has shot at yet. Everybody learns cell and result of every shot, and nobody which ships sank.
A player with no ship afloat is defeated; the last one left wins.

The rules are those of D. Silver and J. Veness, "Monte-Carlo Planning in Large POMDPs", NIPS 2010, as the program that
they published has them; it has one player, and draws fleets ship by ship, the longest first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.rules.board import ShipClass
from salvo.rules.book import RuleBook, Sinkings
from salvo.rules.books.apart import APART

POMCP: Final[RuleBook] = replace(
    APART,
    name="pomcp",
    fleet=(
        ShipClass("dreadnought", 6),
        ShipClass("carrier", 5),
        ShipClass("battleship", 4),
        ShipClass("cruiser", 3),
        ShipClass("patrolboat", 2),
    ),
    sinkings=Sinkings.UNTOLD,
)
