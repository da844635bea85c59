"""Accounts come, change and go while a broker runs."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.accounts import KEEPER, SERVER, contest, team
from kit.certificates import Certificate, make_certificate
from kit.mosquitto import ContestMosquitto, Mosquitto
from kit.programs import BROKERS, needs
from kit.secured import SECONDS, Client, Secured, secured
from salvo.errors import SalvoError, WireError
from salvo.permissions import Role
from salvo.topics import Topic
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.mosquitto import config, dynamic_security
from salvo_server.brokers.mosquitto.config import MosquittoConfigError, MosquittoTls
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity, DynamicSecurityError
from salvo_server.storage.register import Account

TABLES = ("",)
OWN = "/players/red/hit"


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[Secured]:
    with secured(request.param, contest("blue"), TABLES) as running:
        yield running


def hears(client: Client, server: Client, topic: str = OWN) -> bool:
    """Whether a message of the server reaches a client; its own topic tells when it would have."""
    client.forget()
    client.subscribe([topic, "/game/state"])
    server.publish([topic], "for you")
    server.publish(["/game/state"], "barrier")
    client.wait_for("/game/state", "barrier")
    return (topic, "for you", False) in client.heard


def test_a_team_is_added_rotated_and_removed_while_the_broker_runs(broker: Secured) -> None:
    red, rotated = team("red")[0], team("red", "another secret")[0]
    with Client(broker.port, SERVER) as server, Client(broker.port, team("blue")[0]) as blue:
        with Client(broker.port, red) as early:
            assert early.refusal is not None
        broker.replace(contest("blue", "red"), TABLES)
        with Client(broker.port, red) as first:
            assert hears(first, server)
            broker.replace([*contest("blue"), *team("red", "another secret")], TABLES)
            first.until(lambda: first.lost)
        with Client(broker.port, red) as late:
            assert late.refusal is not None
        with Client(broker.port, rotated) as second:
            assert hears(second, server)
            broker.replace(contest("blue"), TABLES)
            second.until(lambda: second.lost)
        with Client(broker.port, rotated) as late:
            assert late.refusal is not None
        for bystander in (server, blue):
            bystander.unsubscribe(["/x"])
            assert bystander.stands


def test_a_team_that_becomes_a_watcher_publishes_nothing_more(broker: Secured) -> None:
    broker.replace(contest("blue", "red"), TABLES)
    demoted = replace(team("red")[0], role=Role.WATCHER)
    with Client(broker.port, SERVER) as server, Client(broker.port, demoted) as before:
        broker.replace([*contest("blue"), demoted], TABLES)
        before.until(lambda: before.lost)
        server.subscribe(["#"])
        with Client(broker.port, demoted) as after:
            assert not hears(after, server)
            after.publish(["/players/blue/fire"], "shot")
        assert ("/players/blue/fire", "shot", False) not in server.heard


def test_a_persistent_session_does_not_outlive_its_account(broker: Secured) -> None:
    broker.replace(contest("blue", "red"), TABLES)
    red = team("red")[0]
    with Client(broker.port, red, clean=False) as first:
        first.subscribe([OWN])
    broker.replace(contest("blue"), TABLES)
    with Client(broker.port, SERVER) as server:
        server.publish([OWN], "not for you any longer")
        broker.replace(contest("blue", "red"), TABLES)
        with Client(broker.port, red, clean=False) as second:
            second.subscribe(["/game/state"])
            server.publish(["/game/state"], "barrier")
            second.wait_for("/game/state", "barrier")
            assert all(topic != OWN for topic, _, _ in second.heard)


@pytest.mark.parametrize("name", ["alice/ships", "red.1", "+", "#", "a/#", "players", ""])
def test_what_is_no_name_is_no_account(name: str) -> None:
    """mosquitto's own patterns take alice/ships for a level of the topic tree; here it gets no rights at all."""
    accounts = [SERVER, Account(name, name, Role.TEAM, "secret")]
    access = RosterAccess(contest("red"), TABLES)
    with pytest.raises(WireError, match="bad_name"):
        access.replace(accounts, TABLES)
    assert access.admits("x", "red", "secret-of-red")
    with pytest.raises(WireError, match="bad_name"):
        DynamicSecurity("127.0.0.1:1", KEEPER).sync(accounts, TABLES)


# --- mosquitto alone ------------------------------------------------------------------------------------------------


def users_of(mosquitto: ContestMosquitto) -> dict[str, dict[str, Any]]:
    kept = json.loads((mosquitto.folder / config.USERS_NAME).read_text())
    return {each["username"]: each for each in kept["clients"]}


def roles_of(mosquitto: ContestMosquitto) -> dict[str, Any]:
    kept = json.loads((mosquitto.folder / config.USERS_NAME).read_text())
    return {each["rolename"]: each["acls"] for each in kept["roles"]}


