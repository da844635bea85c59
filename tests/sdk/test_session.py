"""One player's side, told by a scripted server what a real one would say."""

from __future__ import annotations

import base64
import dataclasses
from itertools import pairwise, permutations
from typing import Any

import pytest

from kit.scripted_server import ScriptedServer
from salvo import messages as m
from salvo.codec.command_reader import SealedParticipation, read_command, read_participation
from salvo.codec.commands import ParticipationRequest
from salvo.codec.log import Entry, LogStep, sign_entry, write_entry
from salvo.codec.recap_writer import write_recap
from salvo.errors import ImpostorError, WireError
from salvo.join.events import (
    FleetWanted,
    GameEnded,
    GameTakenUp,
    HostSeen,
    LogDoubted,
    Refused,
    SalvoReported,
    SalvoWanted,
    ServerMet,
    Waits,
)
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, SMACKDOWN, Grid, Placement, generator, random_fleet
from salvo.view import Shot
from salvo.wire import topics
from salvo.wire.seal import Sealer, key_to_team, make_blob, salt_of
from salvo_server.storage.identity import Identity

SEALER = Sealer("secret", bytes(16))
FLEET = random_fleet(SALVO, generator(1))


@pytest.fixture
def session() -> Session:
    return Session("me", "secret", generator(2), sealer=SEALER)


@pytest.fixture
def server(session: Session) -> ScriptedServer:
    return ScriptedServer(session)


def listed(session: Session, server: ScriptedServer) -> None:
    server.say(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.LOBBY), retained=True)
    session.connected()
    events = server.say(m.PlayersListed(("me", "you")))
    assert events == [FleetWanted(SALVO, 1)]
    session.place(FLEET, 0.0)


def my_turn(session: Session, server: ScriptedServer, turn: int = 1) -> list[object]:
    server.say(m.StateChanged(State.TURN))
    return list(server.begin_turn(turn, "me", 5))


def result(turn: int, player: str = "me", **given: Any) -> m.SalvoResolved:
    return m.SalvoResolved(1, turn, player, 5, 1, (), ())._replace(**given)


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


def recapped(
    game: int,
    turn: int,
    fleet: tuple[Placement, ...],
    shots: tuple[m.OwnShot, ...],
    landed: tuple[tuple[int, int], ...],
    results: tuple[m.SalvoResolved, ...],
    players: tuple[str, ...] = ("me", "you"),
) -> m.Recap:
    return m.Recap("me", game, turn, fleet, shots, landed, results, players)


def recap() -> m.Recap:
    shots = tuple(
        m.OwnShot(turn, "you", x, turn) for turn in (1, 3) for x in ((1, 2, 3, 4, 5) if turn == 1 else (1, 2))
    )
    return recapped(1, 3, FLEET.placements, shots, ((9, 9),), (result(1), result(2, player="you")))


def test_a_killed_bot_takes_up_its_turn_where_it_was(session: Session, server: ScriptedServer) -> None:
    """A new process: kept topics first, then the recap; two of five shots of turn 3 were fired before the kill."""
    server.say(
        m.ServerStatus(True, "0", 1, "open"),
        m.RulesAnnounced(SALVO, "", 60, 30, 300, 3),
        m.StateChanged(State.TURN),
        m.PlayersListed(("me", "you")),
        m.TurnBegan(1, 3, "me", 5, 0, 30_000),
        result(2, player="you"),
        retained=True,
    )
    session.connected()
    taken_up, wanted = server.say_recap(recap(), SEALER)
    assert taken_up == GameTakenUp(1)
    assert isinstance(wanted, SalvoWanted)
    view = wanted.view
    assert (view.shots, view.turn, len(view.results), view.incoming) == (3, 3, 2, [(9, 9)])
    assert view.fleet == FLEET
    assert len(view.untouched) == 100 - 7
    session.take_outbox()
    session.fire([Shot("you", 9, 9)])
    [fired] = [c for c in server.commands(SEALER) if isinstance(c, m.Fire)]
    assert fired.context == m.ShotContext(1, 3, 3, "you")


@pytest.mark.parametrize("fallen", [(), ("they",)])
def test_a_team_that_comes_back_draws_what_it_would_have_drawn(fallen: tuple[str, ...]) -> None:
    """Its view is built anew from the recap; with one seed the game must stay the one that the arena plays."""
    drawn = []
    for lost in (False, True):
        session = Session("me", "secret", generator(2), sealer=SEALER)
        server = ScriptedServer(session)
        listed(session, server)
        server.say(m.PlayersListed(("me", "you", "they")))
        my_turn(session, server)
        assert session.view is not None
        shots = session.view.untouched.sample(5)
        session.fire(shots)
        results = (result(1), result(2, player="you", defeated=fallen))
        server.say(results[0])
        if lost:
            session.connected()
            fired = tuple(m.OwnShot(1, *shot) for shot in shots)
            everybody = ("me", "you", "they")
            server.say_recap(recapped(1, 3, FLEET.placements, fired, (), results, players=everybody), SEALER)
        else:
            server.say(results[1])
        assert session.view.game == 1
        drawn.append([session.view.untouched.sample(5) for _ in range(3)])
    assert drawn[0] == drawn[1]


