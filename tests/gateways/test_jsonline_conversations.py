"""The gateway for JSON lines against the protocol's text, and against a program that was written from it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateways.gateway_stage import Winners, gateway, gateways, served, side_by_side, until
from gateways.jsonline_client import Client, board_of
from salvo.rules import ALTERNATE, BOOKS, STREAK, RuleBook
from salvo_gateways.accounts import GatewayError
from salvo_gateways.hidden_fleet.game import UnseenGame
from salvo_gateways.host import Door
from salvo_gateways.jsonline import door
from salvo_server.recordings import open_recordings

HERE = Path(__file__).parent / "conversations"
GAMES = int(os.environ.get("SALVO_GATEWAY_GAMES", "4"))
SECONDS = 60.0


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
    with served(rules="streak") as contest, contextlib.ExitStack() as stack:
        for sign, text in steps():
            if sign == "@":
                make = partial(made, folder=tmp_path, opponent=f"{HERE / 'house_bots.py'}:{text}")
                host = stack.enter_context(gateway(contest.url, "jsonline", tmp_path, make))
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
    with served(rules="alternate") as contest, contextlib.ExitStack() as stack:
        lines: Iterator[str] = iter(())
        for number, line in enumerate((HERE / "jsonline-dialects.txt").read_text().splitlines(), start=1):
            sign, _, text = line.partition(" ")
            if sign == "@":
                bot = f"{HERE / 'house_bots.py'}:Picture"
                make = partial(made, folder=tmp_path, opponent=bot, status_names=text == "status names")
                host = stack.enter_context(gateway(contest.url, "jsonline", tmp_path, make))
                program = stack.enter_context(socket.create_connection(host.address, timeout=60))
                lines = iter(stack.enter_context(program.makefile("r")))
            elif sign == ">":
                program.sendall(f"{text}\n".encode())
            elif sign == "<":
                assert next(lines) == f"{text}\n", number


_made = iter(range(1_000_000))


def made(book: RuleBook, folder: Path, **options: Any) -> Door:
    return door(book, games=folder / f"{next(_made)}.games", **options)


@pytest.mark.long
@pytest.mark.parametrize("rules", ["streak", "alternate"])
def test_many_games_with_wrong_late_doubled_and_oversized_messages_among_them(rules: str, tmp_path: Path) -> None:
    """Each is played again at its table, and comes out there as the program saw it."""
    tables = ["a", "b", "c", "d"] if GAMES >= 4 else ["a"]
    winners = Winners()
    journal = tmp_path / "games.journal"
    clients: dict[str, list[tuple[bool, dict[int, int]]]] = {table: [] for table in tables}

    def play(table: str, address: tuple[str, int]) -> None:
        xy, end = table in "bd", "" if table in "ab" else "\n"
        client = Client(address, ord(table), xy=xy, alternate=rules == "alternate", end=end)
        for _ in range(GAMES // len(tables)):
            client.play(stammer=0.15)
            clients[table].append((client.won, dict(client.wrong)))
        client.close()

    def make(book: RuleBook, table: str) -> Door:
        opponent = "hunter" if table in "ac" else "random"
        return made(book, tmp_path, opponent=opponent)

    with (
        served(winners, rules=rules, tables=tuple(tables), journal=str(journal), journal_safe="process") as contest,
        gateways(contest, "jsonline", tmp_path, make, tables) as hosts,
    ):
        side_by_side(play, tables, hosts, SECONDS + 10 * GAMES)
        assert {len(played) for played in clients.values()} == {GAMES // len(tables)}, "a program has given up"
        until(lambda: all(len(winners.by_table.get(t, [])) >= GAMES // len(tables) for t in tables), 10 * GAMES)
    for table in tables:
        won = [name == f"jsonline-client-{table}" for name in winners.by_table[table]]
        assert won == [won for won, _ in clients[table]]
        assert min(clients[table][-1][1].values()) > 0
        assert set(clients[table][-1][1]) == {1, 2, 4}
    checked = [steps for steps, _ in open_recordings(str(journal)).check() if steps]  # none in lobbies that are open
    assert len(checked) == GAMES // len(tables) * len(tables)


def test_a_program_that_contradicts_itself_is_told_at_once_and_its_false_board_at_the_end(tmp_path: Path) -> None:
    bot = f"{HERE / 'house_bots.py'}:Picture"
    winners = Winners()
    with (
        served(winners, rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path, opponent=bot)) as host,
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
        assert (answer["status"], "no fleet fits" in answer["message"]) == (2, True)
        client.good("RESULT", "MISS")
        refused = client.say("BOARD", board_of(client.fleet))
        assert (refused["status"], refused["message"]) == (2, "The game is not over yet.")
        sink_everything(client)
        refused = client.say("BOARD", board_of(client.fleet))
        assert refused["status"] == 2
        assert "was answered as" in refused["message"]
    assert not winners.by_table, "a game whose board is false is not written down"


def sink_everything(client: Client) -> None:
    """Shoot at the picture's fleet, as somebody would who has seen it."""
    picture = "A3 A4 A5 A6 G7 G8 G9 I2 I3 I4 D8 E8 F5 G5 I6 J6 A8 C3 D1 G1"
    for cell in picture.split(" "):
        assert client.good("SHOT", {"row": cell[0], "column": int(cell[1:])}) != "MISS"


