"""Random draws that come out the same on every Python version and every machine.

Only ``Random.random`` is promised by Python to keep its sequence for a seed; ``sample``, ``shuffle`` and
``randrange`` are not. So everything that decides a game is drawn through the functions below, always from a generator
that is passed in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from random import Random
from typing import TypeVar

T = TypeVar("T")


def generator(*parts: object) -> Random:
    """Return a separate generator for one purpose, such as ``generator(seed, "starter", game)``.

    String seeds are hashed with SHA-512 by Python itself, so equal parts give equal sequences everywhere.
    """
    return Random("/".join(map(str, parts)))


def own_seed(seed: int | str, name: str, game: int) -> str:
    """Return a player's own seed for one game: 16 bytes in hexadecimal, the bot's only source of randomness.

    It reveals nothing about ``seed`` or other players' seeds, as long as ``seed`` cannot be found by trying: 128 random
    bits cannot, 7 can.
    """
    return hashlib.blake2b(f"{seed}/{name}/{game}".encode(), digest_size=16, person=b"salvo own seed").hexdigest()


def draw(random: Random, count: int) -> int:
    """Return an integer 0..count-1, each equally likely (to within 2**-53)."""
    return int(random.random() * count)


def sample(random: Random, items: Iterable[T], count: int) -> list[T]:
    """Return ``count`` different items in random order, or all of them if there are fewer."""
    pool = list(items)
    taken = min(count, len(pool))
    for place in range(taken):
        other = place + int(random.random() * (len(pool) - place))
        pool[place], pool[other] = pool[other], pool[place]
    return pool[:taken]
