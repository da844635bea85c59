"""What spectators are shown of a league (SALVO-LEAGUE-1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from league.league_model import World
from salvo import messages as m
from salvo.codec.announcements import LEAGUE, MAX_REPORT_BYTES
from salvo_lab.series.lines import Assigned, Began, Drawn, LeagueResult
from salvo_lab.series.schedule import Fixture
from salvo_lab.series.standings import Series, SeriesStandings, standings_of_matches
from salvo_league.league_file import League, LeagueFormat
from salvo_league.league_state import LeagueState
from salvo_league.spectators import MOST_ROWS, league_shown


def test_spectators_see_the_round_its_matches_and_the_table_in_which_byes_count() -> None:
    cup = League(name="cup", rounds=3, table_size=2, tables=("t1", "t2"), minutes=1, wait_seconds=5, seed="1")
    world = World(cup, ["ann", "bob", "cid", "dan", "eve"])
    seen: list[m.LeagueShown] = []
    while not world.director.over:
        world.run(1)
        director = world.director
        shown = league_shown(director.book, "desk", "salvo", world.now, begins=director.begins, over=director.over)
        if not seen or shown != seen[-1]:
            seen.append(shown)
    rounds = [shown.round for shown in seen]
    assert rounds == sorted(rounds)
    assert set(rounds) == {0, 1, 2, 3}
    begins = {shown.begins for shown in seen if not shown.round} - {0}
    assert len(begins) == 1  # while the teams come
    assert begins.pop() <= 1000 * world.now
    assert not any(shown.begins for shown in seen if shown.round)
    second = next(shown for shown in seen if shown.round == 2)
    assert sorted(len(match.teams) for match in second.matches) == [1, 2, 2]  # with a bye
    assert {match.table for shown in seen for match in shown.matches} == {None, "t1", "t2"}
    left = [shown.left for shown in seen if shown.left is not None]
    assert left == sorted(left, reverse=True)
    assert left[-1] <= 60
    last = seen[-1]
    assert (last.over, last.left, last.teams) == (True, None, 5)
    assert all(match.places in ((1, 2), (2, 1)) for match in last.matches if len(match.teams) == 2)
    assert sum(row.points for row in last.rows) == 9_000  # three rounds of two games and a bye
    assert [row.place for row in last.rows] == sorted(row.place for row in last.rows)


def test_a_ladder_counts_all_games_once_for_each_result_and_shows_the_same_as_if_it_did_for_each_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ladder = League(
        name="cup", format=LeagueFormat.LADDER, games=40, table_size=2, tables=("t1", "t2"), wait_seconds=5, seed="1"
    )
    lines = World(ladder, ["ann", "bob", "cid", "dan", "eve"]).run(20_000).lines
    counted: list[int] = []

    def count(series: Series, matches: Sequence[Fixture], *of: Any) -> SeriesStandings:
        counted.append(len(matches))
        return standings_of_matches(series, matches, *of)

    book, results = LeagueState(ladder, []), 0
    for number, line in enumerate(lines, start=1):
        recounted = LeagueState(ladder, lines[:number]).standings()
        with monkeypatch.context() as patch:
            patch.setattr("salvo_league.league_state.standings_of_matches", count)
            book.add(line)
            assert book.standings() == recounted
        results += isinstance(line, LeagueResult)
    assert results >= 40
    assert len(counted) <= results + 6  # and for teams that are drawn for the first time


def test_the_time_left_goes_down_while_a_round_is_played_and_no_further_than_to_its_end() -> None:
    cup = League(name="cup", rounds=2, table_size=4, tables=("t1",), minutes=10)
    book = LeagueState(cup, [Began(0), Drawn(1, 1, (tuple("abcd"),)), Assigned(1, "t1", 1, tuple("abcd"))])
    left = [league_shown(book, "desk", "salvo", now, over=False).left or 0 for now in (0, 120, 240, 100_000)]
    whole = cup.seconds(4, "salvo", 0)
    assert whole is not None
    assert [one - other for one, other in pairwise(left)][:2] == [120, 120]
    assert whole / 2 < left[-1] < whole * 0.6


def test_a_league_of_two_hundred_fits_into_a_message_of_every_broker() -> None:
    teams = [f"{'x' * 28}{number:04}" for number in range(200)]
    book = LeagueState(
        League(name="y" * 100, rounds=1, table_size=8),
        [Began(0), Drawn(1, 1, tuple(tuple(teams[first : first + 8]) for first in range(0, 200, 8)))],
    )
    book.add(Assigned(1, "t1", 1, tuple(teams[:8])))
    shown = league_shown(book, "desk", "", 0, over=False)
    assert len(LEAGUE.write(shown)) <= MAX_REPORT_BYTES
    assert (shown.teams, len(shown.rows)) == (200, MOST_ROWS)
    assert shown.matches[0].table == "t1"
