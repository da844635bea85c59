"""What is written in the two-player game."""

from __future__ import annotations

import pytest

from salvo.rules import CLASSIC
from salvo_server.gateways.classic import words as w
from salvo_server.gateways.hidden_fleet.replies import Word


def cell(row: str, column: int) -> int:
    return CLASSIC.grid.cell(column, ord(row) - 64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C", "C"),
        ("SIa", w.Shoot(cell("I", 10))),
        ("SE5", w.Shoot(cell("E", 5))),
        ("RIaM", w.Reply(cell("I", 10), Word.MISS)),
        ("RE5H", w.Reply(cell("E", 5), Word.HIT)),
        ("RE6SAircraft carrier", w.Reply(cell("E", 6), Word.SUNK, "aircraftcarrier")),
        ("RA1SSubmarine", w.Reply(cell("A", 1), Word.SUNK, "submarine")),
        ("RF7ECruiser", w.Reply(cell("F", 7), Word.SUNK, "cruiser", last=True)),
    ],
)
def test_messages_are_read_as_the_text_has_them(text: str, message: w.Message) -> None:
    assert w.read(text, CLASSIC) == message


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
def test_everything_else_is_not_understood(text: str) -> None:
    with pytest.raises(w.NotUnderstood):
        w.read(text, CLASSIC)


def test_every_shot_and_every_reply_is_read_as_it_is_written() -> None:
    grid = CLASSIC.grid
    for at in range(grid.size):
        assert w.read(w.shoot(at, grid), CLASSIC) == w.Shoot(at)
        for word in (Word.MISS, Word.HIT):
            assert w.read(w.reply(at, word, "", False, grid), CLASSIC) == w.Reply(at, word)
        for ship in CLASSIC.fleet:
            for last in (False, True):
                reply = w.read(w.reply(at, Word.SUNK, ship.name, last, grid), CLASSIC)
                assert reply == w.Reply(at, Word.SUNK, ship.name.rstrip("12"), last)
