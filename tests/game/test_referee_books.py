"""What the referee makes of rulesets that are not Salvo's, announcement by announcement."""

from __future__ import annotations

from typing import Any

import pytest

from kit.referees import NOW, fire, kinds, playing, sit, small
from kit.scripted_server import ScriptedServer
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.join.session import Session
from salvo.join.session.machine_states import PlayingEvent
from salvo.messages import Limits, State
from salvo.rules import (
    BOOKS,
    SMACKDOWN,
    SPACED,
    XBS,
    Fleet,
    Orientation,
    Placement,
    RuleBook,
    generator,
)
from salvo.view import Feed, Shot
from salvo.wire.seal import Sealer
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import no_status

# --- rounds -------------------------------------------------------------------------------------------------------


def test_a_round_is_announced_once_it_is_complete() -> None:
    referee = playing(SMACKDOWN, "a", "b")
    announced = fire(referee, "b", (1, 1), (2, 1))
    assert announced == [
        m.ShotAccepted("a", "b", 1, 1),
        m.ShotAccepted("a", "b", 2, 1),
        m.TurnBegan(1, 2, "b", 2, NOW, NOW + 30_000),
    ]
    topics_written = [publication.topic for each in announced for publication in write_announcement(each)]
    assert topics_written == ["/game/turn", "/game/current"]
    recap = referee.recap("b")
    assert recap is not None
    assert (recap.landed, recap.results, recap.shots) == ((), (), ())
    own = referee.recap("a")
    assert own is not None
    assert own.shots == (m.OwnShot(1, "b", 1, 1), m.OwnShot(1, "b", 2, 1))


def test_two_players_that_sink_each_other_in_one_round_tie() -> None:
    referee = playing(SMACKDOWN, "a", "b")
    fire(referee, "b", (1, 1), (2, 1))
    fire(referee, "a", (1, 1), (2, 1))
    fire(referee, "b", (4, 1))
    announced = fire(referee, "a", (4, 1))
    assert announced[-4:] == [
        m.PlayerStats("a", 3, 3, 2, 2, 1),
        m.PlayerStats("b", 3, 3, 2, 2, 1),
        m.GameWon("", ("a", "b")),
        m.StateChanged(State.OVER),
    ]
    [publication] = write_announcement(m.GameWon("", ("a", "b")))
    assert publication == Publication("/game/winner", b'["a","b"]', True)


def test_a_skip_with_shots_fired_is_no_silence_and_one_without_is() -> None:
    referee = playing(SMACKDOWN, "a", "b", empty_turns=2)
    for _ in range(2):
        fire(referee, "b", (3, 3))
        assert kinds(referee.receive(m.Skip("a"), NOW)) == ["TurnBegan"]
        announced = referee.receive(m.Skip("b"), NOW)
    assert kinds(announced)[-3:] == ["PlayerStats", "GameWon", "StateChanged"]
    assert [each.winner for each in announced if isinstance(each, m.GameWon)] == ["a"]
    assert [each.defeated for each in announced if isinstance(each, m.SalvoResolved)] == [(), ("b",)]


# --- points -------------------------------------------------------------------------------------------------------


def test_a_points_game_ends_when_all_players_are_idle_and_one_shot_prolongs_it() -> None:
    referee = playing(XBS, "a", "b", empty_turns=2)
    now = NOW
    for _ in range(3):
        now += 30_000
        referee.receive(m.TimePassed(), now)
    fire(referee, "a" if referee.current is referee.players["b"] else "b", (1, 1), now=now)
    winner = referee.results[-1].player
    turns = 0
    while referee.state is State.TURN:
        now += 30_000
        announced = referee.receive(m.TimePassed(), now)
        turns += 1
    assert turns == 4
    assert [each.winner for each in announced if isinstance(each, m.GameWon)] == [winner]


# --- a player that is gone ----------------------------------------------------------------------------------------


def gone(**limits: Any) -> tuple[Referee, str, str, int]:
    """Return a game for points with one that has missed two turns, who it is, the other one, and the time."""
    referee, now = playing(XBS, "a", "b", empty_turns=2, absent_ms=2000, **limits), NOW
    assert referee.current is not None
    name = referee.current.name
    other = "b" if name == "a" else "a"
    for y in (3, 4):
        assert referee.deadline() == now + 30_000
        now += 30_000
        refused, *_ = referee.receive(m.TimePassed(), now)
        assert isinstance(refused, m.CommandRefused)
        assert refused.text.endswith("; your turns have 2 s until you fire or skip") == (y == 4)
        fire(referee, name, (1, y), now=now)
    return referee, name, other, now


