"""The referee: lobby, turns, end, and what is announced of them; test_referee_table has every input in every state."""

from __future__ import annotations

from typing import Any

import pytest

from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import SALVO, XBS, Orientation, Placement
from salvo_server.core.referee import Referee

NOW = 1_000_000
ROWS = dict(zip((ship.name for ship in SALVO.fleet), (1, 3, 5, 7, 9), strict=True))


def place(name: str, ship: str, x: int = 1, spelling: str | None = None) -> m.PlaceShip:
    return m.PlaceShip(name, spelling or ship, Placement(ship, x, ROWS[ship], Orientation.HORIZONTAL))


def seat(referee: Referee, *names: str, now: int = NOW) -> list[m.Announcement]:
    """Let players join and place complete fleets."""
    said: list[m.Announcement] = []
    for name in names:
        said += referee.receive(m.Participate(name, name.encode()), now)
        for ship in ROWS:
            said += referee.receive(place(name, ship), now)
    return said


def playing(*names: str, **limits: Any) -> Referee:
    referee = Referee(7, limits=Limits(players=len(names), **limits))
    seat(referee, *names)
    return referee


def finished() -> Referee:
    referee = playing("a", "b")
    winner, loser = _current(referee), _other(referee)
    for ship, row in ROWS.items():
        for x in range(1, {s.name: s.length for s in SALVO.fleet}[ship] + 1):
            while _current(referee) != winner:
                referee.receive(m.Fire(_current(referee), winner, 10, 10), NOW)
            referee.receive(m.Fire(winner, loser, x, row), NOW)
    assert referee.state is State.OVER
    return referee


def _current(referee: Referee) -> str:
    assert referee.current is not None
    return referee.current.name


def _other(referee: Referee) -> str:
    return next(name for name in referee.players if name != _current(referee))


def kinds(announcements: list[m.Announcement]) -> list[str]:
    return [type(a).__name__ for a in announcements]


def codes(announcements: list[m.Announcement]) -> list[str]:
    return [a.code for a in announcements if isinstance(a, (m.CommandRefused, m.PlacementRefused))]


# --- the lobby ----------------------------------------------------------------------------------------------------


def leave_and_come_back(referee: Referee, name: str, now: int) -> None:
    referee.receive(m.Leave(name), now)
    referee.receive(m.Participate(name, name.encode()), now)


def test_a_team_that_comes_and_goes_restarts_the_minute_once() -> None:
    """It held up a lobby of complete fleets for as long as it liked."""
    referee = Referee(7, limits=Limits(restarts=64))
    seat(referee, "a", "b")
    referee.receive(m.Participate("c", b"c"), NOW + 30_000)
    for seconds in range(31, 90):
        leave_and_come_back(referee, "c", NOW + 1000 * seconds)
    assert referee.deadline() == NOW + 90_000
    referee.handle_timer(NOW + 90_000)
    assert (referee.state, list(referee.players)) == (State.TURN, ["a", "b"])


def test_as_many_names_as_are_allowed_restart_the_minute_until_it_has_ended() -> None:
    referee = Referee(7, limits=Limits(restarts=2))
    for number, name in enumerate(("a", "b", "c")):
        referee.receive(m.Participate(name, name.encode()), NOW + 1000 * number)
    assert referee.deadline() == NOW + 61_000
    referee.handle_timer(NOW + 61_000)
    for number, name in enumerate(("c", "a")):
        referee.receive(m.Participate(name, name.encode()), NOW + 70_000 + 1000 * number)
    assert referee.deadline() == NOW + 131_000


def test_new_names_hold_complete_fleets_up_for_five_minutes_at_most() -> None:
    """Strangers with a new name every few seconds held a lobby open for an hour."""
    for minor, last in ((None, 355_000), (2, 300_000)):
        referee = Referee(7, limits=Limits(restarts=64, minor=minor))
        seat(referee, "a", "b")
        for number in range(60):
            referee.receive(m.Participate(f"new{number}", b"new"), NOW + 5_000 * number)
        assert referee.deadline() == NOW + last
        referee.handle_timer(NOW + last)
        assert (referee.state, list(referee.players)) == (State.TURN, ["a", "b"])


def test_a_host_s_time_and_a_pause_are_not_cut_short_by_a_new_name() -> None:
    referee = Referee(7, limits=Limits(restarts=64, minor=2))
    seat(referee, "a")
    referee.receive(m.HostCommand("desk", m.HostAction.EXTEND, seconds=600), NOW + 1)
    referee.receive(m.Participate("b", b"b"), NOW + 2)
    assert referee.deadline() == NOW + 660_000
    referee.receive(m.HostCommand("desk", m.HostAction.PAUSE), NOW + 3)
    referee.receive(m.HostCommand("desk", m.HostAction.RESUME), NOW + 900_000)
    referee.receive(m.Participate("c", b"c"), NOW + 930_000)
    assert referee.deadline() == NOW + 990_000


