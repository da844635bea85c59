"""How long a league lasts, foreseen."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.command_line import run
from kit.lengths import turns
from salvo import messages as m
from salvo_lab.series.schedule import sizes_of_tables
from salvo_league.league_file import LeagueError, load_league
from salvo_league.league_lengths import Plan


@pytest.mark.long
@pytest.mark.parametrize(("teams", "hours", "tables"), [(9, "0.33", 3), (2, "0.5", 1)])
def test_a_league_that_was_written_for_some_teams_and_hours_plays_for_about_as_long(
    tmp_path: Path, teams: int, hours: str, tables: int
) -> None:
    done = run("league", "league.toml", "--new", str(teams), hours, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " ".join(f"--table t{number}" for number in range(1, tables + 1)) in done.stdout
    league = load_league(tmp_path / "league.toml")
    whole = league.seconds(teams, "salvo")
    assert whole is not None
    assert 0.75 * 3600 * float(hours) < whole < 3600 * float(hours)
    assert league.rounds is not None
    assert league.minutes is not None
    assert league.rounds >= 8
    for size in set(sizes_of_tables(teams, league.table_size)):
        limits = league.settings(("x",) * size, "salvo").limits(m.Limits())
        assert limits.pace_ms is not None
        played = turns("salvo", size, 6) * limits.pace_ms / 60_000
        assert played == pytest.approx(league.minutes, rel=0.3)


@given(st.integers(2, 256), st.floats(0.01, 24))
def test_there_is_a_plan_for_any_number_of_teams_or_too_little_time(teams: int, hours: float) -> None:
    plan = None
    with contextlib.suppress(LeagueError):
        plan = Plan.of(teams, hours)
    assert plan is not None or hours < 0.1
    if plan is None:
        return
    assert plan.seconds <= 3600 * hours
    assert sum(sizes_of_tables(teams, plan.size)) == teams
    assert len(sizes_of_tables(teams, plan.size)) == len(plan.tables)