def test_a_recap_after_a_short_loss_does_not_ask_twice(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", x, 1) for x in (1, 2, 3, 4, 5)])
    first = session.take_outbox()[-5:]
    session.connected()
    session.take_outbox()
    on_the_way = recapped(1, 1, FLEET.placements, (m.OwnShot(1, "you", 1, 1),), (), ())
    assert server.say_recap(on_the_way, SEALER) == []
    assert session.view is not None
    assert len(session.view.fired_this_turn) == 5
    again = session.take_outbox()
    shots = [command for command in (server.read(sent, SEALER) for sent in again) if isinstance(command, m.Fire)]
    assert [(s.x, s.context) for s in shots] == [(n, m.ShotContext(1, 1, n, "you")) for n in (2, 3, 4, 5)]
    server.say_recap(on_the_way, SEALER)  # asked for twice: the server came back just after the broker
    assert session.take_outbox() == []
    assert len(session.view.fired_this_turn) == 5
    # Not the same bytes: a shot that came before its predecessor was refused, and its nonce is burned.
    assert not {publication.payload for publication in again} & {publication.payload for publication in first}


@pytest.mark.parametrize("server_lost", [False, True])
@pytest.mark.parametrize("fired", [0, 2])
def test_a_player_that_still_thinks_when_a_recap_arrives_has_its_turn(
    session: Session, server: ScriptedServer, fired: int, server_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person, or a program behind a gateway: asked before the broker was killed, it had no shots left after that."""
    listed(session, server)
    my_turn(session, server)
    shots = [Shot("you", x, 1) for x in (1, 2, 3, 4, 5)]
    session.fire(shots[:fired])
    if server_lost:
        server.say(m.ServerStatus(True, "0", 1, "open"))
    else:
        session.connected()
    server.now = 20.0
    server.say(m.TurnResumed(1, 1, "me", 5, 40_000, 75_000))
    session.take_outbox()
    assert server.say_recap(recapped(1, 1, FLEET.placements, (), (), ()), SEALER) == []  # it was asked already
    assert session.view is not None
    monkeypatch.setattr("time.monotonic", lambda: server.now)
    assert (session.view.turn, session.view.shots, session.view.seconds_left) == (1, 5 - fired, 35.0)
    session.fire(shots[fired:])
    sent = [command for command in server.commands(SEALER) if isinstance(command, m.Fire)]
    assert [(s.x, s.context) for s in sent] == [(n, m.ShotContext(1, 1, n, "you")) for n in (1, 2, 3, 4, 5)]
    assert session.view.shots == 0


def test_a_turn_that_began_while_the_connection_was_away_is_asked_for(session: Session, server: ScriptedServer) -> None:
    """The kept turn arrives before the recap: asking then would count the old salvo's shots as fired in this turn."""
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", x, 1) for x in (1, 2, 3, 4, 5)])
    session.connected()
    assert server.begin_turn(3, "me", 5) == []
    server.say(result(2, player="you"), retained=True)
    shots = tuple(m.OwnShot(1, "you", x, 1) for x in (1, 2, 3, 4, 5))
    results = (result(1), result(2, player="you"))
    [wanted] = server.say_recap(recapped(1, 3, FLEET.placements, shots, (), results), SEALER)
    assert isinstance(wanted, SalvoWanted)
    assert (wanted.view.turn, wanted.view.shots, len(wanted.view.results)) == (3, 5, 2)
    assert server.begin_turn(3, "me", 5) == []


def test_a_server_that_restarts_in_the_lobby_gets_name_and_fleet_again(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    server.say(*(m.PlacementJudged("me", ship.name, True) for ship in SALVO.fleet))
    session.take_outbox()
    server.say(m.ServerStatus(False, "0", 1, "open"), m.ServerStatus(True, "0", 1, "open"))
    assert [type(c).__name__ for c in server.commands(SEALER)] == ["ParticipationRequest"]
    assert server.say(m.PlayersListed(("me",))) == []
    assert {c.placement for c in server.commands(SEALER) if isinstance(c, m.PlaceShip)} == set(FLEET.placements)


def test_a_recap_of_somebody_else_is_ignored(session: Session, server: ScriptedServer) -> None:
    listed(session, server)
    assert server.say_recap(recap(), Sealer("a thief's", bytes(16))) == []
    assert session.view is None


def test_a_turn_that_the_recap_shows_as_resolved_asks_for_no_salvo(session: Session, server: ScriptedServer) -> None:
    """The recap is younger than the retained turn: the salvo is over, its result is in it."""
    listed(session, server)
    my_turn(session, server)
    session.connected(1.0)
    done = recap()
    resolved = (*done.results, result(3))
    events = server.say_recap(dataclasses.replace(done, results=resolved), SEALER)
    assert not any(isinstance(event, SalvoWanted) for event in events)


def test_a_recap_without_all_ships_is_answered_with_those_that_are_missing(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    session.take_outbox()
    session.connected(1.0)
    session.take_outbox()
    partial = dataclasses.replace(recap(), turn=0, fleet=FLEET.placements[:3], shots=(), landed=(), results=())
    assert server.say_recap(partial, SEALER) == []
    assert [c.placement for c in server.commands(SEALER) if isinstance(c, m.PlaceShip)] == list(FLEET.placements[3:])


# --- what the simulation found --------------------------------------------------------------------------------------


def asked(session: Session, server: ScriptedServer) -> list[str]:
    return [type(c).__name__ for c in server.commands(SEALER)]


def test_shots_that_did_not_count_are_taken_back(session: Session, server: ScriptedServer) -> None:
    """Two of five came before the deadline; the view held the others for shots and never fired there again."""
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", x, 1) for x in (1, 2, 3, 4, 5)])
    server.say(result(1, shots=2))
    assert session.view is not None
    assert session.view.salvos[-1].shots == (Shot("you", 1, 1), Shot("you", 2, 1))
    assert len(session.view.untouched) == 98


@pytest.mark.parametrize("status_topic", ["", "/game/server"], ids=["default table", "further table"])
def test_a_server_that_was_lost_unnoticed_is_asked_for_the_recap(
    session: Session, server: ScriptedServer, status_topic: str
) -> None:
    """Its connection broke and no last will came: it said hits twice, and nobody can tell two hits on a cell apart.

    A further table never has a last will: its status names the topic that has one.
    """
    listed(session, server)
    my_turn(session, server)
    session.take_outbox()
    status = m.ServerStatus(not status_topic, "0", 1, "open", status_topic)
    server.say(m.ShotLanded("me", 3, 4), m.ShotLanded("me", 3, 4), status)
    assert asked(session, server) == ["ParticipationRequest"]
    on_the_way = recapped(1, 1, FLEET.placements, (), ((3, 4),), ())
    server.say_recap(on_the_way, SEALER)
    assert session.view is not None
    assert session.view.incoming == [(3, 4)]


def test_a_stale_lobby_state_retained_by_a_killed_broker_does_not_end_the_game(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    session.fire([Shot("you", x, 1) for x in (1, 2, 3, 4, 5)])
    fired = [c for c in server.commands(SEALER) if isinstance(c, m.Fire)]
    session.connected()
    session.take_outbox()
    server.say(m.ServerStatus(True, "0", 1, "open"), m.StateChanged(State.LOBBY), retained=True)
    server.say_recap(recapped(1, 1, FLEET.placements, (), (), ()), SEALER)
    assert server.commands(SEALER) == fired  # the same shots, not new ones beside those that may still arrive


def test_the_end_of_a_game_is_reported_once_all_statistics_are_received(
    session: Session, server: ScriptedServer
) -> None:
    """After a broker has lost everything the server says it again, in any order."""
    listed(session, server)
    my_turn(session, server)
    assert server.say(m.StateChanged(State.OVER), m.GameWon("me"), m.PlayerStats("me", 5, 1, 0, 1, 1)) == []
    assert server.say(m.PlayerStats("stranger", 0, 0, 0, 0, 2)) == []
    assert server.say(m.PlayerStats("you", 0, 0, 0, 0, 2)) == []
    _, ended = server.say(result(1, defeated=("you",)))
    assert isinstance(ended, GameEnded)
    assert (ended.winner, set(ended.stats)) == ("me", {"me", "you"})
    assert server.say(m.StateChanged(State.OVER)) == []


def test_a_game_that_began_while_the_connection_was_away_waits_for_the_recap(
    session: Session, server: ScriptedServer
) -> None:
    """It answered the kept turn, and the recap that came then knew nothing of the shots."""
    listed(session, server)
    session.connected()
    server.say(m.StateChanged(State.TURN), retained=True)
    assert server.begin_turn(2, "me", 5) == []
    results = (result(1, player="you"),)
    [wanted] = server.say_recap(recapped(1, 2, FLEET.placements, (), (), results), SEALER)
    assert isinstance(wanted, SalvoWanted)


def test_a_team_that_is_listed_before_the_game_has_a_number_places_one_fleet(
    session: Session, server: ScriptedServer
) -> None:
    """The server was away: its last will names no game. The number that followed passed for another game's."""
    server.say(m.ServerStatus(False, "0", 0, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.LOBBY), retained=True)
    session.connected()
    assert server.say(m.PlayersListed(("me",))) == [FleetWanted(SALVO, 0)]
    session.place(FLEET, 0.0)
    server.say(m.ServerStatus(True, "0", 1, "open"))
    partial = dataclasses.replace(recap(), turn=0, fleet=(), shots=(), landed=(), results=())
    assert server.say_recap(partial, SEALER) == []


@pytest.mark.parametrize(
    "received",
    [
        [m.StateChanged(State.TURN)],
        [m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.StateChanged(State.LOBBY)],
        [m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.PlayersListed(("me", "you")), m.StateChanged(State.TURN)],
    ],
    ids=["game", "lobby", "game of its own"],
)
def test_a_team_that_was_there_before_the_server_asks_when_it_comes(
    session: Session, server: ScriptedServer, received: list[m.Announcement]
) -> None:
    """Nobody had subscribed yet, so the broker dropped the first request, and the team waited forever."""
    session.connected(1.0)
    session.handle_timer(4.0)
    session.take_outbox()
    server.say(*received, m.ServerStatus(True, "0", 1, "open"))
    assert server.commands(SEALER) == [ParticipationRequest("", "me", "secret")]


def test_the_recap_knows_who_plays_when_the_broker_has_an_older_list(session: Session, server: ScriptedServer) -> None:
    """A broker that was killed came back with a list of before; without rivals the bot had nobody to fire at."""
    listed(session, server)
    my_turn(session, server)
    session.connected()
    server.say(m.PlayersListed(("me",)), retained=True)
    events = server.say_recap(dataclasses.replace(recap(), players=("me", "you")), SEALER)
    assert session.view is not None
    assert session.view.opponents == ("you",)
    assert not any(isinstance(event, Refused) for event in events)


# --- old recaps ---------------------------------------------------------------------------------------------------


def late() -> m.Recap:
    """A turn and a hit later than :func:`recap`."""
    known = recap()
    shots = (*known.shots, *(m.OwnShot(3, "you", x, 3) for x in (3, 4, 5)))
    return dataclasses.replace(known, turn=4, shots=shots, landed=((9, 9), (8, 8)), results=(*known.results, result(3)))


def back(session: Session, server: ScriptedServer, newest: m.Recap) -> None:
    """A new process in game 1, which has taken up this recap."""
    server.say(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.TURN), m.PlayersListed(("me", "you")), retained=True)
    session.connected()
    server.say_recap(newest, SEALER)


def test_a_team_that_comes_back_to_the_next_lobby_asks_until_it_is_answered(
    session: Session, server: ScriptedServer
) -> None:
    """After a broker had lost both the end of a game and the team's request, the team never asked again."""
    back(session, server, recap())
    session.take_outbox()
    session.connected(10.0)
    assert len(sent_requests(session)) == 1
    server.now = 10.0
    server.say(
        m.PlayersListed(("you",)), m.StateChanged(State.LOBBY), m.ServerStatus(True, "0", 2, "open"), retained=True
    )
    session.handle_timer(13.5)
    assert len(sent_requests(session)) == 1


def known(session: Session) -> tuple[int, int, list[tuple[int, int]]]:
    assert session.view is not None
    return session.game, len(session.view.results), session.view.incoming


LATE = (1, 3, [(9, 9), (8, 8)])


def test_an_old_recap_replayed_by_a_rival_does_not_reset_the_view(session: Session, server: ScriptedServer) -> None:
    """On an open broker anybody can, and it does open with the team's key."""
    back(session, server, late())
    assert server.say_recap(recap(), SEALER) == []
    assert known(session) == LATE
    session.connected()  # and nobody can when the team waits for one either
    assert server.say_recap(recap(), SEALER) == []
    assert known(session) == LATE
    session.take_outbox()
    session.handle_timer(3.5)
    assert asked(session, server) == ["ParticipationRequest"]  # it still waits
    server.say_recap(late(), SEALER)
    session.handle_timer(7.0)
    assert session.take_outbox() == []


def test_a_recap_older_than_received_announcements_is_ignored(session: Session, server: ScriptedServer) -> None:
    back(session, server, recap())
    server.say(m.TurnBegan(1, 3, "me", 5, 0, 30_000), m.ShotLanded("me", 8, 8))
    assert server.say_recap(recap(), SEALER) == []
    assert known(session) == (1, 2, [(9, 9), (8, 8)])
    server.say(result(3))
    assert server.say_recap(dataclasses.replace(recap(), landed=((9, 9), (8, 8))), SEALER) == []
    assert known(session) == LATE


def test_a_recap_that_a_broker_delivers_again_is_no_answer(session: Session, server: ScriptedServer) -> None:
    """One of the lobby came again after a broker's crash, and a bot that had fired was asked for that salvo again."""
    listed(session, server)
    lobby = write_recap(recapped(1, 0, FLEET.placements, (), (), ()), SALVO.grid)
    delivered = make_blob(lobby, key_to_team(SEALER.key), SEALER.salt).encode()
    session.receive("/players/me/recap", delivered, False, 0.0)
    my_turn(session, server)
    session.fire([Shot("you", x, 1) for x in range(1, 6)])
    session.connected(1.0)
    session.take_outbox()
    server.say(m.StateChanged(State.LOBBY), retained=True)
    session.receive("/players/me/recap", delivered, False, 1.0)
    server.say(m.StateChanged(State.TURN))
    assert server.begin_turn(1, "me", 5) == []
    session.handle_timer(4.5)
    assert asked(session, server) == ["ParticipationRequest"]


def test_a_recap_that_knows_more_only_of_the_teams_own_shots_is_taken_up(
    session: Session, server: ScriptedServer
) -> None:
    """Another program of the team has fired."""
    back(session, server, recap())
    shots = (*recap().shots, m.OwnShot(3, "you", 7, 7))
    server.say_recap(dataclasses.replace(recap(), shots=shots), SEALER)
    assert session.view is not None
    assert session.view.fired_this_turn[-1] == Shot("you", 7, 7)


def test_a_recap_that_is_awaited_is_believed_against_results_that_somebody_made_up(
    session: Session, server: ScriptedServer
) -> None:
    back(session, server, recap())
    server.say(result(3), result(4, player="you"))
    session.connected()
    server.say_recap(late(), SEALER)
    assert known(session) == LATE


def test_a_recap_that_does_not_fit_rules_which_somebody_made_up_is_asked_for_again(
    session: Session, server: ScriptedServer
) -> None:
    """The session ended with the error of a fleet off the grid."""
    other = dataclasses.replace(SALVO, name="other", grid=Grid(5, 5))
    server.say(m.RulesAnnounced(other, "", 60, 30, 300, 3))
    server.say(m.StateChanged(State.TURN), m.PlayersListed(("me", "you")), m.ServerStatus(True, "0", 1, "open"))
    session.connected()
    assert server.say_recap(late(), SEALER) == []
    assert session.view is None
    server.say(m.RulesAnnounced(SALVO, "", 60, 30, 300, 3))
    session.take_outbox()
    session.handle_timer(3.5)
    assert asked(session, server) == ["ParticipationRequest"]
    server.say_recap(late(), SEALER)
    assert known(session) == LATE


def test_a_recap_of_an_earlier_game_is_nobodys_business_in_the_next_lobby(
    session: Session, server: ScriptedServer
) -> None:
    back(session, server, late())
    server.say(m.ServerStatus(True, "0", 2, "open"), retained=True)
    server.say(m.StateChanged(State.LOBBY))
    assert server.say_recap(late(), SEALER) == []
    assert session.view is None
    assert server.say(m.PlayersListed(("me",))) == [FleetWanted(SALVO, 2)]
    session.place(FLEET, 0.0)
    assert server.say_recap(late(), SEALER) == []
    server.say(m.PlayersListed(("me", "you")), m.StateChanged(State.TURN), m.TurnBegan(2, 1, "you", 5, 0, 30_000))
    assert server.say_recap(late(), SEALER) == []
    assert known(session) == (2, 0, [])


def test_what_the_recap_of_a_long_game_sums_up_is_in_the_view(session: Session, server: ScriptedServer) -> None:
    turns = 9000
    shots = tuple(m.OwnShot(1, "you", x, 1) for x in (1, 2, 3, 4, 5))
    results = tuple(result(turn) for turn in range(1, turns + 1))
    back(session, server, dataclasses.replace(recap(), turn=turns + 1, shots=shots, results=results))
    assert session.view is not None
    assert len(session.view.results) < turns
    assert session.view.turns_known == turns
    assert len(session.view.untouched) == 95


def test_a_recap_is_accepted_from_a_server_that_restarts_with_game_1(session: Session, server: ScriptedServer) -> None:
    """It keeps no journal. What was known of the other game 1 is no measure."""
    back(session, server, late())
    server.say(m.ServerStatus(True, "0", 1, "open"), m.StateChanged(State.LOBBY), m.PlayersListed(("me",)))
    session.place(FLEET, 0.0)
    server.say(m.PlayersListed(("me", "you")), m.StateChanged(State.TURN), m.TurnBegan(1, 1, "you", 5, 0, 30_000))
    session.connected()
    server.say_recap(recapped(1, 2, FLEET.placements, (), ((7, 7),), (result(1, player="you"),)), SEALER)
    assert known(session) == (1, 1, [(7, 7)])


# --- what the broker has lost after it had acknowledged it --------------------------------------------------------


def requests_until(session: Session, end: float, begin: float = 0.0) -> list[float]:
    """Let time pass, half a second at a time; return when the team asks to take part."""
    times = [begin + step / 2 for step in range(1, int((end - begin) * 2) + 1)]
    return [now for now in times if (session.handle_timer(now), sent_requests(session))[1]]


def waiting_in_lobby(session: Session, server: ScriptedServer) -> None:
    server.say(m.ServerStatus(True, "0", 1, "open"), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    server.say(m.StateChanged(State.LOBBY), retained=True)
    session.connected(0.0)
    assert len(sent_requests(session)) == 1


def test_a_lost_request_to_take_part_is_made_again_every_few_seconds_until_the_team_is_listed(
    session: Session, server: ScriptedServer
) -> None:
    """A flood at a lobby's opening lost it, and the bot stood there until it was restarted."""
    waiting_in_lobby(session, server)
    asked = [0.0, *requests_until(session, 60.0)]
    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert len(asked) > 60 / 9
    assert all(3.0 <= pause <= 8.5 for pause in pauses)
    assert len(set(pauses)) > 1
    server.now = 60.0
    assert server.say(m.PlayersListed(("me",))) == [FleetWanted(SALVO, 1)]
    assert requests_until(session, 90.0, 60.0) == []


def test_teams_do_not_ask_again_at_the_same_moments_and_the_bots_randomness_is_not_touched() -> None:
    moments = []
    for name in ("me", "you", "me"):
        random = generator(5)
        session = Session(name, "secret", random, sealer=SEALER)
        waiting_in_lobby(session, ScriptedServer(session))
        moments.append(requests_until(session, 60.0))
        assert random.random() == generator(5).random()
    assert moments[0] == moments[2] != moments[1]


def test_a_request_is_not_repeated_to_an_absent_server_or_when_no_game_is_wanted(
    session: Session, server: ScriptedServer
) -> None:
    waiting_in_lobby(session, server)
    server.say(m.ServerStatus(False, "0", 1, "open"))
    assert requests_until(session, 20.0) == []
    server.say(m.ServerStatus(True, "0", 1, "open"))
    assert len(sent_requests(session)) == 1
    session.wants_to_play = False
    assert requests_until(session, 40.0, 20.0) == []


def test_a_request_that_was_only_late_brings_one_fleet(session: Session, server: ScriptedServer) -> None:
    """List and recap answer the two requests; the fleet was sent twice, and the second one refused ship by ship."""
    waiting_in_lobby(session, server)
    server.now = max(requests_until(session, 9.0))
    server.say(m.PlayersListed(("me",)))
    session.place(FLEET, server.now)
    assert len(session.take_outbox()) == 5
    nothing_placed = dataclasses.replace(recap(), turn=0, fleet=(), shots=(), landed=(), results=())
    assert server.say_recap(nothing_placed, SEALER) == []
    assert session.take_outbox() == []
    session.handle_timer(server.now + 3.1)
    assert len(session.take_outbox()) == 5  # unless nobody answers


def salvo_sent(session: Session, server: ScriptedServer) -> list[m.Fire]:
    """Return the commands of a whole salvo; the turn is on until 30.0."""
    listed(session, server)
    my_turn(session, server)
    session.take_outbox()
    session.fire([Shot("you", x, 1) for x in (1, 2)])
    session.fire([Shot("you", x, 1) for x in (3, 4, 5)])
    session.handle_timer(0.0)
    return [command for command in server.commands(SEALER) if isinstance(command, m.Fire)]


def test_a_salvo_without_a_result_is_sent_again_every_three_seconds(session: Session, server: ScriptedServer) -> None:
    """A flood had made the broker drop it; an honest turn ended with five shots that were not fired."""
    fired = salvo_sent(session, server)
    session.handle_timer(2.9)
    assert session.take_outbox() == []
    payloads: set[bytes] = set()
    for now in (3.1, 6.2):
        session.handle_timer(now)
        session.handle_timer(now + 2.9)
        sent = session.take_outbox()
        assert [server.read(publication, SEALER) for publication in sent] == fired
        payloads |= {publication.payload for publication in sent}
    assert len(payloads) == 10  # the nonces may be burned: what came without the shot before it was refused
    assert session.view is not None
    assert (session.view.shots, len(session.view.fired_this_turn), len(session.view.untouched)) == (0, 5, 95)


@pytest.mark.parametrize(
    "announced",
    [
        result(1),
        m.TurnBegan(1, 2, "you", 5, 0, 30_000),  # in a round the result comes at its end
        m.ServerStatus(False, "0", 1, "open"),
        m.ServerStatus(True, "0", 1, "open", paused=True),
        m.CommandRefused("me", "turn_timeout", "too slow"),
    ],
)
def test_a_salvo_is_sent_again_in_the_own_turn_only_and_to_a_server_that_is_there(
    announced: m.Announcement, session: Session, server: ScriptedServer
) -> None:
    salvo_sent(session, server)
    server.say(announced)
    for now in range(1, 60):
        session.handle_timer(float(now))
    assert session.take_outbox() == []


def test_a_salvo_is_not_sent_again_after_the_deadline_or_before_the_recap(
    session: Session, server: ScriptedServer
) -> None:
    salvo_sent(session, server)
    session.connected(1.0)
    session.handle_timer(3.9)
    assert asked(session, server) == ["ParticipationRequest"]
    server.say_recap(recapped(1, 1, FLEET.placements, (), (), ()), SEALER)
    session.take_outbox()
    for now in range(30, 60):
        session.handle_timer(float(now))
    assert session.take_outbox() == []


def test_a_skip_without_a_result_is_sent_again_with_the_shots_before_it(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    server.say(m.RulesAnnounced(SMACKDOWN, "", 60, 30, 300, 3))
    my_turn(session, server)
    session.take_outbox()
    session.fire([Shot("you", 1, 1)])
    session.skip()
    session.handle_timer(0.0)
    sent = server.commands(SEALER)
    assert sent == [m.Fire("me", "you", 1, 1, m.ShotContext(1, 1, 1, "you")), m.Skip("me", m.TurnContext(1, 1))]
    session.handle_timer(3.1)
    assert server.commands(SEALER) == sent


# --- who the server is --------------------------------------------------------------------------------------------

IDENTITY = Identity(bytes(32))
KEYS = m.ServerKeys(IDENTITY.signing_key, IDENTITY.sealing_key)


def status(keys: m.ServerKeys | None = KEYS, **given: Any) -> m.ServerStatus:
    return m.ServerStatus(**{"online": True, "version": "0", "game": 1, "profile": "contest", **given}, keys=keys)


def sent_requests(session: Session) -> list[bytes]:
    return [p.payload for p in session.take_outbox() if p.topic == "/game/request_participation"]


def test_the_secret_is_sealed_for_a_server_that_has_a_key(session: Session, server: ScriptedServer) -> None:
    session.connected()
    assert session.take_outbox() == []  # it does not know yet whether to seal
    assert server.say(status(), retained=True)[0] == ServerMet(KEYS)
    [payload] = sent_requests(session)
    request = read_command(topics.parse("/game/request_participation"), payload, SALVO)
    assert isinstance(request, SealedParticipation)
    assert read_participation("", IDENTITY.open(request.sealed)) == ParticipationRequest("", "me", "secret")
    assert len(IDENTITY.open(request.sealed)) == 96
    session.connected()
    [again] = sent_requests(session)
    assert b"secret" not in payload + again
    assert again != payload


def test_a_server_that_shows_no_key_is_asked_openly_two_seconds_after_the_connection(session: Session) -> None:
    session.connected(100.0)
    session.handle_timer(101.9)
    assert sent_requests(session) == []
    session.handle_timer(102.1)
    assert len(sent_requests(session)) == 1


def test_a_key_is_derived_once_though_the_server_shows_its_own_again(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[bytes] = []

    def counted(secret: str, salt: bytes) -> bytes:
        derived.append(salt)
        return bytes(32)

    monkeypatch.setattr("salvo.wire.seal.derive_key", counted)
    session = Session("me", "secret", generator(2))
    server = ScriptedServer(session)
    server.say(status(), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), retained=True)
    for _ in range(2):
        server.say(status(), m.StateChanged(State.LOBBY), m.PlayersListed(("me",)), retained=True)
        session.place(FLEET, 0.0)
        assert session.take_outbox()
    assert derived == [salt_of("me", KEYS.sign)]


def test_a_recap_that_comes_too_early_is_an_answer(session: Session, server: ScriptedServer) -> None:
    server.say(status(None), m.StateChanged(State.LOBBY), retained=True)
    session.connected(0.0)
    assert len(sent_requests(session)) == 1
    server.now = 4.0
    server.say_recap(recap(), SEALER)
    assert session.handle_timer(5.5) == []
    for now in (7.1, 10.2):  # it asks every three seconds, as for any recap
        session.handle_timer(now)
        assert len(sent_requests(session)) == 1
    assert [event.code for event in session.handle_timer(13.0) if isinstance(event, Waits)] == ["no_answer"]


def test_a_server_that_is_known_by_its_key_is_never_asked_openly() -> None:
    """Who keeps /game/server away, or publishes one without keys, must not get the secret."""
    session = Session("me", "secret", generator(2), sealer=SEALER, always_seal=True)
    server = ScriptedServer(session)
    session.connected(0.0)
    session.handle_timer(100.0)
    assert ServerMet(None) in server.say(status(None), retained=True)
    session.handle_timer(200.0)
    assert sent_requests(session) == []
    server.say(status())
    assert len(sent_requests(session)) == 1


@pytest.mark.parametrize("keys", [None, m.ServerKeys(bytes(32), KEYS.seal)])
def test_another_server_in_its_place_ends_the_session(
    session: Session, server: ScriptedServer, keys: m.ServerKeys | None
) -> None:
    session.connected()
    server.say(status(), retained=True)
    with pytest.raises(ImpostorError, match=r"impostor: the server is .* but what publishes in its place now"):
        server.say(status(keys))


def test_a_new_sealing_key_of_a_known_server_is_used(session: Session, server: ScriptedServer) -> None:
    server.say(status(), retained=True)
    other = Identity.fresh()
    assert ServerMet(m.ServerKeys(KEYS.sign, other.sealing_key)) in server.say(
        status(m.ServerKeys(KEYS.sign, other.sealing_key))
    )
    session.take_outbox()
    session.connected()
    [payload] = sent_requests(session)
    assert other.open(base64.b64decode(payload)).startswith(b'{"name"')


def test_the_last_will_has_the_keys_too_and_a_key_for_nothing_is_noise(
    session: Session, server: ScriptedServer
) -> None:
    server.say(status(online=False, game=0), retained=True)
    assert sent_requests(session) == []
    session.connected()
    assert sent_requests(session)[0][:1] != b"{"
    with pytest.raises(WireError, match="nothing can be sealed for the key 00"):
        server.say(status(m.ServerKeys(KEYS.sign, bytes(32))))


@pytest.mark.parametrize("code", ["not_in_roster", "sealed_required"])
def test_a_refusal_to_the_name_counts_when_the_lobby_has_not_listed_the_team(
    session: Session, server: ScriptedServer, code: str
) -> None:
    """Anybody can ask in this team's name with a wrong secret, and the answer comes here."""
    session.connected()
    server.open_lobby()
    session.take_outbox()
    assert server.say(m.CommandRefused("me", code, "no")) == []
    assert session.handle_timer(2.0) == []
    assert len(sent_requests(session)) == 1  # the team's own request may be lost
    assert server.say(m.CommandRefused("me", code, "no")) == []
    assert session.handle_timer(3.1) == [Refused(code, "no")]
    assert session.handle_timer(6.0) == []


# --- the signed log -----------------------------------------------------------------------------------------------


def test_a_log_that_somebody_else_signed_ends_the_session(session: Session, server: ScriptedServer) -> None:
    assert "/game/log" in session.filters()
    entry = write_entry(Entry(5, "00" * 32, LogStep(1, (), ()), of="00" * 8))
    forged = sign_entry(entry, Identity.fresh().sign)
    assert session.receive("/game/log", forged, False, 0.0) == []  # nobody knows yet whose it should be
    server.say(status(), retained=True)
    with pytest.raises(ImpostorError, match="impostor: an entry of the log is not signed by the server"):
        session.receive("/game/log", forged, False, 0.0)


def test_unconfirmed_announcements_are_reported_and_a_recap_is_requested(
    session: Session, server: ScriptedServer
) -> None:
    listed(session, server)
    my_turn(session, server)
    server.say(status(), retained=True)
    entry = write_entry(Entry(5, "00" * 32, LogStep(1, (), ()), of="00" * 8))
    assert session.receive("/game/log", sign_entry(entry, IDENTITY.sign), False, 0.0) == []
    session.take_outbox()
    server.say(result(1, hits=4))
    assert session.handle_timer(9.0) == []
    [doubt] = session.handle_timer(10.5)
    assert isinstance(doubt, LogDoubted)
    assert len(sent_requests(session)) == 1
    server.say_recap(recapped(1, 1, FLEET.placements, (), (), ()), SEALER)
    assert session.view is not None
    assert session.view.results == []  # the result was somebody else's
    assert session.handle_timer(60.0) == []
    assert sent_requests(session) == []
    server.now = 61.0
    server.say(result(2, player="you"), retained=True)  # the broker had kept it: its entry may be long past
    assert session.handle_timer(90.0) == []


# --- what the tables showed ---------------------------------------------------------------------------------------


def test_a_made_up_refusal_does_not_draw_out_the_secret_before_the_server_is_known() -> None:
    """On an open broker anyone can refuse a name; the session asked again at once, openly, though it knew the key."""
    session = Session("me", "secret", generator(2), sealer=SEALER, always_seal=True)
    server = ScriptedServer(session)
    session.connected(0.0)
    server.say(m.StateChanged(State.LOBBY), m.CommandRefused("me", "not_in_roster", "no"))
    for now in range(1, 30):
        session.handle_timer(float(now))
    assert sent_requests(session) == []


# --- the salt -------------------------------------------------------------------------------------------------------


def salts(session: Session) -> set[bytes]:
    return {base64.b64decode(p.payload)[:16] for p in session.take_outbox() if p.topic.endswith("/place")}


def placed_at(keys: m.ServerKeys | None, name: str = "me") -> set[bytes]:
    """Return the salts under which a new process places its fleet."""
    session = Session(name, "secret", generator(2))
    server = ScriptedServer(session)
    server.say(status(keys), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.StateChanged(State.LOBBY), retained=True)
    session.connected()
    server.say(m.PlayersListed((name,)))
    session.place(FLEET, 0.0)
    return salts(session)


def test_a_team_that_starts_again_has_the_salt_that_the_server_knows_and_another_one_elsewhere() -> None:
    """A bot that was killed waited behind every forged message for its key, and lost turns."""
    [salt] = placed_at(KEYS)
    assert placed_at(KEYS) == {salt}
    others = [placed_at(KEYS, "you"), placed_at(m.ServerKeys(bytes(32), KEYS.seal)), placed_at(None), placed_at(None)]
    assert len({salt}.union(*others)) == 5


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
