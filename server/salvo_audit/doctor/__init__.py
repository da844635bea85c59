"""The doctor: examines a contest and tells line by line what is well, what is not, and what to do about it.

``machine`` looks at the computer, ``reach`` at broker and server as an honest client meets them, and ``break_in`` tries
everything that a rival might try. One function a check; a check yields findings and never raises for what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from salvo_audit.doctor import break_in, machine, reach
from salvo_audit.doctor.finding import Finding, Verdict, failed
from salvo_audit.doctor.probe import Login, ProbeError
from salvo_audit.doctor.target import Target, is_here, temporary_teams

__all__ = ["Finding", "Login", "ProbeError", "Target", "Verdict", "examine", "is_here", "temporary_teams"]

Check = Callable[[Target], Iterator[Finding]]

MACHINE: Final[tuple[Check, ...]] = (machine.check_python, machine.check_files, machine.check_disk)
REACH: Final[tuple[Check, ...]] = (
    reach.check_network,
    machine.check_ports,
    reach.check_tls,
    reach.check_mqtt,
    reach.check_accounts,
    reach.check_server,
    reach.check_clock,
    reach.check_round_trip,
    reach.check_websocket,
)
#: What needs a broker that answers.
_OF_BROKER: Final = frozenset({*REACH}) - {reach.check_network, machine.check_ports}


def examine(target: Target, trying: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
    """Make every check in turn.

    Args:
        trying: told what is being done, before it is done.
    """
    try:
        for check in (*MACHINE, *REACH):
            trying(_name(check))
            yield from _make(check, target)
        for attack in break_in.possible(target):
            trying(_name(attack))
            yield from break_in.attempt(target, attack)
        yield from break_in.left_out(target)
    finally:
        target.hang_up()


def _make(check: Check, target: Target) -> Iterator[Finding]:
    if check in _OF_BROKER and not target.reachable:
        return
    try:
        yield from check(target)
    except ProbeError as error:
        yield failed(_name(check).removeprefix("check "), error.text, "look into the broker's log")


def _name(check: Check) -> str:
    return str(check.__name__).replace("_", " ")
