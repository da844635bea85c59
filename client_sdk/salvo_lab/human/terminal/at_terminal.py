"""A person sits down: the screen on this thread, the game on another one; the end of either ends the other."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from salvo.errors import SalvoError
from salvo_lab.human import HUMAN
from salvo_lab.human.channel import Channel, game_thread
from salvo_lab.human.desk_log import log_at
from salvo_lab.human.terminal.screen import TableScreen


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
        KeyboardInterrupt: the person pressed Ctrl-C, or a signal or the end of the terminal has ended it.
        Exception: whatever the game raised.
    """
    table = TableScreen(desk)
    with log_at(desk), _lasting_screen(), game_thread(desk, play) as game:
        game.start()
        left = table.run()
    if table.sitting.error is not None:
        raise table.sitting.error
    if left == "ended":
        raise KeyboardInterrupt(signal.SIGTERM)
    if left not in ("left", "broken"):
        raise KeyboardInterrupt


class _LastingScreen:
    """Standard error, which takes in everything also when its terminal was closed.

    The toolkit's own thread writes there: it would end by the error, and the toolkit wait for it for ever.
    """

    def __init__(self, below: Any) -> None:
        self._below = below

    def __getattr__(self, name: str) -> Any:
        return getattr(self._below, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._below.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._below.flush()


@contextlib.contextmanager
def _lasting_screen() -> Iterator[None]:
    """Let the toolkit draw on such a screen during a ``with`` block; it takes the first standard error."""
    first = sys.__stderr__
    setattr(sys, "__stderr__", _LastingScreen(first))  # noqa: B010 - a constant to the type checker
    try:
        yield
    finally:
        setattr(sys, "__stderr__", first)  # noqa: B010
