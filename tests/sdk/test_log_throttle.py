"""What strangers can bring about, in the log of a command."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from salvo.cli.logs import begin_log
from salvo.system import log_throttle
from salvo.system.log_throttle import PAUSE_SECONDS, SELDOM


@contextlib.contextmanager
def command(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Log as a command does; its seconds, which a test sets."""
    root, seconds = logging.getLogger(), [1000.0]
    level = root.level
    with monkeypatch.context() as patch:
        patch.setattr(root, "handlers", [])
        patch.setattr(log_throttle, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
        begin_log("warning")
        yield seconds
    root.setLevel(level)


def flood(name: str, text: str, **given: Any) -> None:
    for number in range(1000):
        logging.getLogger(name).warning(f"{text} %d", number, **given)


@pytest.mark.parametrize(("name", "given"), [("starlette", {}), ("asyncio", {}), ("salvo_gateways", {"extra": SELDOM})])
def test_a_flood_that_strangers_cause_is_a_line_that_counts_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, given: dict[str, Any]
) -> None:
    with command(monkeypatch) as now:
        flood(name, "garbage", **given)
        now[0] += PAUSE_SECONDS
        flood(name, "garbage", **given)
        logging.getLogger(name).warning("something else", **given)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(f" {name}: ")[2] for line in lines] == [
        "garbage 0",
        "garbage 0 (and 999 more like it before)",
        "something else",
    ]


@pytest.mark.parametrize("name", ["salvo_server", "mybot", "root"])
def test_what_we_report_and_what_a_bot_logs_is_logged_in_full(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with command(monkeypatch):
        flood(name, "news")
    assert len(capsys.readouterr().err.splitlines()) == 1000
