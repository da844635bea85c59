"""The gateway for the two-player game against its text, and against a program that was written from it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from gateways.classic_client import Program, Tcp
from gateways.gateway_stage import hosting, written
from salvo.bots import sources
from salvo.rules import BOOKS, SCATTERED, SPACED, RuleBook
from salvo_gateways.classic import ClassicRole, check, door
from salvo_gateways.errors import GatewayError
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.transcripts import Transcripts

HERE = Path(__file__).parent / "conversations"
SCRIPT = f"{HERE / 'house_bots.py'}:Corners"
SECONDS = 60.0


def made(**options: Any) -> GatewayDoor:
    """Return a door where the script of the text's examples plays."""
    return door(SPACED, sources.load(SCRIPT), **({"end_seconds": 0} | options))


def test_the_messages_and_the_protocol_of_the_text_come_out_as_they_are_written() -> None:
    line: Tcp | None = None
    answers = 0
    with contextlib.ExitStack() as stack:
        for step in (HERE / "classic.txt").read_text().splitlines():
            sign, _, text = step.partition(" ")
            if sign == "@":
                host = stack.enter_context(hosting(made(role=ClassicRole(text))))
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
@pytest.mark.parametrize(("leads", "opponent"), [(False, "hunter"), (True, "random")], ids=["as client", "as server"])
def test_whole_games_after_programs_that_went_wrong(leads: bool, opponent: str, tmp_path: Path) -> None:
    """Each is written, and is there as the program saw it."""
    opening = door(
        SPACED,
        sources.load(opponent),
        role=ClassicRole.CLIENT if leads else ClassicRole.SERVER,
        end_seconds=0,
        transcripts=Transcripts("classic", tmp_path),
    )
    with hosting(opening) as host:
        for number, (wrong, place) in enumerate(WRONG):
            go_wrong(host.address, wrong, place, number, leads=leads)
        with contextlib.closing(Tcp(host.address)) as line:
            program = Program(line, 1, leads=leads)
            program.connect()
            program.play(2)
        assert program.begun == [leads, not leads]
        for game, won in enumerate(program.won, start=1):
            course = written(tmp_path / f"classic-{game}.jsonl.gz")
            assert course.winners == ("guest" if won else "house",)


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
        received = [line.receive(SECONDS) for _ in range(2)]
        while received[-1]:
            received.append(line.receive(SECONDS))
        assert received[-2:] == ["E", ""], (wrong, received)


def test_a_reply_that_no_fleet_can_give_ends_the_game(tmp_path: Path) -> None:
    with hosting(made(transcripts=Transcripts("classic", tmp_path))) as host:
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
    assert not list(tmp_path.iterdir())


def test_a_second_program_waits_for_the_first_and_a_restarted_client_starts_over() -> None:
    with (
        hosting(made()) as host,
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
        assert program.next() == "Z"
        first.send("E")
        Program(second, 2).connect()


@pytest.mark.parametrize(
    "book", [book for book in BOOKS.values() if book not in (SPACED, SCATTERED)], ids=lambda book: book.name
)
def test_rules_that_the_protocol_cannot_express_are_refused(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="cannot be played in this protocol"):
        check(book)
