"""Processes that wait for their next game, and those that were asked to leave (SALVO-EXEC-10).

To play many games, each with new bots, use one :class:`ProgramPool` for all of them, and close it at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from salvo.bots.programs.process import Program

#: Processes waiting at a time, such as a table's: a tournament may have more programs than fit into memory.
MAX_WAITING: Final = 16
#: Processes leaving at a time, during games: starting one takes about as long as another takes to leave.
MAX_LEAVING: Final = 2


class ProgramPool:
    """Holds processes between games."""

    def __init__(self) -> None:
        self._waiting: list[Program] = []  # the latest is last
        self._leaving: deque[Program] = deque()

    def take(self, command: Sequence[str]) -> Program | None:
        """Return a waiting process of this command that has not ended meanwhile; None if there is none."""
        for place in range(len(self._waiting) - 1, -1, -1):
            if self._waiting[place].command == tuple(command):
                program = self._waiting.pop(place)
                if not program.has_ended:
                    return program
                program.close()
        return None

    def store(self, program: Program) -> None:
        """Let a process wait for its next game; if there are too many, dismiss the one that has waited longest."""
        self._waiting.append(program)
        if len(self._waiting) > MAX_WAITING:
            self.dismiss(self._waiting.pop(0))

    def dismiss(self, program: Program) -> None:
        """Ask a process to leave, and end it later if necessary; one that owes an answer is ended at once."""
        if not program.idle:
            program.close()
        if not program.running:
            return
        program.dismiss()
        self._leaving.append(program)
        if len(self._leaving) > MAX_LEAVING:
            self._leaving.popleft().close()

    def close(self) -> None:
        """End all processes; they leave in parallel."""
        for program in self._waiting:
            program.dismiss()
        for program in (*self._leaving, *self._waiting):
            program.close()
        self._waiting.clear()
        self._leaving.clear()
