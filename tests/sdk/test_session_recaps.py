"""What a team takes up from a recap when it comes back, and which recaps it ignores."""

from __future__ import annotations

import dataclasses

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import FLEET, SEALER, asked, listed, my_turn, recap, recapped, result, sent_requests
from salvo import messages as m
from salvo.codec.commands import ParticipationRequest
from salvo.codec.recap_writer import write_recap
from salvo.join.events import FleetWanted, GameEnded, GameTakenUp, Refused, SalvoWanted
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, Grid, generator
from salvo.view import Shot
from salvo.wire.seal import Sealer, key_to_team, make_blob


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
    """Its view is rebuilt from the recap; with the same seed, the game must still be the one that the arena plays."""
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