def problem_of(security: DynamicSecurity) -> SalvoError:
    """Why it cannot give the broker its accounts."""
    end = time.monotonic() + SECONDS
    while security.problem is None:
        assert time.monotonic() < end
        with pytest.raises(SalvoError):
            security.wait(0.05)
    return security.problem


@needs("mosquitto")
def test_a_broker_that_lost_everything_is_given_it_anew() -> None:
    with ContestMosquitto(SERVER, KEEPER) as mosquitto, DynamicSecurity(mosquitto.url, KEEPER) as security:
        security.sync(contest("red"), TABLES)
        security.wait(SECONDS)
        before = users_of(mosquitto)["red"]
        mosquitto.kill()
        (mosquitto.folder / config.USERS_NAME).unlink()
        mosquitto.start()
        security.sync(contest("red", "blue"), TABLES)
        security.wait(SECONDS)
        assert {"red", "red.1", "blue"} <= users_of(mosquitto).keys()
        assert users_of(mosquitto)["red"]["salt"] != before["salt"]


@needs("mosquitto")
def test_what_somebody_else_left_is_put_right_and_what_is_theirs_stays() -> None:
    """Half an earlier roster, a widened role, a user of the operator's own."""
    with ContestMosquitto(SERVER, KEEPER) as mosquitto:
        with DynamicSecurity(mosquitto.url, KEEPER) as first:
            first.sync(contest("red", "green"), TABLES)
            first.wait(SECONDS)
        good = roles_of(mosquitto)
        mosquitto.kill()
        path = mosquitto.folder / config.USERS_NAME
        kept = json.loads(path.read_text())
        for role in kept["roles"]:
            if role["rolename"] == "salvo team red":
                everything = {"acltype": "publishClientReceive", "topic": "#", "priority": 0, "allow": True}
                role["acls"] = [*role["acls"][1:], everything]
        kept["clients"] = [each for each in kept["clients"] if each["username"] != "red.1"]
        [red] = [each for each in kept["clients"] if each["username"] == "red"]
        kept["clients"].append(red | {"username": "operator", "textdescription": "", "roles": []})
        red["disabled"] = True
        kept["roles"].append({"rolename": "operators", "acls": []})
        kept["roles"].append({"rolename": "salvo team gone", "acls": []})
        kept["defaultACLAccess"]["publishClientReceive"] = True
        path.write_text(json.dumps(kept))
        mosquitto.start()
        with DynamicSecurity(mosquitto.url, KEEPER) as second:
            second.sync(contest("red"), TABLES)
            second.wait(SECONDS)
            assert users_of(mosquitto).keys() == {"salvo-server", "salvo-roster", "red", "red.1", "operator"}
            wanted = {name: acls for name, acls in good.items() if "green" not in name} | {"operators": []}
            found = roles_of(mosquitto)
            assert found.keys() == wanted.keys()
            for name, acls in wanted.items():
                left = [acl for acl in acls if "green" not in acl["topic"]]
                assert sorted(map(str, found[name])) == sorted(map(str, left))
            assert json.loads(path.read_text())["defaultACLAccess"]["publishClientReceive"] is False
            with Client(mosquitto.port, team("red")[0]) as client:
                assert client.refusal is None


@needs("mosquitto")
def test_a_new_team_can_be_shot_at_without_a_disconnection_and_no_longer_once_it_is_struck_off() -> None:
    """Every team's rights name all teams of the roster, so they change with each of them."""
    green = "/players/green/fire"
    with (
        ContestMosquitto(SERVER, KEEPER) as mosquitto,
        DynamicSecurity(mosquitto.url, KEEPER, ships=["carrier"]) as security,
    ):
        security.sync(contest("red"), TABLES)
        security.wait(SECONDS)
        with Client(mosquitto.port, SERVER) as server, Client(mosquitto.port, team("red")[0]) as red:
            server.subscribe(["#"])
            for teams, text in ((["red"], "before"), (["red", "green"], "with green"), (["red"], "after")):
                security.sync(contest(*teams), TABLES)
                security.wait(SECONDS)
                red.publish([green, "/players/red/fire"], text)
                server.wait_for("/players/red/fire", text)
            assert red.stands
            assert {text for topic, text, _ in server.heard if topic == green} == {"with green"}


@needs("mosquitto")
def test_the_same_accounts_again_disturb_nobody() -> None:
    with ContestMosquitto(SERVER, KEEPER) as mosquitto:
        for _ in range(2):
            with DynamicSecurity(mosquitto.url, KEEPER) as security:
                security.sync(contest("red"), TABLES)
                security.wait(SECONDS)
                with Client(mosquitto.port, team("red")[0]) as red:
                    security.sync(contest("red", "blue"), TABLES)
                    security.wait(SECONDS)
                    red.unsubscribe(["/x"])
                    assert red.stands


