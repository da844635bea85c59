"""Processes that work for another one: what they answer, and how they end."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from multiprocessing.connection import Connection

import pytest

from salvo.bots.programs import linux
from salvo.bots.programs.keeper import how_it_ended
from salvo_lab.programs import worker_process
from salvo_lab.programs.worker_process import WorkerProcess, end_all

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, a process that ends by itself is not killed before."""
    monkeypatch.setattr(worker_process, "LEAVE_SECONDS", 60.0)


def _squares(pipe: Connection) -> None:
    while True:
        pipe.send(pipe.recv() ** 2)


def _leaves(pipe: Connection) -> None:
    pipe.recv()
    pipe.close()
    time.sleep(0.2)  # an interpreter takes its time to end
    sys.exit(5)


def _forks(pipe: Connection, output: int) -> None:
    if not os.fork():
        time.sleep(60)
        os.write(output, b"alive")
    os._exit(6)


def _starts_a_program(pipe: Connection, output: int) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60; echo alive"], start_new_session=True, stdout=output):
        pipe.send("started")


def test_a_worker_answers_tasks_in_order_and_lists_those_not_yet_answered() -> None:
    worker = WorkerProcess(FORK, _squares)
    for number in (2, 3):
        worker.give(number)
    assert (list(worker.tasks), worker.receive(), list(worker.tasks), worker.receive()) == ([2, 3], 4, [3], 9)
    worker.dismiss()
    assert worker.kill() == 0


def test_each_forked_worker_ends_by_itself_whatever_was_forked_after_it() -> None:
    workers: list[WorkerProcess] = []
    for _ in range(3):
        workers.append(WorkerProcess(FORK, _squares, others=workers))
    workers[0].dismiss()
    assert workers[0].kill() == 0
    end_all(workers)
    assert [worker.kill() for worker in workers] == [0, 0, 0]


def test_a_worker_is_reported_by_its_exit_code_though_its_pipe_closes_earlier() -> None:
    worker = WorkerProcess(FORK, _leaves)
    worker.give(None)
    with pytest.raises(EOFError):
        worker.receive()
    worker.give(None)
    assert list(worker.tasks) == [None, None]
    assert how_it_ended(worker.kill()) == "exit code 5"


def test_a_busy_worker_is_killed_with_its_programs() -> None:
    ours, theirs = os.pipe()
    worker = WorkerProcess(FORK, _starts_a_program, theirs)
    os.close(theirs)
    worker.give("never answered")
    assert worker.pipe.recv() == "started"
    worker.dismiss()
    assert how_it_ended(worker.kill()) == "killed by SIGKILL"
    with open(ours) as output:
        assert output.read() == ""


def test_without_linux_a_workers_child_processes_end_as_its_process_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    monkeypatch.setattr(linux, "IS_HERE", False)
    ours, theirs = os.pipe()
    worker = WorkerProcess(FORK, _forks, theirs)
    os.close(theirs)
    with pytest.raises(EOFError):
        worker.receive()
    assert [how_it_ended(worker.kill()) for _ in range(2)] == ["exit code 6"] * 2
    with open(ours) as output:
        assert output.read() == ""
