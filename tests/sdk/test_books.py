"""The rulesets that ship: their data, their counted positions, and what each makes of a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

from salvo.bots.player import Bot
from salvo.errors import IllegalCommand
from salvo.messages import GameWon, PlayerStats, SalvoResolved
from salvo.rules import (
    BOOKS,
    SALVO,
    SMACKDOWN,
    SPACED,
    STREAK,
    XBS,
    Announce,
    Ending,
    Fleet,
    Grid,
    Order,
    Orientation,
    Placement,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Spacing,
    UnplayableBook,
    generator,
    random_fleet,
)
from salvo.rules.starter import set_starter
from salvo.system import plugins
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table

H, V = Orientation.HORIZONTAL, Orientation.VERTICAL


def test_the_fleets_are_those_of_the_specifications() -> None:
    lengths = {name: [ship.length for ship in book.fleet] for name, book in BOOKS.items()}
    assert lengths == {
        "salvo": [5, 4, 3, 3, 2],
        "smackdown": [5, 4, 3, 3, 2],
        "xbs": [5, 4, 3, 3, 2],
        "streak": [4, 3, 3, 2, 2, 2, 1, 1, 1, 1],
        "alternate": [4, 3, 3, 2, 2, 2, 1, 1, 1, 1],
        "spaced": [5, 4, 3, 2, 2],
        "standard": [5, 4, 3, 3, 2],
        "apart": [5, 4, 3, 3, 2],
        "scattered": [5, 4, 3, 2, 2],
        "pomcp": [6, 5, 4, 3, 2],
    }
    assert {book.grid for book in BOOKS.values()} == {Grid(10, 10)}
    assert (XBS.goal, replace(XBS, goal=1).goal) == (17, 1)


@pytest.mark.parametrize("name", BOOKS)
def test_every_book_is_installed_under_its_name(name: str) -> None:
    assert plugins.load(plugins.RULESETS, name, RuleBook) == BOOKS[name]


# --- counted positions --------------------------------------------------------------------------------------------

Cells = frozenset[tuple[int, int]]


def places(width: int, height: int, length: int) -> Iterator[Cells]:
    """Where a ship may lie, without a word of ours."""
    for x, y in product(range(width), range(height)):
        if x + length <= width:
            yield frozenset((x + step, y) for step in range(length))
        if length > 1 and y + length <= height:
            yield frozenset((x, y + step) for step in range(length))


CLOSE: dict[Spacing, Callable[[int, int], bool]] = {
    Spacing.TOUCH: lambda dx, dy: dx + dy == 0,
    Spacing.NO_COMMON_EDGE: lambda dx, dy: dx + dy <= 1,
    Spacing.APART: lambda dx, dy: max(dx, dy) <= 1,
}


def layouts(width: int, height: int, lengths: Sequence[int], spacing: Spacing) -> Iterator[tuple[Cells, ...]]:
    for ships in product(*(list(places(width, height, length)) for length in lengths)):
        if not any(
            CLOSE[spacing](abs(ax - bx), abs(ay - by))
            for one, other in combinations(ships, 2)
            for (ax, ay), (bx, by) in product(one, other)
        ):
            yield ships


COUNTED = [
    # width, height, lengths, layouts by spacing: touch, no common edge, apart
    (3, 3, (2,), (12, 12, 12)),
    (3, 3, (2, 1), (84, 40, 24)),
    (4, 3, (2, 2), (204, 90, 66)),
    (4, 4, (3, 2), (264, 120, 104)),
    (5, 4, (3, 2, 1), (7650, 1800, 988)),
]


@pytest.mark.long
@pytest.mark.parametrize(("width", "height", "lengths", "counts"), COUNTED)
def test_legal_layouts_are_those_that_brute_force_finds(
    width: int, height: int, lengths: tuple[int, ...], counts: tuple[int, ...]
) -> None:
    for spacing, count in zip(Spacing, counts, strict=True):
        book = replace(SALVO, name="tiny", grid=Grid(width, height), spacing=spacing, fleet=fleet_of(*lengths))
        found = set(layouts(width, height, lengths, spacing))
        ours = set(all_of(book))
        assert ours == found
        assert len(found) == count
        drawn = {cells_of(random_fleet(book, generator(count, number)), book) for number in range(300)}
        assert drawn <= found


def fleet_of(*lengths: int) -> tuple[ShipClass, ...]:
    return tuple(ShipClass(f"ship{number}", length) for number, length in enumerate(lengths))


def cells_of(fleet: Fleet, book: RuleBook) -> tuple[Cells, ...]:
    def cells(place: Placement) -> Cells:
        return frozenset((x - 1, y - 1) for x, y in map(book.grid.xy, place.cells(book)))

    return tuple(cells(place) for place in fleet.placements)


def all_of(book: RuleBook) -> Iterator[tuple[Cells, ...]]:
    """Every fleet that our own check lets pass."""
    grid = book.grid
    for ships in product(
        *(
            [
                Placement(ship.name, x, y, o)
                for o in ((H, V) if ship.length > 1 else (H,))
                for x in range(1, grid.width + 1)
                for y in range(1, grid.height + 1)
                if (x if o is H else y) + ship.length - 1 <= (grid.width if o is H else grid.height)
            ]
            for ship in book.fleet
        )
    ):
        try:
            yield cells_of(Fleet(book, ships), book)
        except IllegalCommand:
            continue


# --- the engine ---------------------------------------------------------------------------------------------------


def tiny(book: RuleBook, *lengths: int) -> RuleBook:
    return replace(book, name="tiny", grid=Grid(4, 4), fleet=fleet_of(*lengths), goal=None)


def test_players_alternate_by_their_names_whoever_comes_first() -> None:
    begun = [
        names[seat]
        for game, names in enumerate([("bob", "Ann"), ("Ann", "bob"), ("Ann", "bob"), ("bob", "Ann")], start=1)
        if (seat := set_starter(SPACED, game, names)) is not None
    ]
    assert begun == ["Ann", "bob", "Ann", "bob"]
    assert set_starter(SALVO, 1, ("a", "b")) is None
    assert set_starter(STREAK, 9, ("b", "a")) == 0
    assert [set_starter(SPACED, game, ("c", "a", "b")) for game in (1, 2, 3, 4)] == [1, 2, 0, 1]


UNPLAYABLE: list[tuple[str, dict[str, Any]]] = [
    ("shots", {"order": Order.STREAK, "shots": Shots.AFLOAT}),
    ("shots", {"order": Order.ROUNDS, "shots": Shots.UNTIL_MISS}),
    ("repeats", {"repeats": Repeats.REFUSED}),
    ("repeats", {"repeats": Repeats.REFUSED, "announce": Announce.CELLS, "order": Order.ROUNDS}),
    ("repeats", {"ending": Ending.GOAL, "shots": Shots.ONE}),
    ("ending", {"ending": Ending.GOAL, "repeats": Repeats.MISS}),
    ("goal", {"goal": 3}),
    ("goal", {"goal": 18, "ending": Ending.GOAL, "shots": Shots.ONE, "repeats": Repeats.MISS}),
    ("goal", {"goal": 0, "ending": Ending.GOAL, "shots": Shots.ONE, "repeats": Repeats.MISS}),
    ("fleet", {"fleet": (ShipClass("Raft", 1),)}),
    ("fleet", {"fleet": (ShipClass("raft", 1), ShipClass("raft", 2))}),
    ("fleet", {"fleet": fleet_of(*[1] * 27)}),
]


@pytest.mark.parametrize(("field", "fields"), UNPLAYABLE, ids=[f"{field} {[*fields]}" for field, fields in UNPLAYABLE])
def test_a_book_that_makes_no_sense_is_refused_with_the_field(field: str, fields: dict[str, Any]) -> None:
    with pytest.raises(UnplayableBook) as raised:
        replace(SALVO, **fields)
    assert raised.value.field == field


# --- bots and views -----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_the_hunter_beats_the_random_bot_by_every_book(book: RuleBook) -> None:
    wins = 0
    for game in range(12):
        seats: dict[str, Bot] = {"h": Hunter(), "r": RandomBot()} if game % 2 else {"r": RandomBot(), "h": Hunter()}
        wins += arena.play(seats, seed="books", game=game, book=book).winner == "h"
    assert wins >= 10


def test_a_view_offers_bots_only_what_they_may_use() -> None:
    offered = {name for name in vars(View) if not name.startswith("_")}
    assert offered == {
        "afloat", "defeated", "fired_this_turn", "incoming", "marks", "opponents", "points", "resolved_turn", "results",
        "salvos", "seconds_left", "ships_afloat", "sunk", "tallies", "turns_known", "winners",
    }  # fmt: skip


def test_the_marks_of_a_board_are_true_where_the_rules_announce_them() -> None:
    for book in (SMACKDOWN, XBS, STREAK, SPACED):
        views: dict[str, View] = {}

        class Spy(RandomBot):
            def choose_salvo(self, view: View, views: dict[str, View] = views) -> Sequence[Shot]:
                views[view.me] = view
                return super().choose_salvo(view)

        fired: dict[tuple[str, str], set[tuple[int, int]]] = {}

        def listen(
            shots: Sequence[Shot], result: SalvoResolved, fired: dict[tuple[str, str], set[tuple[int, int]]] = fired
        ) -> None:
            for player, x, y in shots:
                fired.setdefault((result.player, player), set()).add((x, y))

        outcome = arena.play({name: Spy() for name in "abc"}, seed=4, book=book, listener=listen)
        for me, view in views.items():
            for player in "abc":
                known = view.marks(player)
                shooters = "abc" if player == me or book.announce is Announce.CELLS else me
                assert set(known) == set().union(*(fired.get((shooter, player), set()) for shooter in shooters))
                occupied = {book.grid.xy(cell) for cell in outcome.fleets[player].cells}
                assert known == {cell: cell in occupied for cell in known}
        assert views["a"].winners == outcome.winners


@pytest.mark.parametrize(
    ("book", "players"),
    [*(pytest.param(book, 3, id=name) for name, book in BOOKS.items()), pytest.param(SALVO, 9, id="nine players")],
)
def test_a_game_of_the_arena_is_the_same_at_a_table(book: RuleBook, players: int) -> None:
    """Also with fleets so many and so large that a second for each ship would be more than the time to place them."""
    outcome, _, steps = play_at_table({f"r{seat}": RandomBot() for seat in range(players)}, seed=2, book=book)
    announced = [each for step in steps for each in step.announcements]
    assert {each.player: each for each in announced if isinstance(each, PlayerStats)} == outcome.stats
    [won] = [each for each in announced if isinstance(each, GameWon)]
    assert won.winners == outcome.winners


@pytest.mark.parametrize("grid", [Grid(), Grid(3, 26), Grid(26, 2)], ids=str)
def test_every_cell_name_is_read_back_as_its_cell(grid: Grid) -> None:
    for cell in range(grid.size):
        assert grid.at(grid.name(cell)) == grid.at(grid.name(cell).lower()) == grid.xy(cell)


@pytest.mark.parametrize("name", ["", "B", "3B", "B0", "B03", "B11", "K1", "B³", "B3 ", "Ä1"])
def test_an_invalid_cell_name_is_refused_with_the_range(name: str) -> None:
    with pytest.raises(IllegalCommand, match=r"off_grid: no cell .*; cells are A1 to J10, the row's letter first"):
        Grid().at(name)
