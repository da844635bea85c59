"""What a host does at a table, as far as all states have it in common (SALVO-HOST)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from salvo import messages as m
from salvo.errors import IllegalCommand
from salvo_server.core.terms import Terms


class Hosted(NamedTuple):
    """A host's command, and the terms of the game after this one."""

    command: m.HostCommand
    following: Terms

    @property
    def ms(self) -> int:
        """Its seconds, in milliseconds."""
        return 1000 * (self.command.seconds or 0)

    def check_game(self, number: int) -> None:
        """Make sure that it was signed for this game, or for none.

        Raises:
            IllegalCommand: ``stale_context``.
        """
        context = self.command.context
        if context not in (None, number):
            raise IllegalCommand("stale_context", f"signed for game {context}; this is game {number}")

    def check_clock(self, paused: bool) -> None:
        """Make sure that a table can be paused, or resumed.

        Raises:
            IllegalCommand: ``clock_stopped`` or ``not_paused``.
        """
        if paused and self.command.do is m.HostAction.PAUSE:
            raise IllegalCommand("clock_stopped", "the table is paused already")
        if not paused and self.command.do is m.HostAction.RESUME:
            raise IllegalCommand("not_paused", "the table is not paused")


def extended(deadline: int | None, by: Hosted) -> int:
    """Return a deadline that a host has extended.

    Raises:
        IllegalCommand: ``clock_stopped``.
    """
    if deadline is None:
        raise IllegalCommand("clock_stopped", "no time is running; there is nothing to extend")
    return deadline + by.ms


def unknown_team(name: str, names: Iterable[str]) -> IllegalCommand:
    """Return the refusal to remove a team that is not there."""
    return IllegalCommand("unknown_target", f"no team {name[:40]!r} to remove; there are {', '.join(names) or 'none'}")
