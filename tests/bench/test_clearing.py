"""``make numbers``: rows that grow, and the page that is drawn from them."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from bench import clearing
from bench.clearing import measure_all
from bench.clearing_page import DATA, page, plot
from salvo.rules import STANDARD, RuleBook
from salvo_lab.solo import Cleared


class Boards:
    """Clears board N with N + 40 shots, and remembers which it was asked for."""

    def __init__(self, seconds: float = 0.0001) -> None:
        self.seconds = seconds
        self.asked: list[int] = []

    def __call__(self, bot: str, book: RuleBook, boards: Sequence[int]) -> Generator[Cleared, None, None]:
        for board in boards:
            self.asked.append(board)
            yield Cleared(board, 40 + board, 40 + board, [self.seconds] * (40 + board))


def test_a_row_of_other_code_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "small_boards", list)
    data, pairs = tmp_path / "numbers.json", [(STANDARD, "hunter"), (STANDARD, "random")]
    for code, boards, asked in (("one", 100, 200), ("one", 150, 300), ("two", 50, 100)):
        clear = Boards()
        monkeypatch.setattr(clearing, "code_of_bots", lambda code=code: code)
        measure_all(data, pairs, boards, 10, clear)
        saved = json.loads(data.read_text())
        assert [row["boards"] for row in saved["rows"]] == [boards, boards]
        assert saved["code"] == code
        assert len(clear.asked) == (asked if code == "two" or boards == 100 else 100)


def test_the_page_is_drawn_from_the_figures() -> None:
    data = json.loads(DATA.read_text())
    assert DATA.with_suffix(".md").read_text() == page(data)
    assert DATA.with_suffix(".svg").read_text() == plot([row for row in data["rows"] if row["rules"] == "standard"])
