"""A team's badge: a colour and an emblem, the same on every page of a contest.

``badges.css`` has the colours as the classes ``c0`` to ``c11``, ``badges.svg`` the emblems as the symbols ``e0`` to
``e11``; both stand for a name, and two teams may share one of them, so a page always writes the name beside it.
"""

from __future__ import annotations

import hashlib
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

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

    @property
    def number(self) -> int:
        """Both in one number, as it is stored and published."""
        return self.colour * EMBLEMS + self.emblem


@lru_cache(4096)
def badge_of(name: str) -> Badge:
    """Return the badge of a team that nobody else is seen with; any text is a name here."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    colour, emblem = divmod(int.from_bytes(digest[:8]) % (COLOURS * EMBLEMS), EMBLEMS)
    return Badge(_WORDS.get(name.lower(), colour), emblem)


class Badges:
    """The badges of a contest's teams. A team keeps the one that it gets when it is first seen.

    It gets what its name alone would give it, unless others have that colour or emblem more often than another one;
    then the next one that the fewest have. No two of the first 24 teams are alike, and each colour is there twice at
    most. A server gives them once, and publishes them (SALVO-EVENING-1).
    """

    def __init__(self, given: Mapping[str, int] | None = None) -> None:
        self._given: dict[str, Badge] = {}
        self._elsewhere: set[str] = set()  # whose badge was given elsewhere
        self._colours: Counter[int] = Counter()
        self._emblems: Counter[int] = Counter()
        self._pairs: Counter[tuple[int, int]] = Counter()
        self.take(given or {})

    def take(self, given: Mapping[str, int]) -> None:
        """Take badges that were given elsewhere, as numbers (:attr:`Badge.number`); they replace those of here.

        A team that has one of them by chance gets another one when it is seen next.
        """
        changed = False
        for name, number in given.items():
            badge = Badge(*divmod(number % (COLOURS * EMBLEMS), EMBLEMS))
            if name in self._given or len(self._given) < _MAX_TEAMS:
                self._elsewhere.add(name)
                if self._given.get(name) != badge:
                    self._drop(name)
                    self._add(name, badge)
                    changed = True
        if changed:
            for name in [name for name in self._given.keys() - self._elsewhere if self._pairs[self._given[name]] > 1]:
                self._drop(name)

    def remember(self, given: Mapping[str, int]) -> None:
        """Take badges of earlier games, for teams that were given none elsewhere."""
        self.take({name: number for name, number in given.items() if name not in self._elsewhere})

    def of(self, names: Iterable[str]) -> dict[str, Badge]:
        """Return the badges of some teams; those that are new get theirs, those with a colour's name first."""
        wanted = set(names)
        for name in sorted(wanted - self._given.keys(), key=lambda name: (name.lower() not in _WORDS, name)):
            if len(self._given) < _MAX_TEAMS:
                self._add(name, self._chosen(name))
        return {name: self._given.get(name) or badge_of(name) for name in wanted}

    def _chosen(self, name: str) -> Badge:
        own = badge_of(name)
        colour = _rarest(own.colour, COLOURS, lambda colour: self._colours[colour])

        def uses(emblem: int) -> tuple[bool, int]:
            """A pair that is there already comes last, however rare its emblem is."""
            return self._pairs[colour, emblem] > 0, self._emblems[emblem]

        return Badge(colour, _rarest(own.emblem, EMBLEMS, uses))

    def _add(self, name: str, badge: Badge) -> None:
        self._given[name] = badge
        self._count(badge, 1)

    def _drop(self, name: str) -> None:
        badge = self._given.pop(name, None)
        if badge is not None:
            self._count(badge, -1)

    def _count(self, badge: Badge, change: int) -> None:
        self._colours[badge.colour] += change
        self._emblems[badge.emblem] += change
        self._pairs[badge] += change


def first_given(places: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the badges, as numbers, that several servers or places have; the first that knows a team decides."""
    return dict(ChainMap(*map(dict, places)))


def badges_of(names: Iterable[str]) -> dict[str, Badge]:
    """Return the badges of teams that are seen with each other, and with no others."""
    return Badges().of(names)


def _rarest(wanted: int, count: int, uses: Callable[[int], Any]) -> int:
    """Return the number that is used least, beginning with the wanted one."""
    return min((number % count for number in range(wanted, wanted + count)), key=uses)
