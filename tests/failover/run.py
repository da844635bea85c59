"""Two servers for one contest, and somebody who takes away the one that serves.

    python tests/failover/run.py                          30 times each fault, the journal on PostgreSQL
    python tests/failover/run.py --journal sqlite         the same on one machine, with what that has of them

mosquitto, PostgreSQL, both servers and every team are processes of their own. The server that serves is killed, frozen
until the other one serves, or cut from database or broker; then the other one has to go on, and the first to end, so
that it can be started again to wait. In the end the books are those of the chaos test, every proof is verified, and
the journal's epoch tells that nobody else has had it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import sqlalchemy as sql

from chaos.run import SALVO, Process, Report, Stage, work_folder
from failover.network import Cables, Namespaces, Network
from kit.mosquitto import Mosquitto
from kit.postgresql import PostgreSQL
from salvo.join.fairness.proof import PROOF
from salvo.net.mqtt import Connection
from salvo.wire import topics
from salvo_game.log_verification import verify_file

FAULTS = ("kill", "freeze", "cut_database", "cut_broker")
#: With the journal in a file nothing is between server and journal, and a frozen server keeps its lock.
FAULTS_OF_FILE = ("kill", "stop", "cut_broker")
#: How a server ends that another one has replaced.
_REPLACED = 3
#: Between the moment that a standby waits and the next fault.
_QUIET_SECONDS = (0.5, 1.5)
#: Lets PostgreSQL itself take down in which epoch, and from which host, each step was written.
_AUDIT = """
CREATE TABLE audit (step bigint, epoch bigint, host text);
CREATE FUNCTION audited() RETURNS trigger AS $$ BEGIN
    INSERT INTO audit SELECT NEW.id, epoch, coalesce(host(inet_client_addr()), '') FROM progress;
    RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER audited AFTER INSERT ON steps FOR EACH ROW EXECUTE FUNCTION audited()
"""


class Server(Process):
    """A server, and what it has said since it was started last."""

    def start(self, **environment: str) -> None:
        self._from = self.log.stat().st_size if self.log.exists() else 0
        super().start(**environment)

    def events(self) -> Iterator[dict[str, Any]]:
        """Read what it has said, with the time of each event in seconds."""
        with self.log.open("rb") as log:
            log.seek(self._from)
            for line in log.read().rpartition(b"\n")[0].split(b"\n"):
                if line.startswith(b"{"):
                    logged = json.loads(line)
                    yield {**logged, "at": datetime.fromisoformat(logged["at"]).timestamp()}

    def logged(self, event: str) -> float | None:
        """Return when it said something first, epoch seconds; None if it has not."""
        return next((each["at"] for each in self.events() if each["event"] == event), None)


class Tape:
    """Takes down when entries of the tables' signed logs arrive at a client of the broker: epoch seconds."""

    def __init__(self, url: str) -> None:
        self.times: list[float] = []
        self._url = url
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="tape", daemon=True)

    def _listen(self) -> None:
        connection = Connection(self._url, "tape", clean_session=True)
        filters = [topics.LOG.filter(""), topics.LOG.filter("+")]
        connection.on_connect = lambda _: connection.subscribe(filters)
        while not self._ended.is_set():
            for message in connection.poll(0.2):
                connection.acknowledge(message)
                self.times.append(time.time())
        connection.close()

    def first_since(self, at: float) -> float | None:
        """Return when the first entry came after a moment."""
        return next((each for each in self.times if each >= at), None)

    def __enter__(self) -> Tape:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


