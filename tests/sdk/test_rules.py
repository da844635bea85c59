"""Rulesets, fleets and the engine, on boards small enough to see."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcement_writer import write_announcement
from salvo.errors import IllegalCommand, WireError
from salvo.rules import (
    SALVO,
    Announce,
    Ending,
    Fleet,
    Grid,
    Order,
    Orientation,
    Placement,
    RuleBook,
    ShipClass,
    Shots,
    Spacing,
    Starter,
    check_placement,
    generator,
    random_fleet,
    sample,
)
from salvo.rules import fleet as drawing
from salvo.rules.fleet import _drawn_mask, fleet_ship_by_ship
from salvo.rules.game import Game
from salvo.rules.starter import draw_fair_starter, draw_starter
from salvo.wire import topics
from salvo_lab.testing import draw

H, V = Orientation.HORIZONTAL, Orientation.VERTICAL


def tiny(
    *lengths: int,
    width: int = 4,
    height: int = 3,
    spacing: Spacing = Spacing.TOUCH,
    shots: Shots = Shots.AFLOAT,
    announce: Announce = Announce.COUNT,
    starter: Starter = Starter.RANDOM,
) -> RuleBook:
    fleet = tuple(ShipClass(f"ship{number}", length) for number, length in enumerate(lengths))
    return RuleBook(
        "tiny", Grid(width, height), fleet, spacing, shots, Order.ROTATION, announce, Ending.LAST_AFLOAT, starter
    )


def fleet(book: RuleBook, *places: tuple[int, int, Orientation]) -> Fleet:
    return Fleet(book, [Placement(ship.name, *place) for ship, place in zip(book.fleet, places, strict=True)])


def all_fleets(book: RuleBook) -> int:
    """How many legal layouts a book has, by brute force."""
    places = [
        [
            Placement(ship.name, x, y, o)
            for x, y, o in product(range(1, 9), range(1, 9), [H, V] if ship.length > 1 else [H])
        ]
        for ship in book.fleet
    ]
    count = 0
    for layout in product(*places):
        try:
            Fleet(book, layout)
        except IllegalCommand:
            continue
        count += 1
    return count


# --- fleets -------------------------------------------------------------------------------------------------------


def test_random_fleets_are_drawn_evenly_from_all_layouts() -> None:
    book = tiny(2, 1, width=3, height=2)
    random = generator("even")
    seen: dict[bytes, int] = {}
    draws = 5600
    for _ in range(draws):
        drawn = random_fleet(book, random).board
        seen[drawn] = seen.get(drawn, 0) + 1
    layouts = all_fleets(book)
    assert len(seen) == layouts == 28
    assert all(abs(times - draws / layouts) < 5 * (draws / layouts) ** 0.5 for times in seen.values())


def test_a_fleet_drawn_ship_by_ship_has_the_longest_ship_evenly_everywhere() -> None:
    """Of its three places on four cells in a row, the middle one is rarer if the ship of one cell is drawn first."""
    book = tiny(1, 2, width=4, height=1)
    random, draws = generator("ship by ship"), 3000
    middle = sum(fleet_ship_by_ship(book, random).placements[1].x == 2 for _ in range(draws))
    assert abs(middle - draws / 3) < 5 * (draws / 3) ** 0.5


def test_a_cell_has_both_numbers_within_the_grid() -> None:
    grid = Grid(3, 2)
    assert [grid.cell(*grid.xy(cell)) for cell in range(grid.size)] == list(range(6))
    for x, y in ((0, 1), (4, 1), (1, 0), (1, 3)):
        with pytest.raises(IllegalCommand, match="off_grid"):
            grid.cell(x, y)


@pytest.mark.parametrize(
    ("place", "anchors"), [((3, 1, H), "x 1..2, y 1..3"), ((4, 2, V), "x 1..4, y 1..1")], ids=["across", "down"]
)
def test_a_ship_that_leaves_the_grid_is_refused_with_where_its_anchor_may_be(
    place: tuple[int, int, Orientation], anchors: str
) -> None:
    with pytest.raises(IllegalCommand, match=f"off_grid: ship0 at .* leaves the grid; its anchor may be {anchors}$"):
        fleet(tiny(3), place)


@pytest.mark.parametrize("spacing", list(Spacing))
@pytest.mark.parametrize(("width", "height", "length"), [(4, 3, 1), (4, 3, 3), (3, 4, 4), (2, 5, 2), (1, 1, 1)])
def test_ship_places_and_the_cells_that_spacing_forbids_match_a_count_by_cell(
    spacing: Spacing, width: int, height: int, length: int
) -> None:
    book = tiny(length, width=width, height=height, spacing=spacing)
    grid, [choices] = book.grid, book.choices
    drawn = [_drawn_mask(grid, length, (number + 0.5) / len(choices)) for number in range(len(choices))]
    assert drawn == [mask for _, _, mask, _ in choices], "the quick look for room draws the same ships"
    assert len({place for place, *_ in choices}) == len(choices)
    distance = {Spacing.TOUCH: 0, Spacing.NO_COMMON_EDGE: 1, Spacing.APART: 2}[spacing]
    for place, cells, mask, forbidden in choices:
        assert cells == place.cells(book)
        assert {cell for cell in range(grid.size) if mask >> cell & 1} == set(cells)
        for cell in range(grid.size + 1):
            near = [
                (abs(x - u), abs(y - v)) for u, v in map(grid.xy, cells) for x, y in [grid.xy(cell)] if cell < grid.size
            ]
            too_close = any(max(step) <= 1 and sum(step) <= distance for step in near)
            assert (forbidden >> cell & 1) == too_close


@pytest.mark.parametrize(
    "book",
    [
        tiny(3, 3, 3, 3, width=3, height=4, spacing=Spacing.NO_COMMON_EDGE),
        tiny(*[1] * 26, width=26, height=2, spacing=Spacing.APART),
        tiny(*[5] * 20, width=10, height=10),
        tiny(26, *[2] * 25, width=26, height=3),
    ],
)
def test_rules_without_a_possible_fleet_are_refused_when_received(
    book: RuleBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's noise on an open broker: the bot tried 100,000 times and then ended with a ValueError."""
    [rules] = write_announcement(m.RulesAnnounced(book, "", 60, 30, 300, 3))
    drawn = Counter[str]()
    draw_mask = drawing._drawn_mask

    def counted(*given: Any) -> int:
        drawn["ships"] += 1
        return draw_mask(*given)

    monkeypatch.setattr(drawing, "_drawn_mask", counted)
    with pytest.raises(WireError, match=r"wrong_shape: rules this SDK cannot play: ruleset tiny: none of 20000 fleets"):
        read_announcement(topics.parse(rules.topic), rules.payload)
    assert drawn["ships"] <= 20_000 * len(book.fleet)  # a bit mask each


