"""Time limits without a server: who is late loses the turn, and nobody is late under a debugger."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from salvo.bots.player import Bot
from salvo.messages import SalvoResolved
from salvo.view import View
from salvo_lab import arena, time_limits
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.time_limits import TimeLimits, limit_time


class Clock:
    """Seconds that a bot spends."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Thinks(RandomBot):
    """Spends the given seconds in its turns, one after the other, and none later."""

    def __init__(self, clock: Clock, *seconds: float) -> None:
        self.clock, self.seconds = clock, list(seconds)
        self.left: list[tuple[str, float | None]] = []

    def choose_salvo(self, view: View) -> Any:
        self.left.append((view.limited_by, view.seconds_left))
        self.clock.now += self.seconds.pop(0) if self.seconds else 0.0
        return super().choose_salvo(view)


@pytest.fixture(autouse=True)
def no_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever measures coverage traces the tests."""
    monkeypatch.setattr(time_limits, "is_debugged", lambda: False)


def shots_of(bot: Bot, game: int = 1) -> list[int]:
    results: list[SalvoResolved] = []
    bots = {"ann": bot, "bob": RandomBot()}
    arena.play(bots, seed=7, game=game, listener=lambda _, result: results.append(result))
    return [result.shots for result in results if result.player == "ann"]


def test_a_late_salvo_is_lost_and_the_reason_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    bot = limit_time(Thinks(clock, 0.9, 1.1, 1.0), TimeLimits(turn_seconds=1), clock)
    assert shots_of(bot)[:3] == [5, 0, 5]
    assert caplog.messages == ["ann, game 1, turn 4: turn_timeout: 1.100 s of 1.000; the turn is lost"]


def test_a_bank_is_for_all_turns_of_a_game_and_full_in_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    bot = Thinks(clock, 2.0, 2.0, 2.0)
    limit_time(bot, TimeLimits(turn_seconds=3, bank_seconds=5), clock)
    assert shots_of(bot) == [5, 5, 0, 0, 0]  # and then it is defeated by its silence
    assert caplog.messages == [
        "ann, game 1, turn 6: bank_empty: 2.000 s of 1.000; the turn is lost",
        "ann, game 1, turn 8: bank_empty: nothing is left; the turn is lost",
        "ann, game 1, turn 10: bank_empty: nothing is left; the turn is lost",
    ]
    assert [limited_by for limited_by, _ in bot.left] == ["turn_timeout", "turn_timeout", "bank_empty"]
    assert all(shots_of(bot, game=2))


def test_an_async_bot_that_is_too_slow_loses_its_turn(caplog: pytest.LogCaptureFixture) -> None:
    class Waits(RandomBot):
        async def choose_salvo(self, view: View) -> Any:  # type: ignore[override]
            if not view.salvos:
                await asyncio.sleep(60)
            return view.untouched.sample(view.shots)

    assert shots_of(limit_time(Waits(), TimeLimits(turn_seconds=1)))[:2] == [0, 5]
    assert [message.partition(": ")[2][:12] for message in caplog.messages] == ["turn_timeout"]


def test_time_limits_do_not_apply_under_a_debugger(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(time_limits, "is_debugged", lambda: True)
    clock = Clock()
    bot = Thinks(clock, 60.0, 60.0)
    assert all(shots_of(limit_time(bot, TimeLimits(turn_seconds=1, bank_seconds=1), clock)))
    assert {left for _, left in bot.left} == {None}
    assert caplog.messages == []
