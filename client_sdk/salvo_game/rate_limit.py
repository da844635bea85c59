"""Token buckets: what a flood costs the team or the table that it comes from, and no other."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, NamedTuple, TypeVar


class Rate(NamedTuple):
    """So many at once, then so many a second."""

    size: float
    a_second: float

    def __str__(self) -> str:
        return f"{self.size:g}, then {self.a_second:g} a second"


#: SALVO-FRESH-6. Five placements and a salvo of five under fresh salts, and some to spare; then one tenth of a core.
DERIVATIONS: Final = Rate(12.0, 2.0)
#: SALVO-FRESH-9. Of all who may be strangers together: even on a machine ten times as slow a quarter of a core, so that
#: teams with fresh salts keep the rest.
COURTESIES: Final = Rate(12.0, 0.5)
#: SALVO-FRESH-8. Each costs a line of the journal and a burned nonce for ever: a hundred a second are 100 MB an hour.
#: Even a bot whose every command is refused sends fewer in the fastest games.
REFUSALS: Final = Rate(1000.0, 100.0)


class Bucket:
    """A token bucket on the caller's clock, in milliseconds; full at first."""

    __slots__ = ("_filled_ms", "_rate", "_tokens")

    def __init__(self, rate: Rate, now: int) -> None:
        self._rate = rate
        self._tokens = rate.size
        self._filled_ms = now

    def has_one(self, now: int) -> bool:
        """Whether there is a token."""
        self._tokens = min(self._rate.size, self._tokens + (now - self._filled_ms) / 1000 * self._rate.a_second)
        self._filled_ms = now
        return self._tokens >= 1

    def take(self, now: int) -> bool:
        """Take one token if there is one."""
        if not self.has_one(now):
            return False
        self._tokens -= 1
        return True

    def give_back(self) -> None:
        """Return a token that was well spent."""
        self._tokens = min(self._rate.size, self._tokens + 1)


_Key = TypeVar("_Key")


class Buckets(Generic[_Key]):
    """A bucket for each of many keys, created full on first use; the least recently used one is forgotten.

    Only a full bucket is forgotten without loss, so ``most`` must exceed the number of keys that matter at one time.
    """

    def __init__(self, most: int, rate: Rate) -> None:
        self._most = most
        self._rate = rate
        self._buckets: OrderedDict[_Key, Bucket] = OrderedDict()

    def take(self, key: _Key, now: int) -> bool:
        """Take one token of ``key`` if there is one."""
        bucket = self._buckets.pop(key, None) or Bucket(self._rate, now)
        self._buckets[key] = bucket
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket.take(now)
