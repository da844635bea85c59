"""A contest whose server is killed again and again: no result is lost, and none counts twice."""

from __future__ import annotations

import contextlib
import csv
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import players
from kit.command_line import run
from kit.killed import Stage, kill
from kit.mosquitto import Mosquitto
from kit.postgresql import PostgreSQL
from kit.programs import needs
from salvo.codec.announcements import SERVER, STANDINGS
from salvo.messages import StandingsShown
from salvo.net.mqtt import Connection
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.storage.identity import load_identity
from salvo_server.storage.journal.database import JournalReader
from salvo_server.storage.transcript import repeat_game
from salvo_server.storage.transcript_folder import proof_lines

_SECONDS = 60.0


def retained(url: str, topic: str, wanted: Callable[[bytes], bool]) -> bytes:
    """Wait until the broker retains what is wanted, as a new listener hears it."""
    with contextlib.closing(Connection(url, "listener", clean_session=True)) as connection:
        connection.on_connect = lambda _: connection.subscribe([topic])
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            for message in connection.poll(1.0):
                connection.acknowledge(message)
                if message.payload and wanted(message.payload):
                    return message.payload
    raise AssertionError(f"nothing such on {topic}")


def published(url: str, games: int) -> StandingsShown:
    """Wait for standings of so many games."""
    payload = retained(url, "/game/standings", lambda payload: STANDINGS.read(payload).overall.games == games)
    return STANDINGS.read(payload)


def until(server: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """Wait until a server has reported an event."""
    assert server.stdout is not None
    for line in server.stdout:
        told: dict[str, Any] = json.loads(line)
        if told["event"] == event:
            return told
    raise AssertionError(f"the server ended without {event!r}: {server.communicate()[1]}")


def shown(*words: str) -> dict[str, Any]:
    done = run("league", "show", "--json", *words)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "sqlite",
        pytest.param("postgresql", marks=[pytest.mark.slow, needs("postgresql")]),
        pytest.param("mosquitto", marks=[pytest.mark.slow, needs("mosquitto")]),
    ],
)
def test_a_server_is_killed_between_games_and_in_them_and_every_result_counts_once(kind: str, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(Mosquitto()).url if kind == "mosquitto" else None
        database = stack.enter_context(PostgreSQL()).url if kind == "postgresql" else str(tmp_path / "a.journal")
        stage = Stage(tmp_path, broker)
        stack.callback(stage.end)
        settings = ["--journal", database, "--journal-key", str(tmp_path / "key"), "--over-seconds", "1"]
        settings += ["--identity", str(tmp_path / "identity")]
        server = stage.serve(*settings)
        for number in (1, 2):
            teams = [players.join(stage.url, name, RandomBot(), games=1) for name in ("a", "b")]
            if number == 2:
                until(server, "begin")
                kill(server)
                server = stage.serve(*settings)
            before = published(stage.url, number)
            counted = shown("--journal", database)
            kill(server)
            assert shown("--journal", database) == counted
            server = stage.serve(*settings)
            assert published(stage.url, number) == before
            for team in teams:
                team.join(_SECONDS)
                assert not team.is_alive()
            # While its result stands, a team that comes is back in the old game.
            retained(stage.url, "/game/server", lambda payload, due=number + 1: SERVER.read(payload).game == due)  # type: ignore[misc]
        assert shown("--logs", *_logs(database, tmp_path)) == counted
        assert {row["team"]: round(1000 * row["points"]) for row in counted["table"]} == {
            row.team: row.points for row in before.evening.rows
        }
        assert sum(row["points"] for row in counted["table"]) == 2
        _tells_people(database, tmp_path)


def _logs(database: str, folder: Path) -> list[str]:
    """Write the signed log of each game, as the server has published it."""
    journal, identity, files = JournalReader(database), load_identity(folder / "identity"), []
    for game, _ in journal.games():
        header, steps = repeat_game(journal.saved(game))
        files.append(folder / f"{game.number}.proof.jsonl")
        files[-1].write_bytes(b"".join(proof_lines(header, list(steps), identity)))
    return [str(file) for file in files]


def _tells_people(database: str, folder: Path) -> None:
    """The same as a table, as CSV and as a page."""
    table, page = folder / "table.csv", folder / "page.html"
    done = run("league", "show", "--journal", database, "--all", "--csv", str(table), "--page", str(page))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Standings: 2 games, ")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["place"] for row in rows] in (["1", "2"], ["1", "1"])
    assert sum(float(row["points"]) for row in rows) == 2
    assert page.read_text().count('<td class="name causes">') == 2
