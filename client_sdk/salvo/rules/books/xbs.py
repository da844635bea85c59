"""Xterm Boat Sinker: points.

Two or more players place boats, five of 5, 4, 3, 3 and 2 cells here, on a grid of 10 x 10 here; the letters and
lengths of the boats and the size of the grid are free, as far as they fit. Boats may touch but never overlap.
Players take turns, one shot a turn, at any other player's board; a cell that any player has shot at is no longer a
target. Everybody sees all shots, and whether they hit, but not which boat was hit, nor that one sank. A hit is a
point. No one is ever out, and a turn may be skipped. When a player has reached the goal, as many points as a fleet
has cells, the round is played to its end, so that all have had equally many turns. The most points win, and several
players may tie.
"""

from __future__ import annotations

from typing import Final

from salvo.rules.board import Grid, ShipClass, Spacing
from salvo.rules.book import Announce, Ending, Order, Repeats, RuleBook, Shots, Sinkings, Starter, Targets

XBS: Final = RuleBook(
    name="xbs",
    grid=Grid(10, 10),
    fleet=(ShipClass("a", 5), ShipClass("b", 4), ShipClass("c", 3), ShipClass("d", 3), ShipClass("e", 2)),
    spacing=Spacing.TOUCH,
    shots=Shots.ONE,
    order=Order.ROTATION,
    announce=Announce.CELLS,
    ending=Ending.GOAL,
    starter=Starter.RANDOM,
    sinkings=Sinkings.UNTOLD,
    targets=Targets.OTHERS,
    repeats=Repeats.REFUSED,
    skipping=True,
)
