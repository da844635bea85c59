"""The referee: lobby, turns, end, and what is announced of them; test_referee_table has every input in every state."""

from __future__ import annotations

from typing import Any

from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import SALVO, Orientation, Placement
from salvo_game.referee import Referee

NOW = 1_000_000
ROWS = dict(zip((ship.name for ship in SALVO.fleet), (1, 3, 5, 7, 9), strict=True))


def place(name: str, ship: str, x: int = 1, spelling: str | None = None) -> m.PlaceShip:
    return m.PlaceShip(name, spelling or ship, Placement(ship, x, ROWS[ship], Orientation.HORIZONTAL))


def seat(referee: Referee, *names: str, now: int = NOW) -> list[m.Announcement]:
    """Let players join and place complete fleets."""
    announced: list[m.Announcement] = []
    for name in names:
        announced += referee.receive(m.Participate(name, name.encode()), now)
        for ship in ROWS:
            announced += referee.receive(place(name, ship), now)
    return announced


def playing(*names: str, **limits: Any) -> Referee:
    referee = Referee(7, limits=Limits(players=len(names), **limits))
    seat(referee, *names)
    return referee


def _current(referee: Referee) -> str:
    assert referee.current is not None
    return referee.current.name


def _other(referee: Referee) -> str:
    return next(name for name in referee.players if name != _current(referee))


def codes(announcements: list[m.Announcement]) -> list[str]:
    return [a.code for a in announcements if isinstance(a, (m.CommandRefused, m.PlacementRefused))]


# --- the lobby ----------------------------------------------------------------------------------------------------


def leave_and_come_back(referee: Referee, name: str, now: int) -> None:
    referee.receive(m.Leave(name), now)
    referee.receive(m.Participate(name, name.encode()), now)


def test_a_team_that_comes_and_goes_restarts_the_minute_once() -> None:
    """It held up a lobby of complete fleets for as long as it liked."""
    referee = Referee(7)
    seat(referee, "a", "b")
    referee.receive(m.Participate("c", b"c"), NOW + 30_000)
    for seconds in range(31, 90):
        leave_and_come_back(referee, "c", NOW + 1000 * seconds)
    assert referee.deadline() == NOW + 90_000
    referee.handle_timer(NOW + 90_000)
    assert (referee.state, list(referee.players)) == (State.TURN, ["a", "b"])


def test_new_names_hold_complete_fleets_up_for_five_minutes_at_most() -> None:
    """Strangers with a new name every few seconds held a lobby open for an hour."""
    referee = Referee(7)
    seat(referee, "a", "b")
    for number in range(60):
        referee.receive(m.Participate(f"new{number}", b"new"), NOW + 5_000 * number)
    assert referee.deadline() == NOW + 300_000
    referee.handle_timer(NOW + 300_000)
    assert (referee.state, list(referee.players)) == (State.TURN, ["a", "b"])


def test_a_host_s_time_and_a_pause_are_not_cut_short_by_a_new_name() -> None:
    referee = Referee(7)
    seat(referee, "a")
    referee.receive(m.HostCommand("desk", m.HostAction.EXTEND, seconds=600), NOW + 1)
    referee.receive(m.Participate("b", b"b"), NOW + 2)
    assert referee.deadline() == NOW + 660_000
    referee.receive(m.HostCommand("desk", m.HostAction.PAUSE), NOW + 3)
    referee.receive(m.HostCommand("desk", m.HostAction.RESUME), NOW + 900_000)
    referee.receive(m.Participate("c", b"c"), NOW + 930_000)
    assert referee.deadline() == NOW + 990_000


def test_an_outage_restarts_the_placement_time_and_a_new_team_lets_the_count_begin_again() -> None:
    referee = Referee(7)
    seat(referee, "a")
    for number in (1, 2):
        referee.receive(m.Resumed(), NOW + number)
        assert (referee.extensions, referee.deadline()) == (number, NOW + number + 60_000)
    referee.receive(m.Participate("b", b"b"), NOW + 3)
    assert referee.extensions == 0


def test_refusals_are_answered_three_times_a_ship_until_one_is_placed() -> None:
    referee = Referee(7)
    referee.receive(m.Participate("a", b"a"), NOW)
    for _ in range(2):
        answered = [bool(referee.receive(place("a", "carrier", 9), NOW)) for _ in range(16)]
        assert answered == [True] * 15 + [False]
        referee.receive(place("a", "carrier", 1), NOW)


# --- turns --------------------------------------------------------------------------------------------------------


def test_a_defeated_player_that_is_sunk_later_is_announced_only_as_sunk() -> None:
    referee = playing("a", "b", "c", empty_turns=1)
    silent = _current(referee)
    referee.handle_timer(NOW + 30_000)
    assert silent not in (_current(referee),)
    shooter = _current(referee)
    announced = [a for x in range(1, 6) for a in referee.receive(m.Fire(shooter, silent, x, 1), NOW + 30_000)]
    result = next(a for a in announced if isinstance(a, m.SalvoResolved))
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


def test_no_seed_and_no_credential_is_printed() -> None:
    referee = Referee("secret")
    referee.receive(m.Participate("a", b"secret"), NOW)
    assert "secret" not in repr(referee.stage)


# --- recap and answers --------------------------------------------------------------------------------------------


def test_refusals_are_answered_three_times_a_ship_and_then_no_more_until_the_next_turn() -> None:
    referee = playing("a", "b")
    other = _other(referee)
    answered = [bool(referee.receive(m.Fire(other, "a", 1, 1), NOW)) for _ in range(20)]
    assert answered == [True] * 15 + [False] * 5
    referee.handle_timer(NOW + 30_000)
    referee.handle_timer(NOW + 60_000)
    assert referee.receive(m.Fire(other, "a", 1, 1), NOW + 60_000)


def test_noise_under_a_name_does_not_use_up_the_answers_to_the_team_itself() -> None:
    referee = playing("a", "b")
    other = _other(referee)
    answers = [referee.receive(m.Unreadable(other, "", "not_json", "noise"), NOW) for _ in range(100)]
    assert sum(map(len, answers)) == 15
    assert codes(referee.receive(m.Fire(other, "a", 1, 1), NOW)) == ["not_your_turn"]
