"""A person at this machine as the player of a contest, the entry point ``human`` of ``salvo.players``."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from salvo.join.client import GameReport
from salvo.join.events import Event
from salvo.join.seat import Seat
from salvo_display.opener import opener
from salvo_lab.human.skins import skin


def check(*, browser: bool) -> None:
    """Make sure that there is a terminal, or what serves a page; see :class:`salvo.join.client.ContestPlayer`."""
    skin(_nothing if browser else None)


def play(
    seat: Seat, random: Random, games: int | None, listener: Callable[[Event], None] | None, *, browser: bool
) -> list[GameReport]:
    """Let the person play; see :class:`salvo.join.client.ContestPlayer`."""
    from salvo_lab.human.channel import Channel
    from salvo_lab.human.places.in_contest import play_there

    return play_there(Channel(), skin(opener() if browser else None), seat, random, games, listener)


def _nothing(address: str) -> None:
    """Open no page yet."""
