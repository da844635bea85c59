"""Client and server of different versions: each minor version understands every other, and each major one says no."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kit.documents import ROOT
from kit.signed_games import IDENTITY, play
from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.log import sign_entry
from salvo.errors import ProtocolError, UnfairGame, WireError
from salvo.join.events import FleetWanted, SalvoWanted
from salvo.join.fairness.witness import Witness
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo_server.storage.identity import Identity

NEWER = m.Protocol(m.PROTOCOL.major, m.PROTOCOL.minor + 1)


def test_specification_and_javascript_name_the_current_protocol_version() -> None:
    assert f"version {m.PROTOCOL}." in (ROOT / "proto" / "README.md").read_text().split("\n\n")[1]
    javascript = (ROOT / "client_sdk" / "javascript" / "src" / "announcements.js").read_text()
    assert f"PROTOCOL = {{ major: {m.PROTOCOL.major}, minor: {m.PROTOCOL.minor} }};" in javascript


def status(**given: Any) -> bytes:
    """``/game/server`` as a server of another version may write it; a field that is None is left out."""
    body = {"status": "online", "version": "9.8.7", "game": 1, "profile": "contest", **given}
    return json.dumps({key: value for key, value in body.items() if value is not None}).encode()


def read(payload: bytes) -> m.Announcement | None:
    return read_announcement(topics.parse("/game/server"), payload)


def with_later_fields(value: Any) -> Any:
    """The same JSON with a field more in every object, but for the fleet's, whose keys are ships."""
    if isinstance(value, dict):
        grown = {key: each if key == "fleet" else with_later_fields(each) for key, each in value.items()}
        return grown | {"later": {"x": 1}}
    return [with_later_fields(each) for each in value] if isinstance(value, list) else value


def from_a_newer_server(*announcements: m.Announcement) -> Iterator[tuple[str, bytes]]:
    """Everything that these announcements publish, with fields that this client does not know."""
    for announcement in announcements:
        for publication in write_announcement(announcement):
            payload = publication.payload
            if payload.startswith(b"{"):
                payload = json.dumps(with_later_fields(json.loads(payload))).encode()
            yield publication.topic, payload


def test_a_newer_minor_version_is_read_as_far_as_it_is_known() -> None:
    status_read = read(status(protocol={"major": 1, "minor": 7, "patch": 3}, later=[1]))
    assert status_read == m.ServerStatus(True, "9.8.7", 1, "contest", protocol=m.Protocol(1, 7))


@pytest.mark.parametrize("major", [0, 2, 10])
def test_another_major_version_is_refused_by_both_names_and_with_what_to_install(major: int) -> None:
    with pytest.raises(ProtocolError) as refused:
        read(status(protocol={"major": major, "minor": 3}))
    assert refused.value.code == "other_protocol"
    assert f"protocol {major}.3, and this client {m.PROTOCOL}" in refused.value.text
    assert "install the server's version of battleship-salvo, '9.8.7'" in refused.value.text


def test_another_major_version_is_reported_even_if_the_rest_is_unreadable() -> None:
    later = {"status": 1, "game": "x", "profile": None, "new": [[]]}
    with pytest.raises(ProtocolError, match=r"^other_protocol: "):
        read(status(**later, protocol={"major": 2, "minor": 0}))


@pytest.mark.parametrize(
    "protocol", [None, "1.0", {"major": "2", "minor": 0}, {"major": 1}, {"major": -1, "minor": 0}, 1]
)
def test_a_server_with_an_invalid_or_no_protocol_field_is_refused(protocol: object) -> None:
    with pytest.raises(WireError, match=r"^wrong_shape: "):
        read(status(protocol=protocol))


def test_a_servers_version_cannot_write_on_a_terminal() -> None:
    with pytest.raises(ProtocolError) as refused:
        read(status(version="\x1b[2J\n" + "x" * 1000, protocol={"major": 2, "minor": 0}))
    assert refused.value.text.isprintable()
    assert len(refused.value.text) < 250


def test_a_session_ends_at_another_major_version_and_has_sent_no_secret() -> None:
    session = Session("me", "secret", generator(1), sealer=Sealer("secret", bytes(16)))
    session.connected(0.0)
    with pytest.raises(ProtocolError):
        session.receive("/game/server", status(protocol={"major": 2, "minor": 0}), True, 0.0)
    assert session.take_outbox() == []


def test_a_client_plays_at_a_server_whose_every_message_has_fields_that_it_does_not_know() -> None:
    session = Session("me", "secret", generator(1), sealer=Sealer("secret", bytes(16)))
    events: list[object] = []

    def hear(*announcements: m.Announcement) -> None:
        for topic, payload in from_a_newer_server(*announcements):
            events.extend(session.receive(topic, payload, False, 0.0))

    hear(m.ServerStatus(True, "9", 1, "contest", protocol=NEWER), m.RulesAnnounced(SALVO, "", 60, 30, 300, 3))
    session.connected(0.0)
    hear(m.StateChanged(State.LOBBY), m.PlayersListed(("me", "you")))
    assert FleetWanted(SALVO, 1) in events
    session.place(random_fleet(SALVO, generator(1)), 0.0)
    hear(*(m.PlacementJudged("me", ship.name, True) for ship in SALVO.fleet))
    hear(m.StateChanged(State.TURN), m.TurnBegan(1, 1, "me", 5, 0, 30_000))
    assert any(isinstance(event, SalvoWanted) for event in events)
    hear(m.ShotLanded("me", 3, 4), m.SalvoResolved(1, 1, "me", 5, 2, (m.SunkShip("you", "carrier"),), ()))
    assert session.view is not None
    assert session.view.results[-1].hits == 2


def grown(payload: bytes, identity: Identity) -> bytes:
    """An entry of the log as a newer server signs it: what it says has a field more."""
    text = payload[len(b'{"entry":') :].rsplit(b',"sign"', 1)[0]
    return sign_entry(text.replace(b'{"n":', b'{"later":1,"n":', 1), identity.sign)


def test_a_log_with_what_a_newer_server_added_is_not_taken_for_unfair() -> None:
    entries = [payload for moment in play() for payload in moment.log]
    witness = Witness("me")
    witness.key, witness.newer = IDENTITY.signing_key, True
    witness.logged(entries[0], 0.0)
    with pytest.raises(WireError, match=r"^unknown_version: .*not compared with it any more"):
        witness.logged(grown(entries[1], IDENTITY), 0.0)
    assert [found for payload in entries for found in witness.logged(payload, 0.0)] == []
    witness.receive(m.StateChanged(State.TURN), 0.0)
    assert witness.doubts(1000.0) == []
    witness.connected_anew()
    assert [witness.missed(at) for at in (1000.0, 2000.0)] == [None, None]  # it asks for no log either


def test_the_same_log_of_a_server_of_ones_own_version_is_a_contradiction() -> None:
    entries = [payload for moment in play() for payload in moment.log]
    witness = Witness("me")
    witness.key = IDENTITY.signing_key
    witness.logged(entries[0], 0.0)
    with pytest.raises(UnfairGame, match="log_wrong"):
        witness.logged(grown(entries[1], IDENTITY), 0.0)
