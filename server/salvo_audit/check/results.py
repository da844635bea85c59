"""Cases, what was found out about them, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from salvo_audit.check.own_broker import ReceivedPublication


class Grade(StrEnum):
    """How much a case matters."""

    MUST = "must"
    SHOULD = "should"


class Case(NamedTuple):
    """What is tried of a client, as data.

    Attributes:
        name: ``group/what-is-tried``.
        requirements: the ones of proto/README.md that it tries, as ``SALVO-...``; the first is the main one.
        does: what the judge does.
        rule: what a right client does then.
        cure: what to do if the client does not.
        claim: the capability that the case is about, if not every client has it.
        unused: why the case does not apply to a client that never comes to it; empty where every client has to.
    """

    name: str
    grade: Grade
    requirements: tuple[str, ...]
    does: str
    rule: str
    cure: str
    claim: str = ""
    unused: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        requirements: str,
        does: str,
        rule: str,
        cure: str,
        *,
        grade: Grade = Grade.MUST,
        unused: str = "",
    ) -> Case:
        """Return a case; its requirements are given in one text, such as ``JOIN-3 SEAL-2``."""
        named = tuple(f"SALVO-{requirement}" for requirement in requirements.split())
        return cls(name, grade, named, does, rule, cure, unused=unused)


class CaseVerdict(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"
    NOT_APPLICABLE = "not applicable"


class CaseFailure(NamedTuple):
    """One time when the client did something else.

    Attributes:
        expected: in words.
        seen: in words.
        publication: the message that decided it, if one did.
        scenario: where it happened.
    """

    expected: str
    seen: str
    publication: ReceivedPublication | None
    scenario: str


class CaseOutcome(NamedTuple):
    """A case with its verdict; ``why`` is empty unless it was not reached, does not apply or was passed alone only."""

    case: Case
    verdict: CaseVerdict
    failures: tuple[CaseFailure, ...]
    why: str


#: Failures of one case that are kept: the first ones say it all.
MOST_FAILURES: Final = 3


class Results:
    """What was found out so far. A case is tried in several scenarios; one failure decides it."""

    def __init__(self, catalog: Mapping[str, Case]) -> None:
        self._catalog = catalog
        self._passed: set[str] = set()
        self._failures: dict[str, list[CaseFailure]] = {}
        self._not_applicable: dict[str, str] = {}
        self._not_reached: dict[str, tuple[str, str]] = {}

    def passed(self, name: str) -> None:
        """Note that a case went well once."""
        self._passed.add(self._catalog[name].name)

    def failed(
        self, name: str, seen: str, scenario: str, *, expected: str = "", publication: ReceivedPublication | None = None
    ) -> None:
        """Note a failure; ``expected`` is the case's rule unless the situation has more exact words."""
        failures = self._failures.setdefault(name, [])
        if len(failures) < MOST_FAILURES:
            failures.append(CaseFailure(expected or self._catalog[name].rule, seen, publication, scenario))

    def not_applicable(self, name: str, why: str) -> None:
        """Note that a case is about something that this client does not do."""
        self._not_applicable.setdefault(self._catalog[name].name, why)

    def not_reached(self, name: str, why: str, cause: str = "") -> None:
        """Note why a case could not be tried, and the case whose failure that is, if it is one's."""
        self._not_reached.setdefault(self._catalog[name].name, (why, cause))

    def is_decided(self, name: str) -> bool:
        """Whether there is anything about a case."""
        return name in self._passed or name in self._failures or name in self._not_applicable

    def is_hopeless(self, name: str) -> bool:
        """Whether a case has failed several times and never gone well."""
        return name not in self._passed and len(self._failures.get(name, ())) == MOST_FAILURES

    def outcomes(self, names: Iterable[str]) -> list[CaseOutcome]:
        """Return the verdicts of some cases, in the catalogue's order, with the failures that stood in their way."""
        wanted = set(names)
        unreached = [name for name in wanted if not self.is_decided(name)]
        wanted |= {cause for _, cause in map(self._reason, unreached) if cause in self._failures}
        return [self._outcome(case) for name, case in self._catalog.items() if name in wanted]

    def _outcome(self, case: Case) -> CaseOutcome:
        if case.name in self._failures:
            return CaseOutcome(case, CaseVerdict.FAILED, tuple(self._failures[case.name]), "")
        if case.name in self._passed:
            return CaseOutcome(case, CaseVerdict.PASSED, (), "")
        if case.name in self._not_applicable:
            return CaseOutcome(case, CaseVerdict.NOT_APPLICABLE, (), self._not_applicable[case.name])
        return CaseOutcome(case, CaseVerdict.NOT_REACHED, (), self._reason(case.name)[0])

    def _reason(self, name: str) -> tuple[str, str]:
        """Return why a case was not reached, and the case whose failure that is."""
        return self._not_reached.get(name, ("the client never came to it", ""))
