"""Work in blocks, without any host: an executor's threads carry it out, or blocks are answered by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from salvo.errors import BotError, SalvoError
from salvo_lab import blocks
from salvo_lab.blocks import (
    BLOCKS_AHEAD,
    SHARES,
    BlockAnswer,
    Carrying,
    RunOnHost,
    carry_out,
    close_idle,
    in_blocks,
    software,
)


class ByHand:
    """Hosts whose blocks are answered when a test says so."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.blocks: list[Sequence[int]] = []
        self.futures: list[Future[BlockAnswer[int]]] = []

    def submit(self, items: Sequence[int]) -> Future[BlockAnswer[int]]:
        self.blocks.append(items)
        self.futures.append(Future())
        return self.futures[-1]

    def hosts(self) -> int:
        return self.count

    def answer(self, number: int, seconds: float = 1.0) -> None:
        items = self.blocks[number]
        self.futures[number].set_result(BlockAnswer(len(items), seconds, list(items)))


@pytest.mark.parametrize("hosts", [1, 2, 5])
def test_results_come_in_the_order_of_the_work_however_many_hosts_carry_it_out(hosts: int) -> None:
    second = threading.Event()

    def carry(items: Sequence[int]) -> BlockAnswer[int]:
        if items[0] == 0 and hosts > 1:
            assert second.wait(60)  # the first block ends after the second
        second.set()
        return BlockAnswer(len(items), 1e-3, list(items))

    with ThreadPoolExecutor(hosts) as executor:
        found = in_blocks(lambda items: executor.submit(carry, items), range(5000), lambda: hosts)
        assert [item for block in found for item in block] == list(range(5000))


def test_blocks_grow_with_the_pace_of_hosts_and_get_small_towards_the_end() -> None:
    sizes = []

    def carry(items: Sequence[int]) -> Future[BlockAnswer[int]]:
        sizes.append(len(items))
        done: Future[BlockAnswer[int]] = Future()
        done.set_result(BlockAnswer(len(items), len(items) * 0.01, list(items)))
        return done

    assert sum(map(len, in_blocks(carry, range(2000), lambda: 1))) == 2000
    assert sizes[0] == 1
    assert max(sizes) == 200  # BLOCK_SECONDS of items that take 10 ms
    assert sizes[-1] <= 200 // SHARES + 1


def test_no_host_has_more_than_a_block_and_the_next() -> None:
    hosts = ByHand(3)
    found = in_blocks(hosts.submit, range(1 << 40), hosts.hosts, lambda: hosts.answer(0))
    assert next(found) == [0]
    assert len(hosts.futures) == 3 * BLOCKS_AHEAD
    found.close()  # type: ignore[attr-defined]
    assert all(future.cancelled() for future in hosts.futures[1:])


def test_the_first_error_in_the_order_of_the_work_ends_it() -> None:
    def carry(items: Sequence[int]) -> Future[BlockAnswer[int]]:
        done: Future[BlockAnswer[int]] = Future()
        wrong = [item for item in items if item in (40, 90)]
        error = ("bad_bot", f"item {wrong[0]}", "trace") if wrong else ("", "", "")
        done.set_result(BlockAnswer(len(items), 0.1, None if wrong else list(items), error))
        return done

    seen: list[int] = []
    with pytest.raises(BotError, match="item 40") as raised:
        seen.extend(item for block in in_blocks(carry, range(1 << 40), lambda: 4) for item in block)
    assert (raised.value.code, raised.value.trace) == ("bad_bot", "trace")
    assert seen == list(range(len(seen)))
    assert 20 < len(seen) <= 40  # all blocks before the one with the error


def test_hosts_get_no_more_blocks_after_an_error() -> None:
    hosts = ByHand(2)

    def answer() -> None:
        if hosts.futures[1].done():
            hosts.answer(0)
        else:
            hosts.futures[1].set_result(BlockAnswer(1, 0.0, None, ("bad_bot", "it raised", "")))

    found = in_blocks(hosts.submit, range(100), hosts.hosts, answer)
    assert next(found) == [0]
    with pytest.raises(BotError, match="bad_bot"):
        next(found)
    assert len(hosts.blocks) == 2 * BLOCKS_AHEAD


def test_a_cluster_that_goes_away_ends_the_work_at_once_whichever_block_shows_it() -> None:
    hosts = ByHand(2)
    lost = SalvoError("scheduler_lost", "it has ended")
    with pytest.raises(SalvoError, match="scheduler_lost"):
        next(in_blocks(hosts.submit, range(100), hosts.hosts, lambda: hosts.futures[2].set_exception(lost)))
    assert [future.cancelled() for future in hosts.futures] == [True, True, False, True]


def test_an_interruption_cancels_all_blocks() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    hosts = ByHand(2)
    with pytest.raises(KeyboardInterrupt):
        next(in_blocks(hosts.submit, range(100), hosts.hosts, interrupt))
    assert hosts.futures
    assert all(future.cancelled() for future in hosts.futures)


# --- on a host ----------------------------------------------------------------------------------------------------


class Begun:
    """Counts the processes of runs that are started and ended."""

    def __init__(self, carrying: Carrying[int, int]) -> None:
        self.started: list[int] = []
        self.ended = 0
        self._carrying = carrying

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, int]]:
        self.started.append(jobs)
        try:
            yield self._carrying
        finally:
            self.ended += 1


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What is to be called later, which never happens by itself."""
    later: list[tuple[object, ...]] = []

    class Timer:
        def __init__(self, *given: object) -> None:
            later.append(given)

        def start(self) -> None:
            pass

    monkeypatch.setattr("salvo_lab.blocks.threading.Timer", Timer)
    monkeypatch.setattr(blocks, "_started", {})
    return later


def _carry(items: Sequence[int], look: Callable[[], None]) -> list[int]:
    look()
    if 7 in items:
        raise BotError("bad_bot", "seven", "trace")
    return [2 * item for item in items]


def test_a_host_starts_the_processes_of_a_run_once_and_ends_them_when_it_is_idle(
    timers: list[tuple[object, ...]],
) -> None:
    begun = Begun(_carry)
    run = RunOnHost("one", software(), begun.begin)
    for first in (1, 3):
        assert carry_out(run, [first, first + 1], "host", 3, lambda: None).results == [2 * first, 2 * first + 2]
    assert (begun.started, begun.ended) == ([3], 0)
    assert timers == [(blocks.IDLE_SECONDS, close_idle, [blocks.IDLE_SECONDS])] * 2
    close_idle(3600.0)
    assert begun.ended == 0
    close_idle()
    assert begun.ended == 1


def test_a_host_ends_the_processes_of_a_run_that_fails_or_that_nobody_waits_for(
    timers: list[tuple[object, ...]],
) -> None:
    begun = Begun(_carry)
    run = RunOnHost("one", software(), begun.begin)
    assert carry_out(run, [6, 7], "host", 1, lambda: None)[1:] == (0.0, None, ("bad_bot", "seven", "trace"))
    assert begun.ended == 1

    def gone() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        carry_out(run, [1], "host", 1, gone)
    assert (begun.started, begun.ended, timers) == ([1, 1], 2, [])


def test_a_host_with_other_code_plays_no_block(timers: list[tuple[object, ...]]) -> None:
    begun = Begun(_carry)
    answer = carry_out(
        RunOnHost("one", software() | {"Salvo's code": "other"}, begun.begin), [1], "frigate", 1, lambda: None
    )
    assert answer.results is None
    assert answer.error[0] == "host_versions"
    assert answer.error[1].endswith(
        "on host frigate, and other here; install the same on both, and start the worker again"
    )
    assert begun.started == []
