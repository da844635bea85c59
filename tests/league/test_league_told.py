"""What ``salvo league`` says while it waits, and when it goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from kit.command_line import run
from league.league_model import World
from salvo.messages import State
from salvo_lab.series.lines import Drawn, LeagueResult, Plain
from salvo_league.commands import league as command
from salvo_league.league_file import CHANGE_SECONDS, League, load_league
from salvo_league.league_state import LeagueState
from salvo_server.spectators.game_lengths import duration, longest

ACCOUNT = {"SALVO_TEAM": "desk", "SALVO_SECRET": "s"}
CUP = League(name="cup", rounds=2, table_size=2, tables=("t1", "t2"), wait_seconds=5, seed="1")


def test_the_tables_where_others_play_are_waited_for_until_their_game_is_over() -> None:
    world = World(CUP, ["ann", "bob", "cid", "dan"])
    world.tables["t1"].state, world.tables["t1"].ends = State.TURN, 60.0
    while not world.of(LeagueResult):
        world.step()
        busy = world.director.busy()
        shown = 60 + world.tables["t1"].limits.over_ms / 1000
        assert busy == (["t1"] if world.now < shown or (busy and world.now < shown + 1) else [])


def test_a_second_league_with_the_same_file_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('name = "cup"\nrounds = 2\n')
    with contextlib.closing(load_league(file).record(file)):
        done = run("league", "cup.toml", "mqtt://127.0.0.1:1", cwd=tmp_path, environment=ACCOUNT)
    assert done.returncode == 1
    assert done.stderr.startswith("error: league_in_use: cup.league.jsonl: another process plays this league")


def test_the_expected_duration_of_a_league_is_reported_with_the_first_round() -> None:
    given = CUP.model_copy(update={"minutes": 5.0})
    world = World(given, ["ann", "bob", "cid", "dan", "eve"])
    while not world.of(Drawn):
        world.step()
    [drawn] = world.of(Drawn)
    book = LeagueState(given, world.lines)
    news = command.news_of(drawn, book, "salvo")
    assert news[0].startswith("round 1: 2 games, ")
    game = given.game_seconds(2, "salvo")
    assert game is not None
    assert game == pytest.approx(300, rel=0.01)
    # Two rounds of two games and a half at two tables, the longer one of which each waits for.
    whole = 2 * 2 * (game * longest(2) + given.result_seconds + CHANGE_SECONDS)
    assert given.seconds(5, "salvo") == whole
    length = f"a game takes about 5 minutes, all games of 5 teams about {duration(whole)}, longer where"
    assert news[1].startswith(length)
    following = command.news_of(Drawn(2, 4, drawn.matches), book, "salvo")
    assert following == ["round 2: " + news[0].removeprefix("round 1: ")]
    assert command.how_long(LeagueState(CUP, world.lines), "salvo") == []
    [unknown] = command.how_long(book, "mine")
    assert unknown.endswith("by mine, so the server's pace holds; write pace_seconds")


def test_the_organiser_reads_in_one_line_who_follows_no_seat_and_what_that_costs() -> None:
    teams = ["ann", "bob", "cid", "dan", "eve", "fay", "gil", "hal"]
    given = CUP.model_copy(update={"minutes": 5.0, "tables": ("t1", "t2", "t3", "t4")})
    world = World(given, teams, plain=["ann", "bob", "cid"])
    world.until(lambda: world.of(Drawn))
    begun = world.lines.index(world.of(Drawn)[0])
    news = [
        text
        for number, line in enumerate(world.lines[: begun + 1], 1)
        for text in command.news_of(line, LeagueState(given, world.lines[:number]), "salvo")
    ]
    game = given.game_seconds(2, "salvo")
    assert game is not None
    longer = 2 * (game * longest(4) + given.result_seconds + CHANGE_SECONDS)  # a second game there in each round
    assert [text for text in news if "seat" in text] == [
        "ann, bob and cid follow no seat, and play at the default table, one game after the other: "
        f"the league takes about {duration(longer)} longer for that"
    ]
    short = LeagueState(given.model_copy(update={"tables": ("t1", "t2")}), world.lines)
    [line] = command.who_follows_no_seat(short, "salvo")
    assert line.endswith(": the league takes no longer for that"), "the other games are played meanwhile"
    alone = LeagueState(CUP, [line for line in world.lines if line not in world.of(Plain)[1:]])
    assert command.who_follows_no_seat(alone, "salvo") == ["ann follows no seat, and plays at the default table"]
