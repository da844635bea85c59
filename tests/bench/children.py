"""What the benchmarks measure, each in a process of its own: ``python -m bench.children PART``.

The reports start them with :func:`process`, which waits for their word that they are ready, or with :func:`answer`,
which waits for their figures. What talks to them and holds the watch is in ``teams.py``.
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
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from kit.marked import MarkedConnection
from kit.services import serve
from kit.unbrokered import Wire
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.messages import Limits
from salvo.net.mqtt import Connection
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.core.authenticator import Authenticator
from salvo_server.foresight import derivations
from salvo_server.garbage import collect_in_portions
from salvo_server.service import Service
from salvo_server.storage.identity import Identity
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.register import Register
from salvo_server.storage.roster import Roster

if TYPE_CHECKING:
    from bench.shares import Sampler

TESTS = Path(__file__).parents[1]
#: No turn ends by itself while something is measured.
LIMITS = Limits(players=2, turn_ms=600_000)


class Child(NamedTuple):
    """A part that runs.

    Attributes:
        told: what it said beside being ready.
    """

    running: subprocess.Popen[str]
    address: str

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
        word, _, address = child.stdout.readline().strip().partition(" ")
        assert word == "ready", f"{arguments} ended"
        yield Child(child, address)
    finally:
        child.terminate()
        child.wait(10)
        child.stdin.close()
        child.stdout.close()


def answer(*arguments: object) -> dict[str, Any]:
    """Run a part to its end and return the figures that it printed."""
    done = subprocess.run(_command(arguments), env=_environment(), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _command(arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "bench.children", *map(str, arguments)]


def _environment() -> dict[str, str]:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def peak_mb(pid: int) -> int:
    """The most memory that a process has had; what getrusage tells begins with that of its parent."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def table_names(count: int) -> list[str]:
    """The default table and so many more that there are ``count``."""
    return ["", *(f"t{number}" for number in range(1, count))]


# --- on a broker --------------------------------------------------------------------------------------------------


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


def run_server(
    url: str | None,
    tables: int,
    journal: str,
    signed: bool,
    roster: Roster | None,
    sampler: Sampler | None = None,
) -> None:
    """The real service; every table plays for ever, because every shot misses a fleet that is out of its way.

    Says where the teams connect when it is ready.

    Args:
        url: the broker; with none the server brings its own, in this process as ``salvo serve`` does.
        journal: what its commits survive, ``process`` or ``power``; empty for none.
        signed: whether it has an identity, and so a log.
        roster: makes it a contest among these teams; its own broker then asks for names.
        sampler: tells where its time goes when it is asked.
    """
    names = table_names(tables)
    accounts = None if roster is None else roster.accounts()
    address = url or ""
    if url is None:
        access = None if accounts is None else RosterAccess(accounts, names)
        broker = EmbeddedBroker(access=access).start()
        address = broker.url
    user = None if roster is None else roster.server
    connection: AttachedLink | MarkedConnection
    if url is None:
        connection = broker.attach(SERVER_CLIENT_ID if user is None else user.user)
    else:
        connection = MarkedConnection(
            url,
            SERVER_CLIENT_ID,
            username=None if user is None else user.user,
            password=None if user is None else user.secret,
        )
    service = serve(
        connection,
        names,
        seed=1,
        limits=LIMITS,
        profile="open" if accounts is None else "contest",
        journal=_new_journal(journal == "power") if journal else None,
        identity=Identity.fresh() if signed else None,
        register=None if accounts is None else Register(accounts),
    )
    collect_in_portions(embedded=url is None)
    reported = False
    if sampler is not None:
        signal.signal(signal.SIGUSR1, lambda *_: print(json.dumps(sampler.counts), flush=True))
    while True:
        service.step(1.0)
        if not reported and connection.connected:
            connection.flush(5)
            print(f"ready {address}", flush=True)
            reported = True


