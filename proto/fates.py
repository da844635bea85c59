"""The fate of one sealed message, as a table: what :mod:`salvo_server.core.authenticator` makes of it in every state.

A pair of state and event without a transition cannot come about, or changes nothing and says nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from salvo.state_machine import Transition


class Fate(StrEnum):
    """How a message stands with the server."""

    UNKNOWN = "unknown"
    WAITING = "waiting"
    OPENED = "opened"
    TURNED_AWAY = "turned away"


class Event(StrEnum):
    """What happens; a salt is proven when a message of its team was opened under it, and fresh until then."""

    PROVEN = "it comes under a proven salt"
    NONCE_USED = "it comes under a proven salt, its nonce is used up"
    REFUSALS_SPENT = "it comes under a proven salt, the team has used up its refused commands"
    FORGED = "it comes under a proven salt, the team's key does not open it"
    FRESH = "it comes under a fresh salt"
    DERIVATIONS_SPENT = "it comes under a fresh salt, the team has used up its derivations"
    QUEUE_FULL = "it comes under a fresh salt that is not its team's first one, 64 such messages wait"
    STRANGER = "it does not come from a team of the table"
    AGAIN = "it comes again, whatever its salt"
    MOVED = "its blob comes on another topic"
    DERIVED = "a derived key opens it"
    DERIVED_NONCE_USED = "a derived key opens it, its nonce has been used up meanwhile"
    DERIVED_GONE = "a derived key opens it, its team has left or has another secret"
    DERIVED_FORGED = "no derived key opens it"
    SALT_PROVEN = "an older message proves its salt"
    FORGOTTEN = "thousands of later messages have come"
    RESTARTED = "the server starts again"


class Outcome(StrEnum):
    """What comes of it; after ``MOVED``, what comes of the copy."""

    READ = "read"
    WAITS = "waits for a derivation"
    WAITS_WITH_IT = "acknowledged with the first one"
    IGNORED = "ignored"
    FORGED = "ignored as `forged`"
    RATE_LIMITED = "refused as `rate_limited`"
    NONCE_REUSED = "refused as `nonce_reused`"
    REMEMBERED = "its nonce stays used up"
    NOTHING = "forgotten"


#: What :attr:`Event.AGAIN` stands for in every state but the first.
ARRIVALS: Final = tuple(Event)[: tuple(Event).index(Event.AGAIN)]
_U, _W, _O, _T = Fate
FATES: Final[tuple[Transition[Fate, Event, Outcome], ...]] = (
    Transition((_U,), Event.PROVEN, _O, Outcome.READ, "SALVO-FRESH-7"),
    Transition((_U,), Event.NONCE_USED, _O, Outcome.NONCE_REUSED, "SALVO-FRESH-1"),
    Transition((_U,), Event.REFUSALS_SPENT, _T, Outcome.RATE_LIMITED, "SALVO-FRESH-8"),
    Transition((_U,), Event.FORGED, _T, Outcome.FORGED, "SALVO-SEAL-8"),
    Transition((_U,), Event.FRESH, _W, Outcome.WAITS, "SALVO-FRESH-6"),
    Transition((_U,), Event.DERIVATIONS_SPENT, _T, Outcome.RATE_LIMITED, "SALVO-FRESH-6"),
    Transition((_U,), Event.QUEUE_FULL, _T, Outcome.RATE_LIMITED, "SALVO-FRESH-6"),
    Transition((_U,), Event.STRANGER, _T, Outcome.FORGED, "SALVO-SEAL-8"),
    Transition((_U,), Event.MOVED, _U, Outcome.READ, "SALVO-FRESH-1"),
    Transition((_W,), Event.AGAIN, _W, Outcome.WAITS_WITH_IT, "SALVO-FRESH-3"),
    Transition((_W,), Event.MOVED, _W, Outcome.WAITS, "SALVO-FRESH-1"),
    Transition((_W,), Event.DERIVED, _O, Outcome.READ, "SALVO-FRESH-6"),
    Transition((_W,), Event.DERIVED_NONCE_USED, _O, Outcome.NONCE_REUSED, "SALVO-FRESH-1"),
    Transition((_W,), Event.DERIVED_GONE, _O, Outcome.IGNORED, "SALVO-FRESH-2"),
    Transition((_W,), Event.DERIVED_FORGED, _T, Outcome.FORGED, "SALVO-SEAL-8"),
    Transition((_W,), Event.SALT_PROVEN, _O, Outcome.READ, "SALVO-FRESH-7"),
    Transition((_W,), Event.RESTARTED, _U, Outcome.NOTHING, "SALVO-BACK-1"),
    Transition((_O,), Event.AGAIN, _O, Outcome.IGNORED, "SALVO-FRESH-3"),
    Transition((_O,), Event.MOVED, _O, Outcome.NONCE_REUSED, "SALVO-FRESH-1"),
    Transition((_O,), Event.FORGOTTEN, _U, Outcome.REMEMBERED, "SALVO-FRESH-1"),
    Transition((_O,), Event.RESTARTED, _O, Outcome.REMEMBERED, "SALVO-BACK-1"),
    Transition((_T,), Event.AGAIN, _T, Outcome.IGNORED, "SALVO-FRESH-3"),
    Transition((_T,), Event.MOVED, _T, Outcome.IGNORED, "SALVO-FRESH-2"),
    Transition((_T,), Event.FORGOTTEN, _U, Outcome.NOTHING, "SALVO-FRESH-3"),
    Transition((_T,), Event.RESTARTED, _U, Outcome.NOTHING, "SALVO-FRESH-3"),
)
