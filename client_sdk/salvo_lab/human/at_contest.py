"""A person at this terminal as the player of a contest, the entry point ``human`` of ``salvo.players``."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from salvo.client import GameReport
from salvo.events import Event
from salvo.seat import Seat
from salvo_lab.human.runner import check_terminal, sit_down


def check() -> None:
    """Make sure that there is a terminal; see :class:`salvo.client.ContestPlayer`."""
    check_terminal()


def play(seat: Seat, random: Random, games: int | None, listener: Callable[[Event], None] | None) -> list[GameReport]:
    """Let the person play; see :class:`salvo.client.ContestPlayer`."""
    from salvo_lab.human.channel import Channel
    from salvo_lab.human.contest import play_there

    return play_there(Channel(), sit_down, seat, random, games, listener)