def _new_journal(power_safe: bool) -> DatabaseJournal:
    folder = tempfile.mkdtemp(prefix="bench-", dir=Path.home())  # a disk, where /tmp may be memory
    atexit.register(shutil.rmtree, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # else nobody removes it
    return DatabaseJournal(f"{folder}/a.journal", power_safe=power_safe)


# --- without a broker ---------------------------------------------------------------------------------------------


class _Quiet(Wire):
    """Keeps nothing of what is published, and the server does not hear itself."""

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...


def run_tables(count: int, signed: bool, seconds: float, journal: str = "", sampler: Any = None) -> None:
    """Print microseconds a shot and resident memory with so many tables in play.

    Args:
        signed: whether the server has an identity, and so a log.
        journal: as :func:`run_server` has it.
        sampler: tells where that time goes.
        seconds: of processor time that the service may take about.
    """
    edge = _Quiet()
    names = [f"t{number}" for number in range(count)]
    gate = Authenticator(derivations())
    identity = Identity.fresh() if signed else None
    journal_url = _new_journal(journal == "power") if journal else None
    service = serve(edge, names, seed=1, limits=LIMITS, gate=gate, identity=identity, journal=journal_url)
    sealers = _seat_in_process(edge, service, gate, names)
    spent, shots = 0.0, 0
    sampler = sampler or SimpleNamespace(looking=False, counts={})
    for turn in range(max(4, 4000 // count)):
        for name in names if count > 20 else names * 20:
            _fire_in_process(edge, service, name, sealers)
            start = time.process_time()
            sampler.looking = True
            service.step()
            sampler.looking = False
            spent += time.process_time() - start
            shots += 5
        if spent > seconds and turn > 2:
            break
    print(json.dumps({"us": spent / shots * 1e6, "mb": peak_mb(os.getpid()), "shares": sampler.counts}))
    gate.close()


def _seat_in_process(edge: Wire, service: Service, gate: Authenticator, names: list[str]) -> dict[str, Sealer]:
    """Two teams with their fleets at every table; return what they sign with."""
    edge.connect()
    sealers = {team: Sealer(f"secret {team}", bytes((number,)) * 16) for number, team in enumerate(("a", "b"))}
    for name in names:
        for team, sealer in sealers.items():
            edge.give(topics.REQUEST_PARTICIPATION.of(name), write_participation(team, f"secret {team}"))
            service.step()
            # As if proven: 2,000 derivations take minutes.
            member = gate.keyring.member(name, team)
            assert member is not None
            gate.keyring.learn(name, member, sealer.salt, sealer.key)
            for place in random_fleet(SALVO, generator(name, team)).placements:
                topic = topics.PLACE.of(name, player=team, ship=place.ship)
                edge.give(topic, write_placement(place, sealer))
        service.step()
    assert all(table.referee.current is not None for table in service.tables.values())
    return sealers


def _fire_in_process(edge: Wire, service: Service, name: str, sealers: dict[str, Sealer]) -> None:
    """Give the service a salvo of five shots into the water."""
    current = service.tables[name].referee.current
    assert current is not None
    rival = "b" if current.name == "a" else "a"
    x, y = SALVO.grid.xy(random_fleet(SALVO, generator(name, rival)).board.index(0))
    topic = topics.FIRE.of(name, player=rival)
    for _ in range(5):
        edge.give(topic, write_shot(x, y, None, sealers[current.name]))


def _sampler(given: argparse.Namespace) -> Sampler | None:
    if not given.shares:
        return None
    from bench.shares import Sampler  # which starts processes by this module

    return Sampler(cpu=given.part == "tables")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("echo").add_argument("url")
    server = parts.add_parser("server")
    server.add_argument("url", nargs="?")
    server.add_argument("--tables", type=int, default=1)
    server.add_argument("--journal", default="")
    server.add_argument("--signed", action="store_true")
    server.add_argument("--roster", type=lambda path: Roster(Path(path)))
    server.add_argument("--shares", action="store_true")
    floods = parts.add_parser("floods")
    floods.add_argument("host")
    floods.add_argument("port", type=int)
    floods.add_argument("name")
    floods.add_argument("secret")
    floods.add_argument("ca")
    browsers = parts.add_parser("browsers")
    browsers.add_argument("port", type=int)
    browsers.add_argument("count", type=int)
    browsers.add_argument("tables", type=int)
    pages = parts.add_parser("pages")
    pages.add_argument("port", type=int)
    pages.add_argument("count", type=int)
    pages.add_argument("tables", type=int)
    players = parts.add_parser("players")
    players.add_argument("url")
    players.add_argument("tables", type=int)
    players.add_argument("teams", type=int)
    watchers = parts.add_parser("watchers")
    watchers.add_argument("url")
    watchers.add_argument("count", type=int)
    watchers.add_argument("tables", type=int)
    tables = parts.add_parser("tables")
    tables.add_argument("count", type=int)
    tables.add_argument("--signed", action="store_true")
    tables.add_argument("--journal", default="")
    tables.add_argument("--shares", action="store_true")
    tables.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    match given.part:
        case "echo":
            run_echo(given.url)
        case "server":
            run_server(given.url, given.tables, given.journal, given.signed, given.roster, _sampler(given))
        case "floods":
            from bench.floods import run_floods  # which starts processes by this module

            run_floods(given.host, given.port, given.name, given.secret, given.ca)
        case "browsers":
            from bench.web import run_browsers  # which starts processes by this module

            run_browsers(given.port, given.count, given.tables)
        case "pages":
            from bench.cache import run_pages  # which starts processes by this module

            run_pages(given.port, given.count, given.tables)
        case "players":
            from bench.crowd import run_players  # which needs names of this module

            run_players(given.url, given.tables, given.teams)
        case "watchers":
            from bench.crowd import run_watchers  # which needs names of this module

            run_watchers(given.url, given.count, given.tables)
        case "tables":
            run_tables(given.count, given.signed, given.seconds, given.journal, _sampler(given))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
