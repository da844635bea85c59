"""What is written in the two-player game, and how long its end is seen."""

from __future__ import annotations

import struct
import threading
from pathlib import Path
from typing import cast

import pytest

from gateways.gateway_hall import Stage
from salvo.bots import sources
from salvo.rules import SPACED
from salvo_gateways.classic import bus, door
from salvo_gateways.classic import protocol_text as w
from salvo_gateways.hidden_fleet.answers import ShotOutcome
from salvo_gateways.listener import Listener
from salvo_gateways.peer import PeerBroken


def cell(row: str, column: int) -> int:
    return SPACED.grid.cell(column, ord(row) - 64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C", "C"),
        ("SIa", w.Shoot(cell("I", 10))),
        ("SE5", w.Shoot(cell("E", 5))),
        ("RIaM", w.Reply(cell("I", 10), ShotOutcome.MISS)),
        ("RE5H", w.Reply(cell("E", 5), ShotOutcome.HIT)),
        ("RE6SAircraft carrier", w.Reply(cell("E", 6), ShotOutcome.SUNK, "aircraftcarrier")),
        ("RA1SSubmarine", w.Reply(cell("A", 1), ShotOutcome.SUNK, "submarine")),
        ("RF7ECruiser", w.Reply(cell("F", 7), ShotOutcome.SUNK, "cruiser", last=True)),
    ],
)
def test_messages_of_the_two_player_game_are_read_as_its_text_has_them(text: str, message: w.Message) -> None:
    assert w.read(text, SPACED) == message


@pytest.mark.parametrize(
    "text",
    [
        *("", "c", "X", "CC", "S", "SA", "SA0", "SA10", "SK1", "Sa1", "SAb", "SA1 ", "R", "RA1", "RA1X", "RA1MCruiser"),
        *(
            "RA1S",
            "RA1E",
            "RA1SYacht",
            "RA1Scruiser",
            "RA1HCruiser",
            "S\u0661\u0661",
            "E ",
            "Z\x00",
            "S\U0001f6a2\ufe0f",
        ),
    ],
)
def test_a_line_that_is_no_message_of_the_two_player_game_is_not_understood(text: str) -> None:
    with pytest.raises(w.NotUnderstood):
        w.read(text, SPACED)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("192.0.2.7:4001", "192.0.2.7:4002"),
        ("192.0.2.7:4009", "192.0.2.7:4001"),  # 9 is followed by 0
        ("192.0.2.7:4007", "192.0.2.9:4011"),
        ("192.0.2.7:4001", "192.0.2.7:4011"),
        ("192.0.2.7:4011", "192.0.2.10:4001"),
        ("9.0.2.7:4001", "10.0.2.7:4001"),
    ],
)
def test_of_two_programs_on_the_bus_one_calls_the_other(own: str, other: str) -> None:
    assert bus.calls(own, other)
    assert not bus.calls(other, own)


def test_messages_on_the_bus_are_the_same_in_whatever_pieces_they_come() -> None:
    frames = bus.Frames()
    data = b"".join(map(frames.write, ("P/192.0.2.7:4001", "C", "", "SE5")))
    assert list(bus.Frames().feed(data)) == [b"C", b"", b"SE5"]
    assert [one for at in range(len(data)) for one in frames.feed(data[at : at + 1])] == [b"C", b"", b"SE5"]


@pytest.mark.parametrize("head", [(20, 1), (21, 65), (21, 2**32 - 1), (0x47455420, 0)])
def test_an_invalid_frame_on_the_bus_is_reported_and_dropped(head: tuple[int, int]) -> None:
    frames = bus.Frames()
    [broken] = frames.feed(struct.pack(">II", *head) + b"x" * 5000)
    assert isinstance(broken, PeerBroken)
    assert broken.code == "not_understood"
    assert list(frames.feed(frames.write("C"))) == [b"C"]


def test_nobody_on_another_machine_names_a_third_one_that_the_gateway_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(bus.Bus, "_call", lambda self, where: called.append(where))
    monkeypatch.setattr(bus, "calls", lambda own, other: True)
    programs = bus.Bus(("234.7.6.5", 0), cast(Listener, None), "127.0.0.1")
    for source in ("198.51.100.7", "192.0.2.9", "127.0.0.1"):
        programs.receive(b"A/", "192.0.2.9:4001", source)
    assert called == ["192.0.2.9:4001"] * 2
    programs.run(stopped())


def stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


CORNERS = Path(__file__).parent / "conversations" / "house_bots.py"
#: Its fleet.
SHIPS = ("A1", "A2", "A3", "A4", "A6", "A7", "C1", "C2", "E2", "E3", "E4", "E5", "E6", "F7", "G7", "H7")


def test_people_see_the_end_for_some_seconds_before_the_next_set_up() -> None:
    """Z and D came in the same instant as the last reply."""
    stage = Stage()
    classic = door(SPACED, sources.load(f"{CORNERS}:Corners"), end_seconds=5)
    program = stage.come(classic, "program")
    program.say("C")
    program.say("D")
    assert [program.hear(), program.hear()] == ["Z", "D"]
    reply = ""
    for target in SHIPS:
        shot = program.hear()
        program.say(f"R{shot[1:]}M")
        program.say(f"S{target}")
        reply = program.hear()
        assert (shot[0], reply[:3]) == ("S", f"R{target}")
    assert reply == "RH7ECruiser"
    stage.wait(4.9)
    assert program.hear_all() == []
    stage.wait(0.2)
    assert program.hear_all() == ["Z", "D"]
    assert not program.ended
