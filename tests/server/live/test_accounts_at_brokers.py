"""Accounts come, change and go while a broker runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kit.accounts import KEEPER, SERVER, contest, team
from kit.mosquitto import ContestMosquitto
from kit.programs import BROKERS, needs
from kit.secured import SECONDS, Client, Secured, secured
from salvo_server.brokers.mosquitto import config
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity

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
    return (topic, "for you", False) in client.received


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
            assert all(topic != OWN for topic, _, _ in second.received)


# --- mosquitto alone ------------------------------------------------------------------------------------------------


def users_of(mosquitto: ContestMosquitto) -> dict[str, dict[str, Any]]:
    stored = json.loads((mosquitto.folder / config.USERS_NAME).read_text())
    return {each["username"]: each for each in stored["clients"]}


def roles_of(mosquitto: ContestMosquitto) -> dict[str, Any]:
    stored = json.loads((mosquitto.folder / config.USERS_NAME).read_text())
    return {each["rolename"]: each["acls"] for each in stored["roles"]}


@needs("mosquitto")
def test_a_broker_that_lost_its_accounts_gets_them_again() -> None:
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
def test_rights_that_somebody_else_changed_are_put_right_and_others_stay() -> None:
    """Half an earlier roster, a widened role, a user of the operator's own."""
    with ContestMosquitto(SERVER, KEEPER) as mosquitto:
        with DynamicSecurity(mosquitto.url, KEEPER) as first:
            first.sync(contest("red", "green"), TABLES)
            first.wait(SECONDS)
        good = roles_of(mosquitto)
        mosquitto.kill()
        path = mosquitto.folder / config.USERS_NAME
        stored = json.loads(path.read_text())
        for role in stored["roles"]:
            if role["rolename"] == "salvo team red":
                everything = {"acltype": "publishClientReceive", "topic": "#", "priority": 0, "allow": True}
                role["acls"] = [*role["acls"][1:], everything]
        stored["clients"] = [each for each in stored["clients"] if each["username"] != "red.1"]
        [red] = [each for each in stored["clients"] if each["username"] == "red"]
        stored["clients"].append(red | {"username": "operator", "textdescription": "", "roles": []})
        red["disabled"] = True
        stored["roles"].append({"rolename": "operators", "acls": []})
        stored["roles"].append({"rolename": "salvo team gone", "acls": []})
        stored["defaultACLAccess"]["publishClientReceive"] = True
        path.write_text(json.dumps(stored))
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
            assert {text for topic, text, _ in server.received if topic == green} == {"with green"}