def test_a_silent_player_costs_two_seconds_a_round_until_it_fires() -> None:
    referee, name, other, now = gone()
    assert [referee.is_absent(each) for each in (name, other, "nobody")] == [True, False, False]
    for x in (2, 3):
        assert referee.deadline() == now + 2000
        now += 2000
        refused, *_ = referee.receive(m.TimePassed(), now)
        assert isinstance(refused, m.CommandRefused)
        assert refused.text.split(" ended after ")[1].startswith("2 s with 1 shots not fired")
        assert referee.deadline() == now + 30_000
        fire(referee, name, (x, 3), now=now)
    fire(referee, other, (3, 3), now=now + 1999)
    fire(referee, name, (4, 4), now=now + 1999)
    assert referee.current is referee.players[name]
    assert referee.deadline() == now + 31_999


def test_a_player_that_skips_is_not_gone() -> None:
    referee, name, _, now = gone()
    referee.receive(m.Skip(name), now)
    for x in (2, 3, 4):
        fire(referee, name, (x, 3), now=now)
        assert referee.deadline() == now + 30_000
        referee.receive(m.Skip(name), now)


# --- the others ---------------------------------------------------------------------------------------------------


def test_the_starter_changes_from_game_to_game() -> None:
    referee = playing(SPACED, "bob", "ann", over_ms=1000)
    begun = []
    for order in (("ann", "bob"), ("ann", "bob"), ("bob", "ann")):
        assert referee.current is not None
        begun.append(referee.current.name)
        while referee.state is State.TURN:
            shooter = referee.current
            assert shooter is not None
            target = "ann" if shooter.name == "bob" else "bob"
            aim = [(1, 1), (2, 1), (4, 1)][len(shooter.shots)] if shooter.name == "ann" else (3, 3)
            fire(referee, target, aim)
        referee.receive(m.TimePassed(), NOW + 1000)
        sit(referee, *order)
    assert begun == ["ann", "bob", "ann"]


# --- a team that comes back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
@pytest.mark.parametrize("moves", [1, 2, 3, 5])
def test_a_recap_restores_the_view_of_a_session(book: RuleBook, moves: int) -> None:
    """Also in the middle of a round, where the own shots wait and those of others are nobody's business."""
    table = Table(seat_of(book), no_status)
    table.open()
    sessions, servers = {}, {}
    for name in ("a", "b"):
        sealer = Sealer(f"secret {name}", bytes(16))
        sessions[name] = Session(name, f"secret {name}", generator(name), sealer=sealer)
        servers[name] = (ScriptedServer(sessions[name], small(book)), sealer)

    def say(*announced: m.Announcement) -> None:
        for name, (server, _) in servers.items():
            received = [
                each for each in announced if getattr(each, "to", name) == name and not isinstance(each, m.TableOpened)
            ]
            server.say(*received)

    say(m.ServerStatus(True, "test", 1, "open"), table.referee.rules, m.StateChanged(State.LOBBY))
    for name in ("a", "b"):
        say(*table.carry_out(m.Participate(name, name.encode()), NOW).announcements)
        ships = [Placement(s, x, 1, Orientation.HORIZONTAL) for s, x in (("long", 1), ("dot", 4))]
        sessions[name].place(Fleet(small(book), ships), 0.0)
        for place in ships:
            say(*table.carry_out(m.PlaceShip(name, place.ship, place), NOW).announcements)
    for number in range(moves):
        current = table.referee.current
        assert current is not None
        target = "b" if current.name == "a" else "a"
        shot = Shot(target, number % 4 + 1, number // 4 + 2)
        view = sessions[current.name].view
        assert view is not None
        Feed(view).fired([shot])
        say(*table.carry_out(m.Fire(current.name, *shot), NOW).announcements)
    for name, (server, sealer) in servers.items():
        before = known(sessions[name])
        recap = table.referee.recap(name)
        assert recap is not None
        sessions[name]._state.take(PlayingEvent.FORGOTTEN)
        server.say_recap(recap, sealer)
        assert known(sessions[name]) == before


def seat_of(book: RuleBook) -> Referee:
    return Referee(7, book=small(book), limits=Limits(players=2))


def known(session: Session) -> object:
    view = session.view
    assert view is not None
    rival = "b" if view.me == "a" else "a"
    topics_written = [] if view.rules.announce == "count" else [view.marks(rival), view.marks(view.me)]
    public = (view.results, view.defeated, view.opponents, view.winners, view.turn)
    return public, topics_written, view.salvos, view.incoming, view.fired_this_turn, set(view.untouched)
