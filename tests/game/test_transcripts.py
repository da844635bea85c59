"""Whatever is done to a line of a transcript, reading or executing it names that line."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from salvo.codec.strict_json import same_value
from salvo_game.transcript import TranscriptError, check, parse_transcript, read_transcript, write_transcript
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table

GOLDEN = Path(__file__).parents[1] / "golden" / "v1" / "2-players-silent.jsonl.gz"
LINES = gzip.decompress(GOLDEN.read_bytes()).splitlines(keepends=True)
ANY_LINE = st.integers(0, len(LINES) - 1)

#: A line is a hundred letters and a game a hundred lines: enough examples that every part of each kind is met.
thorough = settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def _named_line(lines: list[bytes]) -> int:
    with pytest.raises(TranscriptError) as caught:
        check(parse_transcript(lines, "FILE"))
    assert caught.value.code in ("transcript_corrupt", "transcript_cut", "transcript_diverged", "unknown_version")
    named = re.match(r"FILE, line (\d+)", caught.value.text)
    assert named is not None, caught.value.text
    assert re.search(r"; (take the file again|install that version)", caught.value.text), caught.value.text
    return int(named[1])


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _without_version(line: bytes) -> Any:
    value = _value(line)
    if isinstance(value, dict) and isinstance(value.get("version"), str):
        del value["version"]
    return value


def _says_the_same(one: bytes, other: bytes, number: int) -> bool:
    """Whether two lines are the same text, spelled another way; the first line's version may be any text."""
    read = _without_version if number == 0 else _value
    return other.endswith(b"\n") and b"\n" not in other[:-1] and same_value(read(one), read(other))


@given(number=ANY_LINE, place=st.integers(0, 2000), letter=st.integers(0, 255))
@thorough
def test_a_changed_byte_is_found_in_its_line(number: int, place: int, letter: int) -> None:
    line = bytearray(LINES[number])
    line[place % len(line)] = letter
    changed = bytes(line)
    assume(not _says_the_same(LINES[number], changed, number))
    whole = b"".join([*LINES[:number], changed, *LINES[number + 1 :]])
    assert _named_line([line + b"\n" for line in whole.split(b"\n")[:-1]] + _rest(whole)) == number + 1


def _rest(whole: bytes) -> list[bytes]:
    rest = whole.rpartition(b"\n")[2]
    return [rest] if rest else []


def _scalars(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value that a plain value or an empty list stands in, as (container, key)."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, member in pairs:
        found += _scalars(member) if isinstance(member, (dict, list)) and member else [(value, key)]
    return found


OTHERS: st.SearchStrategy[Any] = st.one_of(
    st.booleans(), st.none(), st.integers(-3, 70), st.sampled_from(["", "a", "hit", "HORIZONTAL"]), st.just([])
)


#: Where the header says from what number cells are counted: always 1, so that nobody read it until this was found.
FIRST = [key for _, key in _scalars(json.loads(LINES[0]))].index("first")


@pytest.mark.long
@given(number=ANY_LINE, place=st.integers(0, 2000), other=OTHERS)
@example(number=0, place=FIRST, other=0)
@thorough
def test_a_changed_value_is_found_in_its_line(number: int, place: int, other: Any) -> None:
    value = json.loads(LINES[number])
    places = _scalars(value)
    container, key = places[place % len(places)]
    container[key] = other
    changed = json.dumps(value, separators=(",", ":")).encode() + b"\n"
    assume(not _says_the_same(LINES[number], changed, number))
    assert _named_line([*LINES[:number], changed, *LINES[number + 1 :]]) == number + 1


@given(length=st.integers(0, sum(map(len, LINES)) - 1))
@thorough
def test_a_file_that_was_cut_names_the_first_line_that_is_not_whole(length: int) -> None:
    whole = b"".join(LINES)[:length]
    assert _named_line([line + b"\n" for line in whole.split(b"\n")[:-1]] + _rest(whole)) == whole.count(b"\n") + 1


def test_a_truncated_transcript_is_refused_with_whether_the_game_was_over() -> None:
    for stored, reason in ((-1, "the end line is missing"), (-40, "the file ends before the game is over")):
        with pytest.raises(TranscriptError, match=f"transcript_cut: .*: {reason};"):
            check(parse_transcript(LINES[:stored], "FILE"))


# --- as files -----------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("text", ["hello\n", "[]\n", "\x00\n", "\u00e4" * 70_000, "from salvo import Bot\n"])
def test_a_file_that_is_no_transcript_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text)
    assert _error(path).startswith(f"not_a_transcript: {path} is not a recorded game; name a file that --record ")


def test_a_line_of_64_kib_is_read_and_a_longer_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    longest = LINES[0].replace(b'"version":"', b'"version":"' + b"9" * (65_536 - len(LINES[0])))
    path.write_bytes(b"".join([longest, *LINES[1:]]))
    check(read_transcript(path))
    path.write_bytes(b"".join([longest.replace(b"9", b"99", 1), *LINES[1:]]))
    assert _error(path).startswith(f"transcript_corrupt: {path}, line 1: ")


def test_a_file_that_is_no_transcript_is_not_written_over(file: Path, tmp_path: Path) -> None:
    _, header, steps = play_at_table({"a": RandomBot(), "b": RandomBot()})
    write_transcript(file, header, steps)
    assert read_transcript(file).steps[-1].at == steps[-1].at
    bot = tmp_path / "bot.py"
    for content in (
        b"import salvo\n",
        b"\x1f\x8b is how a compressed file begins",
        gzip.compress(b"import salvo\n")[:-9],
    ):
        bot.write_bytes(content)
        with pytest.raises(TranscriptError, match=r"transcript_unwritable: .*bot.py exists and is not a transcript"):
            write_transcript(bot, header, steps)
        assert bot.read_bytes() == content
    with pytest.raises(TranscriptError, match=r"transcript_unwritable: .*No such file or directory; name another file"):
        write_transcript(tmp_path / "nowhere" / "game.jsonl", header, steps)
