"""``salvo league show``: what it prints of a journal's results, and what it refuses."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path

import pytest

from kit.command_line import run
from kit.results import HOUR, NOON, annulled, result
from salvo_game.journal_interface import GameConcluded, GameOpened, ResultAnnulled
from salvo_game.standings.chronicle import EVENING_GAP_MS
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
    assert refused("--journal", journal, "--csv", table).startswith("error: csv_unwritable: ")
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


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text("mine")
    done = run("league", "league.toml", "--new", "12", "2", cwd=tmp_path)
    assert done.stderr.startswith("error: bad_league: league.toml: File exists; name another file")
    assert (tmp_path / "league.toml").read_text() == "mine"
