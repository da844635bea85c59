"""How far the broker has confirmed what was published: for the next restart, and for banks (SALVO-TIME-2)."""

from __future__ import annotations

from collections import deque


class Delivery:
    """Compares running numbers of messages on the connection."""

    def __init__(self) -> None:
        self._said: deque[tuple[int, int]] = deque()  # the last message of a round, and the last step before it
        self._begun: dict[str, int] = {}  # turns with a bank whose begin waits to be published, by table
        self._undelivered: dict[str, tuple[int, int]] = {}  # turn, and how much is published with its begin

    def begin_turn(self, table: str, turn: int) -> None:
        """Expect the begin of a turn with a bank in what is published next; an earlier one no longer counts."""
        self._begun[table] = turn
        self._undelivered.pop(table, None)

    def publish(self, published: int, last_step: int) -> None:
        """Note that everything up to a step has been published, so many messages in all."""
        self._said.append((published, last_step))
        self._undelivered |= {table: (turn, published) for table, turn in self._begun.items()}
        self._begun.clear()

    def take_sent_through(self, delivered: int) -> int | None:
        """Return the last step all of whose messages are confirmed; None when that is none since the last call."""
        step = None
        while self._said and self._said[0][0] <= delivered:
            _, step = self._said.popleft()
        return step

    def take_delivered(self, delivered: int) -> list[tuple[str, int]]:
        """Return table and turn of the begins that are confirmed, each once."""
        arrived = [(table, turn) for table, (turn, published) in self._undelivered.items() if published <= delivered]
        for table, _ in arrived:
            del self._undelivered[table]
        return arrived
