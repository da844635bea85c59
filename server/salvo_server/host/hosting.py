"""A host's side of the protocol: commands to tables, and their answers (SALVO-HOST)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.command_writer import write_host
from salvo.codec.commands import HOST_ARGUMENTS
from salvo.wire import topics
from salvo.wire.seal import Sealer, salt_of


class HostAnswer(NamedTuple):
    """What became of a command at a table: done, or refused."""

    table: str
    outcome: m.HostActed | m.CommandRefused

    def is_to(self, command: m.HostCommand) -> bool:
        """Whether this answers a command; a refusal names none, so send one at a time."""
        if isinstance(self.outcome, m.CommandRefused):
            return True
        return self.outcome == m.HostActed.of(command, paused=self.outcome.paused)


class HostDesk:
    """What a host knows of its tables.

    Attributes:
        statuses: what ``/game/server`` says, by table.
    """

    def __init__(self, name: str, secret: str) -> None:
        """Prepare; :meth:`command` works once the status of its table was read."""
        self.name = name
        self.statuses: dict[str, m.ServerStatus] = {}
        self._secret = secret
        self._sealers: dict[bytes, Sealer] = {}

    def filters(self, tables: Iterable[str]) -> list[str]:
        """Return the topics to subscribe to."""
        read = (topics.SERVER, topics.HOSTED, topics.ERROR)
        return [topic.filter(table, player=self.name) for table in tables for topic in read]

    def command(self, table: str, do: m.HostAction, **arguments: Any) -> tuple[m.HostCommand, Publication]:
        """Return a command for the game that a table has now, and its message.

        Raises:
            LookupError: nothing was read of the table.
            WireError: see :func:`salvo.codec.commands.check_host`.
        """
        command = m.HostCommand(self.name, do, context=self.statuses[table].game, **arguments)
        return command, self.signed(table, command)

    def signed(self, table: str, command: m.HostCommand) -> Publication:
        """Return the message of a command; raises what :meth:`command` does."""
        status = self.statuses[table]
        key = b"" if status.keys is None else status.keys.sign
        if key not in self._sealers:
            self._sealers[key] = Sealer(self._secret, salt_of(self.name, key))
        return Publication(topics.HOST.of(table), write_host(command, self._sealers[key]), False)

    def receive(self, table: str, announcement: m.Announcement | None, *, retained: bool) -> HostAnswer | None:
        """Take in what was said at a table; return the answer to a command if it is one."""
        match announcement:
            case m.ServerStatus():
                self.statuses[table] = announcement
            case m.HostActed(by=self.name) | m.CommandRefused(to=self.name) if not retained:
                return HostAnswer(table, announcement)
            case _:
                pass
        return None


#: What ``set`` takes; ``pace_seconds`` takes decimals, in place of ``pace_ms``.
_SETTINGS: Final = tuple(name.replace("pace_ms", "pace_seconds") for name in m.NextGame.__dataclass_fields__)


def read_argument(do: m.HostAction, text: str) -> dict[str, Any]:
    """Return the argument of a command as :class:`~salvo.messages.HostCommand` has it; nothing where it takes none.

    Raises:
        ValueError: it cannot be read.
    """
    name = HOST_ARGUMENTS.get(do)
    if name is None:
        return {}
    if name == "settings":
        return {name: _read_settings(text.split())}
    if name in ("seconds", "game"):
        return {name: _read_number(name, text)}
    return {name: text}


def _read_settings(words: Sequence[str]) -> m.NextGame:
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in _SETTINGS:
            raise ValueError(f"{word!r}: NAME=VALUE, and NAME is {', '.join(_SETTINGS)}")
        if name == "pace_seconds":
            given["pace_ms"] = round(1000 * _read_pace(value))
        else:
            given[name] = tuple(value.split(",")) if name == "teams" else _read_number(name, value)
    return m.NextGame(**given)


def _read_pace(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError(f"pace_seconds {text[:40]!r} is not a number of seconds, like 2 or 0.4")
    return float(text)


def _read_number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError(f"{name} {text[:40]!r} is not a whole number")
    return int(text)
