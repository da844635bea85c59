"""``salvo league`` over a server's tables, with teams that go where their seats are, and whatever is killed."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from chaos.league import LeagueStage
from kit.command_line import run
from kit.processes import started
from kit.programs import needs

PLAIN = Path(__file__).parents[3] / "examples/client.py"
CUP = """\
name = "cup"
format = "swiss"
rounds = {rounds}
table_size = {size}
tables = {tables}
wait_seconds = {wait}
result_seconds = 0
seed = 7
"""


def cup(rounds: int, size: int, tables: list[str], *, wait: int = 2, more: str = "") -> str:
    return CUP.format(rounds=rounds, size=size, tables=json.dumps(tables), wait=wait) + more


@pytest.mark.slow
@needs("mosquitto")
def test_nothing_is_lost_or_doubled_in_a_league_of_thirty_that_is_killed_sixty_times(tmp_path: Path) -> None:
    teams = [f"bot{number:02}" for number in range(30)]
    tables = [f"t{number}" for number in range(1, 5)]
    text = cup(5, 4, tables, wait=20, more="pace_seconds = 0\nplacement_seconds = 60\n")
    with LeagueStage(tmp_path, text, teams, tables, mosquitto=True) as stage:
        stage.until(lambda: stage.lines(), "the league has begun")
        killed = stage.torment(("server", "league", "broker"), 20, 1, (0.5, 6.0))
        stage.until(stage.league.ended, "the league is over", 1500)
        assert killed == {"server": 20, "league": 20, "broker": 20}
        stage.end()
        assert len(stage.results()) == 40
        stage.agrees()


@pytest.mark.slow
def test_ctrl_c_ends_a_league_cleanly_and_prints_how_to_continue_it(tmp_path: Path) -> None:
    with LeagueStage(tmp_path, cup(9, 2, [""]), ["ann", "bob"], []) as stage:
        stage.until(lambda: stage.results(), "the first game is over")
        stage.league.end(signal.SIGINT)
        assert stage.league.child is not None
        assert stage.league.child.returncode == 130
        assert f"to continue: salvo league {stage.file} {stage.url}" in stage.log.read_text()
        before = len(stage.results())
        assert {line["table"] for line in stage.results()} == {""}  # the default table
        stage.league.start()
        stage.until(lambda: len(stage.results()) > before, "it goes on")


@pytest.mark.slow
def test_a_game_that_the_host_annuls_counts_neither_for_the_league_nor_in_the_standings(tmp_path: Path) -> None:
    with LeagueStage(tmp_path, cup(3, 2, ["t1"]), ["ann", "bob"], ["t1"]) as stage:
        stage.until(lambda: stage.results(), "the first game is over")
        [first] = stage.results()[:1]
        stage.until(lambda: stage.control("annul", str(first["game"]), "--table", "t1"), "a next lobby is open")
        stage.kill("league")
        stage.until(stage.league.ended, "the league is over")
        [annulled] = [line for line in stage.lines() if "annulled" in line]
        assert annulled == {"annulled": first["result"], "by": "desk"}
        assert len(stage.results()) == 3
        shown = json.loads(stage.call("league", "show", "--json"))
        assert shown["games"] == 2
        rows = {row["team"]: {key: row[key] for key in ("points", "games", "wins", "rating")} for row in stage.table()}
        assert rows == {row["team"]: {key: row[key] for key in rows["ann"]} for row in shown["table"]}


@pytest.mark.slow
def test_a_client_without_seats_plays_at_the_default_table_and_a_bot_of_the_house_fills_up(tmp_path: Path) -> None:
    text = cup(1, 4, ["t1"], wait=10, more='placement_seconds = 60\n[fill]\nhouse = "house"\n')
    with LeagueStage(tmp_path, text, ["ann", "bob"], ["t1"], others=["plain", "house"], fill="hunter") as stage:
        port = stage.url.rpartition(":")[2]
        with started([sys.executable, str(PLAIN), "127.0.0.1", port, "plain", stage.secrets["plain"]]) as plain:
            stage.until(stage.league.ended, "the league is over")
            assert plain.wait(60) == 0
        assert [line["plain"] for line in stage.lines() if "plain" in line] == ["plain"]
        [result] = stage.results()
        assert result["table"] == ""
        assert sorted(result["teams"]) == ["ann", "bob", "house", "plain"]
        assert not any(result["absent"]), result
        assert {row["team"] for row in stage.table() if row["fills"]} == {"house"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("format = 'swiss'\nrounds = 2", r"cup.toml: name is missing"),
        ("name = 'x'\nformat = 'swiss'", r"cup.toml: rounds is None; swiss needs a number of rounds"),
        ("name = 'x'\nrounds = 2\ntable_size = 9", r"cup.toml, line 3: table_size is 9; .*less than or equal to 8"),
        ("name = 'x'\nrounds = 2\ntabels = ['a']", r"line 3: 'tabels' is not a key of a league; did you mean tables\?"),
        ("name = 'x'\nrounds = 2\nteams = ['a b']", r"line 3: teams.0 is 'a b'; team name 'a b' is not 1..32"),
        ("name = 'x'\nrounds = 2\nhours = 1", r"line 3: hours is 1; it belongs to ladder"),
        (
            "name = 'x'\nrounds = 2\nminutes = 5\npace_seconds = 3",
            r"line 4: pace_seconds is 3; it follows from minutes",
        ),
        ('name = "x\\ny"\nrounds = 2', r"line 1: name is 'x\\ny'; u\+000a in it; a line has no control characters"),
        ("name = 'x'\nrounds = 2\nteams = ['a']\n[fill]\nA = 'B'", r"line 4: fill is .*; a is a team, too"),
    ],
)
def test_a_bad_league_file_is_refused_with_line_value_and_range(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "cup.toml").write_text(text)
    done = run("league", "cup.toml", "mqtt://127.0.0.1:1", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert re.match(
        rf"error: bad_league: {error}" if error.startswith("cup") else rf"error: bad_league: cup.toml, {error}",
        done.stderr,
    ), done.stderr


def test_a_record_of_another_league_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(cup(2, 2, [""]))
    (tmp_path / "cup.league.jsonl").write_text('{"form":1,"league":{"name":"old"},"seed":"7"}\n')
    account = {"SALVO_TEAM": "desk", "SALVO_SECRET": "s"}
    done = run("league", "cup.toml", "mqtt://127.0.0.1:1", cwd=tmp_path, environment=account)
    assert done.returncode == 1
    assert "error: bad_results: cup.league.jsonl: games were played before name, format" in done.stderr
