"""The list of scenarios: what each is there to decide, and how it registers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Final

from salvo_audit.check.stage import Stage

#: What a scenario is: it plays on a stage.
Play = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A game, or a part of one, that decides some cases.

    Attributes:
        cases: those that it is there for; the ones that hold everywhere are judged in passing.
    """

    name: str
    cases: tuple[str, ...]
    play: Play
    team: str = "red"
    secret: str = "cockadoodledoo"
    claim: str = ""


#: All scenarios, in the order of their definition.
SCENARIOS: Final[list[Scenario]] = []


def scenario(*cases: str, team: str = "red", secret: str = "cockadoodledoo", claim: str = "") -> Callable[[Play], Play]:
    """Register a scenario.

    Args:
        claim: a capability without which it is not played; its cases do not apply then.
    """

    def register(play: Play) -> Play:
        name = getattr(play, "__name__", "").replace("_", " ")
        SCENARIOS.append(Scenario(name, cases, play, team, secret, claim))
        return play

    return register


def covering(names: Collection[str]) -> list[Scenario]:
    """Return the scenarios that decide some cases; all, if one of them holds everywhere."""
    special = {case for each in SCENARIOS for case in each.cases}
    if not special.issuperset(names):
        return list(SCENARIOS)
    return [each for each in SCENARIOS if set(each.cases) & set(names)]
