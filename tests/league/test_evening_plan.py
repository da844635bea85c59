"""The folder of an evening: what is written for so many teams and hours, and what a server makes of it."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.command_line import run
from kit.documents import DOCS, blocks
from kit.lengths import turns
from kit.moved_clock import summer_ends_in
from kit.processes import without_settings
from salvo import messages as m
from salvo.system import plugins
from salvo.wire.roles_and_rights import Role
from salvo_lab.series.schedule import sizes_of_tables
from salvo_league.evening_plan import Plan
from salvo_league.league_file import LeagueError, load_league
from salvo_server.settings import league_name, load_settings
from salvo_server.storage.roster_csv import read_entries


@pytest.mark.parametrize(("teams", "hours", "tables"), [(9, "0.33", 3), (5, "2", 2)])
def test_an_evening_that_was_written_for_some_teams_and_hours_plays_for_about_as_long(
    tmp_path: Path, teams: int, hours: str, tables: int
) -> None:
    done = run("evening", "cup", "--teams", str(teams), "--hours", hours, "--name", 'The "Cup"', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    settings = load_settings({}, tmp_path / "cup/contest.toml")
    league = load_league(tmp_path / "cup/contest.toml")
    assert league.name == 'The "Cup"'
    assert league.tables == settings.tables == tuple(f"t{number}" for number in range(1, tables + 1))
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


def test_up_to_four_teams_play_at_one_table_without_a_league(tmp_path: Path) -> None:
    done = run("evening", "cup", "--teams", "4", "--hours", "2", cwd=tmp_path)
    assert done.stdout.startswith("cup: 4 teams at one table, 21 games, ")
    settings = load_settings({}, tmp_path / "cup/contest.toml")
    assert (settings.players, settings.tables, league_name(tmp_path / "cup/contest.toml")) == (4, (), None)


@pytest.mark.long
def test_an_evening_ends_by_the_clocks_of_its_own_end_when_summer_ends_on_the_way(tmp_path: Path) -> None:
    def end(name: str, zone: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "salvo", "evening", name, "--teams", "4", "--hours", "2"],
            cwd=tmp_path,
            env=without_settings(TZ=zone),
            capture_output=True,
            text=True,
            check=True,
        )
        [found] = re.findall(r"it ends at about (\d\d:\d\d)", done.stdout)
        return str(found)

    before, ours, after = end("before", "UTC"), end("ours", summer_ends_in(600)), end("after", "UTC")
    assert ours in (before, after)


def test_a_new_evening_prints_the_commands_until_teams_can_join_and_a_table_to_fill_in(tmp_path: Path) -> None:
    done = run("evening", "cup", "--teams", "6", "--hours", "1", cwd=tmp_path)
    commands = [line.split() for line in done.stdout.splitlines() if line.startswith("  salvo")]
    assert [words[:4] for words in commands] == [
        ["salvo", "serve", "--config", "cup/contest.toml"],
        ["salvo", "teams", "add", "--csv"],
        ["salvo", "join", commands[2][2], "mybot.py"],
    ]
    entries = read_entries(tmp_path / "cup/teams.csv", Role.TEAM)
    roles = [entry.role for entry in entries]
    assert (roles.count(Role.TEAM), roles.count(Role.HOST), roles.count(Role.WATCHER)) == (6, 1, 1)


def test_a_folder_of_another_evening_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/teams.csv").write_text("mine")
    done = run("evening", "cup", "--teams", "6", "--hours", "1", cwd=tmp_path)
    assert done.stderr.startswith("error: bad_league: cup/teams.csv exists already; name another folder")
    assert [path.name for path in (tmp_path / "cup").iterdir()] == ["teams.csv"]
    assert (tmp_path / "cup/teams.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("section", "error"),
    [
        (
            "round = 2",
            "error: bad_league: contest.toml, line 3: 'round' is not a key of a league; did you mean rounds?",
        ),
        ("rounds = 0", "error: bad_league: contest.toml, line 3: rounds is 0; "),
        ("name = 7", "error: bad_league: contest.toml, line 3: name is 7; "),
    ],
)
def test_a_server_does_not_start_with_a_mistake_in_its_league(tmp_path: Path, section: str, error: str) -> None:
    name = "" if "name" in section else 'name = "cup"\n'
    (tmp_path / "contest.toml").write_text(f'listen = "127.0.0.1:0"\n[league]\n{section}\n{name}')
    done = run("serve", "--config", "contest.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(error)


def test_a_league_needs_its_package_and_a_profile_with_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "contest.toml").write_text('listen = "127.0.0.1:0"\n[league]\nname = "cup"\nrounds = 1\n')
    done = run("serve", "--config", "contest.toml", "--profile", "open", cwd=tmp_path)
    assert "error: bad_setting: contest.toml: [league] needs a host, and nobody can be one with" in done.stderr
    monkeypatch.setattr(plugins, "is_there", lambda package: False)
    done = run("serve", "--config", "contest.toml", cwd=tmp_path)
    assert "error: bad_setting: contest.toml: [league] needs the package salvo_league, which is" in done.stderr


def test_paths_of_a_file_of_settings_are_seen_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    text = 'journal = "evening.journal"\ntranscripts = "games"\nidentity = "/etc/identity.key"\nrules = "pond.toml"\n'
    (tmp_path / "cup/contest.toml").write_text(text)
    [pond] = [text for language, text in blocks(DOCS / "rules.md") if language == "toml"]
    (tmp_path / "cup/pond.toml").write_text(pond)
    settings = load_settings({}, tmp_path / "cup/contest.toml")
    assert settings.journal == str(tmp_path / "cup/evening.journal")
    assert settings.transcripts == tmp_path / "cup/games"
    assert settings.identity == Path("/etc/identity.key")
    assert load_settings({"transcripts": "here"}, tmp_path / "cup/contest.toml").transcripts == Path("here")


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
