"""Somebody plays the server, on both brokers, and a broker that wants to know who comes."""

from __future__ import annotations

import threading

import pytest

from kit.brokers import Broker, StartServer
from kit.players import Announced, Slower, join, salvos, until_online
from salvo import client
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.errors import ImpostorError, SalvoError
from salvo.fairness.known_servers import KnownServers
from salvo.net.mqtt import BrokerUrl, Connection
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity

SECONDS = 60.0


class Team:
    """A bot on a thread, and what ended it."""

    def __init__(self, url: str, name: str, **given: object) -> None:
        self.error: SalvoError | None = None
        self.reports: list[client.GameReport] = []
        self._url, self._name, self._given = url, name, given
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _play(self) -> None:
        try:
            self.reports = client.play(Slower(), self._url, self._name, f"secret {self._name}", **self._given)  # type: ignore[arg-type]
        except SalvoError as error:
            self.error = error

    def ended(self) -> SalvoError | None:
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        return self.error


def publish(url: str, topic: str, payload: bytes, *, retain: bool = False) -> None:
    """Say something in the server's place."""
    connection = Connection(url, "impostor", clean_session=True)
    connection.connect(60)
    connection.publish(topic, payload, retain=retain)
    assert connection.flush(60)
    connection.close()


def status(identity: Identity | None) -> bytes:
    keys = None if identity is None else m.ServerKeys(identity.signing_key, identity.sealing_key)
    [publication] = write_announcement(m.ServerStatus(True, "0", 1, "open", keys=keys))
    return publication.payload


@pytest.mark.parametrize("identity", [None, Identity(bytes(32))], ids=["without a key", "with another key"])
def test_a_bot_ends_when_somebody_else_says_that_he_is_the_server(
    broker: Broker, start_server: StartServer, identity: Identity | None
) -> None:
    received = Announced()
    with start_server(received, players=2):
        received.once = salvos(2), lambda: publish(broker.url, "/game/server", status(identity))
        teams = [Team(broker.url, name) for name in ("a", "b")]
        for team in teams:
            error = team.ended()
            assert isinstance(error, ImpostorError)
            assert error.code == "impostor"


def test_another_server_at_the_same_address_gets_no_secret(broker: Broker) -> None:
    def serve(identity: Identity) -> Contest:
        settings = ServerSettings(broker=broker.url, players=2, seed="7", over_seconds=600)
        return Contest(settings, identity=identity)

    first, second = Identity.fresh(), Identity.fresh()
    with serve(first).in_background():
        rival = join(broker.url, "rival")
        [_] = client.play(RandomBot(), broker.url, "me", "secret me")
        rival.join(SECONDS)
    address = BrokerUrl.parse(broker.url).address
    known = KnownServers.of_user()
    assert known is not None
    assert known.key_of(address) == first.signing_key
    asked: list[bytes] = []
    ear = Connection(broker.url, "ear", clean_session=True)
    ear.on_connect = lambda _: ear.subscribe(["/game/request_participation"])
    ear.connect(60)
    with serve(second).in_background():
        until_online(broker.url)  # before that, a client reads the first server's farewell
        with pytest.raises(ImpostorError) as raised:
            client.play(RandomBot(), broker.url, "me", "secret me")
        for part in (first.fingerprint, second.fingerprint, f"remove {address} from"):
            assert part in raised.value.text
        asked += [message.payload for message in ear.poll(0.3)]
        thread = threading.Thread(
            target=client.play, args=(RandomBot(), broker.url, "me", "secret me"), kwargs={"pin": False}, daemon=True
        )
        thread.start()
        rival = join(broker.url, "rival", pin=False)
        thread.join(SECONDS)
        rival.join(SECONDS)
        assert not thread.is_alive()
    later = [message.payload for message in ear.poll(0.3)]
    ear.close()
    assert asked == []
    assert later
    assert not any(b"secret" in payload for payload in later), "sealed, whoever listens"