def test_in_games_recorded_without_that_limit_every_listing_restarts_the_minute() -> None:
    referee = Referee(7)
    referee.receive(m.Participate("a", b"a"), NOW)
    leave_and_come_back(referee, "a", NOW + 50_000)
    assert referee.deadline() == NOW + 110_000


def test_an_outage_restarts_the_placement_time_and_a_new_team_lets_the_count_begin_again() -> None:
    referee = Referee(7)
    seat(referee, "a")
    for number in (1, 2):
        referee.receive(m.Resumed(), NOW + number)
        assert (referee.extensions, referee.deadline()) == (number, NOW + number + 60_000)
    referee.receive(m.Participate("b", b"b"), NOW + 3)
    assert referee.extensions == 0


def test_where_no_placement_time_runs_an_outage_starts_none() -> None:
    referee = Referee(7)
    assert referee.receive(m.Resumed(), NOW) == []
    assert (referee.extensions, referee.deadline()) == (0, None)


def test_refusals_are_answered_three_times_a_ship_until_one_is_placed() -> None:
    referee = Referee(7)
    referee.receive(m.Participate("a", b"a"), NOW)
    for _ in range(2):
        answered = [bool(referee.receive(place("a", "carrier", 9), NOW)) for _ in range(16)]
        assert answered == [True] * 15 + [False]
        referee.receive(place("a", "carrier", 1), NOW)


def test_in_the_lobby_a_recap_tells_the_own_ships_and_who_is_listed() -> None:
    referee = Referee(7)
    referee.receive(m.Participate("a", b"a"), NOW)
    referee.receive(place("a", "carrier"), NOW)
    referee.receive(m.Participate("b", b"b"), NOW)
    placed = Placement("carrier", 1, 1, Orientation.HORIZONTAL)
    assert referee.receive(m.Participate("a", b"a"), NOW) == [m.Recap("a", 1, 0, (placed,), (), (), (), ("a", "b"))]


def test_answers_use_the_spelling_of_the_message_and_take_back_the_former_one() -> None:
    referee = Referee(7)
    referee.receive(m.Participate("a", b"a"), NOW)
    assert referee.receive(place("a", "patrolboat", 1, "Patrol-Boat"), NOW) == [
        m.PlacementJudged("a", "Patrol-Boat", True)
    ]
    assert referee.receive(place("a", "patrolboat", 2, "PATROLBOAT"), NOW) == [
        m.SpellingDropped("a", "Patrol-Boat"),
        m.PlacementJudged("a", "PATROLBOAT", True),
    ]


# --- turns --------------------------------------------------------------------------------------------------------


def test_the_order_of_announcements_of_a_salvo() -> None:
    referee = playing("a", "b")
    shooter, target = _current(referee), _other(referee)
    said = [a for x in range(1, 6) for a in referee.receive(m.Fire(shooter, target, x, 1), NOW)]
    assert kinds(said) == ["ShotLanded"] * 5 + ["SalvoResolved", "TurnBegan"]
    result = said[5]
    assert isinstance(result, m.SalvoResolved)
    assert (result.hits, result.sunk) == (5, (m.SunkShip(target, "carrier", "carrier"),))
    assert said[6] == m.TurnBegan(1, 2, target, 4, NOW, NOW + 30_000)


def test_a_shot_signed_for_another_occasion_is_refused() -> None:
    referee = playing("a", "b")
    shooter, target = _current(referee), _other(referee)
    right = m.ShotContext(1, 1, 1, target)
    wrong = [right.__class__(2, 1, 1, target), right.__class__(1, 2, 1, target), right.__class__(1, 1, 2, target)]
    wrong.append(m.ShotContext(1, 1, 1, shooter))
    for context in wrong:
        assert codes(referee.receive(m.Fire(shooter, target, 1, 1, context), NOW)) == ["stale_context"]
    assert codes(referee.receive(m.Fire(shooter, target, 1, 1, right), NOW)) == []


def test_a_deadline_loses_the_rest_of_the_salvo_and_says_so() -> None:
    referee = playing("a", "b")
    shooter, target = _current(referee), _other(referee)
    referee.receive(m.Fire(shooter, target, 1, 1), NOW)
    said = referee.handle_timer(NOW + 30_000)
    assert kinds(said) == ["CommandRefused", "SalvoResolved", "TurnBegan"]
    assert codes(said) == ["turn_timeout"]
    assert "4 shots not fired" in str(said[0])


def test_three_empty_turns_in_a_row_are_a_defeat_without_a_sunk_ship() -> None:
    referee = playing("a", "b", "c")
    silent = _current(referee)
    now, said = NOW, []
    for _ in range(7):
        if _current(referee) == silent:
            now += 30_000
            said = referee.handle_timer(now)
        else:
            for _shot in range(5):
                referee.receive(m.Fire(_current(referee), silent, 10, 10), now)
    result = next(a for a in said if isinstance(a, m.SalvoResolved))
    assert (result.defeated, result.sunk) == ((silent,), ())
    assert referee.state is State.TURN


