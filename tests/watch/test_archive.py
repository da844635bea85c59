"""The games of folders and journals as one list: those that are over, and of the others not even that they exist."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.archives import commit, game_of
from kit.golden_games import GOLDEN
from kit.pages import RUDE, Read
from salvo import messages as m
from salvo.codec.announcements import EVENING
from salvo.errors import SalvoError
from salvo_game import recordings
from salvo_game.journal_interface import EveningChanged
from salvo_game.transcript import Transcript, read_transcript, write_transcript
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.transcript_folder import TranscriptFolder
from salvo_watch.archive import Archive, Query
from salvo_watch.commands.site import site as command
from salvo_watch.games_page import site_list
from salvo_watch.site import make_site_of_games


def _archive(*places: Path) -> Archive:
    archive = Archive(places, rest=0)
    assert archive.look(None) == 0
    return archive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _folder(tmp_path, "2-players-1", "4-players-1", "4-players-small", "smackdown-2-tie", "8-players-silent")


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Games whose pages are soon written."""
    return _folder(tmp_path, "2-players-1", "4-players-small", "smackdown-2-tie")


def _folder(above: Path, *names: str) -> Path:
    games = above / "games"
    games.mkdir()
    for name in names:
        shutil.copy(GOLDEN / f"{name}.jsonl.gz", games)
    return games


# --- the list -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_archive_filters_select_the_matching_games(folder: Path) -> None:
    archive = _archive(folder)
    assert len(archive.find(Query())) == 5
    for query, names in (
        (Query(teams="hunter-3"), ["4-players-1", "4-players-small", "8-players-silent"]),
        (Query(teams="HUNTER-3"), []),
        (Query(table="blue"), ["4-players-1"]),
        (Query(table="game"), ["2-players-1", "smackdown-2-tie"]),
        (Query(text="Hunter-1 GREEN"), ["4-players-small"]),
        (Query(text="smackdown"), ["smackdown-2-tie"]),
        (Query(since=date(2026, 9, 30), until=date(2026, 9, 30)), ["4-players-1", "8-players-silent"]),
        (Query(since=date(2026, 10, 1)), ["smackdown-2-tie"]),
        (Query(until=date(2026, 9, 25)), ["2-players-1"]),
        (Query(teams="nobody"), []),
    ):
        assert sorted(entry.name.removesuffix(".jsonl.gz") for entry in archive.find(query)) == names, query


def test_a_file_is_read_once_until_it_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def counted(path: Path) -> Transcript:
        reads.append(path.name)
        return read_transcript(path)

    monkeypatch.setattr(recordings, "read_transcript", counted)
    archive = _archive(folder)
    assert len(reads) == 5
    archive.look(None)
    assert len(reads) == 5
    changed = folder / "2-players-1.jsonl.gz"
    shutil.copy(GOLDEN / "2-players-2.jsonl.gz", changed)
    os.utime(changed, ns=(1, 1))
    (folder / "4-players-1.jsonl.gz").unlink()
    archive.look(None)
    assert reads[5:] == ["2-players-1.jsonl.gz"]
    assert len(archive.listed) == 4


def test_a_game_in_a_folder_and_in_a_journal_is_one_game(tmp_path: Path) -> None:
    journal = tmp_path / "contest.journal"
    commit(journal, 1, 1)
    header, steps = game_of(1)
    write_transcript(tmp_path / "game-1.jsonl.gz", header, steps)
    both = _archive(tmp_path, journal)
    [entry] = both.listed
    assert (entry.name, entry.players[0]) == ("game-1.jsonl.gz", entry.winners[0])
    [other] = _archive(journal).listed
    assert (other.id, other.name) == (entry.id, "contest.journal, game 1")


# --- what is broken -----------------------------------------------------------------------------------------------


def test_an_unreadable_file_is_listed_with_its_code_and_none_of_its_content(folder: Path) -> None:
    whole = (GOLDEN / "2-players-2.jsonl.gz").read_bytes()
    (folder / "cut.jsonl.gz").write_bytes(whole[:2000])
    (folder / "noise.jsonl").write_bytes(b"\xff\x00 noise\n")
    (folder / "nested.jsonl").write_text("[" * 100_000 + "\n")
    (folder / "later.jsonl").write_text('{"transcript":99}\n')
    (folder / "written-just-now.jsonl.gz").write_bytes(b"")
    (folder / ".game-9.jsonl.gz.ab12").write_bytes(b"half")
    (folder / "cup.games.jsonl").write_text('{"form":2,"tournament":"cup"}\n')
    (folder / "notes.txt").write_text("mine")
    archive = _archive(folder, folder / "nothing-here")
    troubles = {entry.name: entry.trouble for entry in archive.listed if entry.trouble}
    assert troubles == {
        "cut.jsonl.gz": "transcript_cut",
        "noise.jsonl": "not_a_transcript",
        "nested.jsonl": "not_a_transcript",
        "later.jsonl": "unknown_version",
        "nothing-here": "transcript_missing",
    }
    assert all(not (entry.id or entry.players) for entry in archive.listed if entry.trouble)
    assert sum(not entry.trouble for entry in archive.listed) == 5
    assert str(folder) not in site_list(archive.listed)


