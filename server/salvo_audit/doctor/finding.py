"""The result of a check."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CheckVerdict(StrEnum):
    """How a check came out."""

    PASS = "PASS"
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"


class CheckFinding(NamedTuple):
    """One line of the doctor's.

    Attributes:
        check: what was examined, a word or two.
        text: what was found; of an attack that succeeds, what an attacker could do.
        cure: what to do about it; empty when there is nothing to do.
    """

    check: str
    verdict: CheckVerdict
    text: str
    cure: str = ""

    @property
    def line(self) -> str:
        """The finding in words."""
        cure = f"; fix: {self.cure}" if self.cure else ""
        return f"{self.verdict}  {self.check:<18} {self.text}{cure}"


def passed(check: str, text: str) -> CheckFinding:
    """Return a finding that all is well."""
    return CheckFinding(check, CheckVerdict.PASS, text)


def warned(check: str, text: str, cure: str = "") -> CheckFinding:
    """Return a finding that a contest may well go on with, if its operator knows of it."""
    return CheckFinding(check, CheckVerdict.WARN, text, cure)


def failed(check: str, text: str, cure: str = "") -> CheckFinding:
    """Return a finding that something is not as it should be."""
    return CheckFinding(check, CheckVerdict.FAIL, text, cure)


def skipped(check: str, text: str, cure: str = "") -> CheckFinding:
    """Return that something could not be looked at, and why."""
    return CheckFinding(check, CheckVerdict.SKIP, text, cure)
