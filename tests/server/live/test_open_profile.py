"""The profile open, the letter of the specification: no login, any client, only the server reads what is for it.

On the embedded broker, and on a mosquitto that we have set up; with somebody else's broker the server says what it
cannot keep.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.access import ROWS
from kit.open_mosquitto import REQUEST, OpenMosquitto
from kit.players import until_online
from kit.processes import started
from kit.programs import BROKERS, needs
from kit.secured import Client
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.open_access import OpenAccess
from salvo_server.brokers.mosquitto.config import open_server
from salvo_server.commands.mosquitto import mosquitto
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.register import Account
from salvo_server.storage.roster import SERVER_USER, Roster

EXAMPLE = Path(__file__).parents[3] / "examples" / "client.py"
TABLES = ("", "final")
#: Any client: without a user, as our SDK and the specification's clients say theirs, and under the server's name.
STRANGERS = {
    "anonymous": None,
    "red": Account("red", "red", Role.TEAM, "secret-of-red"),
    "odd": Account("a name with blanks", "", Role.TEAM, "x"),
}


@dataclass(frozen=True)
class Opened:
    """An open broker, and the server's account there."""

    kind: str
    port: int
    server: Account


@pytest.fixture(scope="module", params=BROKERS)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    own = Account(SERVER_USER, SERVER_USER, Role.SERVER, "secret-of-the-server")
    if request.param == "embedded":
        with EmbeddedBroker(access=OpenAccess(own, TABLES)) as embedded:
            yield Opened("embedded", embedded.port, own)
    else:
        own = open_server(own)
        with OpenMosquitto(own, TABLES) as running:
            yield Opened("mosquitto", running.port, own)


@pytest.fixture
def actors(broker: Opened) -> Iterator[dict[str, Client]]:
    """The server and strangers, each with a client id of its own choice."""
    with contextlib.ExitStack() as stack:
        clients = {
            name: stack.enter_context(Client(broker.port, account, f"id of {name}"))
            for name, account in STRANGERS.items()
        }
        clients["server"] = stack.enter_context(Client(broker.port, broker.server))
        assert [client.refusal for client in clients.values()] == [None] * len(clients)
        yield clients
        clients["server"].publish(TOPICS, "", retain=True)


TOPICS = [f"/{table}{path}" if table else path for table in TABLES for path, _, _ in ROWS]
OTHERS = ["/game", "/players/red", "/elsewhere/game/state", "free/for/all", "$SYS/broker/uptime"]


def cells(column: int, closed: str) -> set[tuple[str, str]]:
    """Every topic and client, but for strangers where the contract's column says this."""
    return {
        (f"/{table}{row[0]}" if table else row[0], actor)
        for table in TABLES
        for row in ROWS
        for actor in (*STRANGERS, "server")
        if actor == "server" or row[column] not in closed.split()
    }


def barrier(clients: dict[str, Client], text: str) -> None:
    """Return when everything that was published before has reached everybody."""
    clients["server"].publish(["/game/state"], text)
    for client in clients.values():
        client.wait_for("/game/state", text)


@pytest.mark.parametrize("subscription", [["#", "$SYS/#"], TOPICS[:40], TOPICS[40:]], ids=["#", "first", "others"])
def test_any_client_reads_all_but_what_is_sent_to_the_server(
    broker: Opened, actors: dict[str, Client], subscription: list[str]
) -> None:
    actors["server"].publish(TOPICS, "kept", retain=True)
    for client in actors.values():
        client.subscribe([*subscription, "/game/state"])
    actors["server"].publish(TOPICS, "live")
    barrier(actors, f"{subscription[0]} {broker.kind}")
    named = set(TOPICS) if "#" in subscription else {*subscription, "/game/state"}
    wanted = {cell for cell in cells(2, "server referee") if cell[0] in named}
    for payload in ("kept", "live"):
        got = {(topic, name) for name, client in actors.items() for topic, p, _ in client.received if p == payload}
        assert got == wanted, payload


def test_any_client_may_publish_what_players_publish_and_nothing_else(
    broker: Opened, actors: dict[str, Client]
) -> None:
    actors["server"].subscribe(["#"])
    for name, client in actors.items():
        client.publish([*TOPICS, *OTHERS], name)
    barrier({"server": actors["server"]}, f"published {broker.kind}")
    got = {
        (topic, sender) for topic, sender, _ in actors["server"].received if sender in actors and topic not in OTHERS
    }
    assert got == cells(1, "server host")
    assert {sender for topic, sender, _ in actors["server"].received if topic in OTHERS} <= {"server"}