def test_a_game_whose_record_was_changed_is_not_shown(tmp_path: Path) -> None:
    header, steps = game_of(3)
    file = tmp_path / "game-1.jsonl"
    write_transcript(file, header, steps)
    archive = _archive(tmp_path)
    [entry] = archive.listed
    lines = file.read_text().splitlines(keepends=True)
    fired = next(number for number, line in enumerate(lines) if '"fire"' in line)
    lines[fired] = lines[fired].replace('"at":', '"at":1')
    file.write_text("".join(lines))
    with pytest.raises(SalvoError, match="transcript_diverged"):
        archive.replay(entry.id)


# --- what is not over ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0, 0.02, 0.3, 0.95])
def test_a_game_of_a_journal_that_is_not_over_is_neither_listed_nor_served(tmp_path: Path, part: float) -> None:
    journal = tmp_path / "contest.journal"
    commit(journal, 1, 1)
    commit(journal, 2, 2, part)
    archive = _archive(journal)
    assert [entry.game for entry in archive.listed] == [1]
    whole = tmp_path / "whole.journal"
    commit(whole, 2, 2)
    [over] = _archive(whole).listed
    with pytest.raises(SalvoError, match="no_such_game"):
        archive.replay(over.id)


def test_an_unfinished_transcript_is_not_listed_and_a_file_that_becomes_one_is_not_served(tmp_path: Path) -> None:
    header, steps = game_of(4)
    file = tmp_path / "game-1.jsonl.gz"
    write_transcript(file, header, steps)
    archive = _archive(tmp_path)
    [entry] = archive.listed
    write_transcript(file, header, steps[: len(steps) // 2])
    with pytest.raises(SalvoError, match="no_such_game"):
        archive.replay(entry.id)
    archive.look(None)
    assert not archive.listed


# --- strangers' names, and files to take along --------------------------------------------------------------------


def test_no_name_gets_out_of_its_place_in_the_list_nor_in_an_address(tmp_path: Path) -> None:
    [entry] = _archive(GOLDEN / "2-players-1.jsonl.gz").listed
    rude = entry._replace(players=(RUDE, "../../etc"), winners=(RUDE,), table=RUDE, rules=RUDE, name=RUDE)
    broken = rude._replace(id="", trouble="transcript_cut")
    page, polite = (site_list(entries) for entries in ([rude, broken], [entry, entry._replace(id="", trouble="x")]))
    read = Read(page)
    assert [tag for tag, _ in read.tags if tag not in ("g", "symbol", "path", "circle")].count("img") == 0
    assert page.count("<script") == polite.count("<script") == 1
    assert [attributes["href"] for tag, attributes in read.tags if tag == "a"] == [f"games/{entry.id}.html"]
    assert RUDE in "".join(text for _, text in read.texts)


# --- the site -----------------------------------------------------------------------------------------------------


@pytest.fixture
def site(few: Path, tmp_path: Path) -> Path:
    (few / "cut.jsonl.gz").write_bytes((few / "2-players-1.jsonl.gz").read_bytes()[:2000])
    done = CliRunner().invoke(command, [str(few), "--out", str(tmp_path / "www")])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"site:   {tmp_path / 'www'}/index.html, 3 games\nnot shown: cut.jsonl.gz: transcript_cut\n"
    return tmp_path / "www"


def test_every_link_of_a_site_leads_to_something_of_it_and_nothing_leads_elsewhere(site: Path, few: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 4
    reached = {site / "index.html"}
    for page in pages:
        text = page.read_text()
        assert not [word for word in ("https:", "unsafe", str(few.parent)) if word in text]
        for tag, attributes in Read(text).tags:
            reference = attributes.get("href", "")
            if tag == "a" and not reference.startswith("#"):
                to = (page.parent / reference).resolve()
                assert to.is_file(), f"{page.name}: {reference}"
                reached.add(to)
    assert {path for path in site.rglob("*") if path.is_file()} - reached == {site / "site.json"}


@pytest.mark.long
def test_a_site_is_rewritten_and_loses_the_games_that_are_gone_and_nothing_else(site: Path, few: Path) -> None:
    (site / "mine.txt").write_text("mine")
    before = {path.name for path in (site / "games").iterdir()}
    (few / "2-players-1.jsonl.gz").unlink()
    done = CliRunner().invoke(command, [str(few), "--out", str(site)])
    assert done.exit_code == 0
    gone = before - {path.name for path in (site / "games").iterdir()}
    assert {name.partition(".")[2] for name in gone} == {"html", "jsonl.gz"}
    assert (site / "mine.txt").read_text() == "mine"
    assert "<title>Games: Salvo</title>" in (site / "index.html").read_text()


def test_a_folder_with_something_else_is_left_alone_and_no_games_are_no_site(few: Path, tmp_path: Path) -> None:
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    done = CliRunner().invoke(command, [str(few), "--out", str(other)])
    assert "not_a_site" in str(done.exception)
    empty = tmp_path / "empty"
    empty.mkdir()
    done = CliRunner().invoke(command, [str(empty), "--out", str(tmp_path / "www")])
    assert "no_such_game: no game that is over" in str(done.exception)
    assert not (tmp_path / "www").exists()


# --- badges -------------------------------------------------------------------------------------------------------


def test_the_first_place_that_knows_a_teams_badge_decides_what_all_pages_show(folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "a.journal"
    commit(journal, 1, 1)
    written = DatabaseJournal(str(journal))
    evening = m.EveningShown(badges={"hunter-1": 17, "ann": 5})
    written.commit([EveningChanged(EVENING.write(evening).decode())])
    written.close()
    beside = m.EveningShown(badges={"hunter-1": 90, "hunter-2": 91})
    (folder / "evening.json").write_bytes(EVENING.write(beside))
    assert _archive(folder, journal).badges == {"hunter-1": 90, "hunter-2": 91, "ann": 5}
    assert _archive(journal, folder).badges == {"hunter-1": 17, "hunter-2": 91, "ann": 5}
    assert _archive(folder / "2-players-1.jsonl.gz").badges == {"hunter-1": 90, "hunter-2": 91}


@pytest.mark.parametrize("damaged", ["", "[]", "{", '{"badges": {"hunter-1": "red"}}', '{"badges": {"hunter-1": 1.5}}'])
def test_badges_that_cannot_be_read_are_not_known_and_the_games_are_there(folder: Path, damaged: str) -> None:
    (folder / "evening.json").write_text(damaged)
    archive = _archive(folder)
    assert (archive.badges, len(archive.listed)) == ({}, 5)


# --- the evening's name, champion and table -----------------------------------------------------------------------


def test_a_site_begins_with_the_evenings_name_its_podium_and_its_table(folder: Path, tmp_path: Path) -> None:
    rows = (m.LeagueStanding(1, "hunter-2", 2333, 4, 2), m.LeagueStanding(2, "hunter-1", 1000, 4, 1))
    league = m.EveningShown("desk", "Hack Night Cup", 4, 4, over=True, rows=rows, phase=m.Phase.FINAL)
    written = TranscriptFolder(folder, lambda game, file: None)
    written.write_evening(league)
    written.write_evening(m.EveningShown(phase=m.Phase.FREE))
    written.close()
    make_site_of_games(_archive(folder), tmp_path / "site")
    text = _words(tmp_path / "site/index.html")
    assert "Hack Night Cup" in text
    assert "hunter-2 2.33 points hunter-1 1 points" in text
    assert "place team points games won 1 hunter-2 2.33 4 2 2 hunter-1 1 4 1" in text
    written = TranscriptFolder(folder, lambda game, file: None)
    written.write_evening(replace(league, name="Night Cap", over=False, round=2))
    written.close()
    make_site_of_games(_archive(folder), tmp_path / "site")
    text = _words(tmp_path / "site/index.html")
    first, second = text.split("Hack Night Cup")
    assert "Night Cap" in first, "the latest league first, and none is forgotten"
    assert "Round 2 of 4; it is not over yet." in first
    assert "points hunter-1" not in first
    assert "hunter-2 2.33 points hunter-1 1 points" in second


def test_a_site_begins_with_the_closest_game_the_fastest_and_the_greatest_comeback_of_many(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    for number in range(1, 7):
        write_transcript(games / f"game-{number}.jsonl.gz", *game_of(number, number))
        make_site_of_games(archive := _archive(games), tmp_path / "site")
        links = re.findall(
            r'<li><a href="(.+?)#turn=([0-9]+)"><svg class="board"', (tmp_path / "site/index.html").read_text()
        )
        assert len(links) == len({link for link, _ in links}) == (0 if number < 4 else 3)
    turns = {f"games/{entry.id}.html": entry.turns for entry in archive.listed}
    assert all(0 < int(turn) <= turns[link] for link, turn in links)
    text = _words(tmp_path / "site/index.html")
    assert re.search(r"The greatest comeback \w+ was [0-9]+ hits behind after turn [0-9]+, and won", text)
    assert re.search(r"The closest game \w+ won with [0-9]+ hits? to spare", text)
    assert f"won after {turns[links[2][0]]} salvos" in text
    assert turns[links[2][0]] == min(count for link, count in turns.items() if link not in (links[0][0], links[1][0]))


def _words(page: Path) -> str:
    """Return what is read on a page."""
    return " ".join(
        " ".join(text for tag, text in Read(page.read_text()).texts if tag not in ("style", "script")).split()
    )
