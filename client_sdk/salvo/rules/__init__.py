"""The game itself: rulesets and fleets; the engine that plays them is :mod:`salvo.rules.game`.

Standard library only. Nothing here knows of MQTT, of JSON, of clocks or of secrets. Cells are ints, counted
row by row from 0; people and the wire count from 1 (SALVO-GAME-2).
"""

from salvo.rules.board import Grid, Orientation, Placement, ShipClass, Spacing, UnplayableBook
from salvo.rules.book import Announce, Ending, Order, Repeats, RuleBook, Salvo, Shots, Sinkings, Starter, Targets
from salvo.rules.books import ALTERNATE, APART, BOOKS, POMCP, SALVO, SCATTERED, SMACKDOWN, SPACED, STANDARD, STREAK, XBS
from salvo.rules.fleet import Fleet, check_placement, check_room, random_fleet
from salvo.rules.randomness import draw, generator, own_seed, sample

__all__ = [
    "ALTERNATE",
    "APART",
    "BOOKS",
    "POMCP",
    "SALVO",
    "SCATTERED",
    "SMACKDOWN",
    "SPACED",
    "STANDARD",
    "STREAK",
    "XBS",
    "Announce",
    "Ending",
    "Fleet",
    "Grid",
    "Order",
    "Orientation",
    "Placement",
    "Repeats",
    "RuleBook",
    "Salvo",
    "ShipClass",
    "Shots",
    "Sinkings",
    "Spacing",
    "Starter",
    "Targets",
    "UnplayableBook",
    "check_placement",
    "check_room",
    "draw",
    "generator",
    "own_seed",
    "random_fleet",
    "sample",
]
