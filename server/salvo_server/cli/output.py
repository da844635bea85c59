"""What several commands print alike."""

from __future__ import annotations

import shlex
import ssl
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from salvo.errors import SalvoError


def trust(ca: Path) -> ssl.SSLContext:
    """Return what believes a broker whose certificate one of these authorities vouches for.

    Raises:
        SalvoError: ``bad_setting``.
    """
    try:
        return ssl.create_default_context(cafile=str(ca))
    except OSError as error:  # an SSLError is one
        raise SalvoError("bad_setting", f"--ca {ca}: {error.strerror or error}") from None


def has_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def seat_names(bots: Sequence[str]) -> list[str]:
    """Return a name for each bot: its own, numbered from the second of the same name on."""
    names: list[str] = []
    for bot in bots:
        path, _, kind = bot.partition(".py:")
        stem = kind or Path(path).stem
        count = sum(name == stem or name.startswith(f"{stem}-") for name in names)
        names.append(stem if not count else f"{stem}-{count + 1}")
    return names


def again(bots: Sequence[str], seed: int | str, game: int = 1, games: int = 1) -> str:
    """Return the command that plays the same game again."""
    words = ["salvo", "play", *bots, "--seed", str(seed)]
    if game != 1:
        words += ["--game", str(game)]
    if games != 1:
        words += ["--games", str(games)]
    return shlex.join(words)


def look_again(file: Path) -> str:
    """Return a line with the command that shows a transcript."""
    return f"look again: salvo replay {shlex.quote(str(file))}"


def places_line(places: Mapping[str, int]) -> str:
    """Return places as people read them, best first."""
    return ", ".join(f"{place}. {name}" for name, place in sorted(places.items(), key=lambda pair: pair[1]))
