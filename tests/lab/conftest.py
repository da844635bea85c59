"""What tests of the laboratory share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from salvo.programs import linux
from salvo_lab.tournament.judge import Alarm


@pytest.fixture(autouse=True)
def _simulations_fork(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let simulations fork as in a program without threads; beside those of xdist each process would start anew."""
    if "live" not in request.path.parts:
        monkeypatch.setattr(linux, "is_single_threaded", lambda: True)


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """What keeps bots of a tournament to their time in this process."""
    before = signal.getsignal(signal.SIGALRM)
    yield Alarm()
    signal.signal(signal.SIGALRM, before)
