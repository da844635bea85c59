"""Whether a bot takes chance from anywhere but its seed, so that a game cannot be seen again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from itertools import zip_longest

from salvo.bots.programs.debugger import is_debugged
from salvo_display.boards.text_boards import TextBoards
from salvo_lab.arena import Outcome


def warn_of_chance(first: Outcome, boards: TextBoards, play: Callable[[TextBoards], Outcome]) -> str:
    """Play a game a second time with new bots, and say who played otherwise; empty if nobody did.

    What the bots print meanwhile is discarded. Under a debugger nothing is played.

    Args:
        play: plays the game with these boards as its listener.
    """
    if is_debugged():
        return ""
    repeated = TextBoards()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        second = play(repeated)
    placed = [name for name, fleet in first.fleets.items() if second.fleets[name].placements != fleet.placements]
    fired = [one for one, other in zip_longest(boards.salvos, repeated.salvos) if one != other and one is not None]
    other = placed[0] if placed else fired[0][0] if fired else ""
    return other and f"{other} plays differently with the same seed; take chance from view.random or self.random only"
