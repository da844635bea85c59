"""The list of scenarios: the cases that each is there for, and how it registers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from salvo_audit.check.results import Case
from salvo_audit.check.stage import Stage

#: What a scenario is: it plays on a stage.
ScenarioPlay = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """A game, or a part of one, that decides some cases.

    Attributes:
        cases: those that it is there for, by name; :mod:`.in_passing` has the ones that hold everywhere.
    """

    name: str
    cases: Mapping[str, Case]
    play: ScenarioPlay
    team: str = "red"
    secret: str = "cockadoodledoo"
    claim: str = ""


#: All scenarios, in the order of their definition.
SCENARIOS: Final[list[Scenario]] = []


def scenario(
    *cases: Case, team: str = "red", secret: str = "cockadoodledoo", claim: str = ""
) -> Callable[[ScenarioPlay], ScenarioPlay]:
    """Register a scenario with its cases, which are defined nowhere else.

    Args:
        claim: a capability without which it is not played; its cases do not apply then.
    """

    def register(play: ScenarioPlay) -> ScenarioPlay:
        name = getattr(play, "__name__", "").replace("_", " ")
        claimed = {case.name: case._replace(claim=claim) for case in cases}
        SCENARIOS.append(Scenario(name, claimed, play, team, secret, claim))
        return play

    return register


def covering(names: Collection[str]) -> list[Scenario]:
    """Return the scenarios that decide some cases; all, if one of them holds everywhere."""
    special = {case for each in SCENARIOS for case in each.cases}
    if not special.issuperset(names):
        return list(SCENARIOS)
    return [each for each in SCENARIOS if each.cases.keys() & set(names)]
