"""What tests in a browser share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.browser import Browser, browser


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    """One window for a module: to start a browser takes longer than most of its tests."""
    with browser() as window:
        yield window
