"""The protocol's text against the gateway: its example run, and whole games of a program written from the text."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from gateways.gateway_hall import Program, Stage
from gateways.gateway_stage import hosting, written
from gateways.smackdown_client import Program as Client
from salvo.rules import BOOKS, SMACKDOWN, Grid, RuleBook, ShipClass
from salvo_gateways.bot_clients.smackdown import SmackdownBotClient
from salvo_gateways.errors import GatewayError
from salvo_gateways.smackdown import SmackdownLobby, check, door
from salvo_gateways.smackdown.referee import MAX_AHEAD
from salvo_gateways.transcripts import Transcripts
from salvo_lab.bots.hunter import Hunter

SCRIPTS = sorted((Path(__file__).parent / "conversations").glob("smackdown*.txt"))
PLACED = "|RESPONSE|ship locations|0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|END|"
OPENING = ["|INFO|grid size|10 10|END|", "|INFO|num ships|5|END|", "|INFO|ship sizes|2|3|3|4|5|END|"]
LOCATIONS = "|QUERY|ship locations|END|"
WON = ["|INFO|won game|END|", "|INFO|end game|END|"]
LOST = ["|INFO|lost game|END|", "|INFO|end game|END|"]


def two_programs(book: RuleBook = SMACKDOWN, *, placed: bool = False, **options: object) -> list[Program]:
    stage, lobby = Stage(), SmackdownLobby(book, **options)  # type: ignore[arg-type]
    programs = [stage.come(door(lobby), name) for name in ("player 1", "player 2")]
    for program in programs if placed else ():
        program.say(PLACED)
    for program in programs if placed else ():
        program.hear_all()
    return programs


def book_of(script: str) -> RuleBook:
    """Return the script's rules."""
    found = re.search(r"# rules: (\d+) (\d+) / ([\d ]+)", script)
    assert found is not None
    fleet = tuple(ShipClass(f"ship{number}", int(length)) for number, length in enumerate(found[3].split()))
    return dataclasses.replace(SMACKDOWN, name="example", grid=Grid(int(found[1]), int(found[2])), fleet=fleet)


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_a_smackdown_game_runs_as_the_protocols_text_has_it(path: Path) -> None:
    script = path.read_text()
    programs = two_programs(book_of(script))
    for way, message, source in [line.split("\t") for line in script.splitlines() if not line.startswith("#")]:
        assert source.startswith("-- ")
        for player in way[:-1]:
            program = programs[int(player) - 1]
            if way.endswith(">"):
                program.say(message)
            else:
                assert (player, program.hear()) == (player, message), source
    assert [program.hear() for program in programs] == ["", ""]


@pytest.mark.parametrize("opponent_first", [False, True], ids=["as in the text", "as on the system's own server"])
def test_player_2_receives_results_in_the_chosen_order_of_the_two_boards(opponent_first: bool) -> None:
    programs = two_programs(placed=True, opponent_first=opponent_first)
    for program in programs:
        program.say("|RESPONSE|shots|0 0|9 9|END|")
    you = ["|INFO|you hit|0 0|END|", "|INFO|you miss|9 9|END|"]
    opponent = ["|INFO|opponent hit|0 0|END|", "|INFO|opponent miss|9 9|END|"]
    query = "|QUERY|shots|5|END|"
    assert [program.hear_all() for program in programs] == [
        [*you, *opponent, query],
        [query, *(opponent + you if opponent_first else you + opponent)],
    ]


def test_player_2_is_asked_when_player_1_has_answered_and_answers_may_come_ahead() -> None:
    first, second = two_programs()
    assert first.hear_all() == [*OPENING, LOCATIONS]
    assert second.hear_all() == OPENING
    second.say(f"{PLACED}\n|RESPONSE|shots|9 9|END|")
    assert (first.hear_all(), second.hear_all()) == ([], [])
    first.say(PLACED)
    assert (first.hear_all(), second.hear_all()) == (["|QUERY|shots|5|END|"], [LOCATIONS])
    first.say("|RESPONSE|shots|8 8|END|")
    assert second.hear_all()[:2] == ["|QUERY|shots|5|END|", "|INFO|you miss|9 9|END|"]


