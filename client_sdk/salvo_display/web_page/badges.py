"""A team's badge: a colour and an emblem, from its name alone, or with those of the teams that it is seen with.

``badges.css`` has the colours as the classes ``c0`` to ``c11``, ``badges.svg`` the emblems as the symbols ``e0`` to
``e11``; both stand for a name, and two teams may share one of them, so a page always writes the name beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

COLOURS: Final = 12
EMBLEMS: Final = 12


class Badge(NamedTuple):
    """The numbers of a team's colour and emblem, from 0."""

    colour: int
    emblem: int


@lru_cache(4096)
def badge_of(name: str) -> Badge:
    """Return a team's badge; any text is a name here."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return Badge(*divmod(int.from_bytes(digest[:8]) % (COLOURS * EMBLEMS), EMBLEMS))


def badges_of(names: Iterable[str]) -> dict[str, Badge]:
    """Return the badges of teams that play each other: up to twelve have each a colour and an emblem of their own.

    A team keeps what its name gives it, unless a name before it in the alphabet has it; then it gets the next that is
    free. So every page that shows the same game shows the same badges.
    """
    ordered = sorted(set(names))
    own = {name: badge_of(name) for name in ordered}
    colours = _apart({name: badge.colour for name, badge in own.items()}, COLOURS)
    emblems = _apart({name: badge.emblem for name, badge in own.items()}, EMBLEMS)
    return {name: Badge(colours[name], emblems[name]) for name in ordered}


def _apart(wanted: dict[str, int], count: int) -> dict[str, int]:
    found: dict[str, int] = {}
    taken: set[int] = set()
    for name, number in wanted.items():
        if number not in taken:
            found[name] = number
            taken.add(number)
    for name, number in wanted.items():
        if name not in found:
            around = (free % count for free in range(number, number + count))
            found[name] = next((free for free in around if free not in taken), number)
            taken.add(found[name])
    return found
