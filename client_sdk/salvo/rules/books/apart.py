"""Battleship as most programs play it, with ships that keep their distance.

Two or more players place five ships, 5, 4, 3, 3 and 2 cells long, on a grid of 10 x 10. No two ships of a fleet have an
edge or a corner in common. The starter is drawn at random; then play goes round, one shot a turn at a cell of another
player's board that no one has shot at yet, whatever it hits. Everybody learns cell and result of every shot, and which
ship sank. A player with no ship afloat is defeated; the last one left wins. Where ships may touch, the book is
``standard``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.rules.board import Spacing
from salvo.rules.book import RuleBook
from salvo.rules.books.standard import STANDARD

APART: Final[RuleBook] = replace(STANDARD, name="apart", spacing=Spacing.APART)
