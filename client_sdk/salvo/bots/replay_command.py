"""How to see a game again: each bot's name at the table, and the command that plays the game."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from salvo.bots.sources import is_program, stem_of


def seat_names(bots: Sequence[str]) -> list[str]:
    """Return a name for each bot: its own, numbered from the second of the same name on."""
    names: list[str] = []
    for bot in bots:
        _, _, kind = ("", "", "") if is_program(bot) else bot.partition(".py:")
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
