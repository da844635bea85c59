"""What is said in Xterm Boat Sinker's protocol, and at which tables it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from gateways.gateway_hall import NoAccounts
from salvo.rules import BOOKS, XBS, Grid, Repeats, RuleBook, ShipClass, Spacing
from salvo.topics import check_name
from salvo_gateways.errors import GatewayError
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs import door, protocol_text
from salvo_gateways.xbs.name_registry import MAX_REASONS, NameRegistry

NOWHERE = TableWatch("mqtt://127.0.0.1:1", "", NoAccounts())
EXAMPLE = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."


def rows(*lines: str) -> str:
    return "".join(line.replace(" ", "") for line in lines)


def test_the_texts_example_of_a_board_is_a_fleet_and_back() -> None:
    fleet = protocol_text.read_board(EXAMPLE, XBS)
    assert fleet is not None
    assert protocol_text.complete(fleet) == EXAMPLE


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
def test_an_illegal_board_is_none(before: str, after: str) -> None:
    assert before in EXAMPLE
    assert protocol_text.read_board(EXAMPLE.replace(before, after, 1), XBS) is None


def test_a_boat_does_not_go_on_in_the_next_row() -> None:
    book = replace(XBS, grid=Grid(3, 3), fleet=(ShipClass("a", 2),), goal=None)
    assert protocol_text.read_board(rows(". . A", "A . .", ". . ."), book) is None
    assert protocol_text.read_board(rows(". . A", ". . A", ". . ."), book) is not None


def test_a_board_shows_its_owner_boats_in_capitals_and_others_what_was_shot_at() -> None:
    book = replace(XBS, grid=Grid(3, 2), fleet=(ShipClass("q", 2),), goal=None)
    fleet = protocol_text.read_board(rows(". Q Q", ". . ."), book)
    assert fleet is not None
    assert protocol_text.complete(fleet, [(2, 1), (1, 2)]) == rows(". Q Q", "0 . .")
    assert protocol_text.masked({(2, 1): True, (1, 2): False}, book.grid) == rows(". X .", "0 . .")
    assert protocol_text.square(2, 1) == "b1"


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        ("G", "G", ()),
        ("K|", "K", ("",)),
        ("S|ann| 3 |4 \t\r", "S", ("ann", "3", "4")),
        ("M||a  b|c", "M", ("", "a  b", "c")),
    ],
)
def test_a_message_is_its_type_and_its_values(line: str, kind: str, values: tuple[str, ...]) -> None:
    said = protocol_text.read(line)
    assert said is not None
    assert (said.kind, said.values) == (kind, values)
    assert said.value(9) == ""


@pytest.mark.parametrize("line", ["", " ", "|", "g", "GG", "X|1", "hello", "\u0130|x"])
def test_anything_else_is_no_message(line: str) -> None:
    assert protocol_text.read(line) is None


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("07", 7), ("-1", 0), ("1e2", 0), ("", 0), ("\u0667", 0)])
def test_a_number_is_plain_digits(text: str, number: int) -> None:
    said = protocol_text.read(f"S|ann|{text}")
    assert said is not None
    assert said.number(2) == number


def test_no_length_of_digits_costs_time() -> None:
    said = protocol_text.read("S|ann|" + "9" * 4000)
    assert said is not None
    assert said.number(2) == 0


def test_a_text_from_elsewhere_is_one_value() -> None:
    assert protocol_text.speakable(" a|b\x1b[2J\u2028c ") == "a/b [2J c"


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
def test_a_name_is_the_systems_and_fits_the_board(name: str, fault: str) -> None:
    assert protocol_text.name_fault(name, 10) == fault


def test_other_names_are_shown_so_that_each_means_one_player() -> None:
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

    def taunt(self, kind: str) -> str:
        return kind


def test_a_name_is_had_by_one_client_at_a_time() -> None:
    company, ann = NameRegistry(), Client("ann o'neill")
    assert company.claim("ann_o_neill", ann)
    assert not company.claim("ann_o_neill", Client("ann_o_neill"))
    assert company.member("ann_o_neill") is ann
    company.leave("ann_o_neill", 3)
    assert company.member("ann_o_neill") is None
    assert company.is_missing("ann_o_neill", 3)
    assert company.called("ann_o_neill") == "ann o'neill"
    assert not company.is_missing("ann_o_neill", 4)
    assert not company.is_missing("bob", 3)
    assert company.claim("ann_o_neill", ann)
    assert not company.is_missing("ann_o_neill", 3)
    company.leave("ann_o_neill", 0)
    assert company.called("ann_o_neill") == ""


def test_reasons_for_leaving_are_kept_for_a_while_and_bounded() -> None:
    company = NameRegistry()
    for number in range(MAX_REASONS + 1):
        company.note_reason(f"name{number}", "bored")
    assert company.reason("name0") == ""
    assert company.reason("name1") == "bored"
    assert company.claim("name1", Client())
    assert company.reason("name1") == ""


def test_a_reason_for_skipping_belongs_to_one_turn_of_a_player_that_is_here_or_missing() -> None:
    company = NameRegistry()
    for name in ("ann", "bob"):
        assert company.claim(name, Client())
        company.note_skip(name, 3, "thinking")
    assert [company.skip_reason("ann", turn) for turn in (2, 3, 4)] == ["", "thinking", ""]
    company.leave("bob", 0)
    company.leave("ann", 1)
    assert [company.skip_reason(name, 3) for name in ("ann", "bob")] == ["thinking", ""]
    assert company.claim("ann", Client())
    assert company.skip_reason("ann", 3) == ""


def test_a_second_name_at_the_table_is_legal_and_each_spelling_has_its_own() -> None:
    longest = "x" * 26  # as wide as the widest board
    seats = [protocol_text.second_seated_name(name) for name in ("wopr", "WOPR", "an ne", "an_ne", longest)]
    assert len({check_name(seat).lower() for seat in seats}) == 5


def test_a_name_that_is_forgotten_may_be_shown_otherwise() -> None:
    called = {"an_ne": "an ne"}
    names = protocol_text.Names(10, "bob", "bob", lambda name: called.get(name, ""))
    assert names.shown("an_ne") == "an ne"
    called["an_ne"] = "an_ne"
    assert names.shown("an_ne") == "an ne"
    names.forget("an_ne")
    assert names.meant("an ne") == ""
    assert names.shown("an_ne") == "an_ne"


@pytest.mark.parametrize("book", [book for book in BOOKS.values() if book is not XBS], ids=lambda book: book.name)
def test_other_rules_cannot_be_told(book: RuleBook) -> None:
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
def test_rules_are_judged_by_what_they_are(change: dict[str, Any]) -> None:
    assert door(
        NOWHERE, replace(XBS, name="mine", grid=Grid(8, 12), fleet=(ShipClass("w", 2), ShipClass("a", 8)), goal=3)
    )
    with pytest.raises(GatewayError) as refused:
        door(NOWHERE, replace(XBS, **change))
    assert refused.value.code == "wrong_rules"


@pytest.mark.parametrize("title", ["", "a|b", "a\nb", " a"])
def test_a_title_is_one_value(title: str) -> None:
    with pytest.raises(GatewayError) as refused:
        door(NOWHERE, XBS, title=title)
    assert refused.value.code == "bad_title"


def test_a_game_takes_two_players_at_least() -> None:
    with pytest.raises(GatewayError) as refused:
        door(NOWHERE, XBS, most=1)
    assert refused.value.code == "bad_players"
