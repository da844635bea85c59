"""What is written in JSON lines: where messages end, cells, boards."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import pytest

from salvo.errors import SalvoError
from salvo.rules import STREAK
from salvo_gateways.jsonline.protocol_text import BadBody, Dialect, Status, Values, Wording, read_request, same_ships
from salvo_gateways.peer import PeerBroken

LONG = b'{"a": "' + b"x" * 9000 + b'"}'


def framed(*parts: bytes) -> list[bytes | str]:
    values = Values()
    found = [message for part in parts for message in values.feed(part)]
    return [message.code if isinstance(message, PeerBroken) else message for message in found]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": 1}{"b": {"c": "}\\""}}\r\n [1] ', [b'{"a": 1}', b'{"b": {"c": "}\\""}}', b"[1]"]),
        (b'{\n"a":\n{\n}\n}\n', [b'{\n"a":\n{\n}\n}']),
        (b'hello\n{"a": 1}]]{}', [b"hello", b'{"a": 1}', b"]]", b"{}"]),
        (b'{"a": "cut\n{"b": 1}', ["not_json", b'{"b": 1}']),
        (b'{"a": 1\n{"b": 1}', ["not_json", b'{"b": 1}']),
        (b'{"a": }', ["not_json"]),
        (
            b'{"a": {"b": A, "c": 1}}\n{"b": -1, "c": [null, "\\u00e9"]}',
            ["not_json", b'{"b": -1, "c": [null, "\\u00e9"]}'],
        ),
        (LONG + b'{"b": 1}', ["too_long", b'{"b": 1}']),
        (b"x" * 9000 + b'\n{"b": 1}', ["too_long", b'{"b": 1}']),
        (b"[" * 9000 + b'\n{"b": 1}', ["too_long", b'{"b": 1}']),
        (b"[[[[[[]]]]]][]", [b"[[[[[[]]]]]]", b"[]"]),
    ],
)
def test_messages_are_found_in_whatever_pieces_they_come(data: bytes, found: list[Any]) -> None:
    assert framed(data) == found
    assert framed(*(data[at : at + 1] for at in range(len(data)))) == found


def test_an_endless_json_value_uses_bounded_memory() -> None:
    for data in (b"x", b"[", b'"', b'{"', b'{"a":'):
        values = Values()
        for _ in range(50):
            list(values.feed(data * 1000))
            assert sum(map(sys.getsizeof, vars(values).values())) <= 8192


def test_a_cell_is_read_as_it_is_written() -> None:
    for dialect in Dialect:
        wording = Wording(STREAK, dialect)
        for cell in range(100):
            assert wording.read_cell(json.loads(json.dumps(wording.write_cell(cell)))) == cell
    assert Wording(STREAK).write_cell(1) == {"row": "A", "column": 2}
    assert Wording(STREAK, Dialect.XY).write_cell(8) == {"x": 8, "y": 0}


@pytest.mark.parametrize(
    ("body", "code", "dialect"),
    [
        ({"row": "K", "column": 1}, "off_board", Dialect.TEXT),
        ({"row": "A", "column": 0}, "off_board", Dialect.TEXT),
        ({"row": "AA", "column": 1}, "off_board", Dialect.TEXT),
        ({"row": "A", "column": True}, "wrong_shape", None),
        ({"row": 1, "column": 1}, "wrong_shape", None),
        ({"x": 1, "y": 1, "row": "A"}, "wrong_shape", None),
        (None, "wrong_shape", None),
        ({"x": 10, "y": 0}, "off_board", Dialect.XY),
        ({"x": -1, "y": 0}, "off_board", Dialect.XY),
        ({"x": "1", "y": 0}, "wrong_shape", None),
    ],
)
def test_an_invalid_cell_is_refused_and_one_off_the_board_shows_the_dialect(
    body: Any, code: str, dialect: Dialect | None
) -> None:
    for former in Dialect:
        wording = Wording(STREAK, former)
        with pytest.raises(BadBody) as raised:
            wording.read_cell(body)
        assert raised.value.code == code
        assert wording.dialect is (dialect or former)


def test_answers_are_as_the_text_has_them_until_a_program_writes_otherwise() -> None:
    wording = Wording(STREAK)
    refused = json.loads(wording.answer("SHOT", Status.ILLEGAL_ARGUMENTS, "no"))
    assert refused == {"type": "SHOT", "status": 2, "message": "no", "body": None}
    wording.read_cell({"x": 8, "y": 0})
    bodies: dict[str, Any] = {
        "SHOT": "MISS",
        "SHOT_REQUEST": {"x": 0, "y": 0},
        "RESULT": "MISS",
        "BOARD": [],
        "GAME_INVITATION": None,
    }
    for kind, body in bodies.items():
        assert json.loads(wording.answer(kind, Status.ILLEGAL_ARGUMENTS))["body"] == body
    assert json.loads(wording.answer("RESULT"))["body"] is None


def test_a_board_is_read_as_a_list_of_ships_with_their_positions() -> None:
    """As a program of the system sends it after the game; it was told status 2."""
    fleet, xy = STREAK.random_fleet(Random(1)), Wording(STREAK, Dialect.XY)
    ships = [[xy.write_cell(cell) for cell in place.cells(STREAK)] for place in fleet.placements]
    message = {"type": "BOARD", "body": [{"position": ship, "isShipSinking": True} for ship in ships]}
    assert same_ships(xy.read_board(read_request(json.dumps(message)).body), fleet)
    with pytest.raises(BadBody, match="a ship is written as"):
        xy.read_board([{"position": {}}])


GOOD: dict[str, Any] = {
    "four": "B3-B6",
    "three": ["E10-G10", "F3-H3"],
    "two": ["A9-B9", "D7-D8", "I6-I7"],
    "one": ["D2", "D5", "F7", "I9"],
}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"four": "B3-B5"}, "not a ship of 4"),
        ({"four": []}, "a ship of 4 cells is missing"),
        ({"one": ["D2", "D5", "F7", "I9", "J1"]}, "one ship too many of 1 cells: J1"),
        ({"four": "B3-C4"}, "neither a row nor a column"),
        ({"four": "B8-B11"}, "not within the boundaries"),
        ({"four": "four"}, "a ship is written as"),
        ({"seventeen": []}, "ships are listed as"),
        ({"one": ["D2", "D5", "F7", "C2"]}, "too close"),
    ],
)
def test_an_impossible_board_in_json_lines_is_refused(change: dict[str, Any], text: str) -> None:
    wording = Wording(STREAK)
    assert wording.read_board(GOOD)
    with pytest.raises(SalvoError, match=text):
        wording.read_board(GOOD | change)
    with pytest.raises(SalvoError, match="not a two1 in one line"):
        Wording(STREAK, Dialect.XY).read_board([[{"x": 0, "y": 0}, {"x": 2, "y": 0}]])
