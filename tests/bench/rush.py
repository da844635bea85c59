"""Hundreds of teams that come at once, as at the start of an evening: who is warned, and how long keys take."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.children import table_names
from bench.figures import row
from kit.mosquitto import Mosquitto
from kit.processes import started
from salvo.codec.command_writer import write_participation, write_placement
from salvo.net.mqtt import Connection
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire import topics
from salvo.wire.seal import Sealer, salt_of
from salvo_server.storage.identity import load_identity
from salvo_server.storage.roster import Roster, RosterEntry

TEAMS_A_TABLE: Final = 3
_COMING_SECONDS: Final = 10.0
#: The roster is loaded this long before.
_AHEAD_SECONDS: Final = 60.0
_PATIENCE_SECONDS: Final = 120.0


class _Team:
    """A team whose own key is there before it comes."""

    def __init__(self, table: str, name: str, secret: str, salt: bytes) -> None:
        self.table, self.name, self.secret = table, name, secret
        self._sealer = Sealer(secret, salt)
        assert self._sealer.key

    def come(self, connection: Connection) -> None:
        """Ask to take part, and place all ships."""
        request = write_participation(self.name, self.secret)
        connection.publish(topics.REQUEST_PARTICIPATION.of(self.table), request)
        for place in random_fleet(SALVO, generator(self.table, self.name)).placements:
            topic = topics.PLACE.of(self.table, player=self.name, ship=place.ship)
            connection.publish(topic, write_placement(place, self._sealer))


def bench_rush(share: float) -> None:
    """Let 600 teams come to 200 tables: of the SDK, by a roster that was there a minute before; then of strangers."""
    tables = table_names(max(2, int(200 * share)) + 1)[1:]
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        server_key = load_identity(Path(folder) / "identity").signing_key
        names = {f"{table}-{number}": table for number in range(TEAMS_A_TABLE) for table in tables}
        roster = Path(folder) / "roster.json"
        secrets = dict(zip(names, Roster(roster).add_all([RosterEntry(name) for name in names]), strict=True))
        teams = [_Team(table, name, secrets[name], salt_of(name, server_key)) for name, table in names.items()]
        with _serving(tables, folder, "contest", str(roster)) as url:
            time.sleep(_AHEAD_SECONDS * share)
            _measure("the SDK, on a roster", url, teams, len(tables))
        strangers = [_Team(team.table, team.name, team.secret, team.name.encode().ljust(16)) for team in teams]
        with _serving(tables, folder, "open", f"{folder}/nobody.json") as url:
            _measure("unknown salts", url, strangers, len(tables))


@contextlib.contextmanager
def _serving(tables: Sequence[str], folder: str, profile: str, roster: str) -> Iterator[str]:
    """A server on a mosquitto that lets everybody be anybody: one connection speaks for all teams."""
    with Mosquitto() as broker:
        words = [arg for table in tables for arg in ("--table", table)]
        words += ["--profile", profile, "--roster", roster, "--players", str(TEAMS_A_TABLE), "--json"]
        words += ["--identity", f"{folder}/identity", "--broker", broker.url.replace("://", "://server:any@")]
        serve = [sys.executable, "-m", "salvo", "serve", "--journal", f"{folder}/{profile}.journal", *words]
        environment = os.environ | {"XDG_STATE_HOME": folder}
        with started(serve, stdout=subprocess.PIPE, env=environment) as server:
            assert server.stdout is not None
            for line in server.stdout:
                if f'"table": "{tables[-1]}"' in line:
                    break
            # A pipe that nobody reads is full after some hundred fleets, and the server waits for it.
            threading.Thread(target=server.stdout.read, daemon=True).start()
            yield broker.url


def _measure(who: str, url: str, teams: list[_Team], tables: int) -> None:
    connection = Connection(url, "teams", clean_session=True)
    received = [f"/+{topic.filter()}" for topic in (topics.STATE, topics.ERROR, topics.PLACEMENT_ERROR)]
    connection.on_connect = lambda _: connection.subscribe(received)
    connection.connect(10)
    warned: set[str] = set()
    playing: dict[str, float] = {}
    began = time.monotonic()
    waiting = list(teams)
    sent = began
    while len(playing) < tables and time.monotonic() < began + _PATIENCE_SECONDS:
        while waiting and time.monotonic() >= began + _COMING_SECONDS * (len(teams) - len(waiting)) / len(teams):
            waiting.pop(0).come(connection)
            sent = time.monotonic()
        for message in connection.poll(0.005):
            address = topics.parse(message.topic)
            if address.topic is topics.STATE and message.payload == b"turn":
                playing.setdefault(address.table, time.monotonic())
            elif address.topic is not topics.STATE:
                warned.add(f"{address.player}: {message.payload.decode()}")
            connection.acknowledge(message)
    connection.close()
    last = max(playing.values(), default=began + _PATIENCE_SECONDS)
    first = min((at for at in playing.values() if at > sent), default=last)
    row(
        f"{len(teams)} teams, {who}, to {tables} tables in {_COMING_SECONDS:.0f} s: games that began", f"{len(playing)}"
    )
    row("  teams that were warned", f"{len(warned)}", "goal: none")
    row("  keys derived", f"{len(teams) / (last - began):.0f} a second")
    row("  first game, last game after the last fleet", f"{first - sent:.1f} / {last - sent:.1f} s")
