"""What several commands print alike."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from salvo.sources import EXEC, stem_of


def leave_on_sigterm() -> None:
    """Let SIGTERM end this process as Ctrl-C does: what it has started is ended, too."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def has_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def seat_names(bots: Sequence[str]) -> list[str]:
    """Return a name for each bot: its own, numbered from the second of the same name on."""
    names: list[str] = []
    for bot in bots:
        _, _, kind = ("", "", "") if bot.startswith(EXEC) else bot.partition(".py:")
        stem = kind or stem_of(bot)
        count = sum(name == stem or name.startswith(f"{stem}-") for name in names)
        names.append(stem if not count else f"{stem}-{count + 1}")
    return names


def again(bots: Sequence[str], seed: int | str, game: int = 1, games: int = 1, rules: str = "salvo") -> str:
    """Return the command that plays the same game again."""
    words = ["salvo", "play", *bots, "--seed", str(seed)]
    if rules != "salvo":
        words += ["--rules", rules]
    if game != 1:
        words += ["--game", str(game)]
    if games != 1:
        words += ["--games", str(games)]
    return shlex.join(words)


def winner_line(winner: str, places: Mapping[str, int]) -> str:
    """Return who has won, or who ties, as people read it."""
    if winner:
        return f"winner: {winner}"
    return f"tie: {', '.join(name for name, place in places.items() if place == 1)}"


def look_again(file: Path) -> str:
    """Return a line with the command that shows a transcript."""
    return f"look again: salvo replay {shlex.quote(str(file))}"


def places_line(places: Mapping[str, int]) -> str:
    """Return places as people read them, best first."""
    return ", ".join(f"{place}. {name}" for name, place in sorted(places.items(), key=lambda pair: pair[1]))
