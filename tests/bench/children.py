"""What the benchmarks measure, each in a process of its own: ``python -m bench.children PART``.

They are started with :func:`process`, which waits for their word that they are ready. What talks to them is in
``teams.py``.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kit.marked import MarkedConnection
from kit.services import serve
from salvo.messages import Limits
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID
from salvo_server.storage.identity import Identity
from salvo_server.storage.journal.database import DatabaseJournal

TESTS = Path(__file__).parents[1]
#: No turn ends by itself while something is measured.
LIMITS = Limits(players=2, turn_ms=600_000)


class Child(NamedTuple):
    """A part that runs."""

    running: subprocess.Popen[str]

    @property
    def pid(self) -> int:
        return self.running.pid

    def end(self) -> str:
        """Close its input, and return all that it prints until it ends."""
        return self.running.communicate()[0]

    def ask(self) -> dict[str, Any]:
        """Return what it knows by now, if it is a part that answers."""
        assert self.running.stdout is not None
        self.running.send_signal(signal.SIGUSR1)
        found: dict[str, Any] = json.loads(self.running.stdout.readline())
        return found


@contextlib.contextmanager
def process(*arguments: object) -> Iterator[Child]:
    """Run a part for the length of a ``with`` block, ready when it says so."""
    child = subprocess.Popen(
        _command(arguments), env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n", f"{arguments} ended"
        yield Child(child)
    finally:
        child.terminate()
        child.wait(10)
        child.stdin.close()
        child.stdout.close()


def _command(arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "bench.children", *map(str, arguments)]


def _environment() -> dict[str, str]:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def table_names(count: int) -> list[str]:
    """The default table and so many more that there are ``count``."""
    return ["", *(f"t{number}" for number in range(1, count))]


def run_echo(url: str) -> None:
    """A bare echo responder on the same client library: no decoding, no state, one answer a message."""
    connection = Connection(url, "echo", clean_session=True)

    def connected(_: bool) -> None:
        connection.subscribe(["/echo/fire"])

    connection.on_connect = connected
    connection.connect(10)
    connection.flush(5)
    print("ready", flush=True)
    while True:
        for message in connection.poll(1.0):
            connection.publish("/echo/hits", message.payload)
            connection.acknowledge(message)


def run_server(url: str, journal: str) -> None:
    """The real service, sampled; its game goes on for ever, because every shot misses a fleet that is out of its way.

    Args:
        journal: what its commits survive, ``process`` or ``power``.
    """
    from bench.shares import Sampler  # which starts processes by this module

    sampler = Sampler()
    connection = MarkedConnection(url, SERVER_CLIENT_ID)
    kept, identity = _new_journal(journal == "power"), Identity.fresh()
    service = serve(connection, limits=LIMITS, profile="open", journal=kept, identity=identity)
    signal.signal(signal.SIGUSR1, lambda *_: print(json.dumps(sampler.counts), flush=True))
    said = False
    while True:
        service.step(1.0)
        if not said and connection.connected:
            connection.flush(5)
            print("ready", flush=True)
            said = True


def _new_journal(power_safe: bool) -> DatabaseJournal:
    folder = tempfile.mkdtemp(prefix="bench-", dir=Path.home())  # a disk, where /tmp may be memory
    atexit.register(shutil.rmtree, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # else nobody removes it
    return DatabaseJournal(f"{folder}/a.journal", power_safe=power_safe)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("echo").add_argument("url")
    server = parts.add_parser("server")
    server.add_argument("url")
    server.add_argument("journal")
    browsers = parts.add_parser("browsers")
    browsers.add_argument("port", type=int)
    browsers.add_argument("count", type=int)
    browsers.add_argument("tables", type=int)
    players = parts.add_parser("players")
    players.add_argument("url")
    players.add_argument("tables", type=int)
    players.add_argument("teams", type=int)
    watchers = parts.add_parser("watchers")
    watchers.add_argument("url")
    watchers.add_argument("count", type=int)
    watchers.add_argument("tables", type=int)
    given = parser.parse_args()
    match given.part:
        case "echo":
            run_echo(given.url)
        case "server":
            run_server(given.url, given.journal)
        case "browsers":
            from bench.web import run_browsers  # which starts processes by this module

            run_browsers(given.port, given.count, given.tables)
        case "players":
            from bench.crowd import run_players  # which needs names of this module

            run_players(given.url, given.tables, given.teams)
        case "watchers":
            from bench.crowd import run_watchers  # which needs names of this module

            run_watchers(given.url, given.count, given.tables)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
