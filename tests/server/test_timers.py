"""The service's time, and when it passes."""

from __future__ import annotations

from salvo_game.journal_interface import GameOpened, Saved, SavedGame, StepTaken
from salvo_server.core.clock import steady_clock
from salvo_server.core.play import Timers


def saved(*ends: int | None) -> Saved:
    games = [
        SavedGame(GameOpened(1, "", 1, 500, ""), [] if end is None else [StepTaken(1, 1, end, "", b"")], ())
        for end in ends
    ]
    return Saved(games, 1, 1, 0, False, iter(()))


def test_time_goes_on_from_the_journals_when_the_clock_was_set_back() -> None:
    times = iter([1_000, 1_000, 1_250])
    clock = steady_clock(lambda: next(times), saved(None, 5_000, 3_000))
    assert [clock(), clock()] == [5_000, 5_250]


def test_time_never_goes_back_and_stands_for_no_longer_than_the_clock_does() -> None:
    times = iter([1_000, 1_000, 900, 1_001])
    clock = steady_clock(lambda: next(times), saved(None))
    assert [clock(), clock(), clock()] == [1_000, 1_000, 1_001]


def test_a_table_is_due_at_its_deadline_and_not_before() -> None:
    timers = Timers()
    timers.set("a", 10)
    timers.set("b", 20)
    assert timers.take_due(9) == []
    assert timers.take_due(10) == ["a"]
    assert timers.earliest == 20
    assert timers.take_due(100) == ["b"]
    assert timers.earliest is None
    assert timers.take_due(1_000) == []


def test_an_earlier_deadline_moves_the_earliest_and_a_later_one_does_not() -> None:
    timers = Timers()
    timers.set("a", 10)
    timers.set("b", 20)
    timers.set("c", 5)
    assert timers.earliest == 5
    timers.set("c", 30)
    assert timers.earliest == 5  # too early: it is looked up again when it has passed
    assert timers.take_due(6) == []
    assert timers.earliest == 10