def test_a_silent_or_ended_program_forfeits_when_its_answer_is_due() -> None:
    first, second = two_programs()
    first.stage.wait(10.5)
    assert first.hear_all() == [*OPENING, LOCATIONS, *LOST]
    assert second.hear_all() == [*OPENING, *WON]
    first, second = two_programs(placed=True)
    second.say("|RESPONSE|shots|9 9|END|")
    second.go()
    first.say("|RESPONSE|shots|9 9|END|")
    assert "|QUERY|shots|5|END|" in first.hear_all()  # what it sent ahead has counted
    first.say("|RESPONSE|shots|9 9|END|")
    assert first.hear_all() == WON


@pytest.mark.parametrize(
    ("offender", "answer"),
    [
        pytest.param(0, "|RESPONSE|shots|0 9|1 9|2 9|3 9|4 9|5 9|END|", id="too many"),
        pytest.param(1, "|RESPONSE|shots|END|", id="none"),
        pytest.param(0, "|RESPONSE|shots|" + "0 0|" * 2000 + "END|", id="oversized"),
        pytest.param(1, "\n".join(["|RESPONSE|shots|0 0|END|"] * (MAX_AHEAD + 2)), id="flood"),
    ],
)
def test_a_forfeit_ends_the_game_for_both_programs_at_once(offender: int, answer: str) -> None:
    programs = two_programs(placed=True)
    for program in programs[:offender]:
        program.say("|RESPONSE|shots|9 9|END|")
    for program in programs:
        program.hear_all()
    programs[offender].say(answer)
    assert programs[offender].hear_all()[-2:] == LOST
    assert programs[1 - offender].hear_all()[-2:] == WON
    assert all(program.ended for program in programs)


def test_programs_wait_for_each_other_in_the_order_of_the_places() -> None:
    stage, lobby = Stage(), SmackdownLobby(SMACKDOWN, ["ann", "bob"])
    bob, late, ann = [stage.come(door(lobby, name), name) for name in ("bob", "bob", "ann")]
    assert (ann.hear_all(), bob.hear_all(), late.hear_all()) == ([*OPENING, LOCATIONS], OPENING, [])
    ann.say("hello")
    assert (lobby.record_of("ann"), lobby.record_of("bob")) == ("lost game 1", "won game 1")
    late.go()
    assert stage.come(door(lobby, "ann"), "ann").hear_all() == []


def play(address: tuple[str, int], seed: str) -> Client:
    """Play a game over TCP, at whose end the gateway hangs up."""
    with socket.create_connection(address, timeout=60) as connection, connection.makefile("rb") as lines:
        client = Client(lines.readline, connection.sendall, Random(seed))
        client.play()
        with contextlib.suppress(ConnectionResetError):
            assert lines.readline() == b""
        return client


@pytest.mark.long
def test_whole_smackdown_games_with_any_answers_follow_the_specification(tmp_path: Path) -> None:
    for game in range(4):
        lobby = SmackdownLobby(SMACKDOWN, answer_seconds=60, transcripts=Transcripts("smackdown", tmp_path))
        with hosting(door(lobby)) as host, ThreadPoolExecutor(2) as threads:
            playing = [threads.submit(play, host.address, f"{game} {seed}") for seed in "ab"]
            first, second = (future.result() for future in playing)
        assert (first.result, second.result) in {("won", "lost"), ("lost", "won"), ("tie", "tie")}
        assert len(list(tmp_path.iterdir())) == game + 1


def test_a_bot_plays_a_program_and_the_game_is_written(tmp_path: Path) -> None:
    stage = Stage()
    transcripts = Transcripts("smackdown", tmp_path)
    lobby = SmackdownLobby(
        SMACKDOWN,
        ["ann"],
        bot=lambda opponent: SmackdownBotClient(Hunter(), "house", opponent, "1"),
        transcripts=transcripts,
    )
    ann = stage.come(door(lobby, "ann"), "ann")
    ann.say(PLACED)
    for row in range(10):
        for x in range(10):
            ann.say(f"|RESPONSE|shots|{x} {row}|END|")
    assert ann.hear_all()[-2:] in (WON, LOST)
    course = written(tmp_path / "smackdown-1.jsonl.gz")
    assert course.winners == ("ann" if "won" in lobby.record_of("ann") else "house",)


@pytest.mark.parametrize("book", [book for book in BOOKS.values() if book is not SMACKDOWN], ids=lambda book: book.name)
def test_rules_that_the_protocol_cannot_express_are_refused(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="smackdown needs"):
        check(book)
