"""Transcripts as files: what stands in them, and what is said of those that are none."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from salvo import Bot
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_server.storage.transcript import (
    TranscriptError,
    check,
    parse_transcript,
    read_transcript,
    write_lines,
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


def test_the_name_decides_how_it_is_written_and_the_bytes_how_it_is_read(file: Path, tmp_path: Path) -> None:
    plain = tmp_path / "game.jsonl"
    plain.write_bytes(gzip.decompress(file.read_bytes()))
    misnamed = tmp_path / "copy.jsonl"
    misnamed.write_bytes(file.read_bytes())
    assert check(read_transcript(plain)) == check(read_transcript(misnamed)) == check(read_transcript(file))


class Sleepy(Bot):
    """Fires one shot where it may fire more, and none in every third turn."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return view.untouched.sample(view.shots)[: 0 if len(view.salvos) % 3 == 1 else 1]


class Mute(Bot):
    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return []


@pytest.mark.parametrize("lazy", [Sleepy, Mute])
def test_a_game_with_salvos_that_are_not_full_is_recorded_to_its_end(lazy: type[Bot]) -> None:
    outcome, header, steps = play_at_table({"a": lazy(), "b": RandomBot(), "c": RandomBot()}, seed=3)
    lines = [line.encode() + b"\n" for line in write_lines(header, steps)]
    check(parse_transcript(lines, "FILE"))
    results = [each for step in steps for each in step.announcements if type(each).__name__ == "SalvoResolved"]
    assert len(results) == outcome.turns
    assert outcome == arena.play({"a": lazy(), "b": RandomBot(), "c": RandomBot()}, seed=3)


# --- mistakes -----------------------------------------------------------------------------------------------------


def test_a_compressed_file_that_ends_too_early_names_the_line(file: Path) -> None:
    whole = file.read_bytes()
    lines = len(gzip.decompress(whole).splitlines())
    for length in range(11, len(whole), 97):
        file.write_bytes(whole[:length])
        error = _error(file)
        assert error.startswith(f"transcript_cut: {file}, line ")
        assert 1 <= int(error.split(", line ")[1].split(":")[0]) <= lines + 1
        assert "the compressed file ends too early; take the file again" in error


@pytest.mark.parametrize("text", ["hello\n", "[]\n", "\x00\n", "\u00e4" * 70_000, "from salvo import Bot\n"])
def test_something_else_is_no_transcript(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text)
    assert _error(path).startswith(f"not_a_transcript: {path} is not a recorded game; name a file that --record ")


def test_a_game_without_a_server_is_mended_by_playing_it_again(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    _, header, steps = play_at_table({"a": RandomBot(), "b": RandomBot()}, seed="7", game=3)
    write_transcript(path, header, steps)
    lines = path.read_text().splitlines(keepends=True)
    cure = "take the file again: salvo play ... --seed 7 --game 3 --record FILE, with bots and options as they were"
    for broken in (lines[:9], [*lines[:9], "{}\n"], lines[:9] + lines[10:], [*lines[:-1], lines[-1].replace("0", "1")]):
        path.write_text("".join(broken))
        assert _error(path).endswith(f"; {cure}")


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
