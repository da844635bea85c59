"""The files in which pages behind a cache get their pictures."""

from __future__ import annotations

import importlib.util
import json
import time

import pytest

from kit.waiting import until
from salvo_watch.web.chunks import IDLE_SECONDS, MAX_CHUNKS, Chunks


class Clock:
    now = 1000.25

    def __call__(self) -> float:
        return self.now


def names(chunks: Chunks) -> list[int]:
    found: list[int] = json.loads(chunks.head())["chunks"]
    return found


def test_a_chunk_exists_when_its_second_is_over_and_never_changes() -> None:
    clock = Clock()
    chunks = Chunks(clock)
    chunks.add(b'"first"')
    clock.now = 1000.5
    chunks.add(b'"second"')
    assert names(chunks) == []
    assert chunks.chunk(1000) is None
    clock.now = 1001.0
    assert names(chunks) == [1000]
    chunk = chunks.chunk(1000)
    assert chunk is not None
    assert json.loads(chunk) == [[250, "first"], [500, "second"]]
    chunks.add(b'"third"')
    assert chunks.chunk(1000) == chunk


def test_the_names_of_chunks_increase_though_the_clock_is_set_back() -> None:
    clock = Clock()
    chunks = Chunks(clock)
    for clock.now in (1000.0, 900.0, 901.0, 1001.5, 1100.0):
        chunks.add(b"0")
    clock.now = 1200.0
    found = names(chunks)
    assert found == sorted(set(found))
    assert sum(len(json.loads(chunks.chunk(name) or b"")) for name in found) == 5


@pytest.mark.parametrize("hours", [-1, 1])
def test_chunks_go_on_when_somebody_sets_the_wall_clock(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The story: an hour back, the head stood still for an hour, and one chunk gathered 20 MB."""
    moved, true_ns = 0, time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: true_ns() + moved)
    monkeypatch.setattr(time, "time", lambda: (true_ns() + moved) / 1e9)
    spec = importlib.util.find_spec(Chunks.__module__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # which may take the clock as it is now
    chunks = module.Chunks()
    chunks.head()
    chunks.add(b"0")
    moved = hours * 3_600 * 10**9
    assert chunks.followed
    [name] = until(lambda: names(chunks))
    assert name == pytest.approx(true_ns() / 1e9, abs=60)


def test_the_newest_chunks_are_stored_and_older_ones_are_gone() -> None:
    clock = Clock()
    chunks = Chunks(clock)
    for second in range(2 * MAX_CHUNKS):
        clock.now = 1000.0 + second
        chunks.add(b"0")
    clock.now += 1
    assert names(chunks) == [1000 + second for second in range(MAX_CHUNKS, 2 * MAX_CHUNKS)]
    assert chunks.chunk(1000) == b""
    assert chunks.chunk(1000 + 2 * MAX_CHUNKS) is None


def test_a_table_is_followed_only_while_browsers_ask_for_its_latest_chunk() -> None:
    clock = Clock()
    chunks = Chunks(clock)
    assert not chunks.followed
    chunks.head()
    assert chunks.followed
    clock.now += IDLE_SECONDS
    assert not chunks.followed
