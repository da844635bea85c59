"""What the garbage collector of a server looks through."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from salvo_server.garbage import COUNT_SECONDS, collect_in_portions
from simulation import crypto, game


@pytest.fixture
def clock() -> Iterator[list[float]]:
    """Let this process collect in portions, on a clock of the test's."""
    now = [0.0]
    before = list(gc.callbacks)
    gc.unfreeze()  # what was put aside when the tests had been collected
    collect_in_portions(embedded=False, clock=lambda: now[0])
    yield now
    gc.callbacks[:] = before


def test_a_full_collection_puts_what_is_left_aside(clock: list[float]) -> None:
    new = [[number] for number in range(1000)]
    aside = gc.get_freeze_count()
    gc.collect()
    assert gc.get_freeze_count() >= aside + len(new)


def test_everything_is_looked_through_once_twice_as_much_is_aside(clock: list[float]) -> None:
    aside = gc.get_freeze_count()
    cycles: list[list[object]] = [[] for _ in range(aside + 1000)]
    for cycle in cycles:
        cycle.append(cycle)
    gc.collect()
    assert gc.get_freeze_count() > 2 * aside  # not counted yet
    count = len(cycles)
    del cycle, cycles
    clock[0] = COUNT_SECONDS
    gc.collect()
    assert gc.get_freeze_count() == 0
    assert gc.collect() >= count
    assert 0 < gc.get_freeze_count() < 2 * aside


def test_a_game_that_ends_leaves_nothing_for_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server puts aside what belongs to a game; as part of a cycle that would stay for long."""
    for module in crypto.DERIVING:
        monkeypatch.setattr(module, "derive_key", crypto.derive_key)
    scenario = game.draw(next(seed for seed in range(1000) if game.draw(seed).book is game.SMALL))
    scenario.faults = []
    contest = game.Contest(scenario)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        contest.play()
        gc.collect()
        left = [each for each in gc.garbage if str(getattr(each, "__module__", "")).startswith("salvo")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left
