"""The gateway for the two-player game against its text, and against a program that was written from it."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateways.classic_client import Program, Tcp
from gateways.gateway_stage import Winners, gateway, gateways, served, side_by_side, until
from salvo.rules import BOOKS, SPACED, RuleBook
from salvo_gateways.accounts import GatewayError
from salvo_gateways.classic import door
from salvo_gateways.host import Door
from salvo_server.recordings import open_recordings

HERE = Path(__file__).parent / "conversations"
GAMES = int(os.environ.get("SALVO_GATEWAY_GAMES", "4"))
SCRIPT = f"{HERE / 'house_bots.py'}:Corners"
SECONDS = 60.0

_made = iter(range(1_000_000))


def made(book: RuleBook, folder: Path, **options: Any) -> Door:
    return door(book, games=folder / f"{next(_made)}.games", **({"end_seconds": 0} | options))


def test_the_messages_and_the_protocol_of_the_text_come_out_as_they_are_told(tmp_path: Path) -> None:
    line: Tcp | None = None
    answers = 0
    with served(rules="spaced") as contest, contextlib.ExitStack() as stack:
        for step in (HERE / "classic.txt").read_text().splitlines():
            sign, _, text = step.partition(" ")
            if sign == "@":
                make = partial(made, folder=tmp_path, role=text, opponent=SCRIPT)
                host = stack.enter_context(gateway(contest.url, "classic", tmp_path, make))
                line = stack.enter_context(contextlib.closing(Tcp(host.address)))
            elif sign == ">":
                assert line is not None
                line.send(text)
            elif sign == "<":
                assert line is not None
                assert line.receive(SECONDS) == text
                answers += 1
    assert answers == 51


@pytest.mark.long
@pytest.mark.parametrize("leads", [False, True], ids=["as client", "as server"])
def test_many_games_with_lines_in_pieces_and_programs_that_go_wrong_among_them(leads: bool, tmp_path: Path) -> None:
    """Each is played again at its table, where who begins is the table's own rule, and comes out as it was."""
    tables = ["a", "b"]
    winners = Winners()
    journal = tmp_path / "games.journal"
    games = max(1, GAMES // 2 // len(tables))
    programs: dict[str, Program] = {}

    def play(table: str, address: tuple[str, int]) -> None:
        for number, (wrong, place) in enumerate(WRONG):
            go_wrong(address, wrong, place, number, leads=leads)
        line = Tcp(address)
        programs[table] = Program(line, ord(table), leads=leads)
        programs[table].connect()
        programs[table].play(games)
        line.close()

    def make(book: RuleBook, table: str) -> Door:
        opponent = "hunter" if table == "a" else "random"
        return made(book, tmp_path, opponent=opponent, role="client" if leads else "server")

    with (
        served(winners, rules="spaced", tables=tuple(tables), journal=str(journal), journal_safe="process") as contest,
        gateways(contest, "classic", tmp_path, make, tables) as hosts,
    ):
        side_by_side(play, tables, hosts, SECONDS + 10 * GAMES)
        assert [len(program.won) for program in programs.values()] == [games] * len(tables), "a program has given up"
        until(lambda: all(len(winners.by_table.get(table, [])) >= games for table in tables), 10 * GAMES)
    for table, program in programs.items():
        assert [name == f"classic-guest-{table}" for name in winners.by_table[table]] == program.won
        assert program.begun == [leads == (game % 2 == 0) for game in range(games)]
    checked = [steps for steps, _ in open_recordings(str(journal)).check() if steps]
    assert len(checked) == games * len(tables)


#: A reply to a shot that was not fired.
ANOTHER_REPLY = "RA1M"

#: What is wrong, and how many turns into the game; each is answered with E and the end.
WRONG = [
    ("X", 0),
    ("SK1", 1),
    ("SA", 1),
    ("S\u0130a", 1),
    ("sA1", 2),
    (ANOTHER_REPLY, 2),
    ("D", 1),
    ("RA1SYacht", 1),
    ("", 1),
    ("S" * 5000, 1),
    ("Z", 3),
    ("\x00", 0),
]


def go_wrong(address: tuple[str, int], wrong: str, turns: int, seed: int, *, leads: bool) -> None:
    if wrong == "Z" and leads:
        return  # from a server it is right at any time
    with contextlib.closing(Tcp(address)) as line:
        program = Program(line, seed, leads=leads)
        program.connect()
        if turns:
            program.play_one(begins=leads, turns=turns)
        if wrong == ANOTHER_REPLY and program.next() == "SA1":
            wrong = wrong.replace("A1", "A2")  # now and then the house really shoots there
        line.send(wrong)
        heard = [line.receive(SECONDS) for _ in range(2)]
        while heard[-1]:
            heard.append(line.receive(SECONDS))
        assert heard[-2:] == ["E", ""], (wrong, heard)


def test_a_reply_that_no_fleet_can_give_ends_the_game(tmp_path: Path) -> None:
    winners = Winners()
    make = partial(made, folder=tmp_path, opponent=SCRIPT)
    with (
        served(winners, rules="spaced") as contest,
        gateway(contest.url, "classic", tmp_path, make) as host,
    ):
        for replies in (["RIaH", "RE5ECruiser"], ["RIaSCruiser"], ["RIaM", "RE5SSubmarine"], ["RIaECruiser"]):
            with contextlib.closing(Tcp(host.address)) as line:
                program = Program(line, 1)
                program.connect()
                program.set_up()
                for number, reply in enumerate(replies):
                    assert program.next() == f"S{reply[1:3]}"
                    line.send(reply)
                    if number + 1 < len(replies):
                        line.send("SJ1")
                        assert program.next() == "RJ1M"
                assert program.next() == "E"
    assert not winners.by_table


def test_lines_may_come_in_pieces_and_with_carriage_returns_and_c_more_than_once(tmp_path: Path) -> None:
    with (
        served(rules="spaced") as contest,
        gateway(contest.url, "classic", tmp_path, partial(made, folder=tmp_path, opponent=SCRIPT)) as host,
        contextlib.closing(Tcp(host.address)) as line,
    ):
        line.socket.sendall(b"C\nC\r\nC\nD\n")
        program = Program(line, 1)
        assert [program.next() for _ in range(3)] == ["Z", "D", "SIa"]
        for piece in (b"R", b"Ia", b"M\r", b"\nSE", b"2\n"):
            line.socket.sendall(piece)
        assert [program.next() for _ in range(2)] == ["RE2H", "SE5"]


def test_a_second_program_waits_until_the_first_has_left_and_a_client_that_was_started_again_begins_anew(
    tmp_path: Path,
) -> None:
    make = partial(made, folder=tmp_path, opponent=SCRIPT, rounds=1)
    with (
        served(rules="spaced") as contest,
        gateway(contest.url, "classic", tmp_path, make) as host,
        contextlib.closing(Tcp(host.address)) as first,
        contextlib.closing(Tcp(host.address)) as second,
    ):
        program = Program(first, 1)
        program.connect()
        second.send("C")
        assert second.receive(0.5) is None
        program.play_one(begins=False, turns=2)
        first.send("C")
        program.next()  # the shot that was on its way
        assert program.next() == "Z"
        program.play_one(begins=False)
        assert program.next() == "E"
        assert program.next() == ""
        Program(second, 2).connect()


@pytest.mark.parametrize("book", [book for book in BOOKS.values() if book is not SPACED], ids=lambda book: book.name)
def test_a_table_whose_rules_cannot_be_told_in_this_protocol_has_no_such_gateway(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="cannot be played in this protocol"):
        door(book)
