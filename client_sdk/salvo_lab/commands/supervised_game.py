"""Play bots in the command's own process, to debug them; if one ends the process, the command names it.

They play in a copy of the process, which has the same terminal, and the command waits for it as its keeper. On other
systems than Linux, beside other threads and under a debugger there is no copy, and such a bot ends the command.
"""

from __future__ import annotations

import mmap
import signal
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any, Final, NoReturn

import click

from salvo.bots.programs import environment, linux
from salvo.bots.programs.debugger import is_debugged
from salvo.bots.programs.keeper import how_it_ended, keep
from salvo.errors import BotError
from salvo_lab.human import AT_DESKS
from salvo_lab.simulation import Seats, simulate

#: How the keeper passes on what only it has received: a terminal sends to both.
_PASSED_ON: Final = {"SIGINT": "SIGUSR1", "SIGTERM": "SIGUSR2", "SIGHUP": "SIGUSR2"}


class SupervisedGame:
    """Games that are played in a copy of this process.

    Attributes:
        game: number of the one that is on.
    """

    def __init__(self, game: int) -> None:
        """Share with the copy how far it is, and whether it plays."""
        self._shared = memoryview(mmap.mmap(-1, 16)).cast("q")
        self.game = game

    @property
    def game(self) -> int:
        return self._shared[0]

    @game.setter
    def game(self, number: int) -> None:
        self._shared[0] = number

    def play(self, ctx: click.Context, play: Callable[[], None], blame: Callable[[int], NoReturn]) -> None:
        """Play; where this process is all the command's, in a copy of it.

        Args:
            blame: raises the error for the exit code of a copy that has ended during games.
        """
        if (ctx.find_root().obj or {}).get("has_process"):
            if linux.is_single_threaded() and not is_debugged():
                ended = keep(_passed_on())
                if ended is not None:
                    if self._shared[1]:
                        blame(ended)
                    ctx.exit(ended if ended >= 0 else 128 - ended)
                linux.limit()
            environment.keep_that_of_bots()
        try:
            self._shared[1] = True
            play()
        finally:
            self._shared[1] = False


def who_ended(bots: Sequence[str], game: int, seed: str, rules: str, seats: Seats, code: int) -> BotError:
    """Return who ended a process, after playing the game again with each bot in its own."""
    if not set(bots).intersection(AT_DESKS):
        once_more = simulate(bots, games=1, first=game, seed=seed, rules=rules, seats=seats, jobs=1)
        for failure in once_more.failures:
            if failure.code == "bot_crashed":
                return BotError(failure.code, failure.text)
    text = f"game {game}, seed {seed}: a bot ended the process in which all play: {how_it_ended(code)}"
    return BotError("bot_crashed", text)


def _passed_on() -> dict[int, int]:
    """Let signals that come both ways interrupt once; return what the keeper sends in place of each."""
    passed: dict[int, int] = {}
    ways = _Ways()
    for name, other in _PASSED_ON.items():
        number, sent = signal.Signals[name], signal.Signals[other]
        handler = signal.getsignal(number)
        if not callable(handler):  # it is ignored, as under nohup
            continue
        signal.signal(number, partial(ways.direct, handler))
        if sent not in passed.values():  # SIGHUP ends a command as SIGTERM does
            signal.signal(sent, partial(ways.by_the_keeper, number))
        passed[number] = sent
    return passed


class _Ways:
    """By which way this process was interrupted."""

    def __init__(self) -> None:
        self._is_passing = False
        self._was_passed = False
        self._was_direct = False

    def direct(self, handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
        """Interrupt, but not by what the keeper has passed on."""
        came_before, self._was_passed = self._was_passed and not self._is_passing, self._is_passing
        self._is_passing = False
        self._was_direct = True
        if not came_before:
            handler(number, frame)

    def by_the_keeper(self, number: int, sent: int, frame: FrameType | None) -> None:
        """Interrupt as the signal itself does now, whoever handles it, unless it has come already."""
        if not self._was_direct:
            self._is_passing = True
            signal.raise_signal(number)
