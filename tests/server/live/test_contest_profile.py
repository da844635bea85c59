"""A contest as an organiser and two teams run it, with real processes, in the profiles contest and strict."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from kit.guarded import wait_for_users
from kit.mosquitto import listens_elsewhere, start_mosquitto
from kit.players import join
from kit.ports import Port
from kit.processes import started, without_settings
from kit.programs import needs
from kit.terminal import Terminal
from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


class Organiser:
    """Somebody at a machine of his own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._folders = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self.environment = without_settings(**self._folders)

    def run(self, *words: str) -> str:
        done = run(*words, environment=self._folders)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def add(self, *names: str) -> dict[str, str]:
        lines = map(json.loads, self.run("teams", "add", "--json", *names).splitlines())
        return {line["name"]: line["secret"] for line in lines}

    @contextlib.contextmanager
    def serve(self, *words: str) -> Iterator[dict[str, Any]]:
        """Run a server; give what its first lines say, by event."""
        command = [SALVO, "serve", "--json", "--players", "2", "--over-seconds", "5", *words]
        pipe = subprocess.PIPE
        output: dict[str, Any] = {}
        with started(command, stdout=pipe, stderr=pipe, env=self.environment) as server:
            assert server.stdout is not None
            while "lobby" not in output:
                read = server.stdout.readline()
                assert read, server.communicate()[1]
                line = json.loads(read)
                output[line["event"]] = line
            yield output
            server.terminate()
            server.communicate(timeout=60)


@pytest.fixture
def organiser(tmp_path: Path) -> Organiser:
    return Organiser(tmp_path)


@pytest.fixture
def brokers(organiser: Organiser) -> Iterator[tuple[str, str]]:
    """A mosquitto as ``salvo mosquitto`` makes it: where teams connect, and where the server does."""
    folder = organiser.folder / "broker"
    with Port() as port, Port() as web, Port() as own:
        command = organiser.run("mosquitto", str(folder), "--server-listen", own.address)
        assert command.split() == ["mosquitto", "-c", str(folder / "mosquitto.conf")]
        listens_elsewhere(folder / "mosquitto.conf", port, web)
        running = start_mosquitto(folder / "mosquitto.conf")
        yield f"mqtt://{port.address}", f"mqtt://{own.address}"
        running.terminate()
        running.wait(60)


def refused(url: str, user: str | None = None, password: str | None = None) -> str:
    connection = Connection(url, "", clean_session=True, username=user, password=password)
    with pytest.raises(ConnectionLost) as caught:
        connection.connect(60)
    connection.close()
    return caught.value.code


@needs("mosquitto")
def test_teams_come_to_a_mosquitto_while_the_server_runs(organiser: Organiser, brokers: tuple[str, str]) -> None:
    broker, own = brokers
    with organiser.serve("--broker", own) as output:
        assert output["profile"]["profile"] == "contest"
        assert output["roster"]["teams"] == []
        # Before the first name there is no file, and yet the server has accounts: a container is healthy then, too.
        assert organiser.run("health", broker).startswith("online")
        secrets = organiser.add("red", "blue")
        wait_for_users(broker, "red.1", secrets["red"])
        wait_for_users(broker, "blue.1", secrets["blue"])
        assert refused(broker) == "not_authorised"
        assert refused(broker, "red", secrets["blue"]) == "not_authorised"
        for playing in [join(broker, team, secret=secret, games=1) for team, secret in secrets.items()]:
            playing.join(60)
            assert not playing.is_alive()
        organiser.run("teams", "remove", "red")
        wait_for_users(broker, "red.1", secrets["red"], admitted=False)


def test_a_person_at_a_terminal_is_asked_for_a_secret_that_is_wanted_and_types_it_with_or_without_gaps(
    organiser: Organiser,
) -> None:
    secrets = organiser.add("red", "blue") | organiser.add("--role", "host", "desk")
    secrets |= organiser.add("--role", "watcher", "hall")
    with organiser.serve("--listen", "127.0.0.1:0") as output:
        url = output["listening"]["url"]
        blue = join(url, "blue", secret=secrets["blue"], games=1)
        for account, gap, words, seen in (
            ("hall", "", ["watch", url.replace("://", "://hall@")], "blue"),
            ("desk", "-", ["control", "announce", url.replace("://", "://desk@"), "welcome"], "welcome"),
            ("red", " ", ["join", url.replace("://", "://red@"), "hunter", "--games", "1"], "is number"),
        ):
            with Terminal([SALVO, *words], organiser.environment) as terminal:
                terminal.until_seen(f"secret of {account}:")
                typed = gap.join(secrets[account][at : at + 4] for at in range(0, 26, 4))
                terminal.press(typed, "enter")
                assert typed not in terminal.until_seen(seen)
        blue.join(60)
        assert not blue.is_alive()
