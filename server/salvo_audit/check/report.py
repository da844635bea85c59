"""What a run of the judge tells: lines for people, JSON and JUnit XML for programs, and a page to publish."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from salvo_audit.check.catalog import CLAIMS
from salvo_audit.check.own_broker import ReceivedPublication
from salvo_audit.check.results import CaseFailure, CaseOutcome, CaseVerdict
from salvo_audit.check.table import VERSION
from salvo_display.web_page import house_style, text_of
from salvo_display.web_page.rendering import policy, render

_WIDTH: Final = 110
#: Bytes of a message that a person is shown; JSON has all of them.
_SHOWN_BYTES: Final = 512
_MARKS: Final = {
    CaseVerdict.PASSED: "green",
    CaseVerdict.FAILED: "red",
    CaseVerdict.NOT_REACHED: "yellow",
    CaseVerdict.NOT_APPLICABLE: "bright_black",
}
PROTOCOL: Final = f"{VERSION['major']}.{VERSION['minor']}"


@dataclass(frozen=True)
class CheckRun:
    """A run of the judge.

    Attributes:
        client: how the client was started, in words.
        version: of Salvo.
        claims: what the client claims.
        partial: whether only some cases were chosen.
        expected: cases whose failures are known; None where nobody has said which.
    """

    client: str
    version: str
    claims: Sequence[str]
    outcomes: Sequence[CaseOutcome]
    seconds: float
    day: str
    partial: bool = False
    expected: frozenset[str] | None = None

    @property
    def counts(self) -> Counter[CaseVerdict]:
        """How many cases have each verdict."""
        return Counter(outcome.verdict for outcome in self.outcomes)

    @property
    def failed(self) -> bool:
        """Whether a case has failed, or none was passed: a client that never came has proven nothing."""
        return bool(self.counts[CaseVerdict.FAILED]) or not self.counts[CaseVerdict.PASSED]

    @property
    def known(self) -> list[str]:
        """The cases that have failed as expected."""
        failed = [each.case.name for each in self.outcomes if each.verdict is CaseVerdict.FAILED]
        return [name for name in failed if name in (self.expected or ())]

    @property
    def stale(self) -> list[str]:
        """The cases that were expected to fail, and do not."""
        fine = (CaseVerdict.PASSED, CaseVerdict.NOT_APPLICABLE)
        return [
            each.case.name for each in self.outcomes if each.case.name in (self.expected or ()) and each.verdict in fine
        ]

    @property
    def surprising(self) -> bool:
        """Whether anything is not as expected; without expectations, whether a case has failed."""
        if self.expected is None:
            return self.failed
        nothing = not self.counts[CaseVerdict.PASSED] and not self.known
        return len(self.known) < self.counts[CaseVerdict.FAILED] or bool(self.stale) or nothing

    @property
    def summary(self) -> str:
        """All in one line."""
        counts = self.counts
        parts = [f"{counts[verdict]} {verdict}" for verdict in CaseVerdict if counts[verdict]]
        if self.known:
            parts.append(f"{len(self.known)} of the failures expected")
        number = len(self.outcomes)
        return f"{number} case{'s' if number != 1 else ''} in {self.seconds:.0f} s: {', '.join(parts)}"


def in_words(payload: bytes) -> str:
    """Return a payload as text, with marks for what is none."""
    text = payload[:_SHOWN_BYTES].decode(errors="backslashreplace").rstrip(" ")
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return shown + (f" ... ({len(payload)} bytes)" if len(payload) > _SHOWN_BYTES else "")


def in_bytes(payload: bytes) -> str:
    """Return a payload in hexadecimal, byte by byte."""
    more = f" ... ({len(payload)} bytes)" if len(payload) > _SHOWN_BYTES else ""
    return payload[:_SHOWN_BYTES].hex(" ") + more


def lines(run: CheckRun) -> Iterator[tuple[str, str]]:
    """Yield the lines for people, each with its colour: what is not passed, and the summary."""
    for outcome in run.outcomes:
        if outcome.verdict is CaseVerdict.FAILED and outcome.case.name not in run.known:
            yield f"failed  {outcome.case.name}  {' '.join(outcome.case.requirements)}", _MARKS[outcome.verdict]
            for name, text in _about(outcome):
                yield from ((line, "") for line in _wrapped(name, text))
    for why, names in _by_reason([each for each in run.outcomes if each.why], CaseVerdict.PASSED):
        yield f"passed  {why}: {', '.join(names)}", _MARKS[CaseVerdict.NOT_REACHED]
    for name in run.known:
        yield f"failed, as expected  {name}", _MARKS[CaseVerdict.NOT_REACHED]
    for name in run.stale:
        yield f"not failed, though expected  {name}: take it out of the file", _MARKS[CaseVerdict.FAILED]
    for verdict in (CaseVerdict.NOT_REACHED, CaseVerdict.NOT_APPLICABLE):
        for why, names in _by_reason(run.outcomes, verdict):
            text = f"{verdict}  {why}: {', '.join(names)}"
            found = textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
            yield from ((line, _MARKS[verdict]) for line in found)
    yield run.summary, "red" if run.surprising else "green"


def _by_reason(outcomes: Sequence[CaseOutcome], verdict: CaseVerdict) -> list[tuple[str, list[str]]]:
    """Return the names of the cases with a verdict by what they have as reason."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.verdict is verdict:
            found.setdefault(outcome.why, []).append(outcome.case.name)
    return list(found.items())


