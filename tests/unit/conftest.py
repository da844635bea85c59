"""What all unit tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cheap_keys import keys_cost_little
from salvo_lab.simulation import pool
from salvo_lab.tournament.judge import Alarm

#: Used by pytest.
__all__ = ["keys_cost_little"]


@pytest.fixture(autouse=True)
def _simulations_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let simulations fork as in a program without threads; beside those of xdist each process would start anew."""
    monkeypatch.setattr(pool, "_is_single_threaded", lambda: True)


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """What keeps bots of a tournament to their time in this process."""
    before = signal.getsignal(signal.SIGALRM)
    yield Alarm()
    signal.signal(signal.SIGALRM, before)
