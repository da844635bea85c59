"""Runs the scenarios side by side, and collects the verdicts."""

from __future__ import annotations

import asyncio
import fnmatch
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from salvo_audit.check.catalog import CASES
from salvo_audit.check.results import CaseOutcome, CaseVerdict, Results
from salvo_audit.check.scenario import Scenario, covering
from salvo_audit.check.stage import Stage, Subject, Unreached

__all__ = ["MOST_AT_ONCE", "check", "check_again", "select"]

#: Clients that play at once: most of their time they wait.
MOST_AT_ONCE: Final = max(4, 3 * (os.cpu_count() or 1))
#: Failures that are tried again.
MOST_AGAIN: Final = 10

#: What every game needs. Where one of these fails again and again, no more games are tried: each would wait for it.
BASICS: Final = ("mqtt/connects", "mqtt/subscribes", "join/asks", "place/all-ships", "turn/fires-when-current")


def select(patterns: Sequence[str]) -> list[str]:
    """Return the names of the cases that patterns such as ``turn/*`` name; all of them without a pattern.

    Raises:
        ValueError: a pattern names none.
    """
    chosen: set[str] = set()
    for pattern in patterns or ("*",):
        found = fnmatch.filter(CASES, pattern)
        if not found:
            raise ValueError(f"no case is called {pattern!r}; salvo check --list lists them")
        chosen.update(found)
    return [name for name in CASES if name in chosen]


async def check(
    subject: Subject,
    names: Sequence[str],
    *,
    at_once: int = MOST_AT_ONCE,
    only: Sequence[str] = (),
    begin: Callable[[Stage], None] | None = None,
    progress: Callable[[Scenario, int, int], None] = lambda scenario, done, of: None,
) -> list[CaseOutcome]:
    """Try the cases on a client; a client that a person starts plays one scenario after the other.

    A case that was not reached because another one has failed comes with that one, also if it is not named.

    Args:
        only: names of scenarios, if not all that decide the cases are to be played.
        begin: called before every scenario, when the judge listens.
        progress: called after every scenario, with how many of how many are done.
    """
    results = Results(CASES)
    chosen = [each for each in covering(names) if not only or each.name in only]
    gate = asyncio.Semaphore(1 if subject.command is None else at_once)
    done = 0

    async def play(scenario: Scenario) -> None:
        nonlocal done
        async with gate:
            await _play(scenario, subject, results, begin)
        done += 1
        progress(scenario, done, len(chosen))

    async with asyncio.TaskGroup() as group:
        for scenario in chosen:
            group.create_task(play(scenario))
    _settle(results, subject, chosen)
    return results.outcomes(names)


async def check_again(subject: Subject, outcomes: Sequence[CaseOutcome], known: Collection[str]) -> list[CaseOutcome]:
    """Try each unexpected failure once more, alone: a busy machine is not the client's fault.

    More than a few are no accident, and a person is not asked to start the client again.
    """
    surprises = [each for each in outcomes if each.verdict is CaseVerdict.FAILED and each.case.name not in known]
    found = {each.case.name: each for each in outcomes}
    for outcome in surprises if subject.command is not None and len(surprises) <= MOST_AGAIN else ():
        name = outcome.case.name
        scenarios = [failure.scenario for failure in outcome.failures]
        alone = await check(subject, [name], at_once=1, only=scenarios)
        if (again := next(each for each in alone if each.case.name == name)).verdict is CaseVerdict.PASSED:
            found[name] = again._replace(why="alone, after it had failed beside others")
    return list(found.values())


async def _play(scenario: Scenario, subject: Subject, results: Results, begin: Callable[[Stage], None] | None) -> None:
    if scenario.claim and scenario.claim not in subject.claims:
        for case in scenario.cases:
            results.not_applicable(case, _not_claimed(scenario.claim))
        return
    for basic in BASICS:
        if results.is_hopeless(basic):
            for case in scenario.cases:
                results.not_reached(case, f"{basic} has failed", basic)
            return
    async with Stage(scenario.name, subject, results, team=scenario.team, secret=scenario.secret) as stage:
        if begin is not None:
            begin(stage)
        cause = ""
        try:
            await scenario.play(stage)
            await stage.finish()
            why = f"the scenario {scenario.name!r} did not come to it"
        except Unreached as error:
            why, cause = str(error), error.cause
    for case in scenario.cases:
        results.not_reached(case, why, cause)


def _not_claimed(claim: str) -> str:
    return f"the client does not claim {claim!r}"


def _settle(results: Results, subject: Subject, chosen: Iterable[Scenario]) -> None:
    """Say of what was never tried why it does not apply, or was not reached."""
    for name, case in CASES.items():
        if results.is_decided(name):
            continue
        if case.unused:
            results.not_applicable(name, case.unused)
        elif case.claim and case.claim not in subject.claims:
            results.not_applicable(name, _not_claimed(case.claim))
