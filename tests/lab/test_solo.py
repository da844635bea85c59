"""``salvo solo``: boards that never shoot back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import BOOKS, XBS, RuleBook
from salvo.view import Shot, View
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.commands.solo import solo
from salvo_lab.solo import clear, summary


@pytest.mark.parametrize("book", BOOKS.values(), ids=lambda book: book.name)
def test_a_board_is_cleared_by_every_book_with_all_shots_to_the_end(book: RuleBook) -> None:
    asked: list[int] = []

    class Watched(Hunter):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            asked.append(view.shots)
            return super().choose_salvo(view)

    found = clear(Watched, 1, seed=3, book=book)
    assert set(asked) == {book.longest_salvo}
    assert found.salvos == len(asked) == len(found.seconds)
    assert len(book.ship_of_cell) <= found.shots <= book.grid.size


def test_boards_are_the_same_for_every_bot_and_each_is_another_one() -> None:
    def hits(kind: type[Bot], board: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []

        class Spy(kind):  # type: ignore[misc, valid-type]
            def on_game_over(self, winner: str | None, stats: object) -> None:
                found.extend(
                    aim[1:] for result in line for aim, hit in zip(result.aims, result.outcomes, strict=True) if hit
                )

            def on_result(self, result: SalvoResolved) -> None:
                line.append(result)

        line: list[Any] = []
        clear(Spy, board, seed=1, book=XBS)
        return sorted(found)

    assert hits(Hunter, 1) == hits(RandomBot, 1) != hits(Hunter, 2)


def test_a_solo_bot_that_passes_or_never_clears_the_board_is_reported() -> None:
    class Idle(Bot):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            return []

    class Stuck(Bot):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            return [Shot("board", 1, 1)]

    with pytest.raises(BotError, match="not_cleared: board 4, seed 0: the bot passed its turns after 0 shots"):
        clear(Idle, 4)
    with pytest.raises(BotError, match="not cleared after 1000 answers"):
        clear(Stuck, 1)


#: A bot's file; what is put in is done before each salvo.
_FIRES = """\
import os
import time

import salvo


@salvo.bot
def fire(view):
    {}
    return view.untouched.sample(view.shots)
"""


def run(*arguments: str) -> str:
    done = CliRunner().invoke(solo, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.long
def test_the_figures_are_the_same_whatever_the_number_of_jobs() -> None:
    here = [clear(Hunter, board, seed="7") for board in range(1, 21)]
    there = json.loads(run("hunter", "--boards", "20", "--seed", "7", "--jobs", "2", "--json"))
    for line, counts in (("salvos", [each.salvos for each in here]), ("shots", [each.shots for each in here])):
        assert there[line] == json.loads(json.dumps(asdict(summary(counts))))
        assert sum(there[line]["histogram"].values()) == 20


@pytest.mark.long
@pytest.mark.parametrize(
    ("ends", "line"), [("os._exit(3)", "exit code 3"), ("os.kill(os.getpid(), 15)", "killed by SIGTERM")]
)
def test_a_bot_that_ends_its_process_is_reported_with_the_board(ends: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(_FIRES.format(f"view.game == 2 and {ends}"))
    with pytest.raises(BotError) as raised:
        run(str(file), "--boards", "20", "--jobs", "2")
    assert str(raised.value).startswith(f"bot_crashed: ended the process: {line} (solo, turn 1; seed 0, game 2)")
