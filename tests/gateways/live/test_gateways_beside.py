"""`salvo serve --gateway`: older programs come in beside the server, which outlives its gateways and ends them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateways.xbs_games import Patient, Playing, small
from kit.command_line import run
from kit.ports import Port
from kit.processes import processes, started, without_settings
from kit.waiting import until

_SECONDS = 60.0


class Held(Patient):
    """Shoots until something is hit, and then not before something is killed."""

    def __init__(self, host: str, port: int, name: str, seed: int, killed: threading.Event) -> None:
        super().__init__(host, port, name, seed)
        self._killed = killed

    @property
    def has_hit(self) -> bool:
        return any(player.score for player in list(self.players.values()))

    def choose(self) -> str:
        if self.has_hit:
            self._killed.wait(_SECONDS)
        return super().choose()


class Server:
    """A server with a gateway, in a process of its own."""

    def __init__(self, folder: Path, port: Port, profile: str, *words: str) -> None:
        self.records: list[dict[str, Any]] = []
        self.port = port.number
        environment = without_settings()
        environment |= {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        options = ["--json", "--listen", "127.0.0.1:0", "--profile", profile, "--players", "2", *words]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "salvo",
                "serve",
                *options,
                "--gateway",
                f"xbs --listen 127.0.0.1:{self.port}",
            ],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.records.append(json.loads(line))

    def listening(self, times: int = 1) -> None:
        """Wait until the gateway has said so often that it listens."""
        until(lambda: sum(record["event"] == "gateway" for record in self.records) >= times)


@contextmanager
def server(folder: Path, profile: str, *words: str) -> Iterator[Server]:
    with Port() as port:
        running = Server(folder, port, profile, *words)
        try:
            yield running
        finally:
            running.process.kill()
            running.process.wait()


def gateways_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the gateways among a server's children."""
    return [each.number for each in processes() if each.parent == process.pid and " gateway " in each.command]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
def test_a_client_and_a_bot_play_through_a_gateway_that_dies_in_the_middle(tmp_path: Path) -> None:
    with server(tmp_path, "contest", "--rules", small(tmp_path), "--games", "1") as running:
        running.listening()
        killed = threading.Event()
        ann = Held("127.0.0.1", running.port, "ann", 0, killed)
        playing = Playing([ann])
        bot = ["join", f"xbs://127.0.0.1:{running.port}", "hunter", "--team", "bob", "--games", "1", "--seed", "bob"]
        with started([sys.executable, "-m", "salvo", *bot], stdout=subprocess.DEVNULL) as bob:
            until(lambda: ann.has_hit)
            [gateway] = gateways_of(running.process)
            os.kill(gateway, signal.SIGKILL)
            killed.set()
            assert playing.wait().state == "finished"
            assert bob.wait(_SECONDS) == 0
        assert any(line.startswith("Y|") for line in ann.lines)
        running.listening(2)
        assert running.process.wait(_SECONDS) == 0
        [won] = [record for record in running.records if record["event"] == "won"]
        assert set(won["places"]) == {"ann", "bob"}
    until(lambda: not listens(running.port))


def test_a_gateway_imports_nothing_of_its_servers_folder_and_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "salvo.py").write_text("raise SystemExit('a bot with the name of the package')")
    with server(tmp_path, "open") as running:  # its rules are the gateway's
        running.listening()
        with (
            socket.create_connection(("127.0.0.1", running.port), timeout=_SECONDS) as client,
            client.makefile() as lines,
        ):
            assert next(lines).startswith("G|2.0.0|Salvo|N|2|2|0|17|")  # the game starts with two, and takes two
    until(lambda: not listens(running.port))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("telnet --listen 1:2", "does not begin with one of classic, jsonline, smackdown, xbs"),
        ("xbs --port 7", "No such option"),
        ("xbs --help", "--help is for salvo gateway xbs"),
        ("xbs", "gateway xbs: the rules 'salvo' have announce count; xbs needs cells; give --rules xbs"),
        ("classic --opponent human", "a person needs a terminal; start salvo gateway classic --opponent human in one"),
    ],
)
def test_an_impossible_gateway_is_refused_before_anything_starts(tmp_path: Path, given: str, error: str) -> None:
    options = ["--listen", "127.0.0.1:0", "--rules", "salvo", "--gateway", given]
    done = run("serve", *options, environment={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
