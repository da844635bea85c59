"""Rulesets of one's own: what a file may say, and what it is told when it says something else."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from salvo.rules import BOOKS, STREAK, Grid, Order, ShipClass, Spacing
from salvo.rules.files import RuleFileError, load_book
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

WHOLE = """\
name = "pond"
width = 6
height = 5
spacing = "apart"
shots = "one"
order = "streak"
announce = "cells"
ending = "last_afloat"
starter = "first"
targets = "others"
repeats = "refused"
reveal = true

[fleet]
cruiser = 3
raft = 1
"""


def file(folder: Path, text: str) -> str:
    path = folder / "pond.toml"
    path.write_text(text)
    return str(path)


def test_a_complete_rule_file_needs_no_base_book(tmp_path: Path) -> None:
    book = load_book(file(tmp_path, WHOLE))
    assert (book.name, book.grid, book.fleet) == ("pond", Grid(6, 5), (ShipClass("cruiser", 3), ShipClass("raft", 1)))
    assert (book.order, book.spacing, book.reveal) == (Order.STREAK, Spacing.APART, True)
    assert arena.play({"a": RandomBot(), "b": RandomBot()}, book=book).winners


def test_values_missing_in_a_rule_file_come_from_its_base_book(tmp_path: Path) -> None:
    book = load_book(file(tmp_path, 'name = "wide"\nlike = "streak"\nwidth = 12\n'))
    assert (book.name, book.grid) == ("wide", Grid(12, 10))
    assert replace(book, name="streak", grid=STREAK.grid) == STREAK


def test_a_name_is_a_book_that_ships() -> None:
    with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as project:
        assert tomllib.load(project)["project"]["entry-points"]["salvo.rulesets"].keys() == BOOKS.keys()
    assert [load_book(name) for name in BOOKS] == list(BOOKS.values())


WRONG = [
    ("spacng = 'apart'", "line 1: 'spacng' is not a key of a ruleset; did you mean spacing?"),
    ("name = 'p'\n\nspacing = 'aprt'", "line 3: spacing is 'aprt'; did you mean apart?"),
    ("order = 'zzz'", "line 1: order is 'zzz'; use one of rotation, streak, rounds"),
    ("name = 'p'\nlike = 'slavo'", "line 2: like is 'slavo'; did you mean salvo?"),
    ("width = '8'", "line 1: width is '8'; it is an integer"),
    ("width = true", "line 1: width is True; it is an integer"),
    ("reveal = 1", "line 1: reveal is 1; it is true or false"),
    ("name = 'salvo'", "line 1: name is 'salvo'; it is 1..32 of a-z 0-9 _ -, and not alternate, apart, pomcp, salvo"),
    ("name = 'Big Pond'", "line 1: name is 'Big Pond'"),
    ("shots = 'until_miss'", "line 1: shots is 'until_miss', which is for old records; write shots = 'one'"),
    ("name = 'p'\nlike = 'salvo'\nwidth = 27", "line 3: a grid is 1..26 cells wide and high, not 27 x 10"),
    ("name = 'p'\nlike = 'salvo'\nheight = 0", "line 3: a grid is 1..26 cells wide and high, not 10 x 0"),
    ("name = 'p'\nlike = 'salvo'\n[fleet]\nraft = '2'", "line 4: raft is '2'; give its length, an integer"),
    ("name = 'p'\nlike = 'salvo'\n[fleet]\nRaft = 2", "line 3: 'Raft' is not a ship's name: 1..32 of a-z 0-9"),
    ("name = 'p'\nlike = 'salvo'\n[fleet]\nraft = 11", "line 3: raft is 11 cells long, 1..10 fit"),
    ("name = 'p'\nlike = 'salvo'\ngoal = 3", "line 3: a goal belongs to ending goal; the ending is last_afloat"),
    ("name = 'p'\nlike = 'xbs'\ngoal = 18", "line 3: the goal is 18; a fleet has 1..17 cells"),
    ("name = 'p'\nlike = 'xbs'\nrepeats = 'hit'", "line 3: with ending goal, a cell must not count twice"),
    (
        "name = 'p'\nlike = 'salvo'\nwidth = 3\nheight = 3\nfleet = {a = 3, b = 3, c = 3, d = 1}",
        "line 5: a fleet of 10 cells; the grid has 9",
    ),
    (
        "name = 'p'\nlike = 'salvo'\nwidth = 3\nheight = 3\nfleet = {a = 3, b = 3, c = 1}\nspacing = 'apart'",
        "line 5: too crowded: 3 ships, apart, on 3 x 3 cells; of 20,000 fleets drawn at random none fitted",
    ),
    (  # these fit exactly, side by side
        "name = 'p'\nlike = 'salvo'\n[fleet]\n" + "\n".join(f"s{number} = 5" for number in range(20)),
        "line 3: too crowded: 20 ships, touch, on 10 x 10 cells; of 20,000 fleets drawn at random none fitted",
    ),
    (
        "width = 3\nheight = 3",
        "fleet is missing; write it, or like = NAME to take it from a book: alternate, apart, pomcp, salvo",
    ),
    ("like = 'salvo'", "name is missing"),
    ("name = 'p'\nname = 'q'", "Cannot overwrite a value"),
    ("name = p", "line 1"),
]


@pytest.mark.parametrize(("text", "error"), WRONG, ids=[error[:40] for _, error in WRONG])
def test_a_mistake_in_a_rule_file_is_refused_with_file_line_and_remedy(text: str, error: str, tmp_path: Path) -> None:
    where = file(tmp_path, text)
    with pytest.raises(RuleFileError) as raised:
        load_book(where)
    assert raised.value.code == "bad_rules"
    assert where in raised.value.text
    assert error in raised.value.text
