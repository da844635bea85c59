"""The players' names: the protocol has none, so a gateway assigns them, and remembers whose program is away."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

#: A table has no more seats than that, so no name needs a higher number.
MAX_GUESTS: Final = 1000


class Names:
    """Names of a gateway's programs, for all their threads."""

    def __init__(self, listed: Sequence[str] = (), children: Sequence[str] = ()) -> None:
        """Know the names of child processes, which are reserved and come first.

        Args:
            listed: given to TCP clients in order of arrival; without any, ``guest-1``, ``guest-2`` and so on.
        """
        self._ended: dict[str, Counter[str]] = {}
        self._finished: Counter[str] = Counter()
        self._children = frozenset(children)
        self._order = [*children, *listed]
        self._counting = not listed
        self._held: dict[str, Callable[[], bool]] = {}  # with whether it will be free in a moment
        self._not_ours: set[str] = set()
        self._lost: list[str] = []  # in a game, and without a program
        self._unheard: dict[str, int] = {}  # the game that went on without a name's program
        self._placed: set[str] = set()
        self._forfeits: dict[str, int] = {}  # the last game that a name has forfeited
        self._lock = threading.Lock()

    def take(self, is_off: Callable[[], bool]) -> str | None:
        """Return a name that is free, first one that lost its program in a game; None when there is none.

        Args:
            is_off: whether the name will be given back in a moment: no other one is assigned then.
        """
        with self._lock:
            if any(off() for off in self._held.values()):
                return None
            known = (*self._lost, *self._order)
            free = [name for name in known if self._is_free(name) and name not in self._children]
            if free:
                return self._hold(free[0], is_off)
            return self._hold(self._next_number(), is_off) if self._counting and len(known) < MAX_GUESTS else None

    def take_child(self, name: str) -> str | None:
        """Return a child's name, or None while a child of that name is at the table."""
        with self._lock:
            return self._hold(name, lambda: False) if self._is_free(name) else None

    def is_not_ours(self, name: str) -> bool:
        """Give up a name that another player has; return whether there are others to take."""
        with self._lock:
            self._held.pop(name, None)
            self._not_ours.add(name)
            return self._counting

    def give_back(self, name: str, *, lost_in: int = 0) -> None:
        """Let others have a name.

        Args:
            lost_in: the game that its program was lost in, if it is not over.
        """
        with self._lock:
            self._held.pop(name, None)
            self._placed.discard(name)
            if lost_in:
                self._lost.append(name)
                self._unheard[name] = lost_in

    def has_ended(self, name: str, how: str, *, forfeited: bool = False) -> None:
        """Count a game, and which end of it the program has read."""
        with self._lock:
            self._finished[name] += not forfeited
            self._ended.setdefault(name, Counter())[how] += 1
            self._unheard.pop(name, None)
            self._placed.discard(name)  # its next fleet is waited for, also while this program is still leaving

    def games_of(self, name: str) -> int:
        """Return how many games have ended."""
        with self._lock:
            return self._ended.get(name, Counter()).total()

    def finished_by(self, name: str) -> int:
        """Return how many of them its programs have played to the end."""
        with self._lock:
            return self._finished[name]

    def record_of(self, name: str) -> str:
        """Return how they ended, such as ``won game 2, lost game 1``."""
        with self._lock:
            return ", ".join(f"{how} {count}" for how, count in self._ended.get(name, Counter()).items())

    def waits_for_end_of(self, name: str, game: int) -> bool:
        """Whether a name lost its program in this game, and none has read since how it ended."""
        with self._lock:
            return self._unheard.get(name) == game

    def has_forfeited(self, name: str, game: int) -> None:
        """Note that a name's program has lost this game by forfeit, so that its opponent has won it."""
        with self._lock:
            self._forfeits[name] = game

    def forfeited(self, name: str, game: int) -> bool:
        """Whether a name's program has lost this game by forfeit."""
        with self._lock:
            return self._forfeits.get(name) == game

    def has_placed(self, name: str, *, placed: bool = True) -> None:
        """Note that a name's fleet is complete, or is no longer."""
        with self._lock:
            (self._placed.add if placed else self._placed.discard)(name)

    def may_place(self, name: str) -> bool:
        """Whether the fleets of all names before this one are complete: the first to place is player 1.

        A free name is not waited for, except those of children, which are started again.
        """
        with self._lock:
            before = self._order[: self._order.index(name)]
            return all(other in self._placed for other in before if other in self._held or other in self._children)

    def _is_free(self, name: str) -> bool:
        return name not in self._held and name not in self._not_ours

    def _hold(self, name: str, is_off: Callable[[], bool]) -> str:
        self._held[name] = is_off
        if name in self._lost:
            self._lost.remove(name)
        return name

    def _next_number(self) -> str:
        name = f"guest-{len(self._order) - len(self._children) + 1}"
        self._order.append(name)
        return name
