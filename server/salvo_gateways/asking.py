"""Asks a bot of ours for its fleet and its shots, and shows it what happens, in a game without a server of ours."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec

from salvo.bots.adapter import Adapter
from salvo.bots.errors import placed
from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View

P = ParamSpec("P")

log = logging.getLogger(__name__)


def seated(bot: Bot | Adapter, name: str, seed: int | str, game: int = 1) -> Adapter:
    """Return the adapter of a bot that is prepared for a game."""
    adapter = Adapter.of(bot)
    call(adapter.prepare, name, seed, game)
    return adapter


def fleet_of(bot: Adapter, book: RuleBook) -> Fleet:
    """Return a bot's fleet; a random one for a bot that fails."""
    try:
        return bot.fleet(book)
    except BotError as error:
        _report(bot, "place_fleet", error, "a random fleet is placed instead")
    return book.random_fleet(bot.random)


def shots_of(bot: Adapter, view: View, *, skips: bool = False) -> tuple[Shot, ...]:
    """Return a bot's shots; a random one for a bot that fails.

    Args:
        skips: whether the protocol has turns without a shot; where it has none, a random shot is fired instead.
    """
    try:
        shots = bot.salvo(view)
        if shots or skips:
            return shots
    except BotError as error:
        _report(bot, f"turn {view.turn}", error, "a random shot is fired instead")
    return tuple(view.untouched.sample(1))


def call(method: Callable[P, None], *given: P.args, **named: P.kwargs) -> None:
    """Call a method of an adapter; what the bot raises goes to the log, and the game continues."""
    try:
        method(*given, **named)
    except BotError as error:
        bot: Adapter = method.__self__  # type: ignore[attr-defined]
        _report(bot, method.__name__, error, "the game continues")


def _report(bot: Adapter, where: str, error: BotError, consequence: str) -> None:
    text = placed(error.text, f"{bot.name}, {where}")
    log.error("%s: %s; %s%s", error.code, text, consequence, f"\n{error.trace}".rstrip())