def test_the_same_seed_draws_the_same_fleet_for_ever() -> None:
    assert draw(random_fleet(SALVO, generator(7, "example"))) == GOLDEN_FLEET


GOLDEN_FLEET = """\
  1 2 3 4 5 6 7 8 9 10
A . S S S . . . . . .
B . . . . . A . . . .
C . P . B . A . . . .
D . P . B . A . . . .
E . . . B . A D D D .
F . . . B . A . . . .
G . . . . . . . . . .
H . . . . . . . . . .
I . . . . . . . . . .
J . . . . . . . . . ."""


def test_ships_may_touch_and_never_overlap() -> None:
    carrier = Placement("carrier", 1, 1, H)
    check_placement(SALVO, Placement("battleship", 1, 2, H), [carrier])
    with pytest.raises(IllegalCommand, match="overlap: battleship overlaps carrier at A5"):
        check_placement(SALVO, Placement("battleship", 5, 1, V), [carrier])


# --- the engine ---------------------------------------------------------------------------------------------------


def test_play_goes_on_where_one_salvo_brings_down_its_own_player_and_the_next() -> None:
    book = tiny(1, 1)
    game = Game(book, [fleet(book, (1, 1, H), (2, 1, H))] * 5, starter=4)
    game.fire_salvo([(0, 0), (4, 0)])
    game.fire_salvo([(4, 1), (0, 1)])  # seat 0 sinks the last one, then itself
    assert (game.fallen, game.current) == ([4, 0], 1)
    assert game.places() == [4, 1, 1, 1, 5]
    order = []
    for _ in range(4):
        order.append(game.current)
        game.fire_salvo([(2, 5)])
    assert order == [1, 2, 3, 1]


def test_a_player_that_leaves_in_the_turn_of_another_falls_in_that_turn() -> None:
    book = tiny(1)
    game = Game(book, [fleet(book, (1, 1, H))] * 3, starter=0)
    game.defeat(2)
    game.fire_salvo([(1, 11)])
    assert [salvo.defeated for salvo in game.salvos] == [(2,)]
    game.fire_salvo([(0, 11)])
    assert [salvo.defeated for salvo in game.salvos] == [(2,), ()]
    assert game.current == 0


def test_a_hit_grants_another_shot_when_the_rules_grant_it() -> None:
    book = tiny(2, shots=Shots.UNTIL_MISS)
    game = Game(book, [fleet(book, (1, 1, H))] * 2, starter=0)
    game.fire([(1, 0)])
    assert game.shots_left == 1
    game.fire([(1, 11)])
    assert game.shots_left == 0


def test_the_starter_is_drawn_evenly_and_always_the_same_for_a_seed() -> None:
    drawn = [draw_starter(SALVO, 7, "", game, 4) for game in range(1, 4001)]
    assert drawn[:12] == GOLDEN_STARTERS
    assert all(850 < drawn.count(seat) < 1150 for seat in range(4))
    assert draw_starter(tiny(1, starter=Starter.FIRST), 7, "", 1, 4) == 0


def test_a_fair_starter_is_drawn_from_the_secret_and_every_message() -> None:
    """Verifiers in other languages draw the same: SALVO-LOG-8."""
    messages = [b"one".ljust(16), b"two".ljust(16)]
    assert draw_fair_starter(SALVO, bytes(32), messages, 10**9) == 215340735
    for others in (messages[::-1], messages[:1]):
        assert draw_fair_starter(SALVO, bytes(32), others, 10**9) != 215340735
    assert draw_fair_starter(tiny(1, starter=Starter.FIRST), bytes(32), messages, 10**9) == 0


GOLDEN_STARTERS = [3, 1, 1, 2, 0, 2, 3, 3, 3, 2, 3, 3]


def test_a_sample_has_no_doubles_and_every_order_is_as_likely() -> None:
    random = generator("sample")
    seen = [tuple(sample(random, "abc", 2)) for _ in range(3000)]
    assert len(set(seen)) == 6
    assert all(400 < seen.count(pair) < 600 for pair in set(seen))
    assert sorted(sample(random, range(3), 9)) == [0, 1, 2]
