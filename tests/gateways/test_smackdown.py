"""Answers of Code Smackdown's programs, and the names that a gateway gives them."""

from __future__ import annotations

import pytest

from salvo.errors import SalvoError
from salvo.rules import SMACKDOWN, Orientation
from salvo_gateways.smackdown import Names, lines


def test_a_program_is_told_the_sizes_as_the_protocols_text_has_them() -> None:
    """A program that knows the text placed a ship of five where the server took one of two, and lost by forfeit."""
    assert lines.opening(SMACKDOWN) == [
        "|INFO|grid size|10 10|END|",
        "|INFO|num ships|5|END|",
        "|INFO|ship sizes|2|3|3|4|5|END|",
    ]


def test_locations_are_read_in_the_order_of_the_sizes_and_whatever_is_not_h_is_vertical() -> None:
    fleet = lines.read_fleet("|RESPONSE|ship locations|0 0 H|0 1 h|9 7 V| 3  2 X |+4 09 H|END|\r", SMACKDOWN)
    assert [(each.ship, each.x, each.y, each.orientation is Orientation.HORIZONTAL) for each in fleet.placements] == [
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
def test_a_bad_fleet_is_told_from_a_good_one(values: str, code: str) -> None:
    with pytest.raises(SalvoError) as refused:
        lines.read_fleet(f"|RESPONSE|ship locations|{values}|END|", SMACKDOWN)
    assert refused.value.code == code


def test_shots_may_be_fewer_and_off_the_grid() -> None:
    assert lines.read_shots("|RESPONSE|shots|0 0|-1 10|END|", 5) == [(0, 0), (-1, 10)]


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
def test_an_unreadable_salvo_is_told_from_a_good_one(line: str, code: str) -> None:
    with pytest.raises(lines.Unreadable) as refused:
        lines.read_shots(line, 2)
    assert refused.value.code == code
    assert len(refused.value.text) < 250


def _here() -> bool:
    return False


def test_names_are_given_in_order_and_one_that_lost_its_program_goes_first() -> None:
    names = Names(["ann", "bob", "cat"], children=["dot"])
    assert [names.take(_here), names.take(_here)] == ["ann", "bob"]
    names.give_back("bob", lost_in=3)
    assert names.waits_for_end_of("bob", 3)
    names.give_back("ann")
    assert [names.take(_here), names.take(_here), names.take(_here), names.take(_here)] == ["bob", "ann", "cat", None]
    assert names.take_child("dot") == "dot"
    assert names.take_child("dot") is None
    names.has_ended("bob", "won game")
    assert not names.waits_for_end_of("bob", 3)
    assert (names.games_of("bob"), names.record_of("bob")) == (1, "won game 1")


def test_nobody_gets_another_name_while_one_is_about_to_be_free() -> None:
    names = Names()
    assert names.take(lambda: True) == "guest-1"
    assert names.take(_here) is None
    names.give_back("guest-1", lost_in=1)
    assert [names.take(_here), names.take(_here)] == ["guest-1", "guest-2"]


def test_a_number_that_somebody_else_brought_is_passed_over() -> None:
    names = Names()
    assert names.take(_here) == "guest-1"
    assert names.is_not_ours("guest-1")
    assert names.take(_here) == "guest-2"
    assert not Names(["ann"]).is_not_ours("ann")


def test_fleets_are_placed_in_the_order_of_the_names() -> None:
    names = Names()
    names.take(_here), names.take(_here)
    assert names.may_place("guest-1")
    assert not names.may_place("guest-2")
    names.has_placed("guest-1")
    assert names.may_place("guest-2")
    names.has_placed("guest-1", placed=False)
    names.give_back("guest-1")
    assert names.may_place("guest-2")
