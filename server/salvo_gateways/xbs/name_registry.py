"""The players of a gateway's clients: one client has a name at a time, and the others learn its state."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final, Protocol

#: Reasons for leaving that are kept to tell the others, which happens within a second.
MAX_REASONS: Final = 256


class NamedClient(Protocol):
    """A client that has a name here.

    Attributes:
        called: what it calls itself, which at the table may be spelled otherwise.
    """

    called: str

    def is_going(self) -> bool:
        """Whether it has hung up, so that its name will be free in a moment."""
        ...

    def is_in_lobby(self) -> bool:
        """Whether it has a place in the lobby, or has asked for one."""
        ...

    def taunt(self, kind: str) -> str:
        """Return one of the texts for those who shoot at it, ``hit`` or ``miss``; empty when it has none."""
        ...


class NameRegistry:
    """The players of one door, by name at the table; used by the threads of all its guests."""

    def __init__(self) -> None:
        self._here: dict[str, NamedClient] = {}
        self._missing: dict[str, tuple[int, str]] = {}  # in which game, and what they are called
        self._reasons: OrderedDict[str, str] = OrderedDict()
        self._skips: dict[str, tuple[int, str]] = {}  # the last turn that was skipped, and why
        self._lock = threading.Lock()

    def claim(self, name: str, member: NamedClient) -> bool:
        """Take a name; return False when another client has it."""
        with self._lock:
            if name in self._here:
                return False
            self._here[name] = member
            self._missing.pop(name, None)
            self._reasons.pop(name, None)
            self._skips.pop(name, None)
            return True

    def leave(self, name: str, game: int) -> None:
        """Give a name back.

        Args:
            game: the one that its player is missing from; 0 for none.
        """
        with self._lock:
            member = self._here.pop(name, None)
            self._missing = {other: of for other, of in self._missing.items() if of[0] == game}
            if game and member is not None:
                self._missing[name] = game, member.called
            known = self._here.keys() | self._missing.keys()
            self._skips = {other: skip for other, skip in self._skips.items() if other in known}

    def is_missing(self, name: str, game: int) -> bool:
        """Whether a player of a game connected here and is gone; always False for those from elsewhere."""
        with self._lock:
            return self._missing.get(name, (0, ""))[0] == game

    def member(self, name: str) -> NamedClient | None:
        """Return the client that has a name."""
        with self._lock:
            return self._here.get(name)

    def called(self, name: str) -> str:
        """Return what the client with a name at the table calls itself, also while it is missing; empty for others."""
        with self._lock:
            member = self._here.get(name)
            return self._missing.get(name, (0, ""))[1] if member is None else member.called

    def names(self) -> tuple[str, ...]:
        """Return the names that clients have."""
        with self._lock:
            return tuple(self._here)

    def in_lobby(self) -> tuple[str, ...]:
        """Return the names of clients that have a place in the lobby, or have asked for one."""
        with self._lock:
            return tuple(name for name, member in self._here.items() if member.is_in_lobby())

    def note_reason(self, name: str, reason: str) -> None:
        """Note why a player leaves the lobby, before the others can hear that it has."""
        with self._lock:
            self._reasons[name] = reason
            if len(self._reasons) > MAX_REASONS:
                self._reasons.popitem(last=False)

    def note_skip(self, name: str, turn: int, reason: str) -> None:
        """Note why a player skips a turn, before the others can hear that it has."""
        with self._lock:
            self._skips[name] = turn, reason

    def skip_reason(self, name: str, turn: int) -> str:
        """Return why a player has skipped a turn; empty when it did not say."""
        with self._lock:
            last, reason = self._skips.get(name, (0, ""))
            return reason if last == turn else ""

    def reason(self, name: str) -> str:
        """Return why a player has left the lobby; empty when it did not say."""
        with self._lock:
            return self._reasons.get(name, "")