@needs("mosquitto")
def test_silent_sockets_that_fill_the_public_listener_do_not_keep_the_server_out() -> None:
    """700 of them refused 12 of 12 logins at the one listener that there was, the server's after a restart, too."""
    with contextlib.ExitStack() as stack:
        mosquitto = stack.enter_context(ContestMosquitto(SERVER, KEEPER, max_connections=3))
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", mosquitto.port)))
        with socket.create_connection(("127.0.0.1", mosquitto.port)) as refused:
            refused.settimeout(SECONDS)
            assert refused.recv(1) == b""
        security = stack.enter_context(DynamicSecurity(mosquitto.server_url, KEEPER))
        security.sync(contest("red"), TABLES)
        security.wait(SECONDS)
        with Client(mosquitto.server_port, SERVER) as server:
            assert hears(server, server)


def test_twice_as_many_teams_need_twice_the_work_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The story: a server with 300 teams at four tables computed their rights for 20 s before it was back."""
    computed: list[str] = []
    of = Topic.of

    def counted(topic: Topic, *given: Any, **named: Any) -> str:
        computed.append(topic.pattern)
        return of(topic, *given, **named)

    monkeypatch.setattr(Topic, "of", counted)

    def work(teams: int) -> int:
        computed.clear()
        security = DynamicSecurity("127.0.0.1:1", KEEPER, ships=["raft"])
        security.sync(contest(*(f"t{number}" for number in range(teams))), TABLES)
        return len(computed)

    assert work(80) < 2.2 * work(40)


@needs("mosquitto")
def test_a_server_that_comes_first_gets_its_account_before_any_other_changes() -> None:
    with ContestMosquitto(replace(SERVER, secret="its former secret"), KEEPER) as mosquitto:
        with DynamicSecurity(mosquitto.url, KEEPER) as security:
            security.sync([replace(SERVER, secret="its former secret"), *team("red")], TABLES)
            security.wait(SECONDS)
        with DynamicSecurity(mosquitto.url, KEEPER, server_first=True) as security:
            security.sync(contest("blue"), TABLES)
            security.wait(SECONDS)
            with Client(mosquitto.port, SERVER) as server, Client(mosquitto.port, team("red")[0]) as red:
                assert (server.refusal, red.refusal) == (None, None)
                assert "blue" not in users_of(mosquitto)
                security.open()
                security.wait(SECONDS)
                red.until(lambda: red.lost)
                assert server.stands
            assert "red" not in users_of(mosquitto)
            with Client(mosquitto.port, team("blue")[0]) as blue:
                assert blue.refusal is None


@needs("mosquitto")
def test_a_broker_without_the_plugin_is_told_what_its_configuration_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic_security, "_ANSWER_SECONDS", 0.5)
    with Mosquitto() as mosquitto, DynamicSecurity(mosquitto.url, KEEPER) as security:
        security.sync(contest("red"), TABLES)
        problem = problem_of(security)
        assert isinstance(problem, DynamicSecurityError)
        assert problem.code == "no_dynamic_security"
        assert "mosquitto.conf has 'plugin /" in problem.text


@needs("mosquitto")
def test_a_keeper_with_another_secret_is_refused_with_a_reason() -> None:
    wrong = replace(KEEPER, secret="wrong")
    with ContestMosquitto(SERVER, KEEPER) as mosquitto, DynamicSecurity(mosquitto.url, wrong) as security:
        security.sync(contest("red"), TABLES)
        assert problem_of(security).code == "not_authorised"


@needs("mosquitto")
def test_the_plugin_is_commanded_through_tls(tmp_path: Path) -> None:
    certificate: Certificate = make_certificate(tmp_path)
    tls = MosquittoTls(certificate.cert, certificate.key)
    with ContestMosquitto(SERVER, KEEPER, tls=tls) as mosquitto:
        with DynamicSecurity(mosquitto.url, KEEPER, ca=str(certificate.cert)) as security:
            security.sync(contest("red"), TABLES)
            security.wait(SECONDS)
        assert "red" in users_of(mosquitto)


def test_the_users_file_is_mosquittos_own_once_it_is_there(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.so"
    config.write(tmp_path, SERVER, KEEPER, TABLES, plugin=plugin)
    users = tmp_path / config.USERS_NAME
    assert users.stat().st_mode & 0o777 == 0o600
    users.write_text("{}")
    written = config.write(tmp_path, SERVER, KEEPER, TABLES, plugin=plugin)
    assert users.read_text() == "{}"
    assert f"plugin {plugin}\n" in written.read_text()
    assert SERVER.secret not in written.read_text()


def test_a_system_without_the_plugin_is_told_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "PLUGINS", (Path("/nowhere/mosquitto_dynamic_security.so"),))
    with pytest.raises(MosquittoConfigError, match=r"no_plugin.*/nowhere/mosquitto_dynamic_security\.so"):
        config.find_plugin()
