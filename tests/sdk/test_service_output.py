"""What a service prints: it never waits for a reader, and the lines that are missing are counted where they are."""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kit.waiting import until
from salvo.cli import service_output
from salvo.cli.service_output import ServiceStream, print_without_waiting

#: Of many lines, more than a pipe and the queue of this test take.
LINES = 400
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, which not every Python names


@pytest.fixture(autouse=True)
def _short_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_output, "MOST_BYTES", 8000)


@contextmanager
def _pipe() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """A pipe that holds little: what reads it, and what writes it."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, _SET_PIPE_SIZE, 4096)
    with open(writer, "w", encoding="utf-8") as below:
        yield reader, below


def _is_idle(stream: ServiceStream) -> bool:
    """Whether all is written that waits, and lines are queued again."""
    return not stream._bytes and not stream._is_full


def _print_much(stream: ServiceStream) -> None:
    for number in range(LINES):
        print(f"{number:0100}", file=stream)


def test_lines_into_a_pipe_that_nobody_reads_are_dropped_and_counted_where_they_are_missing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with _pipe() as (reader, below), open(reader, encoding="utf-8") as lines:
        stream = ServiceStream(below, "stdout", as_json=True)
        _print_much(stream)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "standard output: nobody reads it" in caplog.text
        read = [lines.readline()]
        while "dropped" not in read[-1]:
            read.append(lines.readline())
        until(lambda: _is_idle(stream))
        print("afterwards", file=stream)
        *before, notice = read
        assert [int(line) for line in before] == list(range(len(before)))
        assert json.loads(notice).items() >= {"event": "dropped", "lines": LINES - len(before)}.items()
        assert lines.readline() == "afterwards\n"
        stream.end()


def test_what_is_printed_while_no_reader_is_there_is_counted_for_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    first = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with path.open("w", encoding="utf-8") as below:
        stream = ServiceStream(below, "stdout")
        os.close(first)
        for number in range(3):
            print(number, file=stream)
        until(lambda: _is_idle(stream))
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as second:
            print("here again", file=stream)
            until(lambda: _is_idle(stream))
            assert second.read() == "dropped: 3 lines that could not be written\nhere again\n"
        stream.end()
    assert [record.getMessage() for record in caplog.records] == [
        "standard output: Broken pipe; what is printed now is dropped, and counted"
    ]


def test_the_log_of_a_service_does_not_wait_either_and_ends_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with _pipe() as (reader, below), open(reader, encoding="utf-8"):
        handler = logging.StreamHandler(below)
        monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
        monkeypatch.setattr(sys, "stderr", below)
        with service_output.ended():
            print_without_waiting()
            for _ in range(LINES):
                logging.getLogger("salvo").warning("%0100d", 1)
            assert handler.stream is sys.stderr is not below
        assert handler.stream is sys.stderr is below


def test_all_that_is_read_arrives_before_the_end() -> None:
    with _pipe() as (reader, below):
        stream = ServiceStream(below, "stdout")
        print("one", "two", file=stream)
        stream.write("begun")
        stream.end()
        assert os.read(reader, 100) == b"one two\nbegun"
        os.close(reader)


def test_a_stream_in_memory_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "stderr", output)
    print_without_waiting()
    assert sys.stdout is sys.stderr is output
