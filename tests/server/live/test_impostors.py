"""Another server at the address of one that a team knows."""

from __future__ import annotations

import threading

import pytest

from kit.brokers import Broker
from kit.players import join, until_online
from salvo.errors import ImpostorError
from salvo.join import client
from salvo.join.fairness.known_servers import KnownServers
from salvo.net.mqtt import BrokerUrl, Connection
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity

SECONDS = 60.0


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
