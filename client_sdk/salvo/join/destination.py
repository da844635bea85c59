"""Where a team is to play, by the seats that a host gives it and the brokers that it reaches (SALVO-SEAT).

Nothing moves here, and time is an argument: :class:`~salvo.join.seated_team.SeatedTeam` goes there.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from salvo.messages import SeatGiven

#: How long a broker must be away before a player looks for its seat at the next one, and how long it then stays there.
LOST_SECONDS: Final = 10.0


class Destination:
    """The place that a team wants to be at; all times are in seconds of one clock that never goes back.

    Attributes:
        is_guarded: whether only a host can have given the seat; no secret goes to another broker otherwise.
    """

    def __init__(self, table: str, now: float) -> None:
        """Begin at the table where the team is."""
        self.is_guarded = False
        self._wanted = SeatGiven(table)
        self._brokers: deque[str] = deque()  # where its seat is published, the next one first
        self._connected_at = now  # when it was last
        self._stays_until = now

    @property
    def has_brokers(self) -> bool:
        """Whether the seat may also be published at other brokers."""
        return bool(self._brokers)

    def give_seat(self, seat: SeatGiven | None) -> None:
        """Go to the seat that a host gives; without one, to the default table."""
        self._wanted = seat or SeatGiven()
        self._brokers = deque(self._wanted.brokers) or self._brokers

    def note_connected(self, now: float) -> None:
        """The broker is there."""
        self._connected_at = now

    def note_lost(self) -> None:
        """The broker has refused the team, which then waits for it no longer."""
        self._connected_at = -LOST_SECONDS

    def next_broker(self, now: float) -> SeatGiven | None:
        """Return the default table of the next broker if this one is lost: there is nothing to leave here."""
        if not self._brokers or now - self._connected_at < LOST_SECONDS:
            return None
        self._brokers.rotate(-1)
        self._stays_until = now + LOST_SECONDS
        return SeatGiven(broker=self._brokers[-1])

    def next_place(self, table: str, now: float) -> SeatGiven | None:
        """Return the place to leave a table for; None to stay."""
        wanted = self._wanted
        leaves = self.is_guarded and now >= self._stays_until if wanted.broker else wanted.table != table
        return wanted if leaves else None

    def arrive(self, table: str, now: float) -> None:
        """Want to be at a table of the present broker, which has as long as any to connect."""
        self._wanted, self._connected_at = SeatGiven(table), now
