"""Who of a gateway's clients is here: a name is had by one client at a time, and the others are told who is missing."""

from __future__ import annotations

import threading


class Company:
    """The players that came in at one door; asked by the threads of all its guests."""

    def __init__(self) -> None:
        self._here: set[str] = set()
        self._missing: dict[str, int] = {}  # in which game
        self._lock = threading.Lock()

    def claim(self, name: str) -> bool:
        """Take a name, without regard to case; return False when somebody here has it."""
        with self._lock:
            if name.lower() in self._here:
                return False
            self._here.add(name.lower())
            self._missing.pop(name.lower(), None)
            return True

    def leave(self, name: str, game: int) -> None:
        """Give a name back.

        Args:
            game: the one that its player is missing from; 0 for none.
        """
        with self._lock:
            self._here.discard(name.lower())
            self._missing = {other: of for other, of in self._missing.items() if of == game}
            if game:
                self._missing[name.lower()] = game

    def is_missing(self, name: str, game: int) -> bool:
        """Whether a player of a game came in here and is gone; of those who came in elsewhere nobody here knows."""
        with self._lock:
            return self._missing.get(name.lower()) == game
