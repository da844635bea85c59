"""A person sits down: the screen on this thread, the game on another one; the end of either ends the other."""

from __future__ import annotations

import sys
from collections.abc import Callable

from salvo.errors import SalvoError
from salvo_lab.human import HUMAN
from salvo_lab.human.app import Table
from salvo_lab.human.channel import Channel, game_thread
from salvo_lab.human.desk_log import log_at


def check_terminal() -> None:
    """Make sure that there is a person to play.

    Raises:
        SalvoError: ``no_terminal``.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SalvoError(
            "no_terminal", f"{HUMAN} plays at a terminal, but standard input and standard error are not both one"
        )


def sit_down(desk: Channel, play: Callable[[], None]) -> None:
    """Show the screen until the person leaves or the game fails.

    Args:
        play: plays games over the channel; runs on a separate thread and ends by ``PersonLeft``.

    Raises:
        KeyboardInterrupt: the person pressed Ctrl-C.
        Exception: whatever the game raised.
    """
    table = Table(desk)
    with log_at(desk), game_thread(desk, play) as game:
        game.start()
        left = table.run()
    if table.sitting.error is not None:
        raise table.sitting.error
    if left not in ("left", "broken"):
        raise KeyboardInterrupt
