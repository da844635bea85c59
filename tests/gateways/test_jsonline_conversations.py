"""The gateway for JSON lines against the protocol's text, and against a program that was written from it."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateways.gateway_stage import hosting, written
from gateways.jsonline_client import Client, board_of
from kit.waiting import until
from salvo.bots import sources
from salvo.rules import ALTERNATE, BOOKS, STREAK, RuleBook
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.game import HiddenGame
from salvo_gateways.jsonline import check, door
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.transcripts import Transcripts

HERE = Path(__file__).parent / "conversations"


def steps() -> Iterator[tuple[str, str]]:
    """Yield (sign, text) of the conformance file, lines of one message joined."""
    sign, lines = "", list[str]()
    for line in [*(HERE / "jsonline.txt").read_text().splitlines(), "#"]:
        its, _, text = line.partition(" ")
        if its != sign or (its in (">", "<", "<~") and lines and text in ("{",)) or its == "@":
            if lines:
                yield sign, "\n".join(lines)
            sign, lines = its, []
        if its in (">", "<", "<~", "@"):
            lines.append(text)
            if its != "@" and balanced("\n".join(lines)):
                yield sign, "\n".join(lines)
                sign, lines = "", []


def balanced(text: str) -> bool:
    return text.count("{") == text.count("}")


def test_the_messages_and_the_example_run_of_the_text_come_out_as_they_are_printed(tmp_path: Path) -> None:
    client: Client | None = None
    answers = 0
    with contextlib.ExitStack() as stack:
        for sign, text in steps():
            if sign == "@":
                host = stack.enter_context(hosting(made(STREAK, text)))
                client = stack.enter_context(contextlib.closing(Client(host.address, 1)))
            elif sign == ">":
                assert client is not None
                client.send(text)  # without a line's end
            else:
                assert client is not None
                wanted, got = json.loads(text), client.receive()
                if sign == "<~":
                    got["message"] = wanted["message"]
                assert got == wanted
                answers += 1
    assert answers == 53


def test_programs_that_differ_from_the_text_play_whole_games_line_by_line(tmp_path: Path) -> None:
    """A game each as the gateway's own rules have it, byte by byte: cells from 0, and statuses as names."""
    with contextlib.ExitStack() as stack:
        lines: Iterator[str] = iter(())
        for number, line in enumerate((HERE / "jsonline-dialects.txt").read_text().splitlines(), start=1):
            sign, _, text = line.partition(" ")
            if sign == "@":
                host = stack.enter_context(hosting(made(ALTERNATE, status_names=text == "status names")))
                program = stack.enter_context(socket.create_connection(host.address, timeout=60))
                lines = iter(stack.enter_context(program.makefile("r")))
            elif sign == ">":
                program.sendall(f"{text}\n".encode())
            elif sign == "<":
                assert next(lines) == f"{text}\n", number


def made(book: RuleBook, bot: str = "Picture", **options: Any) -> GatewayDoor:
    """Return a door where a bot of house_bots.py plays."""
    return door(book, sources.load(f"{HERE / 'house_bots.py'}:{bot}"), **options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("book", "xy", "opponent", "end"), [(STREAK, False, "hunter", ""), (ALTERNATE, True, "random", "\n")]
)
def test_a_program_plays_whole_games_that_are_written_as_it_saw_them(
    book: RuleBook, xy: bool, opponent: str, end: str, tmp_path: Path
) -> None:
    opening = door(book, sources.load(opponent), transcripts=Transcripts("jsonline", tmp_path))
    with hosting(opening) as host:
        client = Client(host.address, 1, xy=xy, alternate=book is ALTERNATE, end=end)
        with contextlib.closing(client):
            for game in (1, 2):
                client.play()
                course = written(tmp_path / f"jsonline-{game}.jsonl.gz")
                assert course.winners == ("guest" if client.won else "house",)


