"""What is said in Xterm Boat Sinker's protocol, and at which tables it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from gateways.gateway_hall import NoAccounts
from salvo.rules import BOOKS, XBS, Grid, Repeats, RuleBook, ShipClass, Spacing
from salvo.wire.topics import check_name
from salvo_gateways.errors import GatewayError
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs import door, protocol_text
from salvo_gateways.xbs.name_registry import MAX_REASONS, NameRegistry

NOWHERE = TableWatch("mqtt://127.0.0.1:1", "", NoAccounts())
EXAMPLE = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."


def rows(*lines: str) -> str:
    return "".join(line.replace(" ", "") for line in lines)


def test_every_fleet_is_a_board_and_back() -> None:
    tall = replace(XBS, grid=Grid(7, 9))
    for seed in range(200):
        for book in (XBS, tall):
            fleet = book.random_fleet(Random(seed))
            assert protocol_text.read_board(protocol_text.complete(fleet), book) == fleet


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(EXAMPLE, EXAMPLE[:-1], id="too short"),
        pytest.param(EXAMPLE, EXAMPLE + ".", id="too long"),
        pytest.param("EE", "..", id="a boat is missing"),
        pytest.param("EE", "EF", id="a letter that no boat has"),
        pytest.param("EE", "E.", id="a boat is shorter"),
        pytest.param("..EE", ".EEE", id="a boat is longer"),
        pytest.param("EE.", "E.E", id="a boat has a gap"),
        pytest.param("EE", "ee", id="small letters"),
        pytest.param("CCC..B", "C.C.CB", id="a boat in pieces"),
        pytest.param("........DDD.", "..E.....DDD.", id="a boat twice"),
        pytest.param("......DDD.", "0.....DDD.", id="somebody has shot there"),
        pytest.param("......DDD.", "\u0660.....DDD.", id="no ASCII"),
    ],
)
def test_an_illegal_xbs_board_is_no_fleet(before: str, after: str) -> None:
    assert before in EXAMPLE
    assert protocol_text.read_board(EXAMPLE.replace(before, after, 1), XBS) is None


def test_a_boat_does_not_go_on_in_the_next_row() -> None:
    book = replace(XBS, grid=Grid(3, 3), fleet=(ShipClass("a", 2),), goal=None)
    assert protocol_text.read_board(rows(". . A", "A . .", ". . ."), book) is None
    assert protocol_text.read_board(rows(". . A", ". . A", ". . ."), book) is not None


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        ("G", "G", ()),
        ("K|", "K", ("",)),
        ("S|ann| 3 |4 \t\r", "S", ("ann", "3", "4")),
        ("M||a  b|c", "M", ("", "a  b", "c")),
    ],
)
def test_an_xbs_message_is_its_type_and_its_values(line: str, kind: str, values: tuple[str, ...]) -> None:
    message = protocol_text.read(line)
    assert message is not None
    assert (message.kind, message.values) == (kind, values)
    assert message.value(9) == ""


@pytest.mark.parametrize("line", ["", " ", "|", "g", "GG", "X|1", "hello", "\u0130|x"])
def test_a_line_that_xbs_does_not_have_is_no_message(line: str) -> None:
    assert protocol_text.read(line) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("ann", ""),
        ("dead meat", ""),
        ("Zoe_9", ""),
        ("a", "invalid name"),
        ("", "invalid name"),
        ("9lives", "invalid name"),
        ("\u00c9mile", "invalid name"),
        ("a<b", "invalid name"),
        ("Server", "invalid name"),
        ("you", "invalid name"),
        ("players", "invalid name"),  # a word of the topic tree
        ("bell\x07", "invalid name"),
        ("abcdefghij", ""),
        ("abcdefghijk", "name too long"),
        ("abcdefgh\u00e9", ""),
        ("abcdefghi\u00e9", "name too long"),  # eleven bytes
    ],
)
def test_an_invalid_or_too_long_xbs_player_name_is_refused(name: str, fault: str) -> None:
    assert protocol_text.name_fault(name, 10) == fault


def test_names_that_xbs_cannot_show_are_replaced_by_unique_ones() -> None:
    names = protocol_text.Names(10, "dead_meat", "dead meat")
    players = ("dead_meat", "ann", "the-very-long-one", "the-very-long-two", "7up", "x", "me", "All")
    shown = [names.shown(player) for player in players]
    assert shown == ["dead meat", "ann", "the-very~1", "the-very~2", "x7up~1", "x~1", "me~1", "All~1"]
    assert [names.meant(each) for each in shown] == list(players)
    assert names.meant("dead_meat") == ""


@dataclass
class Client:
    """A client."""

    called: str = ""

    def is_going(self) -> bool:
        return False

    def is_in_lobby(self) -> bool:
        return True

    def taunt(self, kind: str) -> str:
        return kind


def test_stored_reasons_for_leaving_are_bounded_and_cleared_on_return() -> None:
    company = NameRegistry()
    for number in range(MAX_REASONS + 1):
        company.note_reason(f"name{number}", "bored")
    assert company.reason("name0") == ""
    assert company.reason("name1") == "bored"
    assert company.claim("name1", Client())
    assert company.reason("name1") == ""


def test_a_second_name_at_the_table_is_legal_and_each_spelling_has_its_own() -> None:
    longest = "x" * 26  # as wide as the widest board
    seats = [protocol_text.second_seated_name(name) for name in ("wopr", "WOPR", "an ne", "an_ne", longest)]
    assert len({check_name(seat).lower() for seat in seats}) == 5


@pytest.mark.parametrize("book", [book for book in BOOKS.values() if book is not XBS], ids=lambda book: book.name)
def test_a_ruleset_that_xbs_cannot_express_is_refused(book: RuleBook) -> None:
    with pytest.raises(GatewayError, match="xbs needs") as refused:
        door(NOWHERE, book)
    assert refused.value.code == "wrong_rules"


@pytest.mark.parametrize(
    "change",
    [
        {"fleet": (ShipClass("x", 3),), "goal": None},
        {"fleet": (ShipClass("boat", 3),), "goal": None},
        {"fleet": (ShipClass("a", 1),), "goal": None},
        {"spacing": Spacing.APART},
        {"repeats": Repeats.MISS},
        {"skipping": False},
    ],
    ids=str,
)
def test_an_xbs_door_judges_rules_by_what_they_are_and_not_by_name(change: dict[str, Any]) -> None:
    assert door(
        NOWHERE, replace(XBS, name="mine", grid=Grid(8, 12), fleet=(ShipClass("w", 2), ShipClass("a", 8)), goal=3)
    )
    with pytest.raises(GatewayError) as refused:
        door(NOWHERE, replace(XBS, **change))
    assert refused.value.code == "wrong_rules"