def _about(outcome: CaseOutcome) -> Iterator[tuple[str, str]]:
    yield "the judge", outcome.case.does
    for failure in outcome.failures[:1]:
        yield "expected", failure.expected
        yield "seen", f"{failure.seen} ({failure.scenario})"
        if failure.publication is not None:
            yield "topic", in_words(failure.publication.topic.encode())
            yield "payload", in_words(failure.publication.payload)
            yield "bytes", in_bytes(failure.publication.payload[:48])
    yield "rule", outcome.case.rule
    yield "do", outcome.case.cure


def _wrapped(name: str, text: str) -> list[str]:
    first = f"    {name:<11}"
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False
    ) or [first]


def record(outcome: CaseOutcome) -> dict[str, Any]:
    """Return a case as JSON has it."""
    case = outcome.case
    found: dict[str, Any] = {
        "case": case.name,
        "verdict": outcome.verdict,
        "grade": case.grade,
        "requirements": list(case.requirements),
        "does": case.does,
        "rule": case.rule,
    }
    if outcome.why:
        found["why"] = outcome.why
    if outcome.failures:
        found["do"] = case.cure
        found["failures"] = [_failure(failure) for failure in outcome.failures]
    return found


def _failure(failure: CaseFailure) -> dict[str, Any]:
    found: dict[str, Any] = {"expected": failure.expected, "seen": failure.seen, "scenario": failure.scenario}
    if failure.publication is not None:
        found |= _message(failure.publication)
    return found


def _message(publication: ReceivedPublication) -> dict[str, Any]:
    return {
        "topic": publication.topic,
        "payload": in_words(publication.payload),
        "bytes": publication.payload.hex(),
    }


def json_line(outcome: CaseOutcome) -> str:
    """Return a case as one line of JSON."""
    return json.dumps(record(outcome), ensure_ascii=False)


def page(run: CheckRun) -> str:
    """Return the page to publish: one file, without scripts and without anything from elsewhere."""
    groups: dict[str, list[CaseOutcome]] = {}
    for outcome in run.outcomes:
        groups.setdefault(outcome.case.name.partition("/")[0], []).append(outcome)
    style = house_style() + text_of("page.css", __package__)
    return render(
        "salvo_audit/check/page.html.j2",
        style=style,
        policy=policy(style),
        run=run,
        groups=groups,
        claims=CLAIMS,
        protocol=PROTOCOL,
        in_words=in_words,
        in_bytes=in_bytes,
    )
