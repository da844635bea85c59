"""A team's badge: a colour and an emblem, the same on every page of a contest.

``badges.css`` has the colours as the classes ``c0`` to ``c11``, ``badges.svg`` the emblems as the symbols ``e0`` to
``e11``; both stand for a name, and two teams may share one of them, so a page always writes the name beside it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

COLOURS: Final = 12
EMBLEMS: Final = 12
#: Names that are the word of a colour have it.
_WORDS: Final = {
    **{
        "blue": 0,
        "orange": 1,
        "green": 2,
        "pink": 3,
        "yellow": 4,
        "gold": 4,
        "amber": 4,
        "cyan": 5,
        "turquoise": 5,
        "red": 6,
    },
    **{"purple": 7, "violet": 7, "lime": 8, "grey": 9, "gray": 9, "white": 9, "silver": 9, "brown": 10, "magenta": 11},
}
#: Teams whose badges are remembered: on an open broker anybody may make up names.
_MAX_TEAMS: Final = 4096


class Badge(NamedTuple):
    """The numbers of a team's colour and emblem, from 0."""

    colour: int
    emblem: int


@lru_cache(4096)
def badge_of(name: str) -> Badge:
    """Return the badge of a team that nobody else is seen with; any text is a name here."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    colour, emblem = divmod(int.from_bytes(digest[:8]) % (COLOURS * EMBLEMS), EMBLEMS)
    return Badge(_WORDS.get(name.lower(), colour), emblem)


class Badges:
    """The badges of a contest's teams. A team keeps the one that it gets when it is first seen.

    It gets what its name alone would give it, unless another team has that colour or emblem; then the next one that the
    fewest have. So up to twelve teams have each an emblem of their own, and a colour, too, unless one that is called by
    a colour comes after another that has got it.
    """

    def __init__(self) -> None:
        self._given: dict[str, Badge] = {}
        self._colours: Counter[int] = Counter()
        self._emblems: Counter[int] = Counter()

    def of(self, names: Iterable[str]) -> dict[str, Badge]:
        """Return the badges of some teams; those that are new get theirs, in alphabetical order."""
        wanted = set(names)
        for name in sorted(wanted - self._given.keys(), key=lambda name: (name.lower() not in _WORDS, name)):
            if len(self._given) < _MAX_TEAMS:
                self._give(name)
        return {name: self._given.get(name) or badge_of(name) for name in wanted}

    def _give(self, name: str) -> None:
        own = badge_of(name)
        named = name.lower() in _WORDS
        colour = own.colour if named else _rarest(own.colour, COLOURS, self._colours)
        badge = self._given[name] = Badge(colour, _rarest(own.emblem, EMBLEMS, self._emblems))
        self._colours[badge.colour] += 1
        self._emblems[badge.emblem] += 1


def badges_of(names: Iterable[str]) -> dict[str, Badge]:
    """Return the badges of teams that are seen with each other, and with no others."""
    return Badges().of(names)


def _rarest(wanted: int, count: int, used: Counter[int]) -> int:
    return min((number % count for number in range(wanted, wanted + count)), key=lambda number: used[number])
