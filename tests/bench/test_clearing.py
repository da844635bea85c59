"""``make numbers``: rows that grow, and the page that is drawn from them."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from bench import clearing
from bench.clearing import BOTS, measure_all, modules_of
from bench.clearing_page import DATA, page, plot
from salvo_lab.solo import Cleared


class Boards:
    """Clears board N with N + 40 shots, and remembers which it was asked for."""

    def __init__(self, seconds: float = 0.0001) -> None:
        self.seconds = seconds
        self.asked: list[int] = []

    def __call__(self, run: object, boards: Sequence[int]) -> Generator[Cleared, None, None]:
        for board in boards:
            self.asked.append(board)
            yield Cleared(board, 40 + board, 40 + board, [self.seconds] * (40 + board))


def test_a_measurement_restarts_when_the_code_of_its_bot_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearing, "small_boards", list)
    data, pairs = tmp_path / "numbers.json", [("standard", "hunter", False), ("standard", "random", False)]
    for code, boards, asked in (("one", 100, 200), ("one", 150, 300), ("two", 50, 100)):
        clear = Boards()
        monkeypatch.setattr(clearing, "code_of", lambda bot, code=code: f"{code} {bot}")
        measure_all(data, pairs, boards, 10, clear)
        saved = json.loads(data.read_text())
        assert [row["boards"] for row in saved["rows"]] == [boards, boards]
        assert saved["code"] == {bot: f"{code} {bot}" for bot in BOTS}
        assert len(clear.asked) == (asked if code == "two" or boards == 100 else 100)


def test_the_figures_of_a_bot_name_the_code_that_it_uses_and_no_other() -> None:
    used = {bot: {module.__name__.rpartition(".")[2] for module in modules_of(bot)} for bot in BOTS}
    assert used == {
        "random": {"random_bot"},
        "hunter": {"hunter"},
        "density": {"density", "hunter", "clues"},
        "admiral": {"admiral", "meanfield", "density", "hunter", "clues", "posterior"},
    }


def test_the_page_is_drawn_from_the_figures() -> None:
    data = json.loads(DATA.read_text())
    assert DATA.with_suffix(".md").read_text() == page(data)
    assert DATA.with_suffix(".svg").read_text() == plot([row for row in data["rows"] if row["rules"] == "standard"])
