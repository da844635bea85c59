"""When a child process is started again."""

from __future__ import annotations

import itertools
import socket
import threading
from types import SimpleNamespace

import pytest

from salvo_gateways import children
from salvo_gateways.children import AGAIN_SECONDS, MAX_PAUSE_SECONDS, Child

PROCESSES = 9


class Pauses(threading.Event):
    """Notes how long a child waits between two processes, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        if timeout != children._LOOK_SECONDS:
            self.seconds.append(timeout)
        return super().wait(0.001)


@pytest.mark.parametrize("finishes", [True, False])
def test_a_program_that_finishes_its_games_is_started_again_without_a_longer_pause(
    finishes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause doubled after each game shorter than two seconds, up to half a minute."""
    monkeypatch.setattr(children, "time", SimpleNamespace(monotonic=lambda: 0.0))  # however long a process takes
    pauses, begun = Pauses(), 0

    def admit(sock: socket.socket, name: str) -> None:
        nonlocal begun
        begun += 1
        sock.close()

    child = Child(
        ["true"],
        "quick",
        admit,
        wants_more=lambda: begun < PROCESSES,
        finished=itertools.count().__next__ if finishes else lambda: 0,  # one more whenever it is asked
    )
    child._stop = pauses
    child.start()
    child.join()
    doubled = [min(AGAIN_SECONDS * 2**number, MAX_PAUSE_SECONDS) for number in range(1, PROCESSES)]
    assert pauses.seconds == ([AGAIN_SECONDS] * (PROCESSES - 1) if finishes else doubled)
