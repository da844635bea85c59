"""A language model as the player of a contest, the entry point ``mcp`` of ``salvo.players``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from random import Random

from salvo.errors import SalvoError
from salvo.join.client import GameReport
from salvo.join.events import Event
from salvo.join.seat import Seat
from salvo_lab.human import MCP

#: Loaded when it plays, so that a missing extra is named, and not a plugin that cannot be loaded.
_TOOLS = "salvo_lab.human.language_model.tools"


def check(*, browser: bool) -> None:
    """Make sure that the extra is there; see :class:`salvo.join.client.ContestPlayer`."""
    if browser:
        raise SalvoError("unused_option", f"--browser does nothing for {MCP}, whose program calls tools; leave it out")
    importlib.import_module(_TOOLS)


def play(
    seat: Seat, random: Random, games: int | None, listener: Callable[[Event], None] | None, *, browser: bool
) -> list[GameReport]:
    """Let the model play; see :class:`salvo.join.client.ContestPlayer`."""
    from salvo_lab.human.channel import Channel
    from salvo_lab.human.language_model.tools import sit_down
    from salvo_lab.human.places.in_contest import play_there

    return play_there(Channel(), sit_down, seat, random, games, listener)
