"""What all unit tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import nacl.pwhash.argon2id as argon2id
import pytest

from salvo.lab.simulation import pool
from salvo_server.tournament.judge import Alarm


@pytest.fixture(scope="module", autouse=True)
def _keys_cost_little() -> Iterator[None]:
    """Derive keys by the real function with the least work that it takes; the real one is tens of milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argon2id, "OPSLIMIT_INTERACTIVE", argon2id.OPSLIMIT_MIN)
        patch.setattr(argon2id, "MEMLIMIT_INTERACTIVE", argon2id.MEMLIMIT_MIN)
        yield


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
