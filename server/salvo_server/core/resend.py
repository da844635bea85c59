"""Log entries that are published again because a team has missed them (SALVO-LOG-12).

A team that lost its connection asks; all subscribers hear the answer, so several requests are one. Entries go out again
in portions, each only when the broker has confirmed the one before: they never crowd out news. All of them were
published before or are queued behind those that were, so the journal has all that they follow from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from weakref import WeakKeyDictionary

from salvo.codec.announcements import Publication
from salvo_server.core.log import TableLog
from salvo_server.core.rate_limit import Bucket, Rate

#: Entries of all tables in a portion, and the pause to the next one: a team on a slow line must not lose news by it.
MAX_ENTRIES: Final = 32
PAUSE_MS: Final = 50
#: Requests of one player in a game: this many at once, then one in five seconds.
MAX_REQUESTS: Final = 6
REQUESTS_A_SECOND: Final = 0.2


class _Wish:
    """Which part of one game's log is wanted, and who has asked for any of it."""

    def __init__(self) -> None:
        self.next: int | None = None  # the next entry to publish; None for none
        self.askers: dict[str, Bucket] = {}


class Resends:
    """What is to be said again at all tables."""

    def __init__(self, logs: Mapping[str, TableLog]) -> None:
        """Answer out of these logs, by table; a game's log is in there from its opening until the next one's."""
        self._logs = logs
        self._wishes: WeakKeyDictionary[TableLog, _Wish] = WeakKeyDictionary()
        self._wanted: list[str] = []  # tables that wait, the next one first
        self._due = 0
        self._confirmed_at = 0  # how many messages the broker must have confirmed before the next portion

    def ask(self, table: str, player: str, first: int, now: int) -> None:
        """Take a player's request; one that comes too often, or for nothing, changes nothing."""
        log = self._logs.get(table)
        if log is None or first >= len(log):
            return
        wish = self._wishes.setdefault(log, _Wish())
        asker = wish.askers.setdefault(player, Bucket(Rate(MAX_REQUESTS, REQUESTS_A_SECOND), now))
        if not asker.take(now):
            return
        wish.next = first if wish.next is None else min(first, wish.next)
        if table not in self._wanted:
            self._wanted.append(table)

    def deadline(self, confirmed: int) -> int | None:
        """Return when the next portion may go out, epoch ms; None while there is none, or the broker is behind.

        Args:
            confirmed: how many messages the broker has confirmed.
        """
        return self._due if self._wanted and confirmed >= self._confirmed_at else None

    def take_due(self, now: int, confirmed: int, published: int) -> list[Publication]:
        """Return the next portion, when it is time for one.

        Args:
            confirmed: how many messages the broker has confirmed.
            published: how many it was sent, or will be before this portion.
        """
        due = self.deadline(confirmed)
        if due is None or now < due:
            return []
        portion: list[Publication] = []
        while self._wanted and len(portion) < MAX_ENTRIES:
            table = self._wanted.pop(0)
            log = self._logs[table]
            wish = self._wishes.get(log)
            if wish is None or wish.next is None:
                continue  # the game is forgotten, and with it who asked
            again = log.again(wish.next, MAX_ENTRIES - len(portion))
            portion += again
            wish.next += len(again)
            if wish.next < len(log):
                self._wanted.append(table)
            else:
                wish.next = None
        self._due = now + PAUSE_MS
        self._confirmed_at = published + len(portion)
        return portion
