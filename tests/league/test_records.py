"""A league's record of its games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kit.tournaments import played
from salvo_lab.tournament.games import GamesFile
from salvo_league.league_file import League
from salvo_league.league_record import Drawn, LeagueRecord, LeagueResult


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
    path = tmp_path / "results.jsonl"

    def reopened() -> list[object]:
        if kind == "tournament":
            file = GamesFile(path, {})
            file.close()
            return list(file.games)
        record = LeagueRecord(path, League(name="cup", rounds=2, minutes=5))
        record.close()
        return list(record.lines)

    if kind == "tournament":
        file = GamesFile(path, {})
        file.add(played(1, index, ("a", "b"), (1, 2)) for index in range(2))
        file.close()
    else:
        record = LeagueRecord(path, League(name="cup", rounds=2, minutes=5))
        record.add(Drawn(1, 1, (("a", "b"), ("c",))))
        record.add(LeagueResult(1, "t", 1, ("a", "b"), (1, 2), (9, 9), (3, 2), 18, (False, False)))
        record.close()
    before = reopened()
    path.write_bytes(b"".join(edited(path.read_bytes().splitlines(keepends=True))))
    assert reopened() == before
    assert len(before) == 2
    assert reopened() == before  # what the first opening has written is read, too
