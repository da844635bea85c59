"""Battleship: Salvo.

Two or more players place five ships, 5, 4, 3, 3 and 2 cells long, on a grid of 10 x 10. Ships may touch but never
overlap. The starter is drawn at random; then play goes round in the order in which the fleets were completed. A
turn is one salvo: as many shots as the player had ships afloat when the turn began, each aimed at a player of its
own choice. Only the number of hits of the whole salvo is announced, and which ships sank. Every shot at an occupied
cell is a hit, even a second one there. A player with no ship afloat is defeated; the last one left wins.
"""

from __future__ import annotations

from typing import Final

from salvo.rules.board import Grid, ShipClass, Spacing
from salvo.rules.book import Announce, Ending, Order, RuleBook, Shots, Starter

SALVO: Final = RuleBook(
    name="salvo",
    grid=Grid(10, 10),
    fleet=(
        ShipClass("carrier", 5),
        ShipClass("battleship", 4),
        ShipClass("destroyer", 3),
        ShipClass("submarine", 3),
        ShipClass("patrolboat", 2),
    ),
    spacing=Spacing.TOUCH,
    shots=Shots.AFLOAT,
    order=Order.ROTATION,
    announce=Announce.COUNT,
    ending=Ending.LAST_AFLOAT,
    starter=Starter.RANDOM,
)
