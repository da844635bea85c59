"""Time limits for games without a server: a deadline per turn and a time bank per game, in wall-clock time.

They are off by default, because they make a game depend on the speed of the machine. While a debugger is attached, no
time runs out and the bank is not charged.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salvo.bots import adapter
from salvo.bots.player import Answer, Bot
from salvo.bots.programs.debugger import breakpoints_met, is_debugged, watching_breakpoints
from salvo.view import Feed, View

log = logging.getLogger(__name__)

#: Seconds that a bot may take for one decision, as long as a turn in a contest (SALVO-TURN-5).
TURN_SECONDS = 30.0
#: After so long without an answer a person is told what is waited for.
WAIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long a bot may think.

    Attributes:
        turn_seconds: limit for one salvo; None for no limit.
        bank_seconds: limit for all salvos of a game together; None for no limit.
    """

    turn_seconds: float | None = None
    bank_seconds: float | None = None


def limit_time(bot: Bot, limits: TimeLimits, clock: Callable[[], float] = time.monotonic) -> Bot:
    """Enforce time limits on this bot, and return it: a late salvo is lost, and the log says why.

    A function cannot be interrupted, so it is found to be late only when it returns. Programs (SALVO-EXEC) and
    ``async`` bots are not waited for.

    Args:
        clock: a monotonic clock, in seconds.
    """
    limited = _Limited(bot, limits, clock)
    members: dict[str, Any] = {"choose_salvo": limited.choose_salvo, "prepare": limited.prepare}
    for name, method in members.items():
        adapter.replace(bot, name, method)  # on the instance, so that its class and what that overrides stay visible
    return bot


@contextmanager
def telling_of_waits(bot: Bot, name: str, seconds: float = WAIT_SECONDS) -> Iterator[Bot]:
    """Say on standard error, with the line that it is at, if a bot does not answer for a while: a loop may be endless.

    Args:
        name: what the bot is called.
        seconds: after how long, once a game.
    """
    asked: list[float] = []
    choose = adapter.method(bot, "choose_salvo")

    def choose_watched(view: View) -> Answer:
        asked.append(time.monotonic())
        try:
            answer: Answer = choose(view)
            return answer
        finally:
            asked.clear()

    def look() -> None:
        while not done.wait(seconds / 5):
            if any(time.monotonic() - since > seconds for since in asked[:1]) and not is_debugged():
                text = f"still waiting for {name} after {seconds:g} s"
                print(f"{text}; {_line_of(bot, playing)}Ctrl-C ends it", file=sys.stderr)
                return

    done, playing = threading.Event(), threading.get_ident()
    adapter.replace(bot, "choose_salvo", choose_watched)
    threading.Thread(target=look, daemon=True).start()
    try:
        yield bot
    finally:
        done.set()


def _line_of(bot: Bot, thread: int) -> str:
    """Return which line of its file the bot is at, as ``it is at mybot.py:7; ``; empty if none of it is running."""
    file = getattr(sys.modules.get(type(bot).__module__), "__file__", None)
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return f"it is at {Path(frame.f_code.co_filename).name}:{frame.f_lineno}; " if frame else ""


class _Limited:
    def __init__(self, bot: Bot, limits: TimeLimits, clock: Callable[[], float]) -> None:
        self._bot = bot
        self._limits = limits
        self._clock = clock
        self._choose, self._prepare = adapter.method(bot, "choose_salvo"), adapter.method(bot, "prepare")
        self._bank_left = limits.bank_seconds

    def prepare(self, name: str, seed: int | str, game: int = 1) -> Any:
        self._bank_left = self._limits.bank_seconds
        return self._prepare(name, seed, game)  # which may be async

    def choose_salvo(self, view: View) -> Answer:
        allowed, cause = self._allowance()
        if allowed <= 0:
            return self._lose_turn(view, cause, "nothing is left")
        view.limited_by = cause
        if not is_debugged() and allowed != float("inf"):
            Feed(view).extend(time.monotonic() + allowed)
        started, pauses = self._clock(), breakpoints_met()
        with watching_breakpoints():
            answer = self._choose(view)
        if isinstance(answer, Awaitable):
            return self._await(answer, view, allowed, cause, started)
        return self._charge(answer, view, allowed, cause, started, breakpoints_met() != pauses)

    async def _await(
        self, answer: Awaitable[Sequence[tuple[str, int, int]]], view: View, allowed: float, cause: str, started: float
    ) -> Sequence[tuple[str, int, int]]:
        import asyncio  # most bots never need it, and it takes 40 ms to import

        pauses = breakpoints_met()
        try:
            with watching_breakpoints():
                shots = await asyncio.wait_for(answer, None if is_debugged() else allowed)
        except TimeoutError:
            self._charge((), view, allowed, cause, started, breakpoints_met() != pauses)
            return self._lose_turn(view, cause, f"no answer in {allowed:.3f} s")
        return self._charge(shots, view, allowed, cause, started, breakpoints_met() != pauses)

    def _allowance(self) -> tuple[float, str]:
        """Return how many seconds this turn may take, and the code of the limit that ends it."""
        turn, left = self._limits.turn_seconds, self._bank_left
        if left is not None and (turn is None or left < turn):
            return left, "bank_empty"
        return (float("inf") if turn is None else turn), "turn_timeout"

    def _charge(
        self,
        shots: Sequence[tuple[str, int, int]],
        view: View,
        allowed: float,
        cause: str,
        started: float,
        paused: bool,
    ) -> Sequence[tuple[str, int, int]]:
        """Charge the bank, unless a breakpoint was hit; return the shots, or none if they are late."""
        if paused or is_debugged():
            return shots
        used = self._clock() - started
        if self._bank_left is not None:
            self._bank_left = max(0.0, self._bank_left - used)
        if used <= allowed or not shots:  # a bot that has given up has already said why
            return shots
        return self._lose_turn(view, cause, f"{used:.3f} s of {allowed:.3f}")

    def _lose_turn(self, view: View, cause: str, text: str) -> Sequence[tuple[str, int, int]]:
        at = f"{view.me}, game {view.game}, turn {view.turn}"
        log.error("%s: %s: %s; the turn is lost", at, cause, text)
        return ()
