"""What a session sends again: a broker may lose what it has acknowledged."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import FLEET, SEALER, asked, listed, my_turn, recap, recapped, result, sent_requests
from salvo import messages as m
from salvo.join.events import FleetWanted
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, SMACKDOWN, generator
from salvo.view import Shot


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
