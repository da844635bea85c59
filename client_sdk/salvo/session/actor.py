"""A state machine that does what its table asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from salvo.events import Event
from salvo.state_machine import A, E, Machine, S

#: The method for every action.
Does = Mapping[Any, Callable[[Any, float], Sequence[Event] | None]]


class Actor(Machine[S, E, A]):
    """A machine with a method for every action; a method gets the time, in seconds on the monotonic clock."""

    DOES: ClassVar[Does]

    def take(self, event: E, now: float = 0.0) -> list[Event]:
        """Change the state and act as the table says; return what the player should learn."""
        action = self.handle(event)
        return [] if action is None else list(self.DOES[action](self, now) or ())