def test_a_defeated_player_that_is_sunk_later_is_announced_only_as_sunk() -> None:
    referee = playing("a", "b", "c", empty_turns=1)
    silent = _current(referee)
    referee.handle_timer(NOW + 30_000)
    assert silent not in (_current(referee),)
    shooter = _current(referee)
    said = [a for x in range(1, 6) for a in referee.receive(m.Fire(shooter, silent, x, 1), NOW + 30_000)]
    result = next(a for a in said if isinstance(a, m.SalvoResolved))
    assert (len(result.sunk), result.defeated) == (1, ())


# --- the end ------------------------------------------------------------------------------------------------------


def test_the_next_lobby_counts_no_extensions_of_the_former_one() -> None:
    """A lobby before its first team had inherited them, and looked as if it had been held up."""
    referee = Referee(7, limits=Limits(players=2))
    referee.receive(m.Participate("a", b"a"), NOW)
    referee.receive(m.Resumed(), NOW)
    referee.receive(m.Leave("a"), NOW)
    seat(referee, "b")
    referee.receive(m.Participate("c", b"c"), NOW)
    referee.receive(m.Resumed(), NOW)
    for ship in ROWS:
        referee.receive(place("c", ship), NOW)
    assert referee.extensions == 0
    now = NOW
    while referee.number == 1:
        now = referee.deadline() or 0
        referee.handle_timer(now)
    assert (referee.state, referee.extensions) == (State.LOBBY, 0)


def test_only_other_limits_or_rules_of_the_next_game_make_it_differ() -> None:
    referee = finished()
    assert not referee.next_differs
    referee.configure(8, referee.limits)
    assert not referee.next_differs
    for limits, book in [(Limits(players=3), SALVO), (referee.limits, XBS)]:
        referee.configure(8, limits, book=book)
        assert referee.next_differs
    referee.handle_timer(NOW + 300_000)
    assert not referee.next_differs
    assert (referee.number, referee.book, referee.terms.seed) == (2, XBS, 8)


def test_a_match_is_there_from_the_first_turn_to_the_next_lobby() -> None:
    referee = Referee(7)
    with pytest.raises(LookupError, match="game 1 has not begun"):
        _ = referee.match
    assert (referee.game, referee.results, referee.recap("a")) == (None, [], None)
    referee = finished()
    assert (referee.match.game, referee.match.results) == (referee.game, referee.results)


def test_no_seed_and_no_credential_is_printed() -> None:
    referee = Referee("secret")
    referee.receive(m.Participate("a", b"secret"), NOW)
    assert "secret" not in repr(referee.stage)


# --- recap and answers --------------------------------------------------------------------------------------------


def test_a_recap_tells_exactly_what_its_reader_may_know() -> None:
    referee = playing("a", "b")
    shooter, target = _current(referee), _other(referee)
    for x in range(1, 6):
        referee.receive(m.Fire(shooter, target, x, 1), NOW)
    referee.receive(m.Fire(target, shooter, 9, 9), NOW)
    [mine] = referee.receive(m.Participate(shooter, shooter.encode()), NOW)
    assert isinstance(mine, m.Recap)
    assert mine.to == shooter
    assert [(s.turn, s.target, s.x, s.y) for s in mine.shots] == [(1, target, x, 1) for x in range(1, 6)]
    assert (mine.landed, mine.turn, len(mine.fleet), len(mine.results)) == (((9, 9),), 2, 5, 1)


def test_refusals_are_answered_three_times_a_ship_and_then_no_more_until_the_next_turn() -> None:
    referee = playing("a", "b")
    other = _other(referee)
    answered = [bool(referee.receive(m.Fire(other, "a", 1, 1), NOW)) for _ in range(20)]
    assert answered == [True] * 15 + [False] * 5
    referee.handle_timer(NOW + 30_000)
    referee.handle_timer(NOW + 60_000)
    assert referee.receive(m.Fire(other, "a", 1, 1), NOW + 60_000)


def test_noise_is_answered_as_often_as_refusals() -> None:
    referee = playing("a", "b")
    answered = [bool(referee.receive(m.Unreadable("a", "", "not_json", "noise"), NOW)) for _ in range(20)]
    assert answered == [True] * 15 + [False] * 5


def test_noise_under_a_name_does_not_use_up_the_answers_to_the_team_itself() -> None:
    referee = playing("a", "b")
    other = _other(referee)
    for _ in range(100):
        referee.receive(m.Unreadable(other, "", "not_json", "noise"), NOW)
    assert codes(referee.receive(m.Fire(other, "a", 1, 1), NOW)) == ["not_your_turn"]
