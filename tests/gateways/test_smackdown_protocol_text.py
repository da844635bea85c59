"""Answers of Code Smackdown's programs."""

from __future__ import annotations

import pytest

from salvo.errors import SalvoError
from salvo.rules import SMACKDOWN, Orientation
from salvo_gateways.smackdown import protocol_text


def test_a_smackdown_program_receives_ship_sizes_in_the_specified_order() -> None:
    """A program that knows the text placed a ship of five where the server took one of two, and lost by forfeit."""
    assert protocol_text.opening(SMACKDOWN) == [
        "|INFO|grid size|10 10|END|",
        "|INFO|num ships|5|END|",
        "|INFO|ship sizes|2|3|3|4|5|END|",
    ]


def test_locations_are_read_in_the_order_of_the_sizes_and_whatever_is_not_h_is_vertical() -> None:
    fleet = protocol_text.read_fleet("|RESPONSE|ship locations|0 0 H|0 1 h|9 7 V| 3  2 X |+4 09 H|END|\r", SMACKDOWN)
    assert [
        (place.ship, place.x, place.y, place.orientation is Orientation.HORIZONTAL) for place in fleet.placements
    ] == [
        ("carrier", 5, 10, True),
        ("battleship", 4, 3, False),
        ("destroyer", 1, 2, False),
        ("submarine", 10, 8, False),
        ("patrolboat", 1, 1, True),
    ]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ("0 0 H|0 1 H|0 2 H|0 3 H", "wrong_number"),
        ("0 0 H|0 1 H|0 2 H|0 3 H|0 4 H|0 5 H", "wrong_number"),
        ("0 0 H|0 1 H|0 2 H|0 3 H|0 4", "not_a_location"),
        ("0 0 H|0 1 H|0 2 H|0 3 H|a 4 H", "not_a_location"),
        ("0 0 H|0 1 H|0 2 H|0 3 H|\u0661 4 H", "not_a_location"),
        ("0 0 H|0 0 V|0 5 H|0 6 H|0 7 H", "overlap"),
        ("9 0 H|0 1 H|0 2 H|0 3 H|0 4 H", "off_grid"),
        ("0 0 H|0 1 H|0 2 H|0 3 H|6 4 H", "off_grid"),
        ("-1 0 H|0 1 H|0 2 H|0 3 H|0 4 H", "off_grid"),
    ],
)
def test_a_bad_smackdown_fleet_is_refused_by_its_code(values: str, code: str) -> None:
    with pytest.raises(SalvoError) as refused:
        protocol_text.read_fleet(f"|RESPONSE|ship locations|{values}|END|", SMACKDOWN)
    assert refused.value.code == code


def test_shots_may_be_fewer_and_off_the_grid() -> None:
    assert protocol_text.read_shots("|RESPONSE|shots|0 0|-1 10|END|", 5) == [(0, 0), (-1, 10)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("|RESPONSE|shots|END|", "wrong_number"),
        ("|RESPONSE|shots|0 0|0 1|0 2|END|", "wrong_number"),
        ("|RESPONSE|shots||END|", "not_a_cell"),
        ("|RESPONSE|shots|0;0|END|", "not_a_cell"),
        ("|RESPONSE|shots|0 0 H|END|", "not_a_cell"),
        ("|RESPONSE|shots|" + "9" * 5000 + " 0|END|", "not_a_cell"),
        ("|RESPONSE|shots|0 0|END", "not_an_answer"),
        ("RESPONSE|shots|0 0|END|", "not_an_answer"),
        ("|RESPONSE|shots|0 0|END||RESPONSE|shots|0 1|END|", "not_a_cell"),
        ("|RESPONSE|ship locations|0 0|END|", "not_an_answer"),
        ("|INFO|shots|0 0|END|", "not_an_answer"),
        ("hello", "not_an_answer"),
    ],
)
def test_an_unreadable_smackdown_salvo_is_refused_by_its_code(line: str, code: str) -> None:
    with pytest.raises(protocol_text.UnreadableAnswer) as refused:
        protocol_text.read_shots(line, 2)
    assert refused.value.code == code
    assert len(refused.value.text) < 250
