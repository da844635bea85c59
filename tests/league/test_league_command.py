"""``salvo league show``: what it prints of a league or of a journal's results, and what it refuses."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path

import pytest

from kit.command_line import run
from kit.pages import Read
from kit.results import HOUR, NOON, annulled, result
from salvo_game.journal_interface import GameConcluded, GameOpened, ResultAnnulled
from salvo_game.standings.chronicle import EVENING_GAP_MS
from salvo_lab.series.lines import Annulled, Began, Drawn, FixtureEnded, LeagueResult
from salvo_league.league_file import League, load_league
from salvo_league.league_state import LeagueState
from salvo_server.storage.journal.database import DatabaseJournal


@pytest.fixture
def journal(tmp_path: Path) -> str:
    """Two evenings; of the second, a game without a winner and one that was annulled."""
    results = [
        result(1, "ann", "bob", at=NOON - EVENING_GAP_MS - 1),
        result(2, "ann", "bob", at=NOON),
        result(3, "cem", "bob", "ann", at=NOON + 1000),
        result(1, "bob", "ann", at=NOON + 2000, table="blue", aborted=True),
        result(4, "bob", "ann", at=NOON + 3000),
    ]
    name = str(tmp_path / "a.journal")
    with contextlib.closing(DatabaseJournal(name)) as opened:
        games = [GameOpened(number, each.table, each.number, each.at, "{}") for number, each in enumerate(results, 1)]
        ended = [GameConcluded(number, each) for number, each in enumerate(results, 1)]
        opened.commit([*games, *ended, annulled(4), ResultAnnulled("", 9, "x", 1)])
    return name


def shown(*words: str) -> str:
    done = run("league", "show", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*words: str) -> str:
    done = run("league", "show", *words)
    assert done.returncode != 0
    return done.stderr


def test_standings_as_json_have_every_game_and_meeting(journal: str) -> None:
    record = json.loads(shown("--journal", journal, "--all", "--json"))
    assert record["games"] == 3
    assert [(row["place"], row["team"], row["points"]) for row in record["table"]] == [
        (1, "ann", 2.0),
        (2, "cem", 1.0),
        (3, "bob", 0.5),
    ]
    assert record["meetings"]["ann"] == {"bob": {"games": 3, "points": 2.0}, "cem": {"games": 1, "points": 0.0}}
    assert [each["counts"] for each in record["results"]] == [True, True, True, False, False]
    assert record["results"][4]["annulled_by"] == "desk"
    assert record["results"][4]["annulled_at"] == NOON + HOUR


def test_a_spreadsheet_and_a_page_are_written_and_written_again(journal: str, tmp_path: Path) -> None:
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    for _ in range(2):
        shown("--journal", journal, "--csv", str(table), "--page", str(page))
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["team"], row["points"]) for row in rows] == [("ann", "1.0"), ("cem", "1.0"), ("bob", "0.5")]
    assert float(rows[0]["low"]) < float(rows[0]["rating"]) < float(rows[0]["high"])
    assert "desk annulled it" in page.read_text()


def test_league_show_refuses_a_missing_source_or_target_in_one_line(journal: str, tmp_path: Path) -> None:
    assert refused("--journal", str(tmp_path / "none")).startswith("error: journal_missing: ")
    nowhere = run("league", "show", environment={"XDG_STATE_HOME": str(tmp_path)}).stderr
    assert nowhere.startswith("error: journal_missing: ")
    assert nowhere.count("--journal FILE|URL") == nowhere.count("--config FILE") == 1
    assert "--logs FILE" in refused("--journal", "none")
    log = tmp_path / "game.proof.jsonl"
    assert refused(str(log)).startswith(f"error: bad_league: no file {log}")
    log.write_text('{"log":1}\n')
    assert refused(str(log)).startswith(f"error: bad_results: {log}, line 1: not written by")
    assert "--logs" in refused(str(log), str(log))
    assert "FILE..." in refused("--logs")
    assert refused("--logs", str(tmp_path / "none")).startswith("error: proof_missing: ")
    table = str(tmp_path / "no" / "table.csv")
    assert refused("--journal", journal, "--csv", table).startswith("error: file_unusable: ")
    page = tmp_path / "diary.txt"
    page.write_text("dear diary")
    assert refused("--journal", journal, "--page", str(page)).startswith("error: html_unwritable: ")


def test_the_journals_of_several_servers_give_one_table(journal: str, tmp_path: Path) -> None:
    other = str(tmp_path / "b.journal")
    with contextlib.closing(DatabaseJournal(other)) as opened:
        ended = result(4, "bob", "dan", at=NOON + 500)  # a number that the first server has, too
        opened.commit([GameOpened(1, "", 4, ended.at, "{}"), GameConcluded(1, ended)])
    record = json.loads(shown("--journal", journal, "--journal", other, "--journal", other, "--json"))
    assert record["games"] == 3
    assert [(each["game"], each["counts"]) for each in record["results"] if each["game"] == 4] == [
        (4, True),
        (4, False),
    ]
    assert {row["team"]: row["points"] for row in record["table"]}["dan"] == 0.0
    assert [each["at"] for each in record["results"]] == sorted(each["at"] for each in record["results"])


def test_a_league_that_is_over_shows_its_table_when_it_is_run_again_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "contest.toml"
    file.write_text('listen = "127.0.0.1:0"\n[league]\nname = "cup"\nrounds = 1\ntable_size = 2\n')
    league, both = load_league(file), (False, False)
    with contextlib.closing(league.record(file)) as record:
        record.add([Began(1), Drawn(1, 1, (("ann", "bob"),))])
        record.add([LeagueResult(1, ("ann", "bob"), (1, 2), (9, 8), (5, 4), 20, "t1", 4, both), FixtureEnded(2)])
    before = record.path.read_bytes()
    done = run("league", str(file), "mqtt://127.0.0.1:1")
    assert done.returncode == 0, "it needs neither a server nor an account"
    assert done.stdout == shown(str(file))
    assert done.stdout.splitlines()[0] == "cup: swiss, 1 game"
    assert "is over" in done.stderr
    assert record.path.read_bytes() == before


@pytest.mark.long
def test_a_league_is_shown_from_its_record_alone_by_both_commands(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text('name = "cup"\nrounds = 2\ntable_size = 2\n[fill]\nhouse = "SECRET"\n')
    assert shown(str(file)).splitlines()[0] == "cup: swiss, 0 games"
    league = load_league(file)
    nothing, both = (0, 0), (False, False)
    with contextlib.closing(league.record(file)) as record:
        record.add([Began(1), Drawn(1, 1, (("ann", "bob"), ("cem", "house"), ("dan", "eve"), ("fay",)))])
        record.add([LeagueResult(2, ("cem", "house"), (2, 1), (9, 8), (3, 4), 20, "t1", 5, both)])
        record.add([LeagueResult(1, ("ann", "bob"), (1, 2), (9, 8), (5, 4), 20, "t1", 4, both)])
        record.add([LeagueResult(3, ("dan", "eve"), (2, 1), nothing, nothing, 0, "", 0, (True, False))])
        record.add([Annulled(2, "desk")])
        record.add([Drawn(2, 5, (("ann", "eve"),))])
        rows = LeagueState(league, record.lines).rows()
    text = shown(str(file))
    assert run("tournament", "show", str(file)).stdout == shown(str(tmp_path / "cup.league.jsonl")) == text
    assert text.splitlines()[0] == "cup: swiss, 2 games"
    assert text.splitlines()[-1] == "not counted: t1, game 5, annulled by desk"
    table = json.loads(shown(str(file), "--json"))["table"]
    assert [(row["team"], row["points"], row["games"], row["missed"]) for row in table] == [
        (row.name, row.points, row.games, row.missed) for row in rows
    ]
    assert {row["team"]: (row["points"], row["missed"]) for row in table} == {
        "ann": (1.0, 0),
        "bob": (0.0, 0),
        "cem": (0.0, 0),
        "dan": (0.0, 1),
        "eve": (1.0, 0),
        "fay": (1.0, 0),
    }
    file.unlink()  # and the server has never been there
    shown(str(tmp_path / "cup.league.jsonl"), "--csv", str(tmp_path / "t.csv"), "--page", str(tmp_path / "p.html"))
    assert (tmp_path / "t.csv").read_text().splitlines()[0].startswith("place,team,points,")
    page = Read((tmp_path / "p.html").read_text())
    assert page.unclosed == []
    assert "desk annulled it" in (tmp_path / "p.html").read_text()


def test_the_record_of_a_league_by_version_1_0_is_read_and_gone_on_with(tmp_path: Path) -> None:
    league = League(name="cup", rounds=2)
    path = tmp_path / "cup.league.jsonl"
    head = {"name": "cup", "format": "swiss", "rounds": 2, "table_size": 4, "seed": ""}
    result = {"result": 1, "table": "t", "game": 3, "teams": ["ann", "bob"], "places": [1, 2], "shots": [9, 9]}
    result |= {"hits": [5, 4], "turns": 20, "absent": [False, False]}
    drawn = {"drawn": 1, "first": 1, "matches": [["ann", "bob"]]}
    lines = [{"form": 1, "league": head, "seed": "5"}, {"began": 1}, drawn, result]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with contextlib.closing(league.record(tmp_path / "cup.toml")) as record:
        state = LeagueState(league.with_seed(record.seed), record.lines)
    assert state.league.seed == "5"
    assert [(row.name, row.points, row.games) for row in state.rows()] == [("ann", 1.0, 1), ("bob", 0.0, 1)]
