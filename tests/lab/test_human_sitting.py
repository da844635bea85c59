"""What a person is at, without a screen: what keys, clicks and words come to, and what is said to it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kit.person import fleet_in_rows, view_of
from salvo.messages import SalvoResolved
from salvo.rules import BOOKS, Fleet, Orientation
from salvo.view import Feed, Shot
from salvo_lab.human.channel import Again, Channel, FiredSalvo, GameOver, PlaceFleet, Revealed, Seen, TakeBack
from salvo_lab.human.sitting import Mode, Sitting
from salvo_lab.human.snapshot import Snapshot


def _sitting(rules: str = "") -> tuple[Sitting, Channel]:
    """Somebody who is asked for a fleet by rules, or who waits."""
    desk = Channel()
    sitting = Sitting(desk)
    if rules:
        sitting.receive(PlaceFleet(BOOKS[rules], "me", 1, Random(1)))
    return sitting, desk


def _in_turn(rules: str, *rivals: str) -> tuple[Sitting, Channel]:
    sitting, desk = _sitting(rules)
    sitting.receive(Seen(Snapshot.of(view_of(rules, *rivals))))
    return sitting, desk


def _words(sitting: Sitting) -> list[str]:
    return [action.word for action in sitting.actions()]


#: What an empty grid offers by ``spaced``.
_EMPTY = [*(f"ship {ship.name}" for ship in BOOKS["spaced"].fleet), "random"]


@pytest.mark.parametrize(
    ("steps", "offered"),
    [
        ([], _EMPTY),
        (["ship cruiser"], ["cancel"]),
        (["ship cruiser", "cancel", "random"], ["delete", "done"]),
        (["random", "delete"], ["cancel"]),
        (["random", "undo"], _EMPTY),
        (["random", "done"], []),
        (["done"], _EMPTY),
    ],
    ids=str,
)
def test_the_list_of_actions_offers_only_those_possible_now(steps: list[str], offered: list[str]) -> None:
    """Cancel only while setting or deleting, Delete only when a ship stands, Done only as long as all do."""
    sitting, _ = _sitting("spaced")
    for step in steps:
        sitting.act(step)
    assert _words(sitting) == offered


def test_a_ship_dropped_where_it_does_not_fit_returns_and_the_reason_is_shown() -> None:
    sitting, _ = _sitting("spaced")
    sitting.put("cruiser", 0, Orientation.HORIZONTAL)
    assert sitting.message == "Cruiser placed at A1-A3"
    sitting.put("battleship", 12, Orientation.HORIZONTAL)
    assert sitting.message == "battleship is too close to cruiser; spacing is no_common_edge"
    sitting.put("nautilus", 50, Orientation.HORIZONTAL)
    assert sitting.message.startswith("no ship 'nautilus'")
    assert sitting.setting_up is not None
    assert list(sitting.setting_up.setup.placed) == ["cruiser"]


def test_more_squares_than_shots_are_refused_in_the_engine_s_words() -> None:
    sitting, desk = _in_turn("salvo")
    for cell in range(6):
        sitting.click("ann", cell)
    assert sitting.message == "6 shots; this turn has 5"
    sitting.act("fire")
    assert [len(answer.shots) for answer in desk.answers() if isinstance(answer, FiredSalvo)] == [5]


def test_a_finger_chooses_and_fire_fires_where_a_click_would_have_fired_at_once() -> None:
    sitting, desk = _in_turn("spaced")
    sitting.click("ann", 7, fires=False)
    assert (sitting.message, desk.answers()) == ("1 of 1 shot chosen; Fire (f) sends it", [])
    sitting.act("fire")
    assert desk.answers() == [FiredSalvo(1, 1, (Shot("ann", 8, 1),))]


def test_a_square_that_was_shot_at_is_refused_where_the_rules_refuse_it() -> None:
    sitting, desk = _sitting()
    view = view_of("streak")
    Feed(view).resolved(SalvoResolved(1, 1, "ann", 1, 0, (), (), (False,), (("ann", 1, 1),)))
    Feed(view).begin_turn(2, 1)
    sitting.receive(Seen(Snapshot.of(view)))
    sitting.press("enter")
    assert sitting.message.startswith("A1 of ann was shot at before")
    sitting.click("me", 1)
    assert sitting.message == "the rules 'streak' do not allow shots at your own board"
    assert desk.answers() == []


def test_a_square_that_was_fired_at_says_so_before_it_is_fired_at_again() -> None:
    sitting, desk = _sitting()
    view = view_of("salvo")
    Feed(view).fired([Shot("ann", 1, 1), Shot("ann", 2, 1)])
    Feed(view).resolved(SalvoResolved(1, 1, "me", 2, 1, (), (), None, None))
    Feed(view).begin_turn(3, 1)
    sitting.receive(Seen(Snapshot.of(view)))
    sitting.click("ann", 0)
    assert sitting.message == "A1 was fired at in turn 1: 1 of 2 hit; 1 of 1 shot chosen; Fire (f) sends it"
    assert desk.answers() == []
    sitting.click("ann", 0)
    assert desk.answers() == [FiredSalvo(1, 3, (Shot("ann", 1, 1),))]


@pytest.mark.parametrize(
    ("rules", "message", "answers"),
    [
        ("xbs", "", [FiredSalvo(1, 1, ())]),
        ("salvo", "these rules do not allow skipping a turn", []),
    ],
)
def test_the_s_key_skips_a_turn_where_the_rules_allow_it(rules: str, message: str, answers: list[Any]) -> None:
    sitting, desk = _in_turn(rules)
    assert ("s: skip" in sitting.hints()) is ("skip" in _words(sitting)) is bool(answers)
    sitting.press("s")
    assert (sitting.message, desk.answers()) == (message, answers)


def test_restart_asks_for_another_game_once_and_a_click_after_the_end_does_nothing() -> None:
    sitting, desk = _in_turn("spaced")
    sitting.receive(GameOver(1, "ann", {"ann": 1, "me": 2}, again=True))
    sitting.click("ann", 0)
    assert _words(sitting) == ["restart"]
    sitting.act("restart")
    sitting.act("restart")
    assert desk.answers() == [Again()]


def test_the_fleets_that_a_log_reveals_are_shown_at_the_end_of_that_game_alone() -> None:
    sitting, _ = _in_turn("salvo")
    fleets = {"ann": fleet_in_rows(BOOKS["salvo"])}
    sitting.receive(Revealed(1, fleets))
    assert sitting.fleets_shown == {}
    sitting.receive(GameOver(1, "ann", {"ann": 1, "me": 2}))
    assert sitting.fleets_shown == fleets
    sitting.receive(PlaceFleet(BOOKS["salvo"], "me", 1, Random(1)))  # game 1 of another table
    sitting.act("restart")
    sitting.receive(GameOver(1, "ann", {"ann": 1, "me": 2}))
    assert sitting.fleets_shown == {}


def test_leaving_a_game_needs_confirmation_and_any_other_action_cancels_it() -> None:
    sitting, _ = _in_turn("spaced")
    sitting.act("leave")
    assert (sitting.leaving, sitting.ended) == (True, "")
    sitting.act("none")
    sitting.act("leave")
    assert sitting.ended == ""
    sitting.act("leave")
    assert sitting.ended == "left"


def _after_a_game(rules: str) -> tuple[Sitting, Channel, Fleet]:
    """Somebody who looks at the end of a game in a contest, for which it has set up a fleet."""
    sitting, desk = _sitting(rules)
    desk.lobbies = True
    sitting.act("random")
    sitting.act("done")
    [fleet] = desk.answers()
    assert isinstance(fleet, Fleet)
    sitting.receive(Seen(Snapshot.of(view_of(rules))))
    sitting.receive(GameOver(1, "ann", {"ann": 1, "me": 2}))
    return sitting, desk, fleet


def test_the_fleet_of_before_stands_in_the_next_game_by_the_same_rules_and_enter_places_it() -> None:
    sitting, desk, fleet = _after_a_game("spaced")
    sitting.receive(PlaceFleet(BOOKS["spaced"], "me", 2, Random(1)))
    sitting.act("restart")
    assert _words(sitting) == ["delete", "done"]
    assert desk.answers() == []
    sitting.press("enter")
    assert desk.answers() == [fleet]
    sitting.receive(PlaceFleet(BOOKS["salvo"], "me", 3, Random(1)))
    assert "done" not in _words(sitting), "by other rules the grid is empty"


def test_a_fleet_is_placed_at_once_where_rivals_wait_and_the_end_of_a_game_stays_until_the_next_one_begins() -> None:
    sitting, desk, fleet = _after_a_game("spaced")
    sitting.receive(PlaceFleet(BOOKS["spaced"], "me", 1, Random(1), awaited=True))  # game 1 of another table
    assert desk.answers() == [fleet]
    assert (sitting.mode, _words(sitting)) == (Mode.END, ["change"])
    sitting.receive(Seen(Snapshot.of(view_of("spaced"))))
    assert (sitting.mode, sitting.message) == (Mode.SHOOT, "your turn: 1 shot")
    assert "change" not in _words(sitting)


def test_a_placed_fleet_is_taken_back_once_and_set_up_again() -> None:
    sitting, desk, fleet = _after_a_game("spaced")
    asked = PlaceFleet(BOOKS["spaced"], "me", 2, Random(1), awaited=True)
    sitting.receive(asked)
    desk.answers()
    sitting.press("c")
    sitting.press("c")
    assert desk.answers() == [TakeBack()]
    sitting.receive(asked)
    assert sitting.mode is Mode.SETUP
    sitting.act("delete")
    sitting.click("me", min(fleet.cells))
    assert "done" not in _words(sitting)
    sitting.act("random")
    sitting.act("done")
    assert [type(answer) for answer in desk.answers()] == [Fleet]
