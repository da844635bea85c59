"""A fleet put together by hand, click by click."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from salvo.errors import IllegalCommand
from salvo.rules import BOOKS, Fleet, Orientation, Placement, RuleBook, check_placement
from salvo_display.boards.marks import Mark
from salvo_lab.human.setup import Setup

SPACED = BOOKS["spaced"]


def _cell(name: str, book: RuleBook = SPACED) -> int:
    return book.grid.cell(int(name[1:]), ord(name[0]) - ord("A") + 1)


def _names(cells: object, book: RuleBook = SPACED) -> list[str]:
    return [book.grid.name(cell) for cell in sorted(cells)]  # type: ignore[call-overload]


def _place(setup: Setup, ship: str, *ends: str) -> str:
    setup.choose(ship)
    return [setup.click(_cell(end, setup.book)) for end in ends][-1]


def _delete(setup: Setup, cell: str) -> str:
    setup.delete()
    return setup.click(_cell(cell, setup.book))


def test_choosing_one_end_of_a_ship_offers_its_possible_other_ends() -> None:
    """A cruiser from D8 among ships elsewhere may end at D6, D10, B8 and F8; with a ship in column 10, not at D10."""
    setup = Setup(SPACED)
    setup.choose("cruiser")
    assert setup.click(_cell("D8")) == "Cruiser: one end is D8; choose the other one"
    assert _names(setup.offered) == ["B8", "D6", "D10", "F8"]
    assert _place(setup, "aircraftcarrier", "A10", "E10") == "Aircraft carrier placed at A10-E10"
    setup.choose("cruiser")
    setup.click(_cell("D8"))
    assert _names(setup.offered) == ["B8", "D6", "F8"]
    assert (setup.marks[_cell("D8")], setup.marks[_cell("D6")]) == (Mark.SHIP, Mark.OFFERED)
    assert setup.click(_cell("D6")) == "Cruiser placed at D6-D8"
    assert [setup.marks[_cell(name)] for name in ("D6", "D7", "D8")] == [Mark.SHIP] * 3
    assert Mark.OFFERED not in setup.marks
    assert setup.missing == ("battleship", "submarine1", "submarine2")


def test_a_square_without_a_possible_ship_is_refused_and_the_choice_restarts() -> None:
    setup = Setup(SPACED)
    _place(setup, "aircraftcarrier", "A1", "A5")
    before = setup.marks
    setup.choose("cruiser")
    with pytest.raises(IllegalCommand, match="too close"):
        setup.click(_cell("B3"))
    assert _names(setup.offered) == []
    setup.click(_cell("H8"))
    assert setup.click(_cell("J10")) == "Cruiser: one end is J10; choose the other one"
    assert _names(setup.offered) == ["H10", "J8"]
    setup.cancel()
    assert setup.marks == before
    assert "cruiser" in setup.missing


@pytest.mark.long
@pytest.mark.parametrize("book", BOOKS.values(), ids=list(BOOKS))
def test_the_rest_of_a_fleet_is_placed_at_random_beside_the_ships_placed(book: RuleBook) -> None:
    setup = Setup(book)
    first = book.fleet[0]
    _place(setup, first.name, "E3", f"E{2 + first.length}")
    with pytest.raises(IllegalCommand, match="fleet_incomplete"):
        setup.fleet()
    for seed in range(4):
        setup.placed = {first.name: setup.placed[first.name]}
        assert setup.fill(Random(seed)) == "the rest placed at random"
        fleet = setup.fleet()
        assert isinstance(fleet, Fleet)  # which has looked at every rule
        assert Placement(first.name, 3, 5, Orientation.HORIZONTAL) in fleet.placements


def test_a_ship_that_is_dragged_goes_where_it_fits_and_stays_where_it_was_otherwise() -> None:
    setup = Setup(SPACED)
    assert setup.put("cruiser", 1, 1, Orientation.HORIZONTAL) == "Cruiser placed at A1-A3"
    assert setup.put("cruiser", 2, 1, Orientation.HORIZONTAL) == "Cruiser placed at A2-A4"  # over where it was
    setup.put("battleship", 1, 10, Orientation.HORIZONTAL)
    before = dict(setup.placed)
    for x, y, code in ((9, 1, "off_grid"), (2, 10, "overlap"), (2, 9, "too_close")):
        with pytest.raises(IllegalCommand) as refused:
            setup.put("cruiser", x, y, Orientation.HORIZONTAL)
        assert refused.value.code == code
        assert setup.placed == before


def test_every_change_of_a_fleet_is_taken_back_the_latest_first() -> None:
    setup = Setup(SPACED)
    assert not setup.can_undo
    assert setup.undo() == "nothing to take back"
    stood = [dict(setup.placed)]
    changes: list[Callable[[], str]] = [
        lambda: _place(setup, "cruiser", "D8", "D6"),
        lambda: setup.put("cruiser", 1, 1, Orientation.VERTICAL),
        lambda: setup.fill(Random(1)),
        lambda: _delete(setup, "A1"),
        lambda: setup.fill(Random(2)),
    ]
    for change in changes:
        change()
        stood.append(dict(setup.placed))
    for fleet in reversed(stood[:-1]):
        assert setup.undo() == "taken back"
        assert setup.placed == fleet
    assert not setup.can_undo


@pytest.mark.parametrize("book", BOOKS.values(), ids=str)
def test_the_room_shown_for_a_ship_is_exactly_where_it_may_be_placed(book: RuleBook) -> None:
    setup = Setup(book)
    setup.fill(Random(3))
    ship = book.fleet[1]
    room = setup.room(ship.name)
    others = [placement for name, placement in setup.placed.items() if name != ship.name]
    for cell in range(book.grid.size):
        for orientation in Orientation:
            placement = Placement(ship.name, *book.grid.xy(cell), orientation)
            try:
                fits = all(room[part] for part in placement.cells(book))
            except IllegalCommand:
                continue  # off the grid
            try:
                check_placement(book, placement, others)
            except IllegalCommand:
                assert not fits
            else:
                assert fits
