"""Transcripts as files: what stands in them, and what is said of those that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_server.storage.transcript import (
    TranscriptError,
    check,
    read_transcript,
    write_transcript,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.jsonl.gz"
    _, header, steps = play_at_table({"a": Hunter(), "b": RandomBot()}, seed=7)
    write_transcript(path, header, steps)
    return path


def _error(path: Path) -> str:
    with pytest.raises(TranscriptError) as caught:
        check(read_transcript(path))
    return str(caught.value)


def test_equal_games_are_equal_files_and_small(file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl.gz"
    _, header, steps = play_at_table({"a": Hunter(), "b": RandomBot()}, seed=7)
    write_transcript(again, header, steps)
    assert again.read_bytes() == file.read_bytes()
    assert file.read_bytes()[3:10] == bytes(5) + b"\x02\xff", "no name, no time, no system: equal on every Python"
    assert len(file.read_bytes()) < 10_000
    assert set(tmp_path.iterdir()) == {file, again}


# --- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["hello\n", "[]\n", "\x00\n", "\u00e4" * 70_000, "from salvo import Bot\n"])
def test_something_else_is_no_transcript(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text)
    assert _error(path).startswith(f"not_a_transcript: {path} is not a recorded game; name a file that --record ")


def test_nothing_but_a_transcript_is_written_over(file: Path, tmp_path: Path) -> None:
    _, header, steps = play_at_table({"a": RandomBot(), "b": RandomBot()})
    write_transcript(file, header, steps)
    assert read_transcript(file).steps[-1].at == steps[-1].at
    bot = tmp_path / "bot.py"
    bot.write_text("import salvo\n")
    with pytest.raises(TranscriptError, match=r"transcript_unwritable: .*bot.py is there and is no transcript"):
        write_transcript(bot, header, steps)
    assert bot.read_text() == "import salvo\n"
    with pytest.raises(TranscriptError, match=r"transcript_unwritable: .*No such file or directory; name another file"):
        write_transcript(tmp_path / "nowhere" / "game.jsonl", header, steps)
