"""Asks a bot of ours for its fleet and its shots, and tells it what happens, in a game without a server of ours."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec

from salvo.player import Bot, check_salvo, settle
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View

P = ParamSpec("P")

log = logging.getLogger(__name__)


def fleet_of(bot: Bot, book: RuleBook) -> Fleet:
    """Return a bot's fleet; a random one for a bot that fails."""
    try:
        fleet: object = bot.place_fleet(book)
        if isinstance(fleet, Fleet) and fleet.book == book:
            return fleet
        log.error("%s placed %.80r; a random fleet is placed instead", bot.name, fleet)
    except Exception:
        log.exception("%s failed; a random fleet is placed instead", bot.name)
    return book.random_fleet(bot.random)


def shots_of(bot: Bot, view: View, *, skips: bool = False) -> tuple[Shot, ...]:
    """Return a bot's shots; a random one for a bot that fails.

    Args:
        skips: whether the protocol has turns without a shot; where it has none, a random shot is fired instead.
    """
    try:
        shots = check_salvo(settle(bot.choose_salvo(view)), view)
        if shots or skips:
            return shots
    except Exception:
        log.exception("%s failed; a random shot is fired instead", bot.name)
    return tuple(view.untouched.sample(1))


def tell(method: Callable[P, None], *told: P.args, **named: P.kwargs) -> None:
    """Call a method with which a bot hears of something; what it raises goes to the log, and the game goes on."""
    try:
        method(*told, **named)
    except Exception:
        log.exception("%s failed; the game goes on", method.__qualname__)
