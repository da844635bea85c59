"""The game itself: rule books, fleets, and the engine that plays them.

Standard library only. Nothing here knows of MQTT, of JSON, of clocks or of secrets. Cells are ints, counted
row by row from 0; people and the wire count from 1 (SALVO-GAME-2).
"""

from salvo.rules.book import (
    SALVO,
    Announce,
    Ending,
    Grid,
    Order,
    RuleBook,
    ShipClass,
    Shots,
    Spacing,
    Starter,
)
from salvo.rules.fleet import Fleet, Orientation, Placement, check_placement, check_room, random_fleet
from salvo.rules.game import Game, Salvo, draw_fair_starter, draw_starter
from salvo.rules.randomness import draw, generator, sample

__all__ = [
    "SALVO",
    "Announce",
    "Ending",
    "Fleet",
    "Game",
    "Grid",
    "Order",
    "Orientation",
    "Placement",
    "RuleBook",
    "Salvo",
    "ShipClass",
    "Shots",
    "Spacing",
    "Starter",
    "check_placement",
    "check_room",
    "draw",
    "draw_fair_starter",
    "draw_starter",
    "generator",
    "random_fleet",
    "sample",
]
