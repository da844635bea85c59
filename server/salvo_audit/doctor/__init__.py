"""The doctor: examines a contest's configuration, and reports line by line what is well, what is not, and the fix.

``machine_checks`` looks at the computer, ``broker_checks`` at broker and server as clients meet them. One function a
check; it yields findings and never raises for what it finds. Attempts to break in are tests, in ``tests/attacks``.
"""

from __future__ import annotations

from collections.abc import Iterator

from salvo_audit.doctor import broker_checks, machine_checks
from salvo_audit.doctor.finding import CheckFinding, CheckVerdict
from salvo_audit.doctor.target import ExaminedContest, is_here

__all__ = ["CheckFinding", "CheckVerdict", "ExaminedContest", "examine", "is_here"]


def examine(target: ExaminedContest) -> Iterator[CheckFinding]:
    """Make every check in turn; what needs a broker only where one answers."""
    yield from machine_checks.check_python(target)
    yield from machine_checks.check_files(target)
    yield from machine_checks.check_disk(target)
    for url in target.urls:
        yield from broker_checks.check_address(target, url)
    yield from machine_checks.check_ports(target)
    yield from broker_checks.check_server(target)
