"""State machines that follow their transition table alone.

A machine says what has to be done; who owns it does it. Tables are printed into the documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from inspect import getdoc
from types import FunctionType
from typing import Any, Generic, NamedTuple, TypeVar

S = TypeVar("S", bound=Hashable)  # the states
E = TypeVar("E", bound=Hashable)  # the events
A = TypeVar("A")  # what is to be done


class Transition(NamedTuple, Generic[S, E, A]):
    """One line of a transition table.

    Attributes:
        sources: the states in which the event matters.
        target: the state that follows; None: the same.
        action: what is to be done then; None: nothing.
        sentence: the requirement; empty if the action names it.
    """

    sources: tuple[S, ...]
    event: E
    target: S | None = None
    action: A | None = None
    sentence: str = ""


class Machine(Generic[S, E, A]):
    """A state that only its table changes; an event without a transition changes nothing and asks for nothing."""

    def __init__(self, transitions: Sequence[Transition[S, E, A]], state: S) -> None:
        """Begin in a state."""
        self.state = state
        self._transitions = {(source, line.event): line for line in transitions for source in line.sources}

    def handle(self, event: E) -> A | None:
        """Change the state as the table says; return what is to be done."""
        transition = self._transitions.get((self.state, event))
        if transition is None:
            return None
        if transition.target is not None:
            self.state = transition.target
        return transition.action


def markdown(transitions: Sequence[Transition[Any, Any, Any]], owner: str) -> str:
    """Return a table as Markdown.

    Args:
        owner: who does what is to be done, the title of its column.
    """
    states = {state for line in transitions for state in (*line.sources, line.target) if state is not None}
    titles = ["event", "in", "then", owner, "requirement"]
    rows = [_cells(line, states) for line in transitions]
    if not any(line.sentence for line in transitions):
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    head, *lines = [f"| {' | '.join(row)} |" for row in [titles, *rows]]
    return "\n".join([head, f"|{'---|' * len(titles)}", *lines])


def _cells(line: Transition[Any, Any, Any], states: set[Any]) -> list[str]:
    sources = "any" if set(line.sources) == states else ", ".join(map(_name, line.sources))
    target = "the same" if line.target is None else _name(line.target)
    return [_meaning(line.event), sources, target, _meaning(line.action or "nothing"), line.sentence]


def _meaning(value: object) -> str:
    """Return what an event or an action is called; a function by the sentence that it opens with."""
    if isinstance(value, FunctionType):
        sentence = str(getdoc(value)).partition("\n")[0].rstrip(".")
        return sentence[:1].lower() + sentence[1:]
    return str(value.value) if isinstance(value, Enum) else str(value)


def _name(state: object) -> str:
    return f"`{state}`" if isinstance(state, str) or not isinstance(state, Enum) else f"`{state.name.lower()}`"
