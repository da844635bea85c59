"""A connection that also writes what it receives and sends to a proof file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

from salvo.join.fairness.proof import Proof
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.wire import topics

#: The server reveals its secrets along with the winner; if they are not here by then, the connection was lost.
REVEAL_SECONDS: Final = 5.0


class ProofConnection(Connection):
    """A connection that also writes its traffic to a proof file, once :meth:`record` was called."""

    _proof: Proof | None = None
    _log = _team = ""

    def record(self, proof: Proof, table: str, team: str = "") -> None:
        """Record a table's log from the next connection on, and given a team's name, what it sends."""
        self._proof, self._log, self._team = proof, topics.LOG.of(table), team

    def subscribe(self, filters: Iterable[str]) -> None:
        """Subscribe, to the log as well."""
        also = [] if self._proof is None else [self._log]
        super().subscribe(dict.fromkeys([*filters, *also]))

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Return what has arrived."""
        arrived = super().poll(timeout_seconds)
        for message in arrived:
            if self._proof is not None and message.topic == self._log and not message.retain:
                self._proof.receive(message.payload)
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish."""
        if self._proof is not None and self._team:
            self._proof.sent(self._team, topic, payload)
        super().publish(topic, payload, retain=retain)

    def finish_proof(self, games: int) -> str:
        """Wait a moment for what the server reveals after the winner, then close the file.

        Returns:
            whether it is whole, for people; empty if nothing is recorded.
        """
        if self._proof is None:
            return ""
        end = time.monotonic() + REVEAL_SECONDS
        while self._proof.games < games and self.connected and time.monotonic() < end:
            for message in self.poll(0.2):
                self.acknowledge(message)
        self._proof.close()
        return self._proof.summary()
