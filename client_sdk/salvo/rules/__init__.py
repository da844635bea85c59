"""The game itself: rule books, fleets, and the engine that plays them.

Standard library only. Nothing here knows of MQTT, of JSON, of clocks or of secrets. Cells are ints, counted
row by row from 0; people and the wire count from 1 (SALVO-GAME-2).
"""

from salvo.rules.book import (
    Announce,
    Ending,
    Grid,
    Order,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Sinkings,
    Starter,
    Targets,
    UnplayableBook,
)
from salvo.rules.books import BOOKS, CLASSIC, SALVO, SMACKDOWN, STREAK, XBS
from salvo.rules.fleet import Fleet, Orientation, Placement, Spacing, check_placement, check_room, random_fleet
from salvo.rules.game import Game, Points, Rounds, Salvo, begin, draw_fair_starter, draw_starter, set_starter
from salvo.rules.randomness import draw, generator, own_seed, sample

__all__ = [
    "BOOKS",
    "CLASSIC",
    "SALVO",
    "SMACKDOWN",
    "STREAK",
    "XBS",
    "Announce",
    "Ending",
    "Fleet",
    "Game",
    "Grid",
    "Order",
    "Orientation",
    "Placement",
    "Points",
    "Repeats",
    "Rounds",
    "RuleBook",
    "Salvo",
    "ShipClass",
    "Shots",
    "Sinkings",
    "Spacing",
    "Starter",
    "Targets",
    "UnplayableBook",
    "begin",
    "check_placement",
    "check_room",
    "draw",
    "draw_fair_starter",
    "draw_starter",
    "generator",
    "own_seed",
    "random_fleet",
    "sample",
    "set_starter",
]
