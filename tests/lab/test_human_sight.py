"""What a person is shown of a view, and told in words."""

from __future__ import annotations

import pytest

from kit.person import view_of
from salvo.messages import SalvoResolved, SunkShip
from salvo.view import Feed, Shot, View
from salvo_display.boards.marks import Mark
from salvo_lab.human.snapshot import SUNK, Snapshot, incoming_words, result_words


def _resolved(player: str, hits: int, shots: int = 1, **more: object) -> SalvoResolved:
    given: dict[str, object] = {
        "sunk": (),
        "defeated": (),
        "outcomes_if_announced": None,
        "aims_if_announced": None,
    } | more
    return SalvoResolved(1, 1, player, shots, hits, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hit", "sunk", "words"),
    [
        (False, (), "A5 missed"),
        (True, (), "A5 hit"),
        (True, (SunkShip("ann", "cruiser", "cruiser"),), "A5 Cruiser sunk"),
        (True, (SunkShip("ann", "aircraftcarrier", "aircraftcarrier"),), "A5 Aircraft carrier sunk"),
    ],
)
def test_under_cell_announcements_shots_are_reported_in_board_game_words(
    hit: bool, sunk: tuple[SunkShip, ...], words: str
) -> None:
    view = view_of("spaced")
    result = _resolved("ann", int(hit), outcomes_if_announced=(hit,), aims_if_announced=(("me", 5, 1),), sunk=sunk)
    Feed(view).resolved(result)
    assert result_words(result, view) == words


def _shot_at_ann(view: View, *shots: tuple[int, int, bool, str]) -> str:
    """Return Ann's board after these shots: x, y, whether it is a hit, and the ship that sinks."""
    for x, y, hit, ship in shots:
        sunk = (SunkShip("ann", ship, ship),) if ship else ()
        result = _resolved("me", int(hit), outcomes_if_announced=(hit,), aims_if_announced=(("ann", x, y),), sunk=sunk)
        Feed(view).resolved(result)
    return Snapshot.of(view).boards["ann"]


@pytest.mark.parametrize("name", ["spaced", "streak", "alternate"])
def test_all_hits_of_a_ship_that_has_sunk_stand_out_from_other_hits(name: str) -> None:
    """It was the same red for both."""
    view = view_of(name)
    ship = "submarine1" if name == "spaced" else "two1"
    board = _shot_at_ann(view, (1, 1, True, ""), (5, 5, True, ""), (2, 1, True, ship), (3, 1, False, ""))
    assert board[:3] + board[44] == SUNK * 2 + Mark.MISS + Mark.HIT
    assert Snapshot.of(view).tells_sunk_cells


@pytest.mark.parametrize(("hits", "marks"), [(0, Mark.MISS * 2), (1, Mark.FIRED * 2), (2, Mark.HIT * 2)])
def test_a_salvo_of_only_misses_or_only_hits_marks_its_squares(hits: int, marks: str) -> None:
    view = view_of("salvo")
    Feed(view).fired([Shot("ann", 1, 1), Shot("ann", 2, 1)])
    Feed(view).resolved(_resolved("me", hits, 2))
    assert Snapshot.of(view).boards["ann"][:3] == marks + Mark.BLANK


def test_a_persons_own_board_lists_each_shot_and_sinking_under_any_rules() -> None:
    view = view_of("salvo")
    for cell in ((1, 9), (2, 9), (2, 9), (9, 9)):
        Feed(view).landed(Shot("me", *cell))
    sight = Snapshot.of(view)
    assert incoming_words(sight, 0) == ["I1 hit", "I2 Patrolboat sunk", "I2 hit", "I9 missed"]
    assert incoming_words(sight, 3) == ["I9 missed"]


def test_a_picture_stays_as_it_was_taken() -> None:
    view = view_of("salvo")
    sight = Snapshot.of(view)
    Feed(view).fired([Shot("ann", 1, 1)])
    Feed(view).landed(Shot("me", 1, 1))
    Feed(view).begin_turn(2, 0)
    assert (sight.turn, sight.shots, sight.fired_this_turn, sight.incoming) == (1, 5, (), ())
    assert Mark.FIRED not in sight.boards["ann"]
    assert Snapshot.of(view) != sight
