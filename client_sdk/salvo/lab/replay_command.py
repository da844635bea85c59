"""How to see a game again: each bot's name at the table, the command that plays the game, and whether that holds."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Sequence
from itertools import zip_longest

from salvo.lab.arena import Outcome
from salvo.lab.pictures.lines import Boards
from salvo.lab.programs.debugger import is_debugged
from salvo.lab.sources import EXEC, stem_of


def seat_names(bots: Sequence[str]) -> list[str]:
    """Return a name for each bot: its own, numbered from the second of the same name on."""
    names: list[str] = []
    for bot in bots:
        _, _, kind = ("", "", "") if bot.startswith(EXEC) else bot.partition(".py:")
        stem = kind or stem_of(bot)
        count = sum(name == stem or name.startswith(f"{stem}-") for name in names)
        names.append(stem if not count else f"{stem}-{count + 1}")
    return names


def again(
    bots: Sequence[str],
    seed: int | str,
    game: int = 1,
    games: int = 1,
    rules: str = "salvo",
    seats: str = "fixed",
) -> str:
    """Return the command that plays the same game again, or the same games."""
    words = ["salvo", "play", *bots, "--seed", str(seed)]
    if rules != "salvo":
        words += ["--rules", rules]
    if seats != "fixed":
        words += ["--seats", seats]
    if game != 1:
        words += ["--game", str(game)]
    if games != 1:
        words += ["--games", str(games)]
    return shlex.join(words)


def warn_of_chance(first: Outcome, boards: Boards, play: Callable[[Boards], Outcome]) -> str:
    """Play a game a second time with new bots, and say who played otherwise; empty if nobody did.

    What the bots print meanwhile is discarded. Under a debugger nothing is played.

    Args:
        play: plays the game with these boards as its listener.
    """
    if is_debugged():
        return ""
    repeated = Boards()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        second = play(repeated)
    placed = [name for name, fleet in first.fleets.items() if second.fleets[name].placements != fleet.placements]
    fired = [one for one, other in zip_longest(boards.salvos, repeated.salvos) if one != other and one is not None]
    other = placed[0] if placed else fired[0][0] if fired else ""
    return other and f"{other} plays differently with the same seed; take chance from view.random or self.random only"
