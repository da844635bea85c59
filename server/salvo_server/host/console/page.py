"""The page of an organiser; see :mod:`salvo_server.host.console`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from pydantic import Field

from salvo import messages as m
from salvo.errors import SalvoError
from salvo_display.web_server.own_page import OwnPage, PageCommand, PageRefusal
from salvo_server.host.console.evening import ConsoleEvening
from salvo_server.host.hosting import read_argument

#: How often the page looks at what only time has changed.
_LOOK_SECONDS: Final = 1.0


class _SentCommand(PageCommand):
    """A command, with what its person has read that it would do."""

    table: str = Field("", max_length=64)
    everywhere: bool = False
    do: str | None = Field(None, max_length=20)
    argument: str = Field("", max_length=600)
    means: str = Field("", max_length=1000)

    @property
    def done(self) -> list[str]:
        return [] if self.do is None else ["do"]


class ConsoleLine(Protocol):
    """Where news come from and commands go: :class:`~salvo_server.host.console.line.HostLine`."""

    @property
    def error(self) -> Exception | None: ...

    def take_in(self, evening: ConsoleEvening) -> bool: ...
    def give(self, table: str, do: m.HostAction, given: dict[str, Any]) -> None: ...


class ConsolePage(OwnPage):
    """Shows an evening to its organiser, and sends commands."""

    template = "salvo_server/host/console/control.html.j2"
    package = "salvo_server.host.console"
    command = _SentCommand
    words = frozenset(
        {"tables", "lines", "league", "trouble", "needs", "phase", "teams", "commands"}
    )  # a command has its own sentence, which must still be true

    def __init__(self, line: ConsoleLine, about: str, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to serve what a line brings; the other arguments are those of a page.

        Args:
            about: who acts where.
        """
        self.evening = ConsoleEvening(clock)
        self._line, self._about = line, about
        self._next_look = 0.0
        super().__init__(port, clock)

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self._line.error is not None

    def picture(self) -> dict[str, Any]:
        """Return what is shown."""
        error = "" if self._line.error is None else str(self._line.error)
        return {"about": self._about, "ended": error} | self.evening.picture()

    @property
    def seconds_left(self) -> None:
        """Nothing: each table has its own clock."""

    def frame_clock(self) -> dict[str, Any]:
        """Return the time by which ``ends`` and ``since`` are meant."""
        return {"now": round(self._clock() * 1000)}

    def take_in(self) -> bool:
        """Apply what has come; what needs the host may also follow from the time that has passed."""
        changed, now = self._line.take_in(self.evening), self._clock()
        if now < self._next_look:
            return changed
        self._next_look = now + _LOOK_SECONDS
        return True

    def carry_out(self, command: _SentCommand) -> None:
        """Send a command, if it would still do what its person has read."""
        table = self.evening.tables.get(command.table)
        there = self.evening.offers if command.everywhere else [] if table is None else table.offers
        offered = [offer for offer in there if offer.do.value == command.do]
        if not offered and command.everywhere:
            raise PageRefusal(409, "not_now", f"{command.do} for all tables cannot be done now")
        if not offered:
            raise PageRefusal(400, "bad_command", f"no {command.do} at table {command.table!r}")
        [offer] = offered
        if command.means != offer.means:
            raise PageRefusal(409, "late", f"not sent, since now it would do something else: {offer.means}")
        if not offer.ready:
            raise PageRefusal(409, "not_now", f"{offer.do} cannot be done now")
        try:
            given = read_argument(offer.do, command.argument) | ({"everywhere": True} if command.everywhere else {})
            self._line.give("" if command.everywhere else command.table, offer.do, given)
        except (SalvoError, ValueError) as error:
            raise PageRefusal(400, "bad_command", str(error)) from None