def test_a_program_that_leaves_without_a_board_has_played_all_the_same(tmp_path: Path) -> None:
    bot = f"{HERE / 'house_bots.py'}:Picture"
    winners = Winners()
    with (
        served(winners, rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path, opponent=bot)) as host,
    ):
        with contextlib.closing(Client(host.address, 1)) as client:
            client.good("GAME_INVITATION")
            sink_everything(client)
        until(lambda: winners.by_table.get("") == ["jsonline-client"])


def test_a_connection_that_breaks_costs_nothing_and_only_one_program_plays_at_a_time(tmp_path: Path) -> None:
    bot = f"{HERE / 'house_bots.py'}:Picture"
    with (
        served(rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path, opponent=bot)) as host,
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
                assert other.say("SHOT_REQUEST")["message"] == "There is no game; send GAME_INVITATION first."
        client.connect()
        until(lambda: client.say("SHOT_REQUEST")["body"] == shot)
        client.good("RESULT", "MISS")
        again = client.say("SHOT", {"row": "A", "column": 1})
        assert (again["status"], again["message"]) == (2, "A1 was shot at before: miss")


def test_a_fault_of_the_server_ends_the_game_with_status_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        served(rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path)) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        client.good("GAME_INVITATION")
        with monkeypatch.context() as patched:
            patched.setattr(UnseenGame, "guest_fires", lambda *_: 1 // 0)
            assert client.say("SHOT", client.cell((0, 0)))["status"] == 3
        assert client.say("SHOT", client.cell((0, 0)))["status"] == 2
        client.play()


def test_a_status_can_be_a_name(tmp_path: Path) -> None:
    with (
        served(rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path, status_names=True)) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        assert client.say("GAME_INVITATION")["status"] == "OK"
        assert client.say("GAME_INVITATION")["status"] == "SERVER_BUSY"


@pytest.mark.parametrize("winner", ["CLIENT", "SERVER"])
def test_a_program_that_asks_to_save_the_winner_reads_who_won_by_our_game(winner: str, tmp_path: Path) -> None:
    opponent = f"{HERE / 'house_bots.py'}:Picture"
    make = partial(made, folder=tmp_path, opponent=opponent, status_names=True)
    with (
        served(rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, make) as host,
        contextlib.closing(Client(host.address, 1)) as client,
    ):
        loser = "SERVER" if winner == "CLIENT" else "CLIENT"

        def saved() -> dict[str, Any]:
            client.send(json.dumps({"type": "SAVE_WINNER", "body": {"winner": loser}}))
            return client.receive()

        client.good("GAME_INVITATION")
        assert (saved()["type"], saved()["status"]) == ("UNKNOWN", "BAD_REQUEST")
        if winner == "CLIENT":
            sink_everything(client)
        else:
            be_sunk(client)
        assert saved() == {"type": "SAVE_WINNER", "status": "OK", "message": None, "body": f"{winner} WINS !"}


def be_sunk(client: Client) -> None:
    """Miss twice, and be hit by the picture's bot, which knows the board of the text's example."""
    ships = "B3 B4 B5 B6,E10 F10 G10,F3 G3 H3,A9 B9,D7 D8,I6 I7,D2,D5,F7,I9"
    client.fleet = [
        [("ABCDEFGHIJ".index(cell[0]), int(cell[1:]) - 1) for cell in ship.split()] for ship in ships.split(",")
    ]
    for cell in ("J10", "J9"):
        assert client.good("SHOT", {"row": cell[0], "column": int(cell[1:])}) == "MISS"
        while not client.lost:
            answer = client.result_at(client.cell_of(client.good("SHOT_REQUEST")))
            client.good("RESULT", answer)
            if answer == "MISS":
                break


@pytest.mark.long
def test_a_flood_and_a_peer_that_reads_nothing_harm_nobody(tmp_path: Path) -> None:
    with (
        served(rules="streak") as contest,
        gateway(contest.url, "jsonline", tmp_path, lambda book: made(book, tmp_path)) as host,
        socket.create_connection(host.address) as flood,
    ):
        flood.settimeout(0.5)
        with contextlib.suppress(OSError):
            for _ in range(200):
                flood.sendall(b'{"type":"SHOT","body":[[[[[[[[' * 500)
        with contextlib.closing(Client(host.address, 1)) as client:
            client.play()


@pytest.mark.parametrize(
    "book", [book for book in BOOKS.values() if book not in (STREAK, ALTERNATE)], ids=lambda book: book.name
)
def test_a_table_whose_rules_cannot_be_told_in_this_protocol_has_no_such_gateway(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="cannot be played in JSON lines"):
        door(book)
