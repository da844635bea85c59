"""What tests of the laboratory share."""

from __future__ import annotations

import pytest

from salvo.bots.programs import linux


@pytest.fixture(autouse=True)
def _simulations_fork(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let simulations fork as in a program without threads; beside those of xdist each process would start anew."""
    if "live" not in request.path.parts:
        monkeypatch.setattr(linux, "is_single_threaded", lambda: True)
