"""What a host's commands mean for a game: by every ruleset, with two players and three, against the clock and without.

Which command is accepted in which state is tested in ``test_referee_table.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kit import referees
from kit.referees import NOW, current, fire, kinds, rival, sit, small
from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import BOOKS, SALVO, Ending, Order, RuleBook, Starter
from salvo_game.game_states import Turn
from salvo_game.referee import Referee

Do = m.HostAction
LATER = NOW + 5_000


def playing(book: RuleBook, *names: str, **limits: Any) -> Referee:
    """Return a game in the first turn of the first one."""
    return referees.playing(replace(book, starter=Starter.FIRST), *names, **limits)


def act(referee: Referee, do: m.HostAction, now: int = LATER, **arguments: Any) -> list[m.Announcement]:
    """Let the host act; return what follows from it."""
    announced = referee.receive(m.HostCommand("desk", do, **arguments), now)
    assert isinstance(announced[0], m.HostActed), announced
    return announced[1:]


def refusal(referee: Referee, do: m.HostAction, now: int = LATER, **arguments: Any) -> str:
    """Let the host try something; return the code of its refusal."""
    [refused] = referee.receive(m.HostCommand("desk", do, **arguments), now)
    assert isinstance(refused, m.CommandRefused)
    assert refused.to == "desk"
    return refused.code


def only(announced: list[m.Announcement], kind: type[Any]) -> Any:
    """Return the only announcement of a kind."""
    [each] = [each for each in announced if isinstance(each, kind)]
    return each


def places(announced: list[m.Announcement]) -> dict[str, int]:
    return {each.player: each.place for each in announced if isinstance(each, m.PlayerStats)}


def water(referee: Referee, now: int = LATER) -> list[m.Announcement]:
    """Fire all shots of a turn into the water."""
    announced: list[m.Announcement] = []
    assert referee.game is not None
    cells = iter([(x, y) for y in (4, 3, 2) for x in range(1, 5)])
    turn = referee.game.turn
    while isinstance(referee.stage, Turn) and referee.match.game.turn == turn:
        announced += fire(referee, rival(referee), next(cells), now=now)
    return announced


@pytest.mark.parametrize(
    "book", [book for book in BOOKS.values() if book.ending is not Ending.GOAL], ids=lambda book: book.name
)
def test_a_removed_player_with_a_later_turn_drops_out_at_the_end_of_this_turn(book: RuleBook) -> None:
    referee = playing(book, "a", "b", "c")
    first, gone, last = referee.players
    assert current(referee) == first
    assert kinds(act(referee, Do.REMOVE, team=gone)) == ["CommandRefused"]
    assert refusal(referee, Do.REMOVE, team=gone) == "unknown_target"
    assert current(referee) == first
    announced = water(referee)
    turns = [each.player for each in announced if isinstance(each, m.TurnBegan)]
    if book.order is Order.ROUNDS:  # its turn of the round passes, and it falls with the round
        assert turns == [gone, last]
        announced = water(referee)
    else:
        assert turns == [last]
    defeats = [each.defeated for each in announced if isinstance(each, m.SalvoResolved)]
    assert [name for names in defeats for name in names] == [gone]
    assert referee.state is State.TURN
    for _ in range(4):
        assert current(referee) != gone
        water(referee)


every_book = pytest.mark.parametrize("book", BOOKS.values(), ids=lambda book: book.name)


# --- remove (SALVO-HOST-6) ------------------------------------------------------------------------------------------


@every_book
@pytest.mark.parametrize("order", ["abc", "cba", "bca", "acb"])
def test_once_all_players_are_removed_the_game_is_over(book: RuleBook, order: str) -> None:
    referee = playing(book, "a", "b", "c")
    announced: list[m.Announcement] = []
    for name in order:
        if referee.state is State.TURN:
            announced += act(referee, Do.REMOVE, team=name)
    assert referee.state is State.OVER
    won = only(announced, m.GameWon)
    if book.order is Order.ROUNDS or book.ending is Ending.GOAL:
        assert set(won.winners) == {"a", "b", "c"}
    else:
        assert won == m.GameWon(order[-1])  # the last one that stands, as after defeats at different times
        assert places(announced) == {name: 3 - number for number, name in enumerate(order)}


# --- pause, resume, extend (SALVO-HOST-4) ---------------------------------------------------------------------------


@every_book
@pytest.mark.parametrize("pace_ms", [None, 800])
def test_a_paused_table_finishes_its_turn_and_begins_none_before_it_is_resumed(
    book: RuleBook, pace_ms: int | None
) -> None:
    referee = playing(book, "a", "b", pace_ms=pace_ms)
    first = current(referee)
    act(referee, Do.PAUSE)
    assert referee.handle_timer(NOW + 10**9) == []
    announced = water(referee, NOW + 10**9)
    assert "TurnBegan" not in kinds(announced)
    assert (referee.state, referee.current, referee.deadline()) == (State.TURN, None, None)
    for name in referee.players:
        [refused] = referee.receive(m.Fire(name, "a", 1, 1), NOW + 10**9)
        assert isinstance(refused, m.CommandRefused)
        assert "when the host resumes" in refused.text
    resolved = kinds(announced).count("SalvoResolved")
    announced = act(referee, Do.RESUME, NOW + 2 * 10**9)
    if pace_ms is not None and resolved:
        assert announced == []
        assert referee.deadline() == NOW + 2 * 10**9 + pace_ms
        announced = referee.handle_timer(NOW + 2 * 10**9 + pace_ms)
    assert only(announced, m.TurnBegan).player == current(referee) != first
    assert referee.deadline() == only(announced, m.TurnBegan).deadline


@pytest.mark.parametrize("book", [book for book in BOOKS.values() if book.order is not Order.ROUNDS])
@pytest.mark.parametrize(("bank_ms", "after_pause"), [(None, False), (9_000, False), (9_000, True)])
def test_time_that_a_host_adds_after_a_result_belongs_to_the_next_turn(
    book: RuleBook, bank_ms: int | None, after_pause: bool
) -> None:
    referee = playing(book, "a", "b", pace_ms=800, bank_ms=bank_ms)
    water(referee, NOW)
    begins = referee.deadline()
    assert begins == NOW + 800
    player = referee.match.current
    assert act(referee, Do.EXTEND, NOW, seconds=60) == []
    assert (referee.deadline(), player.bank_ms) == (begins, (bank_ms or 0) + 60_000 * (bank_ms is not None))
    if after_pause:
        act(referee, Do.PAUSE, NOW)
        act(referee, Do.RESUME, NOW)
    began = only(referee.handle_timer(begins), m.TurnBegan)
    assert began.deadline - began.now == (69_000 if bank_ms else 90_000)
    assert referee.deadline() == begins + 90_000
    following = water(referee, begins)
    following += referee.handle_timer(begins + 800)
    began = only(following, m.TurnBegan)
    assert began.deadline - began.now == (9_000 if bank_ms else 30_000)  # this one alone


@pytest.mark.parametrize("pace_ms", [None, 800])
def test_an_outage_does_not_end_a_hosts_pause(pace_ms: int | None) -> None:
    paused_turn = playing(SALVO, "a", "b", pace_ms=pace_ms, bank_ms=9_000)
    between = playing(SALVO, "a", "b", pace_ms=pace_ms)
    over = playing(SALVO, "a", "b")
    act(over, Do.ABORT)
    lobby = Referee(7, book=small(SALVO), limits=Limits(players=3))
    sit(lobby, "a", "b")
    for referee in (paused_turn, between, over, lobby):
        act(referee, Do.PAUSE)
    water(between)
    for referee in (paused_turn, between, over, lobby):
        assert referee.receive(m.Resumed(), LATER + 10**6) == []
        assert referee.receive(m.TimePassed(), LATER + 10**9) == []
        assert referee.deadline() is None
    assert paused_turn.receive(m.TurnDelivered(1), LATER + 10**9) == []
    assert paused_turn.deadline() is None


def test_time_that_a_host_adds_to_a_turn_is_added_to_the_bank() -> None:
    referee = playing(SALVO, "a", "b", bank_ms=9_000)
    me = current(referee)
    [again] = act(referee, Do.EXTEND, seconds=5)  # before the broker has confirmed the turn
    assert isinstance(again, m.TurnResumed)
    assert (again.now, again.deadline) == (LATER, LATER + 14_000)
    assert referee.deadline() == NOW + 35_000
    referee.receive(m.TurnDelivered(1), LATER)
    assert referee.deadline() == LATER + 14_000
    [again] = act(referee, Do.EXTEND, LATER + 1_000, seconds=60)
    assert isinstance(again, m.TurnResumed)
    assert referee.deadline() == again.deadline == LATER + 74_000
    water(referee, LATER + 4_000)
    assert referee.match.players[me].bank_ms == 9_000 + 65_000 - 4_000


# --- skip and abort (SALVO-HOST-3, SALVO-HOST-5) --------------------------------------------------------------------


@every_book
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_the_turn_in_which_a_game_is_aborted_does_not_count(book: RuleBook, names: str) -> None:
    referee = playing(book, *names)
    while len(referee.results) < len(names):
        water(referee)
    counted = sum(result.shots for result in referee.results)
    me = current(referee)
    if book.order is Order.ROUNDS:
        water(referee)  # the round is not complete
    elif referee.match.game.shots_left > 1:
        fire(referee, rival(referee), (1, 1))
    announced = act(referee, Do.ABORT)
    assert only(announced, m.GameWon) == m.GameWon("")
    assert [each.tied for each in announced if isinstance(each, m.GameWon)] == [()]
    assert sum(each.shots for each in announced if isinstance(each, m.PlayerStats)) == counted
    assert places(announced) == dict.fromkeys(names, 0)
    assert announced[-1] == m.StateChanged(State.OVER)
    assert [each.player for each in announced if isinstance(each, m.FleetRevealed)] == list(names) * book.reveal
    for name in (me, next(each for each in names if each != me)):
        [refused] = referee.receive(m.Fire(name, me, 1, 1), LATER)
        assert isinstance(refused, m.CommandRefused)
        assert refused.code == "wrong_state"
    assert refusal(referee, Do.ABORT) == "wrong_state"


def test_shots_that_come_after_a_game_was_aborted_in_its_first_turn_are_refused() -> None:
    referee = playing(SALVO, "a", "b")
    first = m.Fire("a", "b", 4, 4, m.ShotContext(1, 1, 1, "b"))
    second = m.Fire("a", "b", 4, 3, m.ShotContext(1, 1, 2, "b"))
    referee.receive(first, LATER)
    act(referee, Do.ABORT)
    assert referee.receive(first, LATER) == []  # the repetition of one that counted
    [refused] = referee.receive(second, LATER)
    assert isinstance(refused, m.CommandRefused)
    assert refused.code == "wrong_state"


# --- set and next (SALVO-HOST-7) ------------------------------------------------------------------------------------


def test_settings_of_a_host_hold_for_the_next_game_alone() -> None:
    referee = playing(SALVO, "a", "b", pace_ms=800)
    former = referee.limits
    settings = m.NextGame(players=3, placement_seconds=10, turn_seconds=5, over_seconds=7, pace_ms=0)
    assert act(referee, Do.SET, settings=settings) == []
    assert referee.limits == former
    assert referee.next_differs
    act(referee, Do.ABORT)
    announced = act(referee, Do.NEXT)
    rules = only(announced, m.RulesAnnounced)
    assert (rules.placement_seconds, rules.turn_seconds, rules.over_seconds) == (10, 5, 7)
    limits = referee.limits
    assert (limits.players, limits.placement_ms, limits.turn_ms, limits.over_ms) == (3, 10_000, 5_000, 7_000)
    sit(referee, "a", "b", "c")
    assert "TurnBegan" in kinds(water(referee, NOW))  # without a pause before it
    act(referee, Do.ABORT, NOW)
    referee.handle_timer(NOW + 7_000)
    assert (referee.number, referee.limits) == (3, former)
    assert not referee.next_differs
