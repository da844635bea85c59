"""One player's side, told by a scripted server what a real one would say."""

from __future__ import annotations

import dataclasses
from itertools import permutations
from typing import Any

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import FLEET, SEALER, listed, my_turn, recap, recapped, result
from salvo import messages as m
from salvo.codec.commands import ParticipationRequest
from salvo.join.events import GameEnded, HostSeen, Refused, SalvoReported, Waits
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, generator
from salvo.view import Shot


def test_a_session_asks_to_take_part_and_places_its_fleet(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    asked, *placed = server.commands(SEALER)
    assert asked == ParticipationRequest("", "me", "secret")
    assert {c.placement for c in placed if isinstance(c, m.PlaceShip)} == set(FLEET.placements)


def test_ships_that_are_not_answered_are_placed_again(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    session.take_outbox()
    server.say(*(m.PlacementJudged("me", ship.name, True) for ship in SALVO.fleet[1:]))
    session.handle_timer(1.0)
    assert session.take_outbox() == []
    session.handle_timer(4.0)
    assert [c.placement.ship for c in server.commands(SEALER) if isinstance(c, m.PlaceShip)] == ["carrier"]
    server.say(m.PlacementJudged("me", "carrier", True))
    session.handle_timer(9.0)
    assert session.take_outbox() == []


def test_the_refusal_of_a_ship_that_was_sent_twice_is_no_news(session: Session, server: ScriptedServer) -> None:
    """The story: a broker was 3.5 s late, both copies of a fleet arrived, and a bot was refused each of its ships."""
    listed(session, server)
    late = [m.PlacementRefused("me", "carrier", code, "no") for code in ("off_grid", "rate_limited", "forged")]
    assert server.say(*late) == [Refused(answer.code, "no") for answer in late]
    server.say(*(m.PlacementJudged("me", ship.name, True) for ship in SALVO.fleet))
    assert server.say(*late, m.PlacementRefused("me", "carrier", "fleet_final", "no")) == []
    my_turn(session, server)
    assert server.say(m.PlacementRefused("me", "carrier", "wrong_state", "no")) == []


def test_a_final_fleet_is_not_sent_again_though_its_approval_was_lost(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    assert server.say(*(m.PlacementRefused("me", ship.name, "fleet_final", "no") for ship in SALVO.fleet)) == []
    session.take_outbox()
    session.handle_timer(4.0)
    assert session.take_outbox() == []


def test_a_repeated_result_counts_once(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", 1, 1)])
    assert server.say(result(1)) == [SalvoReported(result(1))]
    assert server.say(result(1)) == []
    assert session.view is not None
    assert len(session.view.salvos) == 1


def test_a_session_struck_off_the_list_asks_again_to_take_part(
    session: Session, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(session, server)
    session.take_outbox()
    forgotten: list[int] = []
    monkeypatch.setattr(session.witness, "struck_off", forgotten.append)
    server.say(m.PlayersListed(("you",)))
    assert [type(c).__name__ for c in server.commands(SEALER)] == ["ParticipationRequest"]
    assert forgotten == [1]


def test_a_refusal_that_crosses_the_next_lobby_is_no_fault_of_the_team(
    session: Session, server: ScriptedServer
) -> None:
    """A league that opened the hall again gave each bot as many warnings as it had ships on their way."""
    listed(session, server)
    unknown = m.CommandRefused("me", "unknown_player", "to 'nobody': name another player of this table")
    assert server.say(unknown) == [Refused("unknown_player", unknown.text)]  # of a line of chat, say
    server.say(m.PlayersListed(()), m.ServerStatus(True, "0", 2, "open"), m.StateChanged(State.LOBBY))
    assert server.say(*[m.CommandRefused("me", "unknown_player", "'me' is not listed at this table")] * 5) == []


def test_a_team_with_a_place_reads_that_a_command_did_not_fit_the_state(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    assert server.say(m.CommandRefused("me", "wrong_state", "no")) == [Refused("wrong_state", "no")]


def test_a_session_ignores_a_game_without_its_team(session: Session, server: ScriptedServer) -> None:
    server.say(m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.StateChanged(State.TURN), retained=True)
    session.connected()
    [waits] = server.say(m.PlayersListed(("you", "they")), m.CommandRefused("me", "wrong_state", "no"))
    assert waits == Waits("game_on", "a game is on; me plays the next one; waiting")
    assert server.begin_turn(3, "you", 5) == []
    assert server.say(result(3, player="you")) == []


def test_a_turn_that_is_shorter_than_the_tables_is_limited_by_the_bank(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    assert session.view is not None
    assert session.view.limited_by == "turn_timeout"
    server.say(result(1), m.TurnBegan(1, 2, "me", 5, 1_000_000, 1_029_999))
    assert session.view.limited_by == "bank_empty"


@pytest.mark.parametrize("topic", ["/t2/game/state", "/game/request_participation", "/players/you/hit"])
def test_a_session_reads_no_message_of_another_table_or_for_others(
    session: Session, server: ScriptedServer, topic: str
) -> None:
    listed(session, server)
    my_turn(session, server)
    assert session.receive(topic, b"over", False, 0.0) == []
    assert session.state is State.TURN


def between_games(session: Session, server: ScriptedServer, state: State) -> list[object]:
    status = m.ServerStatus(True, "0", 4, "open")
    server.say(status, m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.StateChanged(state), retained=True)
    session.connected()
    assert len(server.commands(SEALER)) == 1
    session.take_outbox()
    return list(server.say(m.CommandRefused("me", "wrong_state", "no")))


@pytest.mark.parametrize(("state", "how"), [(State.TURN, "on"), (State.OVER, "over")])
def test_a_team_that_joins_during_a_game_is_notified_once_to_wait_for_the_next(
    state: State, how: str, session: Session, server: ScriptedServer
) -> None:
    assert between_games(session, server, state) == [
        Waits("game_on", f"game 4 is {how}; me plays the next one; waiting")
    ]
    assert server.say(m.CommandRefused("me", "wrong_state", "no")) == []
    assert session.handle_timer(99.0) == []


def test_a_team_that_came_during_a_game_asks_once_in_the_next_lobby(session: Session, server: ScriptedServer) -> None:
    """The story: it asked when the server said that it is here, and again in the lobby, and placed two fleets."""
    between_games(session, server, State.OVER)
    server.say(m.ServerStatus(True, "0", 5, "open"), m.StateChanged(State.LOBBY))
    assert server.commands(SEALER) == [ParticipationRequest("", "me", "secret")]


@pytest.mark.parametrize(
    ("received", "code", "text"),
    [
        ([], "no_server", "no such table"),
        (
            [m.ServerStatus(True, "0", 1, "contest"), m.StateChanged(State.LOBBY)],
            "no_answer",
            "is 'me' the account of a watcher",
        ),
    ],
    ids=["table", "request"],
)
def test_a_team_without_an_answer_gets_one_notice(
    received: list[m.Announcement], code: str, text: str, session: Session, server: ScriptedServer
) -> None:
    """The story: a watcher's account joined, the broker dropped what it said, and it hung without a word."""
    server.say(*received, retained=True)
    session.connected(1.0)
    assert session.handle_timer(5.9) == []
    [waits] = session.handle_timer(6.1)
    assert isinstance(waits, Waits)
    assert (waits.code, text in waits.text) == (code, True)
    assert session.handle_timer(60.0) == []


def test_a_stranger_who_requests_a_listed_name_does_not_end_the_teams_session(
    session: Session, server: ScriptedServer
) -> None:
    """The server's answer to him is on this team's topic; clients took it for their own and gave up in mid-game."""
    taken = m.CommandRefused("me", "name_taken", "no")
    assert server.say(taken) == [Refused("name_taken", "no")]  # not listed yet: it is about us
    listed(session, server)
    assert server.say(taken) == []
    my_turn(session, server)
    session.connected()
    assert server.say(taken) == []  # lost its connection and waits for the recap


def test_a_team_that_returns_with_another_secret_gets_the_reason_for_waiting(
    session: Session, server: ScriptedServer
) -> None:
    """A team whose program was started again without its secret heard nothing at all."""
    server.say(m.ServerStatus(True, "0", 1, "open"), m.StateChanged(State.LOBBY), retained=True)
    session.connected()
    server.say(m.PlayersListed(("me", "you")), retained=True)
    taken = m.CommandRefused("me", "name_taken", "no")
    [waits] = server.say(taken)
    assert isinstance(waits, Waits)
    assert waits.code == "name_taken"
    assert waits.text.startswith("me is listed with another secret, perhaps by an earlier start of this program; give ")
    assert server.say(taken) == []  # it asks again and again
    listed(session, server)


# --- what a session passes on ---------------------------------------------------------------------------------------


def test_the_witness_receives_commands_refusals_and_reconnections(
    session: Session, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[object, ...]] = []
    for name in ("fired", "skipped", "refused", "came_back", "took_up", "connected_anew"):
        monkeypatch.setattr(session.witness, name, lambda *given, name=name: calls.append((name, *given)))
    listed(session, server)
    server.say(m.CommandRefused("me", "off_grid", "no"))
    assert calls == [("connected_anew",)]
    server.say(m.PlacementRefused("me", "carrier", "off_grid", "no"))
    nothing_placed = dataclasses.replace(recap(), turn=0, fleet=(), shots=(), landed=(), results=())
    server.say_recap(nothing_placed, SEALER)
    my_turn(session, server)
    session.fire([Shot("you", 1, 1)])
    session.skip()
    assert calls[1:] == [
        ("refused", 1),
        ("came_back", 1),
        ("fired", m.ShotContext(1, 1, 1, "you"), Shot("you", 1, 1)),
        ("skipped", m.TurnContext(1, 1)),
    ]
    session.connected()
    server.say_recap(recapped(1, 1, FLEET.placements, (), (), ()), SEALER)
    assert ("took_up", 1, 1) not in calls
    assert ("came_back", 1) not in calls[5:]


def test_another_source_of_randomness_decides_the_draws_of_the_game_in_play(
    session: Session, server: ScriptedServer
) -> None:
    draws = []
    for seed in (3, 3, 4):
        listed(session, server)
        my_turn(session, server)
        session.reseed(generator(seed))
        assert session.view is not None
        draws.append(session.view.untouched.sample(5))
        server.say(m.StateChanged(State.OVER), m.StateChanged(State.LOBBY))
    assert draws[0] == draws[1] != draws[2]


def test_fleets_that_are_revealed_are_in_the_view_unless_they_are_of_another_game(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    server.say(m.FleetRevealed("you", FLEET.placements), m.FleetRevealed("me", FLEET.placements[:2]))
    server.say(m.FleetRevealed("stranger", FLEET.placements))
    assert session.view is not None
    assert session.view.revealed == {"you": FLEET}


def test_missed_entries_of_the_log_are_asked_for_in_a_game(
    session: Session, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(session, server)
    monkeypatch.setattr(session.witness, "missed", lambda now: 17)
    session.take_outbox()
    session.handle_timer(1.0)
    assert session.take_outbox() == []
    my_turn(session, server)
    session.handle_timer(2.0)
    assert [p.topic for p in session.take_outbox()] == ["/players/me/resend"]


def test_a_session_subscribes_to_the_public_topics_and_its_own_and_no_others(session: Session) -> None:
    public = ("state", "turn", "result", "winner", "rules", "server", "log", "chat", "stats/+", "hosted")
    filters = session.filters()
    assert len(filters) == len(set(filters))
    assert {"/players/me/hit", "/players/+/fleet"} <= set(filters)
    assert not {"#", "/players/+/hit", "/game/request_participation"} & set(filters)
    assert {f"/game/{name}" for name in public} <= set(filters)
    assert {name for name in filters if name.startswith("/game/")} == {f"/game/{name}" for name in public}


# --- what a host does (SALVO-HOST) ----------------------------------------------------------------------------------

HOST = m.HostAction
FIGURES = (m.PlayerStats("me", 0, 0, 0, 0, 1), m.PlayerStats("you", 0, 0, 0, 0, 1))
ABORTED: tuple[m.Announcement, ...] = (*FIGURES, m.GameWon(""), m.StateChanged(State.OVER))


def acted(do: m.HostAction, **given: Any) -> m.HostActed:
    return m.HostActed("desk", do, **given)


def test_a_hosts_action_is_news_once_and_not_again_when_retained(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    notice = acted(HOST.ANNOUNCE, text="Lunch")
    assert server.say(notice) == [HostSeen(notice)]
    assert server.say(notice, retained=True) == []
    by_terminal = m.HostActed(m.TERMINAL_HOST, HOST.PAUSE)
    assert server.say(by_terminal) == [HostSeen(by_terminal)]
    assert server.say(by_terminal) == []  # published again, by a server that comes back
    resumed = m.HostActed(m.TERMINAL_HOST, HOST.RESUME)
    assert server.say(resumed, by_terminal) == [HostSeen(resumed), HostSeen(by_terminal)]


def test_what_a_host_announced_while_the_connection_was_down_is_news(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    notice = acted(HOST.ANNOUNCE, text="Game 1 does not go on")
    assert server.say(notice, retained=True) == [HostSeen(notice)]
    assert server.say(notice, retained=True) == []
    assert server.say(acted(HOST.PAUSE), retained=True) == []


@pytest.mark.parametrize("when", ["before the shots", "after the shots", "after a result"])
def test_a_game_that_a_host_aborts_ends_once(session: Session, server: ScriptedServer, when: str) -> None:
    listed(session, server)
    my_turn(session, server)
    if when != "before the shots":
        session.fire([Shot("you", x, 1) for x in range(1, 6)])
    if when == "after a result":
        server.say(result(1))
        server.begin_turn(2, "you", 5)
    *seen, ended = server.say(acted(HOST.ABORT), *ABORTED)
    assert seen == [HostSeen(acted(HOST.ABORT))]
    assert ended == GameEnded(1, "", {each.player: each for each in FIGURES}, aborted=True)
    assert server.say(*ABORTED) == []
    session.take_outbox()
    session.handle_timer(100.0)
    assert not [c for c in server.commands(SEALER) if isinstance(c, m.Fire)]


def test_the_end_of_an_aborted_game_is_reported_in_any_order_of_arrival(
    session: Session, server: ScriptedServer
) -> None:
    for order in permutations(ABORTED):
        session = Session("me", "secret", generator(2), sealer=SEALER)
        server = ScriptedServer(session)
        listed(session, server)
        my_turn(session, server)
        [ended] = server.say(*order)
        assert isinstance(ended, GameEnded)
        assert ended.aborted


def test_a_session_that_reconnects_after_an_abort_receives_the_end_of_the_game(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", 1, 1)])
    session.connected()
    events = server.say(acted(HOST.ABORT), *ABORTED, m.PlayersListed(("me", "you")), retained=True)
    shots = (m.OwnShot(1, "you", 1, 1),)
    events += server.say_recap(m.Recap("me", 1, 1, FLEET.placements, shots, (), (), ("me", "you")), SEALER)
    [ended] = events
    assert isinstance(ended, GameEnded)
    assert (ended.aborted, ended.missed) == (True, False)
    assert session.state is State.OVER


@pytest.mark.parametrize("code", ["removed", "not_invited"])
def test_a_team_that_may_not_take_part_gets_one_refusal_per_game(
    session: Session, server: ScriptedServer, code: str
) -> None:
    server.say(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.LOBBY), m.PlayersListed(("you",)), retained=True)
    session.connected()
    refused = m.CommandRefused("me", code, "not this time")
    assert server.say(refused) == [Refused(code, "not this time")]
    assert server.say(refused, refused) == []
    server.say(m.ServerStatus(True, "0", 2, "open"), m.StateChanged(State.TURN), m.StateChanged(State.LOBBY))
    assert server.say(refused) == [Refused(code, "not this time")]
