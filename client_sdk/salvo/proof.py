"""Proof files: a table's log as it was heard, one payload a line, for ``salvo verify`` (SALVO-LOG-10).

A team's own file also has what the team sent, so that it can be held against what the server counted:

    {"sent":{"team":"red","topic":"/players/blue/fire","message":"<16 bytes>","body":{"x":3,"y":4}}}
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

from salvo import topics
from salvo.errors import SalvoError, WireError
from salvo.mqtt import Connection, Inbound
from salvo.wire.log import (
    OF_BYTES,
    Entry,
    LogEnd,
    LogStep,
    Opening,
    entry_digest,
    message_digest,
    read_entry,
    take_apart,
)
from salvo.wire.strict_json import parse_json

SENT: Final = b'{"sent":'
#: What the server reveals comes with the winner's name; who has not got it by then has lost the connection.
REVEAL_SECONDS: Final = 5.0


class Proof:
    """A proof file in the making: every entry once and in order, however it was heard.

    What is heard before a game's opening waits: when the game begins, its log is said once more. Nothing is checked
    here; a forged line must be found in the file by whoever reads it.

    Attributes:
        games: how many whole games are in it.
    """

    def __init__(self, path: Path) -> None:
        """Begin a file; one that is there is replaced.

        Raises:
            SalvoError: ``proof_unwritable``.
        """
        self._path = path
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise SalvoError("proof_unwritable", f"{path}: {error.strerror}; name another file") from None
        self._of = ""
        self._next = 0
        self._early: dict[int, bytes] = {}
        self.games = 0

    def hear(self, payload: bytes) -> None:
        """Take in a payload of the log."""
        try:
            text, _ = take_apart(payload)
            entry = read_entry(text)
        except WireError:
            self._write(payload)
            return
        of = entry_digest(text)[:OF_BYTES].hex() if isinstance(entry.body, Opening) else entry.of
        if of != self._of:
            self._turn_over(of, entry)
        if entry.number < self._next:
            return
        self._early[entry.number] = payload
        while self._next in self._early:
            self._write(self._early.pop(self._next))
            self._next += 1
        if isinstance(entry.body, LogEnd):
            self._finish()
            self.games += 1

    def _turn_over(self, of: str, entry: Entry) -> None:
        self._finish()
        self._of, self._next = of, 0

    def _finish(self) -> None:
        """Write what came without what belongs before it: a reader says what is missing."""
        for number in sorted(self._early):
            self._write(self._early[number])
        self._next = max([self._next, *(number + 1 for number in self._early)])
        self._early.clear()

    def sent(self, team: str, topic: str, payload: bytes) -> None:
        """Note a command of the team's own."""
        line = write_sent(team, topic, payload)
        if line is not None:
            self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            self._file.write(line.replace(b"\n", b" ") + b"\n")
            self._file.flush()
        except OSError as error:
            raise SalvoError("proof_unwritable", f"{self._path}: {error.strerror}") from None

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        if not self._file.closed:
            self._finish()
            self._file.close()

    def __enter__(self) -> Proof:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_sent(team: str, topic: str, payload: bytes) -> bytes | None:
    """Return the line that notes a placement or a shot; None for anything else, such as a request with a secret."""
    name = topics.parse(topic).topic.name
    if name not in ("place", "fire"):
        return None
    noted: dict[str, Any] = {"team": team, "topic": topic, "message": message_digest(topic, payload).hex()}
    if name == "fire":
        value = parse_json(payload)
        noted["body"] = value["data"] if "data" in value else value["payload"]
    return json.dumps({"sent": noted}, separators=(",", ":")).encode()


def has_begun(steps: Sequence[LogStep]) -> bool:
    """Whether a game has begun in these steps."""
    return any(each == {"state": {"state": "turn"}} for step in steps for each in step.said)


class _Recording(NamedTuple):
    proof: Proof
    log: str
    team: str


class ProofConnection(Connection):
    """A connection that also writes a proof file of what goes over it, once :meth:`record` was called."""

    def record(self, proof: Proof, table: str, team: str = "") -> None:
        """Write a table's log down from the next connection on, and with a team's name what it sends."""
        self._recording = _Recording(proof, topics.BY_NAME["log"].of(table), team)

    _recording: _Recording | None = None

    def subscribe(self, filters: Iterable[str]) -> None:
        """Subscribe, to the log as well."""
        log = [self._recording.log] if self._recording is not None else []
        super().subscribe([*(each for each in filters if each not in log), *log])

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Return what has arrived."""
        arrived = super().poll(timeout_seconds)
        if self._recording is not None:
            for message in arrived:
                if message.topic == self._recording.log and not message.retain:
                    self._recording.proof.hear(message.payload)
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish."""
        if self._recording is not None and self._recording.team:
            self._recording.proof.sent(self._recording.team, topic, payload)
        super().publish(topic, payload, retain=retain)

    def finish_proof(self, games: int) -> None:
        """Wait a moment for what the server reveals behind the winner's name, then close the file."""
        if self._recording is None:
            return
        proof, end = self._recording.proof, time.monotonic() + REVEAL_SECONDS
        while proof.games < games and self.connected and time.monotonic() < end:
            for message in self.poll(0.2):
                self.acknowledge(message)
        proof.close()