class Failover(Stage):
    """One run.

    Attributes:
        seconds: from each fault until a step that the new server has decided is heard, by fault.
        proofs: how many were verified.
        audited: of how many steps PostgreSQL says who wrote them.
    """

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        listen = "0.0.0.0" if given.apart else "127.0.0.1"
        database = PostgreSQL(listen) if given.journal == "postgresql" else None
        super().__init__(folder, given.seed, broker=Mosquitto(listen), database=database)
        self.given = given
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.proofs = self.audited = 0
        self._owners = 0
        assert self.broker is not None
        services = {"broker": self.broker.port} | ({} if database is None else {"database": database.port})
        self.network: Network = (Namespaces if given.apart else Cables)(2, services)
        self.servers: list[Server] = []
        self._play(self.broker.url)
        self.tape = Tape(self.broker.url)

    def _server(self, host: int) -> Server:
        journal = self.journal
        if self.database is not None:
            journal = f"postgresql://postgres@{self.network.address(host, 'database')}/postgres"
        where = ["--broker", f"mqtt://{self.network.address(host, 'broker')}"]
        words = [*self.settings(where, journal), "--standby", "--json", "--transcripts", str(self.folder / "games")]
        for name in ("roster", "identity", "journal-key"):
            words += [f"--{name}", str(self.folder / name)]
        log = self.folder / f"server-{host}.log"
        return Server([*self.network.prefix(host), *SALVO, *words], log)

    def play(self, progress: Callable[[str], None]) -> None:
        with self.network:
            self.servers = [self._server(host) for host in range(2)]
            self.processes = [*self.servers, *self.teams]
            with self.tape:
                super().play(progress)

    def torment(self, progress: Callable[[str], None]) -> None:
        self._until(lambda: any(server.logged("active") for server in self.servers), "one serves")
        active, standby = sorted(self.servers, key=lambda server: server.logged("active") is None)
        self._owners = 1
        if self.database is not None:
            with self._database() as connection:
                connection.exec_driver_sql(_AUDIT)
        faults = [fault for fault in self.given.faults for _ in range(self.given.times)]
        self.random.shuffle(faults)
        for number, fault in enumerate(faults, start=1):
            self._until(lambda: standby.logged("standby"), "the other one waits")  # noqa: B023
            time.sleep(self.random.uniform(*_QUIET_SECONDS))
            began = time.time()
            self._until(lambda: self.tape.first_since(began), "a game is on")  # noqa: B023
            if getattr(self, f"_{fault}")(active, standby):
                active, standby = standby, active
            self.report.faults[fault] += 1
            self.report.wrong += [f"{team.log.name}: it has ended" for team in self.teams if team.ended()]
            taken = f", {self.seconds[fault][-1]:.2f} s" if self.seconds[fault] else ""
            progress(f"{number} of {len(faults)}: {fault}{taken}; {self._games_over()} games over")
        for server in (standby, active):
            server.end(signal.SIGTERM)

    # --- the faults -----------------------------------------------------------------------------------------------

    def _kill(self, active: Server, standby: Server) -> bool:
        began = time.time()
        active.end(signal.SIGKILL)
        self._await_other("kill", began, standby)
        active.start()
        return True

    def _freeze(self, active: Server, standby: Server) -> bool:
        """Freeze a server until the other one serves; what it finds when it comes round must be of no consequence."""
        began = time.time()
        active.send(signal.SIGSTOP)
        self._await_other("freeze", began, standby)
        active.send(signal.SIGCONT)
        self._await_end("freeze", active)
        active.start()
        return True

    def _stop(self, active: Server, standby: Server) -> bool:
        """Stop a server for a moment that is too short for the other one, or whose lock nobody can take."""
        active.send(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.5, 4.0))
        woken = time.time()
        active.send(signal.SIGCONT)
        self._until(lambda: self.tape.first_since(woken), "it goes on")
        if active.ended() or standby.logged("active"):
            self.report.wrong.append("stop: the standby has taken over")
        return False

    def _cut_database(self, active: Server, standby: Server) -> bool:
        return self._cut("database", active, standby)

    def _cut_broker(self, active: Server, standby: Server) -> bool:
        return self._cut("broker", active, standby)

    def _cut(self, service: str, active: Server, standby: Server) -> bool:
        host, began = self.servers.index(active), time.time()
        self.network.cut(host, service)
        self._await_other(f"cut_{service}", began, standby)
        self.network.heal(host)
        self._await_end(f"cut_{service}", active)
        active.start()
        return True

    def _await_other(self, fault: str, began: float, standby: Server) -> None:
        self._until(lambda: standby.logged("active"), f"{fault}: the other one takes over")
        taken = standby.logged("active")
        assert taken is not None
        self._until(lambda: self.tape.first_since(taken), f"{fault}: the game continues")
        received = self.tape.first_since(taken)
        assert received is not None
        self.seconds[fault].append(received - began)
        self._owners += 1

    def _await_end(self, fault: str, server: Server) -> None:
        """Wait for the end of a server whose place another one has."""
        self._until(server.ended, f"{fault}: the first one ends")
        assert server.child is not None
        if server.child.returncode != _REPLACED:
            self.report.wrong.append(f"{fault}: it ended with {server.child.returncode}, not {_REPLACED}")

    # --- afterwards -----------------------------------------------------------------------------------------------

    def inspect(self) -> None:
        super().inspect()
        with self._database() as connection:
            epoch = connection.scalar(sql.text("SELECT epoch FROM progress"))
            written = [] if self.database is None else connection.exec_driver_sql("SELECT * FROM audit").all()
        if epoch != self._owners:
            self.report.wrong.append(f"the journal had {epoch} owners, and {self._owners} are known")
        self._inspect_owners(sorted((row.step, row.epoch, row.host) for row in written))
        for path in sorted((self.folder / "games").glob(f"*{PROOF}")):
            found = verify_file(path)
            self.proofs += 1
            self.report.wrong += [f"{path.name}: {found.finding}"] if found.finding is not None else []
        if self.proofs < self.report.games:
            self.report.wrong.append(f"{self.report.games} games are over, and {self.proofs} have a proof")

    def _inspect_owners(self, written: list[tuple[int, int, str]]) -> None:
        """Each epoch has one host, and none wrote when a later one had begun."""
        hosts: dict[int, str] = {}
        latest = 0
        for step, epoch, host in written:
            if hosts.setdefault(epoch, host) != host or epoch < latest:
                self.report.wrong.append(f"step {step}, by {host}, is of epoch {epoch}, which is {hosts[epoch]}'s")
            latest = max(latest, epoch)
        self.audited = len(written)

    def _database(self) -> contextlib.AbstractContextManager[sql.Connection]:
        url = f"sqlite:///{self.journal}" if self.database is None else self.journal.replace("://", "+psycopg://")
        return sql.create_engine(url).begin()

    def result(self, report: Report) -> dict[str, Any]:
        """Return the report as JSON."""
        every = [each for some in self.seconds.values() for each in some]
        return {
            "journal": self.given.journal,
            "network": self.network.name,
            "cores": os.cpu_count(),
            "faults": dict(report.faults),
            "takeover_seconds": {
                fault: _spread(some) for fault, some in {**self.seconds, "all": every}.items() if some
            },
            "games": report.games,
            "shots": report.shots,
            "proofs": self.proofs,
            "audited_steps": self.audited,
            "seconds": round(report.seconds),
            "wrong": report.wrong,
        }


def _spread(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = {f"p{share}": ordered[math.ceil(len(ordered) * share / 100) - 1] for share in (50, 99)}
    return {"times": len(ordered), **{name: round(each, 2) for name, each in {**at, "max": ordered[-1]}.items()}}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--journal", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--times", type=int, default=30, help="of each fault  [default: 30]")
    parser.add_argument("--faults", help="some of them, with commas between")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path, help="leave logs and games in this folder")
    parser.add_argument("--cables", action="store_true", help="no network namespaces, though this is root")
    parser.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)  # in a namespace of its own
    given = parser.parse_args(arguments)
    known = FAULTS if given.journal == "postgresql" else FAULTS_OF_FILE
    given.faults = known if given.faults is None else given.faults.split(",")
    if unknown := set(given.faults) - set(known):
        parser.error(f"no such faults: {', '.join(unknown)}; there are {', '.join(known)}")
    return given


def main() -> int:
    given = parse()
    if os.geteuid() == 0 and not given.cables and not given.apart:
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--apart"])
    with work_folder(given.keep) as folder:
        failover = Failover(folder, given)
        report = failover.run(lambda line: print(line, file=sys.stderr, flush=True))
    print(json.dumps(failover.result(report), indent=1))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
