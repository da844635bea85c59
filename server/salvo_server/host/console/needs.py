"""What needs the host's attention: what stands still, fails or is missing for too long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

#: How long a team may be on its way to its table, or place its ships, while nobody minds.
ARRIVAL_SECONDS: Final = 20.0
#: How long after the end of its time a turn may still be settled.
SETTLING_SECONDS: Final = 15.0
#: How long after a result, or with complete fleets, the next turn or the game may be still to come.
PACE_SECONDS: Final = 60.0


class Need(NamedTuple):
    """Something that may need the host.

    Attributes:
        table: where; None for the evening.
        text: says it for people, without a time.
        subject: what it is about; a need with another text about the same subject has begun when the first one did.
        after: seconds for which it has to be so before it is shown.
    """

    table: str | None
    text: str
    subject: str = ""
    after: float = 0.0


class Needs:
    """Knows since when what needs the host has been so."""

    def __init__(self) -> None:
        self._since: Mapping[tuple[str | None, str], float] = {}

    def show(self, needs: Iterable[Need], now: float) -> list[dict[str, Any]]:
        """Return those that have been there long enough, JSON-ready, in the order given; ``now`` in seconds."""
        given = list(needs)
        self._since = {(need.table, need.subject): self._since.get((need.table, need.subject), now) for need in given}
        return [
            {"table": need.table, "text": need.text, "since": round(since * 1000)}
            for need in given
            if now >= (since := self._since[need.table, need.subject]) + need.after
        ]
