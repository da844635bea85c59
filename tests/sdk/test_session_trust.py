"""Whom a session gives its secret, and whose log it believes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import FLEET, SEALER, listed, my_turn, recap, recapped, result, sent_requests
from salvo import messages as m
from salvo.codec.command_reader import SealedParticipation, read_command, read_participation
from salvo.codec.commands import ParticipationRequest
from salvo.codec.log import Entry, LogStep, sign_entry, write_entry
from salvo.errors import ImpostorError, WireError
from salvo.join.events import LogDoubted, Refused, ServerMet, Waits
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, generator
from salvo.wire import topics
from salvo.wire.seal import salt_of
from salvo_server.storage.identity import Identity

IDENTITY = Identity(bytes(32))
KEYS = m.ServerKeys(IDENTITY.signing_key, IDENTITY.sealing_key)


def status(keys: m.ServerKeys | None = KEYS, **given: Any) -> m.ServerStatus:
    return m.ServerStatus(**{"online": True, "version": "0", "game": 1, "profile": "contest", **given}, keys=keys)


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
