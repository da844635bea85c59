"""What every key does for a person at a terminal; the page of a browser has the same ones."""

from __future__ import annotations

import string
from typing import Final

#: Columns and rows to go, by key.
ARROWS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
#: How to name a square, in words.
TO_A_SQUARE: Final = "arrows, A-Z row, 0-9 column   Enter: this square"
#: Chooses a square, or what is marked in a list.
CHOOSE: Final = ("enter", "space")
#: To the next board, and back.
NEXT_BOARD: Final = {"tab": 1, "shift+tab": -1}
#: How far a key goes in the list of actions.
STEPS: Final = {"down": 1, "tab": 1, "right": 1, "up": -1, "shift+tab": -1, "left": -1}
#: Actions while a fleet is placed.
IN_SETUP: Final = {
    "d": "delete", "delete": "delete", "backspace": "delete", "r": "random", "u": "undo", "escape": "cancel",
}  # fmt: skip
#: Actions in a game.
IN_GAME: Final = {"f": "fire", "s": "skip", "escape": "none"}
#: At the end of a game, and from one to the next.
AGAIN: Final = "r"
#: Changes a fleet that is placed, until its game begins.
CHANGE: Final = "c"
#: Begins a line of chat.
MESSAGE: Final = "m"
#: Twice while a game is not over.
LEAVE: Final = "q"
#: All of them, but for the capital letters of rows.
ALL: Final = tuple(dict.fromkeys([*STEPS, *CHOOSE, *IN_SETUP, *IN_GAME, *string.digits, AGAIN, CHANGE, MESSAGE, LEAVE]))
