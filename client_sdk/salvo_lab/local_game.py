"""The game that ``salvo.run`` plays where there is no contest: against the hunter, in this process."""

from __future__ import annotations

import logging
import os
import secrets
import sys
from collections.abc import Callable

from salvo.bots.adapter import Adapter, closing, made
from salvo.bots.player import Bot
from salvo.bots.sources import name_here
from salvo.errors import BotError
from salvo_display.boards.text_boards import TextBoards
from salvo_display.boards.watched_game import Watched
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.chance import warn_of_chance
from salvo_lab.time_limits import telling_of_waits


def play_here(bot: type[Bot], *, watch: bool) -> None:
    """Play one game and print how it ended; ``SALVO_SEED`` sets its seed.

    Raises:
        BotError: what the bot did wrong, with how to repeat the game.
    """
    seed = os.environ.get("SALVO_SEED") or secrets.token_hex(16)
    name = name_here(bot)
    name = name if name != "hunter" else "team-hunter"
    terminal = sys.stdout.isatty()
    boards = Watched(moving=terminal) if watch else TextBoards()

    def play(boards: TextBoards, report: Callable[[str], object] = logging.warning) -> arena.Outcome:
        with closing(made(bot), name, report) as mine, boards, telling_of_waits(mine.bot, name):
            opponents: dict[str, Bot | Adapter] = {name: mine, "hunter": Hunter()}
            return arena.play(opponents, seed=seed, opening=boards.begin, listener=boards.follow)

    try:
        outcome = play(boards)
    except BotError as error:
        error.again = f"SALVO_SEED={seed} and the same command"
        raise
    if terminal:
        print("\n".join(boards.lines(outcome.fleets, coloured=not os.environ.get("NO_COLOR"))))
    print(f"{outcome.winner} wins after {outcome.turns} salvos; seed {seed}")
    warning = warn_of_chance(outcome, boards, lambda other: play(other, logging.debug))
    print(f"warning: {warning}" if warning else f"the same game again: SALVO_SEED={seed} and the same command")
