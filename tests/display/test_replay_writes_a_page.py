"""``salvo replay --html``: a page of a game, and what becomes of one that is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.golden_games import GOLDEN
from kit.page_games import golden_replay
from kit.proofs import random_games
from salvo_display.commands.replay import replay as command
from salvo_display.web_page import html_page


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(command, arguments)


def test_replay_writes_a_page_and_prints_its_path(tmp_path: Path) -> None:
    file, page = str(GOLDEN / "2-players-1.jsonl.gz"), tmp_path / "game.html"
    replay = golden_replay("2-players-1")
    done = _run(file, "--html", str(page))
    assert done.output == f"{page}: {replay.turns} salvos, all boards; open it in a browser\n"
    assert page.read_text() == html_page(replay)
    player = replay.players[0]
    done = _run(file, "--html", str(page), "--view", player, "--turn", "20")
    assert done.output == f"{page}: {replay.turns} salvos, what {player} knew; open it in a browser\n"
    assert page.read_text() == html_page(replay, player, 20)
    assert 'data-turn="20"' in page.read_text()


def test_a_proof_file_has_a_page_too(tmp_path: Path) -> None:
    [game] = random_games(1)
    file = tmp_path / "game.proof"
    file.write_bytes(b"".join(game.proof()))
    assert _run(str(file), "--html", str(tmp_path / "game.html")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--view", "carol"), "unknown_view"),
        (("--turn", "999"), "unknown_turn"),
        (("--check",), "ask for one at a time"),
    ],
)
def test_replay_writes_no_page_for_impossible_arguments(arguments: Sequence[str], code: str, tmp_path: Path) -> None:
    page = tmp_path / "game.html"
    done = _run(str(GOLDEN / "2-players-1.jsonl.gz"), "--html", str(page), *arguments)
    assert done.exit_code
    assert code in f"{done.output} {done.exception}"
    assert not page.exists()


def test_a_game_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    done = _run(str(GOLDEN / "2-players-1.jsonl.gz"), "--html", str(tmp_path / "nowhere" / "game.html"))
    assert "html_unwritable" in str(done.exception)
