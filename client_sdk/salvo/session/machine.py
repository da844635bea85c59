"""State machines whose transition table is all that decides where they go.

The tables are printed into ``proto/README.md``: they specify a good client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from salvo.events import Event

S = TypeVar("S", bound=Enum)  # the states: values say what they mean
E = TypeVar("E", bound=Enum)  # the events: values say when they happen

#: What an arrow does: it gets the machine's owner and the time, in seconds on the monotonic clock.
Action = Callable[[Any, float], "Sequence[Event] | None"]


class Arrow(NamedTuple, Generic[S, E]):
    """One line of a transition table.

    Attributes:
        sources: the states in which the event matters.
        target: the state that follows; None keeps the state.
        action: what is done after that; the first line of its docstring is printed.
    """

    sources: tuple[S, ...]
    event: E
    target: S | None = None
    action: Action | None = None


class Machine(Generic[S, E]):
    """A state that only its table changes; an event without an arrow changes nothing and does nothing."""

    def __init__(self, owner: object, arrows: Sequence[Arrow[S, E]], state: S) -> None:
        """Begin in a state.

        Args:
            owner: has the arrows' actions; it may be the machine itself.
        """
        self.state = state
        self._owner = owner
        self._arrows = {(source, arrow.event): arrow for arrow in arrows for source in arrow.sources}

    def handle(self, event: E, now: float = 0.0) -> list[Event]:
        """Take an event; return what the owner's driver should learn."""
        arrow = self._arrows.get((self.state, event))
        if arrow is None:
            return []
        if arrow.target is not None:
            self.state = arrow.target
        return [] if arrow.action is None else list(arrow.action(self._owner, now) or ())
