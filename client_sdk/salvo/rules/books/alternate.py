"""Battleship with ships that keep their distance, and one shot a turn.

Two or more players place ten ships on a grid of 10 x 10: one of four cells, two of three, three of two, and four of
one. No two ships of a fleet touch, not even at their corners. A turn is one shot at a cell of another player's
board that no one has shot at yet. It is announced, and the answer is miss, hit, or hit and sunk. Then it is the next
player's turn, whatever the shot has hit. A player with no ship afloat is defeated; the last one left wins. Then all
boards are shown to everybody. Where a hit shoots again, the book is ``streak``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.rules.book import Order, RuleBook
from salvo.rules.books.streak import STREAK

ALTERNATE: Final[RuleBook] = replace(STREAK, name="alternate", order=Order.ROTATION)
