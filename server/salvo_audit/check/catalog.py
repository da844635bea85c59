"""All cases, in the order of every list of them; each stands with its scenario, or in :mod:`.in_passing`."""

from __future__ import annotations

from typing import Final

from salvo.rules import BOOKS
from salvo_audit.check import scenarios as _scenarios  # registers them
from salvo_audit.check.in_passing import IN_PASSING
from salvo_audit.check.results import Case
from salvo_audit.check.scenario import SCENARIOS

assert _scenarios

#: Every group, in order, with the cases that come first there. The others follow: those in passing, then those of
#: scenarios, as they are defined.
_ORDER: Final = {
    "mqtt": "",
    "wire": "",
    "seal": "base64 bare-blob length opens secret-in-utf8 long-secret",
    "join": (
        "waits-for-state asks request-shape name secret stops-when-listed repeats in-lobby-only name-taken "
        "stranger-refused table-full after-timeout"
    ),
    "place": "",
    "turn": (
        "fires-when-current count count-falls count-own-ships one-shot-a-message on-grid target-listed not-itself "
        "not-the-defeated silent-otherwise no-flood current-alone refused timed-out same-player-again "
        "announced-again void-rest context-right context-always no-repetition-without-context resends "
        "strangers-refusal"
    ),
    "players": "",
    "names": "",
    "read": (
        "duplicates current-twice unknown-fields unknown-topics minor-version major-version no-server "
        "json-spelling unknown-error large deep chat late-result cleared tie aborted"
    ),
    "end": "",
    "back": (
        "before-asking while-placing after-placing in-rivals-turn in-own-turn when-over session-lost "
        "subscribes-again refused-then-admitted server-in-lobby server-in-game paused restart-state-list-current "
        "restart-state-current-list restart-list-state-current restart-list-current-state "
        "restart-current-state-list restart-current-list-state restart-with-losses restart-in-lobby "
        "restart-with-old-winner recap-asked recap-forged"
    ),
    "sec": "",
    "chat": "",
    "log": "resend-shape forged",
    "whole": "",
}


def _collected() -> dict[str, Case]:
    cases = {case.name: case for case in IN_PASSING}
    for scenario in SCENARIOS:
        cases |= scenario.cases
    stale = {f"{group}/{short}" for group, listed in _ORDER.items() for short in listed.split()} - cases.keys()
    assert not stale, f"no scenario has {', '.join(sorted(stale))}"
    return {name: cases[name] for name in sorted(cases, key=_place)}


def _place(name: str) -> tuple[int, int]:
    """Return a case's group and its place there, as numbers; those without a place of their own are last."""
    group, _, short = name.partition("/")
    listed = _ORDER[group].split()
    return list(_ORDER).index(group), listed.index(short) if short in listed else len(listed)


CASES: Final = _collected()

#: What a client may claim beyond what every client has to do, and what that is.
CLAIMS: Final = {
    "basics": "it needs nothing that the specification of the game does not have: no /game/turn, rules or server",
    "context": "its shots have game, turn, number and target, as profile strict demands",
    "log": "it follows the server's signed log, and reports when that contradicts itself",
    "keys": "it pins the server's key",
    "recap": "it asks for the recap when it comes back, and uses it",
    "repairs": "it places a refused ship again",
    "resends": "it sends again what is not answered",
    "returns": "it comes back after a refused connection",
    "sealed": "it seals its request for the server's key",
    "tables": "it plays at the table that SALVO_TABLE names",
    "versions": "it ends at a server of another major version",
} | {name: f"it plays by the ruleset {name}" for name in BOOKS if name != "salvo"}

#: What ``all`` stands for: what the protocol adds. ``basics`` says that a client gets by without that, which the
#: protocol demands of none, because each of its servers publishes all of it.
ADDITIONS: Final = frozenset(CLAIMS) - {"basics"}
