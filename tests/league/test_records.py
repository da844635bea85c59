"""The record of a series, as a tournament and a league write it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.tournaments import played, tournament
from salvo_lab.series.lines import Drawn, Entered, LeagueResult, SeriesLine
from salvo_lab.series.record import SeriesRecord
from salvo_lab.tournament.games import GamesFile
from salvo_league.league_file import League


@pytest.mark.parametrize(
    "edited",
    [
        lambda lines: [*lines, b"\n"],
        lambda lines: [lines[0], b"\n", b"  \r\n", *lines[1:]],
        lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
        lambda lines: [b"\xef\xbb\xbf", *lines],
        lambda lines: [*lines[:-1], lines[-1].rstrip(b"\n")],
        lambda lines: [*lines, lines[1]],
    ],
    ids=["blank last line", "blank lines", "CR LF", "byte order mark", "no last line feed", "row twice"],
)
@pytest.mark.parametrize("kind", ["tournament", "league"])
def test_results_that_went_through_an_editor_are_all_read_and_count_once(
    kind: str, edited: Callable[[list[bytes]], list[bytes]], tmp_path: Path
) -> None:
    cup, league = tournament(names=("a", "b")), League(name="cup", rounds=2, minutes=5)

    def opened() -> SeriesRecord:
        return GamesFile(tmp_path / "cup.games.jsonl", cup) if kind == "tournament" else league.record(tmp_path / "cup")

    def reopened() -> list[SeriesLine]:
        with contextlib.closing(opened()) as record:
            return [line for line in record.lines if not isinstance(line, Entered)]

    with contextlib.closing(opened()) as record:
        path = record.path
        if isinstance(record, GamesFile):
            record.add_games(played(1, index, ("a", "b"), (1, 2)) for index in range(2))
        else:
            result = LeagueResult(1, ("a", "b"), (1, 2), (9, 9), (3, 2), 18, "t", 1, (False, False))
            record.add([Drawn(1, 1, (("a", "b"), ("c",))), result])
    before = reopened()
    path.write_bytes(b"".join(edited(path.read_bytes().splitlines(keepends=True))))
    assert reopened() == before
    assert len(before) == 2
    assert reopened() == before  # what the first opening has written is read, too
