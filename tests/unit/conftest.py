"""What all unit tests share."""

from __future__ import annotations

import pytest

from salvo.laboratory.simulation import pool


@pytest.fixture(autouse=True)
def _simulations_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let simulations fork as in a program without threads; beside those of xdist each process would start anew."""
    monkeypatch.setattr(pool, "_is_single_threaded", lambda: True)
