"""The table of outages: what the server does without its journal or its broker, or after its machine stood still.

No deadline runs while nobody can act (SALVO-BACK-2, SALVO-BACK-5). Nothing is published or acknowledged before it is
durable (SALVO-BACK-1, SALVO-BACK-3). A pair of state and event without a transition changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from salvo.messages import State
from salvo.state_machine import Machine, Transition
from salvo_game.referee import Referee

#: A server that its machine or its disk holds up for less than this, or for less than a tenth of the time to act, does
#: not count as away: teams lose little by it, and every restart announces a new deadline (SALVO-BACK-5).
HELD_UP_MS: Final = 250
HELD_UP_SHARE: Final = 10
#: Restarts of a lobby's placement time until another team is listed: otherwise a flood that holds the server up could
#: hold the lobby open forever.
MAX_EXTENSIONS: Final = 3


Presence = Literal["serving", "broker away", "just back", "journal stalled", "journal stalled, just back"]
OutageEvent = Literal[
    "connected",
    "disconnected",
    "journal refuses",
    "journal accepts",
    "round begins",
    "held up",
    "messages arrive",
    "timer due",
]
#: What the loop does: restart every time to act and publish the status of all tables; restart those times to act that
#: are much shortened; publish that the server is paused; read the messages, or leave them unread; run the timer.
Duty = Literal["begin again", "restart", "announce pause", "read", "hold", "run"]


OUTAGES: Final[tuple[Transition[Presence, OutageEvent, Duty], ...]] = (
    Transition(("serving", "broker away"), "connected", "just back", None, "SALVO-BACK-2"),
    Transition(("journal stalled",), "connected", "journal stalled, just back", None, "SALVO-BACK-3"),
    Transition(("serving",), "disconnected", "broker away", None, "SALVO-BACK-2"),
    Transition(("just back",), "round begins", "serving", "begin again", "SALVO-BACK-2"),
    Transition(("journal stalled, just back",), "round begins", "journal stalled", "announce pause", "SALVO-BACK-3"),
    Transition(("serving",), "held up", None, "restart", "SALVO-BACK-5"),
    Transition(("serving", "broker away"), "messages arrive", None, "read", "SALVO-BACK-1"),
    Transition(("journal stalled",), "messages arrive", None, "hold", "SALVO-BACK-3"),
    Transition(("serving",), "timer due", None, "run", "SALVO-TURN-5"),
    Transition(
        ("serving", "broker away", "just back"), "journal refuses", "journal stalled", "announce pause", "SALVO-BACK-3"
    ),
    Transition(("journal stalled",), "journal accepts", "just back", None, "SALVO-BACK-3"),
)


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
        self._machine = Machine(OUTAGES, "serving")

    @property
    def state(self) -> Presence:
        """How it stands now: no event comes when a connection is lost, so ``disconnected`` is seen here."""
        if self._machine.state in ("serving", "broker away"):
            return "serving" if self._connected() else "broker away"
        return self._machine.state

    @property
    def paused(self) -> bool:
        """Whether the journal takes nothing."""
        return self._machine.state in ("journal stalled", "journal stalled, just back")

    def begin_round(self) -> Duty | None:
        """Return what the loop has to do before all else."""
        duty = self.on("round begins")
        return self.on("held up") if duty is None and self.held_up_ms >= HELD_UP_MS else duty

    def shortens(self, referee: Referee) -> bool:
        """Whether the standstill cost a player so much of its time to act that the time must be restarted."""
        limits, in_lobby = referee.limits, referee.state is State.LOBBY
        to_act_ms = limits.placement_ms if in_lobby else limits.turn_ms
        exhausted = in_lobby and referee.extensions >= MAX_EXTENSIONS
        return self.held_up_ms * HELD_UP_SHARE >= to_act_ms and not exhausted

    def on(self, event: OutageEvent) -> Duty | None:
        """Change the state; return what the loop has to do about an event."""
        self._machine.state = self.state
        return self._machine.handle(event)