def test_no_client_takes_the_servers_place_by_its_name_or_its_client_id(
    broker: Opened, actors: dict[str, Client]
) -> None:
    impostor = Account(SERVER_USER, SERVER_USER, Role.SERVER, "guessed")
    actors["server"].subscribe([REQUEST, "/game/state"])
    for number, account in enumerate((impostor, None, STRANGERS["red"])):
        with Client(broker.port, account, SERVER_USER) as pretender:
            if account is impostor and broker.kind == "embedded":
                assert pretender.refusal is not None
                continue
            pretender.subscribe(["#"])
            pretender.publish(["/game/state"], "over")
            actors["anonymous"].publish([REQUEST], f"secret {number}")
            actors["server"].wait_for(REQUEST, f"secret {number}")
            barrier({"server": actors["server"], "pretender": pretender}, f"pretender {number}")
            assert {topic for topic, _, _ in pretender.received} == {"/game/state"}
    assert actors["server"].stands
    assert "over" not in {sender for _, sender, _ in actors["server"].received}


# --- whole games ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def contest(folder: Path) -> Iterator[tuple[int, Contest]]:
    """A server in the profile open, on a mosquitto that it has set up; and the port for its teams."""
    values: dict[str, Any] = {"profile": "open", "seed": "7", "over_seconds": 600, "players": 2, "journal": "none"}
    with OpenMosquitto(open_server(Roster(folder / "roster.json").server)) as running_broker:
        values |= {"broker": running_broker.url, "roster": folder / "roster.json"}
        running = Contest(ServerSettings(**values))
        with running.in_background():
            until_online(running.url)
            yield running_broker.port, running


@needs("mosquitto")
def test_the_client_without_the_sdk_plays_a_whole_game_that_anybody_watches_and_nobody_overhears(
    tmp_path: Path,
) -> None:
    with contest(tmp_path) as (port, running), contextlib.ExitStack() as stack:
        assert running.guarded
        explorer = stack.enter_context(Client(port, None, "explorer"))
        explorer.subscribe(["#"])
        thief = stack.enter_context(Client(port, None, "thief"))
        thief.subscribe([REQUEST, "/players/+/ships/+/place", "/players/+/fire"])
        sender = _play_to_the_end(port)
    assert len(sender) == 1
    assert sender <= {"winner: ann\n", "winner: bob\n"}
    received = {topics.parse(topic).topic.name for topic, payload, _ in explorer.received if payload}
    assert {"state", "list", "count", "approved", "current", "hits", "sunk", "defeated", "winner", "stats"} <= received
    assert not received & {"request_participation", "place", "fire"}
    assert thief.received == set()


def _play_to_the_end(port: int) -> set[str]:
    """Let two clients without the SDK play; return what they print at the end."""
    command = [sys.executable, str(EXAMPLE), "127.0.0.1", str(port)]
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(started([*command, name, f"secret-of-{name}"], stdout=subprocess.PIPE))
            for name in ("ann", "bob")
        ]
        return {client.communicate(timeout=120)[0] for client in clients}


# --- its settings -----------------------------------------------------------------------------------------------------


def test_the_open_broker_files_are_private_and_the_commands_to_start_are_printed(tmp_path: Path) -> None:
    folder, roster = tmp_path / "open-broker", tmp_path / "open.json"
    done = CliRunner().invoke(mosquitto, [str(folder), "--profile", "open", "--roster", str(roster)])
    assert done.output.splitlines() == [
        f"mosquitto -c {folder}/mosquitto.conf",
        f"salvo serve --profile open --broker mqtt://127.0.0.1:1884 --roster {roster}",
    ]
    own = open_server(Roster(roster).server)
    assert f"user {own.user}\n" in (folder / "rights.acl").read_text()
    assert (folder / "rights.acl").stat().st_mode & 0o777 == 0o600
    assert Roster(roster).server.secret not in (folder / "rights.acl").read_text()
    assert "listener 1883\n" in (folder / "mosquitto.conf").read_text()