def test_a_contradicting_answer_is_refused_at_once_and_a_false_board_at_the_end(tmp_path: Path) -> None:
    with (
        hosting(made(STREAK, transcripts=Transcripts("jsonline", tmp_path))) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        client.good("GAME_INVITATION")
        for cell in "A1", "J10":
            client.good("SHOT", {"row": cell[0], "column": int(cell[1:])})
            client.good("SHOT_REQUEST")
            if cell == "A1":
                client.good("RESULT", "MISS")
        client.good("RESULT", "HIT")  # B3
        assert client.good("SHOT_REQUEST") == {"row": "B", "column": 4}
        client.good("RESULT", "SINKING")
        client.good("SHOT_REQUEST")
        answer = client.say("RESULT", "HIT")  # B5 touches the ship that has sunk
        assert (answer["status"], "touches a ship that has sunk" in answer["message"]) == (2, True)
        client.good("RESULT", "MISS")
        refused = client.say("BOARD", board_of(client.fleet))
        assert (refused["status"], refused["message"]) == (2, "The game is not over yet.")
        sink_everything(client)
        refused = client.say("BOARD", board_of(client.fleet))
        assert refused["status"] == 2
        assert "was answered as" in refused["message"]
    assert not list(tmp_path.iterdir()), "a game whose board is false is not written"


def sink_everything(client: Client) -> None:
    """Shoot at the picture's fleet, as somebody would who has seen it."""
    picture = "A3 A4 A5 A6 G7 G8 G9 I2 I3 I4 D8 E8 F5 G5 I6 J6 A8 C3 D1 G1"
    for cell in picture.split(" "):
        assert client.good("SHOT", {"row": cell[0], "column": int(cell[1:])}) != "MISS"


def test_a_program_that_leaves_without_a_board_has_played_all_the_same(tmp_path: Path) -> None:
    with (
        hosting(made(STREAK, transcripts=Transcripts("jsonline", tmp_path))) as host,
    ):
        with contextlib.closing(Client(host.address, 1)) as client:
            client.good("GAME_INVITATION")
            sink_everything(client)
        until(lambda: len(list(tmp_path.iterdir())) == 1)


def test_a_connection_that_breaks_costs_nothing_and_only_one_program_plays_at_a_time(tmp_path: Path) -> None:
    with (
        hosting(made(STREAK)) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        client.good("GAME_INVITATION")
        client.good("SHOT", {"row": "A", "column": 1})
        with contextlib.closing(Client(host.address, 2)) as other:
            assert other.say("GAME_INVITATION")["status"] == 1
            assert other.say("SHOT_REQUEST")["status"] == 2
            shot = client.good("SHOT_REQUEST")
            client.close()
            for _ in range(3):  # the game of a program that is away is not for one that was refused
                assert other.say("SHOT_REQUEST")["message"] == "No game is on; send GAME_INVITATION first."
        client.connect()
        until(lambda: client.say("SHOT_REQUEST")["body"] == shot)
        client.good("RESULT", "MISS")
        again = client.say("SHOT", {"row": "A", "column": 1})
        assert (again["status"], again["message"]) == (2, "A1 was shot at before: miss")


def test_a_fault_of_the_server_ends_the_game_with_status_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        hosting(made(STREAK)) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        client.good("GAME_INVITATION")
        with monkeypatch.context() as patched:
            patched.setattr(HiddenGame, "program_fires", lambda *_: 1 // 0)
            assert client.say("SHOT", client.cell((0, 0)))["status"] == 3
        assert client.say("SHOT", client.cell((0, 0)))["status"] == 2
        client.play()


def test_a_program_that_asks_to_save_the_winner_reads_who_won_by_our_game() -> None:
    with (
        hosting(made(STREAK, status_names=True)) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):

        def saved() -> dict[str, Any]:
            client.send(json.dumps({"type": "SAVE_WINNER", "body": {"winner": "SERVER"}}))
            return client.receive()

        client.good("GAME_INVITATION")
        assert (saved()["type"], saved()["status"]) == ("UNKNOWN", "BAD_REQUEST")
        sink_everything(client)
        assert saved() == {"type": "SAVE_WINNER", "status": "OK", "message": None, "body": "CLIENT WINS !"}


@pytest.mark.parametrize(
    "book", [book for book in BOOKS.values() if book not in (STREAK, ALTERNATE)], ids=lambda book: book.name
)
def test_rules_that_the_protocol_cannot_express_are_refused(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="cannot be played in JSON lines"):
        check(book)
