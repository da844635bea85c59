"""The game of older programs called Battle Ship, with ships that do not even touch at their corners.

Two or more players place an aircraft carrier of 5 cells, a battleship of 4, a cruiser of 3 and two submarines of 2
on a grid of 10 x 10. No two ships of a fleet have an edge or a corner in common. Players take turns, one shot a turn
at another player's board, whatever it hits. Everybody learns cell and result of every shot, and the name of a ship
that sinks. A cell that was shot at before is a miss. A player with no ship afloat is defeated; the last one left wins.
A different player begins each game. Where corners may meet, the book is ``spaced``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from salvo.rules.board import Spacing
from salvo.rules.book import RuleBook
from salvo.rules.books.spaced import SPACED

SCATTERED: Final[RuleBook] = replace(SPACED, name="scattered", spacing=Spacing.APART)
