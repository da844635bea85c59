"""A team's badge: a colour and an emblem, from its name alone and therefore the same on every page.

``badges.css`` has the colours as the classes ``c0`` to ``c11``, ``badges.svg`` the emblems as the symbols ``e0`` to
``e11``; both stand for a name, and two teams may share one of them, so a page always writes the name beside it.
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

COLOURS: Final = 12
EMBLEMS: Final = 12


class Badge(NamedTuple):
    """The numbers of a team's colour and emblem, from 0."""

    colour: int
    emblem: int


def badge_of(name: str) -> Badge:
    """Return a team's badge; any text is a name here."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return Badge(*divmod(int.from_bytes(digest[:8]) % (COLOURS * EMBLEMS), EMBLEMS))
