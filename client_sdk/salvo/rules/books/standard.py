"""Battleship as most programs play it: one shot a turn, and a ship that sinks is named.

Two or more players place five ships, 5, 4, 3, 3 and 2 cells long, on a grid of 10 x 10. Ships may touch but never
overlap. The starter is drawn at random; then play goes round, one shot a turn at a cell of another player's board that
no one has shot at yet, whatever it hits. Everybody learns cell and result of every shot, and which ship sank. A player
with no ship afloat is defeated; the last one left wins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.rules.book import Announce, Repeats, RuleBook, Shots, Targets
from salvo.rules.books.salvo import SALVO

STANDARD: Final[RuleBook] = replace(
    SALVO,
    name="standard",
    shots=Shots.ONE,
    announce=Announce.CELLS,
    targets=Targets.OTHERS,
    repeats=Repeats.REFUSED,
)
