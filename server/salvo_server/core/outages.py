"""Whether the server serves, as a table: the journal may take nothing, the broker be away, the machine stand still.

No time to act runs while nobody can act (SALVO-BACK-2, SALVO-BACK-5); what is not durable is neither said nor
acknowledged (SALVO-BACK-1, SALVO-BACK-3). A pair of state and event without a row changes nothing and asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from salvo.messages import State
from salvo_server.core.referee import Referee

#: A server that its machine or its disk holds up for less than this, or for less than a tenth of the time to act, does
#: not count as away: teams lose little by it, and every restart announces a new deadline (SALVO-BACK-5).
HELD_UP_MS: Final = 250
HELD_UP_SHARE: Final = 10
#: Restarts of a lobby's placement time until another team is listed: otherwise a flood that holds the server up could
#: hold the lobby open forever.
MAX_EXTENSIONS: Final = 3


class Presence(StrEnum):
    """How server and broker stand."""

    SERVING = "serving"
    AWAY = "broker away"
    BACK = "just back"
    PAUSED = "journal stalled"
    PAUSED_BACK = "journal stalled, just back"


class Event(StrEnum):
    """What happens."""

    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    REFUSED = "the journal refuses"
    ACCEPTED = "the journal accepts again"
    ROUND = "a round begins"
    HELD_UP = "the machine stood still"
    ARRIVED = "messages arrive"
    TIMER = "a timer is due"


class Duty(StrEnum):
    """What the loop does about it."""

    NOTHING = "nothing"
    BEGIN_ANEW = "restarts every time to act, says the status of all tables"
    RESTART = "restarts the times to act that are much shortened"
    SAY_PAUSED = "says that it is paused"
    READ = "reads them"
    HOLD = "keeps them unread"
    RUN = "runs it"


class Row(NamedTuple):
    """In a state, an event leads to a state and asks something of the loop; the contract's sentence."""

    state: Presence
    event: Event
    target: Presence
    duty: Duty
    sentence: str


_S, _A, _B, _P, _PB = Presence
OUTAGES: Final = (
    Row(_S, Event.CONNECTED, _B, Duty.NOTHING, "SALVO-BACK-2"),
    Row(_S, Event.DISCONNECTED, _A, Duty.NOTHING, "SALVO-BACK-2"),
    Row(_S, Event.REFUSED, _P, Duty.SAY_PAUSED, "SALVO-BACK-3"),
    Row(_S, Event.HELD_UP, _S, Duty.RESTART, "SALVO-BACK-5"),
    Row(_S, Event.ARRIVED, _S, Duty.READ, "SALVO-BACK-1"),
    Row(_S, Event.TIMER, _S, Duty.RUN, "SALVO-TURN-5"),
    Row(_A, Event.CONNECTED, _B, Duty.NOTHING, "SALVO-BACK-2"),
    Row(_A, Event.REFUSED, _P, Duty.SAY_PAUSED, "SALVO-BACK-3"),
    Row(_A, Event.ARRIVED, _A, Duty.READ, "SALVO-BACK-1"),
    Row(_B, Event.ROUND, _S, Duty.BEGIN_ANEW, "SALVO-BACK-2"),
    Row(_B, Event.REFUSED, _P, Duty.SAY_PAUSED, "SALVO-BACK-3"),
    Row(_P, Event.CONNECTED, _PB, Duty.NOTHING, "SALVO-BACK-3"),
    Row(_P, Event.ARRIVED, _P, Duty.HOLD, "SALVO-BACK-3"),
    Row(_P, Event.ACCEPTED, _B, Duty.NOTHING, "SALVO-BACK-3"),
    Row(_PB, Event.ROUND, _P, Duty.SAY_PAUSED, "SALVO-BACK-3"),
    Row(_PB, Event.ARRIVED, _PB, Duty.HOLD, "SALVO-BACK-3"),
    Row(_PB, Event.ACCEPTED, _B, Duty.NOTHING, "SALVO-BACK-3"),
)
_BY_PAIR: Final = {(row.state, row.event): row for row in OUTAGES}


class Outages:
    """The server's presence.

    Attributes:
        held_up_ms: how long the machine stood still in this round.
        retry_at: when a stalled journal is tried again, epoch ms.
    """

    def __init__(self, connected: Callable[[], bool]) -> None:
        """Serve as long as the broker is there."""
        self.held_up_ms = 0
        self.retry_at = 0
        self._connected = connected
        self._state = Presence.SERVING

    @property
    def state(self) -> Presence:
        """How it stands now; a connection is lost without a word."""
        if self._state in (Presence.SERVING, Presence.AWAY):
            return Presence.SERVING if self._connected() else Presence.AWAY
        return self._state

    @property
    def paused(self) -> bool:
        """Whether the journal takes nothing."""
        return self._state in (Presence.PAUSED, Presence.PAUSED_BACK)

    def begin_round(self) -> Duty:
        """Return what the loop has to do before all else."""
        duty = self.on(Event.ROUND)
        return self.on(Event.HELD_UP) if duty is Duty.NOTHING and self.held_up_ms >= HELD_UP_MS else duty

    def shortens(self, referee: Referee) -> bool:
        """Whether the standstill cost a player so much of its time to act that the time must be restarted."""
        limits, in_lobby = referee.limits, referee.state is State.LOBBY
        to_act_ms = limits.placement_ms if in_lobby else limits.turn_ms
        exhausted = in_lobby and referee.extensions >= MAX_EXTENSIONS
        return self.held_up_ms > to_act_ms // HELD_UP_SHARE and not exhausted

    def on(self, event: Event) -> Duty:
        """Take an event; return what the loop has to do about it."""
        row = _BY_PAIR.get((self.state, event))
        if row is None:
            return Duty.NOTHING
        self._state = row.target
        return row.duty
