"""Proof files: a table's log as it was heard, one payload a line, for ``salvo verify`` (SALVO-LOG-10).

A team's own file also has what the team sent, so that it can be held against what the server counted:

    {"sent":{"team":"red","topic":"/players/blue/fire","message":"<16 bytes>","body":{"x":3,"y":4}}}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from salvo import topics
from salvo.errors import SalvoError, WireError
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
