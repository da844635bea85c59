"""Clients that were written from the older systems' texts alone, at our gateways beside a server in its own process."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gateways.live.test_standin_servers import Hall, Program, wait_until
from kit.ports import Port

pytestmark = pytest.mark.long

_STANDINS = Path(__file__).parents[1] / "standins"


class Stage(Hall):
    """Also starts our server with a gateway."""

    def __init__(self, stack: ExitStack, folder: Path, port: Port) -> None:
        super().__init__(stack)
        self._folder = folder
        self._port = port

    def serve(self, rules: str, gateway: str, *options: str, listening: bool = True) -> Program:
        """Start ``salvo serve --gateway``; return it when the gateway listens."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")}
        environment |= {"XDG_STATE_HOME": str(self._folder), "XDG_CONFIG_HOME": str(self._folder)}
        serve = [sys.executable, "-m", "salvo", "serve", "--json", "--listen", "127.0.0.1:0"]
        where = f" --listen {self._port.address}" if listening else ""
        options = ("--profile", "open", "--rules", rules, "--gateway", gateway + where, *options)
        program = self(*serve, *options, env=environment)
        program.has_said("gateway" if listening else "lobby")
        return program

    def client(self, name: str, *options: str) -> Program:
        return self(sys.executable, str(_STANDINS / f"{name}_client.py"), self._port.address, *options)


@pytest.fixture
def stage(tmp_path: Path, port: Port) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(stack, tmp_path, port)


def results(program: Program) -> list[dict[str, Any]]:
    return [event for event in program.events if event["event"] == "result"]


# --- Xterm Boat Sinker ------------------------------------------------------------------------------------------------


def test_old_and_new_xbs_clients_play_chat_skip_and_are_refused(stage: Stage) -> None:
    stage.serve("xbs", "xbs", "--players", "3")
    clients = [
        stage.client("xbs", "ann", "--generation", "new", "--chatty"),
        stage.client("xbs", "bob", "--generation", "old", "--wrong-shots", "--chatty"),
        stage.client("xbs", "cy", "--generation", "new", "--skip-every", "7"),
    ]
    for client in clients:
        client.ends_without_fault()
    told = [results(client) for client in clients]
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 1


def test_an_xbs_client_leaves_in_every_state_and_comes_back_when_killed_in_mid_game(stage: Stage) -> None:
    stage.serve("xbs", "xbs", "--players", "2")
    for state in ("connected", "joined"):
        stage.client("xbs", "ann", "--leave", state).ends_without_fault()
    bob = stage.client("xbs", "bob", "--generation", "new")
    ann = stage.client("xbs", "ann", "--die-at", "3")
    assert ann.ends() == -signal.SIGKILL
    [board] = [event["board"] for event in ann.events if event["event"] == "joined"]
    ann = stage.client("xbs", "ann", "--board", board)
    for client in (ann, bob):
        client.ends_without_fault()
    assert results(ann) == results(bob)


# --- JSON lines -------------------------------------------------------------------------------------------------------


_NAMES = ["--cells", "zero", "--status", "name", "--board", "list", "--echo"]
DIALECTS = [
    pytest.param("streak", "jsonline", ["--probe"], id="text"),
    pytest.param("alternate", "jsonline --status-names", _NAMES, id="names"),
]


@pytest.mark.parametrize(("rules", "gateway", "dialect"), DIALECTS)
def test_a_json_lines_client_dies_leaves_and_plays_game_after_game(
    stage: Stage, rules: str, gateway: str, dialect: list[str]
) -> None:
    server = stage.serve(rules, gateway, "--players", "2")
    dialect = ["--turns", rules, *dialect]
    if rules == "streak":
        assert stage.client("jsonline", *dialect, "--die-at", "4").ends() == -signal.SIGKILL
        stage.client("jsonline", *dialect, "--leave-at", "9").ends_without_fault()
    client = stage.client("jsonline", "--games", "2", *dialect)
    client.ends_without_fault()
    assert len(results(client)) == 2
    wait_until(lambda: server.count("won") == 2, server)


# --- Code Smackdown ---------------------------------------------------------------------------------------------------


def test_smackdown_children_play_game_after_game(stage: Stage, tmp_path: Path) -> None:
    reports = [tmp_path / name for name in ("ann", "bob")]
    child = f"{sys.executable} {_STANDINS / 'smackdown_child.py'}"
    both = " ".join(f'--exec "{child} --report {report}" --name {report.name}' for report in reports)
    server = stage.serve(
        "smackdown", f"smackdown {both} --opponent-first", "--players", "2", "--games", "3", listening=False
    )
    assert server.ends() == 0
    assert server.count("won") == 3
    for report in reports:
        told = [json.loads(line) for line in report.read_text().splitlines()]
        assert [event["event"] for event in told if event["event"] != "round"] == ["result"] * 3


def test_smackdown_children_play_at_our_referee_and_one_forfeits(stage: Stage, tmp_path: Path) -> None:
    reports = [tmp_path / name for name in ("ann", "bob")]
    child = f"{sys.executable} {_STANDINS / 'smackdown_child.py'}"
    first, second = (f'--exec "{child} --report {report} --forfeits" --name {report.name}' for report in reports)
    second = second.replace("--forfeits", "--forfeits --wrong many --round 4")
    server = stage.serve("smackdown", f"smackdown {first} {second}", "--players", "2", "--games", "1", listening=False)
    assert server.ends() == 0
    [won] = [event for event in server.events if event["event"] == "won"]
    assert won["winner"] == "ann"
    told = [[json.loads(line) for line in report.read_text().splitlines()] for report in reports]
    assert [events[-1]["result"] for events in told] == ["won game", "lost game"]
    assert not [event for events in told for event in events if event["event"] == "fault"]
