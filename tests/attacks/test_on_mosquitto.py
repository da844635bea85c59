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
from kit.programs import needs
from kit.raw import ACCEPTED, Raw
from kit.secured import SECONDS, Client
from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.mosquitto import dynamic_security
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.storage.register import Account

pytestmark = needs("mosquitto")
ACCOUNTS: Final = contest("red", "blue")
CONTROL: Final = "$CONTROL/dynamic-security/v1"
MARK: Final = "by red"
RED: Final = ACCOUNTS[1]


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
def _client(broker: ContestMosquitto, user: str, client_id: str = "") -> Iterator[Client]:
    [account] = [account for account in ACCOUNTS if account.user == user]
    with Client(broker.port, account, client_id) as client:
        assert client.refusal is None
        yield client


def _stands(client: Client) -> bool:
    """Whether a connection does, once all has come that the broker had for it: it answers in order."""
    client.publish(["/x"], "")
    return client.stands


def _heard(client: Client, text: str = MARK) -> bool:
    assert _stands(client)
    return any(payload == text for _, payload, _ in client.received)


def _publish(topic: str, broker: ContestMosquitto, *, retain: bool = False) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red") as red:
        server.subscribe([topic])
        red.publish([topic], MARK, retain=retain)
        heard = _heard(server)
        red.publish([topic], "", retain=retain)
        return heard


def _publish_by_a_will(broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server:
        server.subscribe(["/game/state"])
        with Raw(broker.port, "red", user="red", password=RED.secret, will=("/game/state", MARK)) as red:
            assert red.read() == ACCEPTED
            red.send(b"\0\0")  # no packet: the broker hangs up, and publishes the will
            assert red.read() == b""
        with _client(broker, "red"):  # whose session takes the place of the one that ended
            return _heard(server)


def _read(topic: str, broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red") as red:
        red.subscribe([topic, "#"])
        server.publish([topic], "private")
        return _heard(red, "private")


def _read_the_brokers_figures(broker: ContestMosquitto) -> bool:
    with _client(broker, "red") as red:
        red.subscribe(["$SYS/#"])
        return _stands(red) and bool(red.received)


def _is_let_in(broker: ContestMosquitto, account: Account | None) -> bool:
    with Client(broker.port, account, "stranger") as client:
        return client.refusal is None


def _command_the_broker(broker: ContestMosquitto) -> bool:
    """Make a user of one's own."""
    command = {"command": "createClient", "username": "mole", "password": "mole"}
    with _client(broker, "red") as red:
        red.publish([CONTROL], json.dumps({"commands": [command]}))
    return _is_let_in(broker, Account("mole", "mole", Role.TEAM, "mole"))


def _come_without_a_name(broker: ContestMosquitto) -> bool:
    return _is_let_in(broker, None)


def _end_the_servers_connection(broker: ContestMosquitto) -> bool:
    with _client(broker, SERVER.user) as server, _client(broker, "red", SERVER.user):
        return not _stands(server)


def _end_a_connection_by_websocket(broker: ContestMosquitto) -> bool:
    with _client(broker, "blue") as victim:
        rival = Connection(broker.websocket_url, "blue", username="red", password=RED.secret, clean_session=True)
        with contextlib.closing(rival), contextlib.suppress(ConnectionLost):
            rival.connect(SECONDS)
            return not _stands(victim)
    return False


def _send_a_huge_packet(broker: ContestMosquitto) -> bool:
    with _client(broker, "red") as red:
        red.publish(["/players/red/ships/carrier/place"], "x" * 1024 * 1024)
        return red.stands


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
def test_an_attack_on_mosquitto_succeeds_without_the_defences(
    act: Callable[..., bool], undefended: ContestMosquitto
) -> None:
    assert act(undefended)
