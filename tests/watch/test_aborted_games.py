"""A game that a host has aborted: everybody who shows games shows it as one, and nobody asks for its winner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.golden_games import ALICE, BOB
from kit.proofs import SMALL, Played, entries_of, verify
from kit.referee_room import TOPIC, Room
from salvo import messages as m
from salvo.cli import cli
from salvo.codec.announcement_reader import read_announcement
from salvo.wire import topics
from salvo_display import replay_text
from salvo_display.replay import REFEREE, Replay
from salvo_display.web_page import html_page
from salvo_game.transcript import check, read_transcript, write_transcript
from salvo_watch.archive import Archive
from salvo_watch.games_page import site_list

ABORT = m.HostCommand("desk", m.HostAction.ABORT)
#: Aborted in the first turn, in a later one, and in one with a shot.
SHOTS = (0, 3, 4)


def aborted(shots: int, number: int = 1) -> Played:
    """Return a game of two that was aborted after so many shots; a fleet is two ships."""
    played = Played("aborted", SMALL, number=number).lobby()
    for number in range(shots):
        current = played.table.referee.current
        assert current is not None
        rival = next(name for name in played.names if name != current.name)
        played.shot(rival, number + 1, 3)
    played.do(ABORT)
    return played


@pytest.fixture(params=SHOTS)
def game(request: pytest.FixtureRequest) -> Played:
    return aborted(request.param)


def test_the_last_frame_of_an_aborted_game_has_no_winner_and_nobody_to_fire(game: Played) -> None:
    turns = len(game.table.referee.results)
    for view in (REFEREE, *game.names):
        frames = Replay("game", game.header, game.steps).frames(view)
        assert [frame.turn for frame in frames] == list(range(turns + 1))
        last = frames[-1]
        assert (last.winner, last.tied, last.current, last.shots) == ("", (), "", 0)
        assert last.places == dict.fromkeys(game.names, 0)
        assert all(not frame.places for frame in frames[:-1])
        text = "\n".join(replay_text.frame_lines(Replay("game", game.header, game.steps), last, view))
        assert "aborted by the host" in text
        assert "winner" not in text


def test_a_hosts_break_counts_neither_in_the_list_nor_in_a_replay(tmp_path: Path) -> None:
    played, hour = Played("a break", SMALL).lobby(), 3_600_000
    for number, turn in enumerate(("before the break", "after it")):
        current = played.table.referee.current
        assert current is not None, turn
        played.shot(next(name for name in played.names if name != current.name), number + 1, 3)
        if not number:
            played.do(m.HostCommand("desk", m.HostAction.PAUSE))
            played.do(m.HostCommand("desk", m.HostAction.EXTEND, seconds=60), played.at + hour)
            played.do(m.HostCommand("desk", m.HostAction.RESUME), played.at + hour)
    played.do(ABORT)
    write_transcript(tmp_path / "game-1.jsonl", played.header, played.steps)
    archive = Archive([tmp_path], rest=0)
    archive.look(None)
    [entry] = archive.listed
    assert 0 < entry.duration_ms < 1000
    clocks = [frame.clock for frame in Replay("game", played.header, played.steps).frames(REFEREE)]
    assert clocks == sorted(clocks)
    assert clocks[-1] < 1000


def test_nobody_has_a_place_in_an_aborted_game(game: Played) -> None:
    shown = [each.place for each in game.steps[-1].announcements if isinstance(each, m.PlayerStats)]
    assert shown == [0, 0]


def test_an_aborted_game_is_listed_replayed_and_published_as_aborted(game: Played, tmp_path: Path) -> None:
    file = tmp_path / "games" / "game-1.jsonl"
    file.parent.mkdir()
    write_transcript(file, game.header, game.steps)
    assert check(read_transcript(file))[0] == len(game.steps)
    archive = Archive([file.parent], rest=0)
    archive.look(None)
    [entry] = archive.listed
    assert (entry.winners, entry.trouble, entry.turns) == ((), "", len(game.table.referee.results))
    listed = site_list(archive.listed)
    assert "aborted by the host" in listed
    assert " wins" not in listed
    page = html_page(archive.replay(entry.id), REFEREE)
    assert "Aborted by the host after" in page
    assert "place 1" not in page
    assert "place 0" not in page
    run = CliRunner().invoke(cli, ["replay", str(file)])
    assert run.exit_code == 0, run.output


def test_the_log_of_an_aborted_game_is_verified_up_to_its_end(game: Played) -> None:
    proof = game.proof()
    report = verify(proof)
    assert report.finding is None
    [logged] = report.games
    assert (logged.ended, logged.winner, logged.won) == (True, "", m.GameWon(""))


@pytest.mark.parametrize("shots", SHOTS)
def test_a_server_that_reveals_nothing_after_it_is_found(shots: int) -> None:
    """The last game of a table may be under way, as long as it has not ended."""
    first, last = Played("complete", SMALL).play().proof(), aborted(shots, 2).proof()
    over = next(number for number, entry in enumerate(entries_of(last)) if "reveal" in entry)
    assert verify([*first, *last]).finding is None
    assert verify([*first, *last[: over - 1]]).finding is None
    report = verify([*first, *last[:over]])
    assert report.finding is not None
    assert "nothing is revealed" in report.finding.text


def test_the_referees_boards_show_that_an_aborted_game_is_over() -> None:
    room = Room({"alice": ALICE, "bob": BOB})
    current = room.table.referee.current
    assert current is not None
    rival = "bob" if current.name == "alice" else "alice"
    room.fire(rival, (1, 1), (2, 1), (3, 1), (4, 1), (5, 1))
    room.do(ABORT, room.now + 1_000)
    views: list[Any] = [
        read_announcement(topics.parse(TOPIC), each.payload) for _, each in room.announced if each.topic == TOPIC
    ]
    assert (views[-1].turn, views[-1].player, views[-1].winners) == (1, "", ())
    assert views[-1].boards == views[-2].boards
    assert views[-1].last == views[-2].last
