"""One shot a turn, and the ships keep their distance; the game of older programs called Battle Ship.

Two or more players place an aircraft carrier of 5 cells, a battleship of 4, a cruiser of 3 and two submarines of 2
on a grid of 10 x 10. Ships of a fleet have no border in common; they may touch at their corners. Players take
turns, one shot a turn at another player's board, whatever it hits. Everybody learns cell and result of every shot,
and the name of a ship that sinks. A cell that was shot at before is a miss. A player with no ship afloat is
defeated; the last one left wins. A different player begins each game.
"""

from __future__ import annotations

from typing import Final

from salvo.rules.board import Grid, ShipClass, Spacing
from salvo.rules.book import Announce, Ending, Order, Repeats, RuleBook, Shots, Starter, Targets

SPACED: Final = RuleBook(
    name="spaced",
    grid=Grid(10, 10),
    fleet=(
        ShipClass("aircraftcarrier", 5),
        ShipClass("battleship", 4),
        ShipClass("cruiser", 3),
        ShipClass("submarine1", 2),
        ShipClass("submarine2", 2),
    ),
    spacing=Spacing.NO_COMMON_EDGE,
    shots=Shots.ONE,
    order=Order.ROTATION,
    announce=Announce.CELLS,
    ending=Ending.LAST_AFLOAT,
    starter=Starter.ALTERNATING,
    targets=Targets.OTHERS,
    repeats=Repeats.MISS,
)
