"""Whether the server serves, as a table: the journal may take nothing, the broker be away, the machine stand still.

No time to act runs while nobody can act (SALVO-BACK-2, SALVO-BACK-5); what is not durable is neither said nor
acknowledged (SALVO-BACK-1, SALVO-BACK-3). A pair of state and event without a row changes nothing and asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from salvo.messages import State
from salvo_server.core.referee import Referee

#: A server that its machine or its disk holds up for less than this, or for less than a tenth of the time to act, does
#: not count as away: teams lose little by it, and every restart announces a new deadline (SALVO-BACK-5).
HELD_UP_MS: Final = 250
HELD_UP_SHARE: Final = 10
#: Restarts of a lobby's placement time until another team is listed: otherwise a flood that holds the server up could
#: hold the lobby open forever.
MAX_EXTENSIONS: Final = 3


Presence = Literal["serving", "broker away", "just back", "journal stalled", "journal stalled, just back"]
Event = Literal[
    "connected",
    "disconnected",
    "journal refuses",
    "journal accepts",
    "round begins",
    "held up",
    "messages arrive",
    "timer due",
]
#: What the loop does: nothing; restart every time to act and say the status of all tables; restart those times to act
#: that are much shortened; say that the server is paused; read the messages, or keep them unread; run the timer.
Duty = Literal["nothing", "begin again", "restart", "say paused", "read", "hold", "run"]


class Row(NamedTuple):
    """In a state, an event leads to a state and asks something of the loop; the requirement."""

    state: Presence
    event: Event
    target: Presence
    duty: Duty
    sentence: str


OUTAGES: Final = (
    Row("serving", "connected", "just back", "nothing", "SALVO-BACK-2"),
    Row("serving", "disconnected", "broker away", "nothing", "SALVO-BACK-2"),
    Row("serving", "journal refuses", "journal stalled", "say paused", "SALVO-BACK-3"),
    Row("serving", "held up", "serving", "restart", "SALVO-BACK-5"),
    Row("serving", "messages arrive", "serving", "read", "SALVO-BACK-1"),
    Row("serving", "timer due", "serving", "run", "SALVO-TURN-5"),
    Row("broker away", "connected", "just back", "nothing", "SALVO-BACK-2"),
    Row("broker away", "journal refuses", "journal stalled", "say paused", "SALVO-BACK-3"),
    Row("broker away", "messages arrive", "broker away", "read", "SALVO-BACK-1"),
    Row("just back", "round begins", "serving", "begin again", "SALVO-BACK-2"),
    Row("just back", "journal refuses", "journal stalled", "say paused", "SALVO-BACK-3"),
    Row("journal stalled", "connected", "journal stalled, just back", "nothing", "SALVO-BACK-3"),
    Row("journal stalled", "messages arrive", "journal stalled", "hold", "SALVO-BACK-3"),
    Row("journal stalled", "journal accepts", "just back", "nothing", "SALVO-BACK-3"),
    Row("journal stalled, just back", "round begins", "journal stalled", "say paused", "SALVO-BACK-3"),
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
        self._state: Presence = "serving"

    @property
    def state(self) -> Presence:
        """How it stands now; a connection is lost without a word."""
        if self._state in ("serving", "broker away"):
            return "serving" if self._connected() else "broker away"
        return self._state

    @property
    def paused(self) -> bool:
        """Whether the journal takes nothing."""
        return self._state in ("journal stalled", "journal stalled, just back")

    def begin_round(self) -> Duty:
        """Return what the loop has to do before all else."""
        duty = self.on("round begins")
        return self.on("held up") if duty == "nothing" and self.held_up_ms >= HELD_UP_MS else duty

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
            return "nothing"
        self._state = row.target
        return row.duty
