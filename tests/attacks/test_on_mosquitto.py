"""Attacks on the mosquitto that ``salvo mosquitto`` sets up: each achieves nothing, and succeeds without the defences.

Two brokers serve for all of them: one as it is written for a contest, and one whose defences were all taken away. All
topics by all users are in ``server/live/test_access_matrix.py``, floods and silent sockets in
``server/live/test_front.py`` and ``server/live/test_accounts_at_brokers.py``.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from kit.accounts import KEEPER, SERVER, contest
from kit.mosquitto import ContestMosquitto
from kit.probe import Login, Probe
from kit.programs import needs
from kit.secured import SECONDS
from salvo.errors import ConnectionLost
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.roles_and_rights import Role
from salvo_server.brokers.mosquitto import dynamic_security
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.storage.register import Account

pytestmark = needs("mosquitto")
ACCOUNTS: Final = contest("red", "blue")
CONTROL: Final = "$CONTROL/dynamic-security/v1"
MARK: Final = b"by red"


class _Undefended(ContestMosquitto):
    """Started from what is written for a contest, without the lines that defend it."""

    def write_config(self) -> Path:
        config = super().write_config()
        text = config.read_text()
        for line in ("allow_anonymous false", "use_username_as_clientid true", r"max_packet_size \d+"):
            text, count = re.subn(rf"^{line}\n", "", text, flags=re.MULTILINE)
            assert count, line
        config.write_text(f"{text}allow_anonymous true\n")
        return config


@pytest.fixture(scope="module")
def defended() -> Iterator[ContestMosquitto]:
    yield from _started(ContestMosquitto(SERVER, KEEPER))


@pytest.fixture(scope="module")
def undefended() -> Iterator[ContestMosquitto]:
    """Its teams have every right."""
    roles_of = dynamic_security.roles_of

    def generous(account: Account, *rest: Any) -> dict[str, frozenset[dynamic_security.Acl]]:
        roles = roles_of(account, *rest)
        if account.role is Role.TEAM:
            more = {
                (kind, topic)
                for kind in ("publishClientSend", "publishClientReceive")
                for topic in ("#", "$SYS/#", "$CONTROL/#")
            }
            roles[f"{dynamic_security.ROLE_PREFIX}{account.role} {account.name}"] |= more
        return roles

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dynamic_security, "roles_of", generous)
        yield from _started(_Undefended(SERVER, KEEPER))


def _started(mosquitto: ContestMosquitto) -> Iterator[ContestMosquitto]:
    with mosquitto, DynamicSecurity(mosquitto.server_url, KEEPER, ships=["carrier"]) as security:
        security.sync(ACCOUNTS, [""])
        security.wait(SECONDS)
        yield mosquitto


@contextlib.contextmanager
def _client(broker: ContestMosquitto, user: str, client_id: str = "", **given: Any) -> Iterator[Probe]:
    [account] = [account for account in ACCOUNTS if account.user == user]
    with Probe(BrokerUrl.parse(broker.url)) as probe:
        assert probe.greet(client_id or user, Login(user, account.secret), **given).accepted
        yield probe


def _publish(topic: str, broker: ContestMosquitto, *, retain: bool = False) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red") as red:
        server.subscribe(topic)
        red.publish(topic, MARK, retain=retain)
        server.ping()
        red.publish(topic, b"", retain=retain)
        return any(received.payload == MARK for received in server.received)


def _publish_by_a_will(broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server:
        server.subscribe("/game/state")
        with _client(broker, "red", will=("/game/state", MARK)) as red:
            red.say(b"\0\0")  # no packet: the broker hangs up, and publishes the will
            assert red.wait_for_end()
        with _client(broker, "red"):  # whose session takes the place of the one that ended
            server.ping()
        return any(received.payload == MARK for received in server.received)


def _read(topic: str, broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red") as red:
        red.subscribe(topic, "#")
        server.publish(topic, b"private")
        red.ping()
        return any(received.payload == b"private" for received in red.received)


def _read_the_brokers_figures(broker: ContestMosquitto) -> bool:
    with _client(broker, "red") as red:
        red.subscribe("$SYS/#")
        red.ping()
        return bool(red.received)


def _command_the_broker(broker: ContestMosquitto) -> bool:
    """Make a user of one's own."""
    command = {"command": "createClient", "username": "mole", "password": "mole"}
    with _client(broker, "red") as red:
        red.publish(CONTROL, json.dumps({"commands": [command]}).encode())
        red.ping()
    with Probe(BrokerUrl.parse(broker.url)) as probe:
        return probe.greet("mole", Login("mole", "mole")).accepted


def _come_without_a_name(broker: ContestMosquitto) -> bool:
    with Probe(BrokerUrl.parse(broker.url)) as probe:
        return probe.greet("stranger").accepted


def _end_the_servers_connection(broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red", SERVER.user):
        return not server.ping()


def _end_a_connection_by_websocket(broker: ContestMosquitto) -> bool:
    with _client(broker, "blue") as victim:
        rival = Connection(broker.websocket_url, "blue", username="red", password="secret-of-red", clean_session=True)
        with contextlib.closing(rival), contextlib.suppress(ConnectionLost):
            rival.connect(SECONDS)
            return not victim.ping()
    return False


def _send_a_huge_packet(broker: ContestMosquitto) -> bool:
    with _client(broker, "red") as red:
        return red.publish("/players/red/ships/carrier/place", bytes(1024 * 1024))


ATTACKS: Final[dict[str, Callable[[ContestMosquitto], bool]]] = {
    "a forged state": partial(_publish, "/game/state"),
    "a forged picture for the referee": partial(_publish, "/game/referee"),
    "another team's chat": partial(_publish, "/players/blue/say"),
    "another team's request for the log": partial(_publish, "/players/blue/resend"),
    "a command to an invented player": partial(_publish, "/players/ghost/fire"),
    "the placement of an invented ship": partial(_publish, "/players/red/ships/ghost/place"),
    "a retained message": partial(_publish, "/players/red/defeated", retain=True),
    "a last will": _publish_by_a_will,
    "a rival's hits": partial(_read, "/players/blue/hit"),
    "requests to take part": partial(_read, "/game/request_participation"),
    "the broker's figures": _read_the_brokers_figures,
    "a command to the broker": _command_the_broker,
    "no name": _come_without_a_name,
    "the server's client id": _end_the_servers_connection,
    "another team's client id by WebSocket": _end_a_connection_by_websocket,
    "a huge packet": _send_a_huge_packet,
}
each_attack = pytest.mark.parametrize("act", ATTACKS.values(), ids=ATTACKS)


@each_attack
def test_an_attack_on_mosquitto_achieves_nothing(act: Callable[..., bool], defended: ContestMosquitto) -> None:
    assert not act(defended)


@pytest.mark.long
@each_attack
def test_it_succeeds_on_mosquitto_without_the_defences(act: Callable[..., bool], undefended: ContestMosquitto) -> None:
    assert act(undefended)
