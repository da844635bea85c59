"""The laboratory on three hosts with a bad network: whatever happens to them, a run prints what it prints here.

    python tests/failover/laboratory.py              every fault, about fifteen minutes on two cores; root

The scheduler, three workers and the client are in network namespaces of their own, and show one another certificates.
Workers are killed, links cut and slowed down, the scheduler restarted; bots die and never end. Each time the output
of the run is compared, byte by byte, with that of the same command without hosts. A run and the workers end with
their scheduler; all are started again, as the error asks. One that ends before anything has happened to it shows
nothing, and counts as wrong; so does an error of any other kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.run import SALVO, Process, work_folder
from failover.network import Namespaces
from kit.ports import Port

HOSTS: Final = ("one", "two", "three")
#: Namespaces of the three workers, and of whoever asks.
ASKING: Final = len(HOSTS)
#: Between two faults of the same kind.
_PAUSE_SECONDS: Final = 5.0
_CUT_SECONDS: Final = 3.0
#: How fast a slow link is, and how long a packet may wait for its turn.
_SLOW: Final = ("rate", "200kbit", "burst", "8kb", "latency", "2s")

_BOT: Final = """\
import os

import salvo


@salvo.bot
def fire(view):
    shots = view.untouched.sample(view.shots)
    if sum(map(ord, str(shots))) % 2003 == 3:
        {failing}
    return shots
"""
BOTS: Final = {
    "dying.py": _BOT.format(failing="os._exit(9)"),
    "endless.py": _BOT.format(failing="while True: pass"),
}
PLAY: Final = ("play", "density", "hunter", "--games", "{games}", "--seed", "5", "--json")
#: A bot against itself, because nothing is decided until the last of some thousand games.
COMPARE: Final = ("compare", "density", "density", "--seed", "3", "--games", "{games}", "--json")


class Laboratory:
    """A scheduler, its workers and whoever asks, each on a host of its own."""

    def __init__(self, folder: Path, network: Namespaces, port: Port, games: int) -> None:
        self.folder = folder
        self.network = network
        self.games = games
        self._tls = ("--tls", str(folder / "keys"))
        self._run(("tls", str(folder / "keys")))
        listen = f"0.0.0.0:{port.number}"
        self.scheduler = Process(
            [*SALVO, "lab", "scheduler", "--listen", listen, *self._tls],
            folder / "scheduler.log",
        )
        self.workers = [self._worker(host, name) for host, name in enumerate(HOSTS)]

    def _worker(self, host: int, name: str) -> Process:
        words = ["lab", "worker", self._url(host), "--jobs", "1", *self._tls]
        return Process([*self.network.prefix(host), *SALVO, *words], self.folder / f"{name}.log")

    def _url(self, host: int) -> str:
        return f"tls://{self.network.address(host, 'scheduler')}"

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Let all hosts play, and end them all."""
        try:
            self._start()
            yield
        finally:
            for process in (*self.workers, self.scheduler):
                process.log.unlink()
                if process.child is not None and not process.ended():
                    process.child.kill()
                    process.child.wait()

    def _start(self) -> None:
        self.scheduler.start()
        self._until_printed(self.scheduler.log, "scheduler")
        for worker in self.workers:
            worker.start()
        for worker in self.workers:
            self._until_printed(worker.log, ": plays at")

    @staticmethod
    def _until_printed(log: Path, what: str) -> None:
        end = time.monotonic() + 120
        while what not in log.read_text():
            assert time.monotonic() < end, f"{log.name}: {log.read_text()[-2000:]}"
            time.sleep(0.1)

    def here(self, command: tuple[str, ...]) -> str:
        """Return what a command prints without hosts."""
        return self._run(self._filled(command))

    def there(self, command: tuple[str, ...]) -> str:
        """Return what it prints when hosts play."""
        return self._run(self._asked(command), ASKING)

    def ends_with_its_scheduler(self, command: tuple[str, ...], here: str) -> bool:
        """Whether it ends with an error in one line, after some of what it prints here."""
        done = self._done(self._asked(command), ASKING)
        error = done.stderr.splitlines()[-1]
        is_lost = error.startswith("error: scheduler_lost: ") and "Traceback" not in done.stderr
        printed = _outcome(done.stdout)
        return done.returncode == 1 and is_lost and printed == _outcome(here)[: len(printed)]

    def _asked(self, command: tuple[str, ...]) -> tuple[str, ...]:
        return *self._filled(command), "--scheduler", self._url(ASKING), *self._tls

    def _filled(self, command: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.format(games=self.games) for word in command)

    def _run(self, command: tuple[str, ...], host: int | None = None) -> str:
        done = self._done(command, host)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr[-2000:]}"
        return done.stdout

    def _done(self, command: tuple[str, ...], host: int | None) -> subprocess.CompletedProcess[str]:
        prefix = [] if host is None else self.network.prefix(host)
        return subprocess.run([*prefix, *SALVO, *command], cwd=self.folder, capture_output=True, text=True, check=False)

    # --- what happens meanwhile -----------------------------------------------------------------------------------

    def kill_workers(self, number: int) -> None:
        worker = self.workers[number % len(HOSTS)]
        assert worker.child is not None
        worker.child.kill()
        worker.child.wait()
        worker.start()

    def cut_links(self, number: int) -> None:
        host = number % len(HOSTS)
        self.network.cut(host, "scheduler")
        time.sleep(_CUT_SECONDS)
        self.network.heal(host)

    def restart_scheduler(self, number: int) -> None:
        assert self.scheduler.child is not None
        self.scheduler.child.kill()
        for process in (self.scheduler, *self.workers):  # these end with it
            assert process.child is not None
            process.child.wait(timeout=60)
            process.log.unlink()
        self._start()

    def slow_links(self, number: int) -> None:
        for host in range(len(HOSTS)):
            self.network.slow(host, *_SLOW)

    def nothing(self, number: int) -> None:
        pass


#: What happens, to which command, and how the other bots are called.
FAULTS: Final[dict[str, tuple[Callable[[Laboratory, int], None], tuple[tuple[str, ...], ...]]]] = {
    "nothing": (Laboratory.nothing, (COMPARE, PLAY)),
    "a worker killed every 5 s": (Laboratory.kill_workers, (COMPARE,)),
    "a link cut for 3 s, every 5 s": (Laboratory.cut_links, (COMPARE,)),
    "links of 200 kbit/s": (Laboratory.slow_links, (COMPARE,)),
    "the scheduler restarted": (Laboratory.restart_scheduler, (PLAY, COMPARE)),
    "a dying bot": (Laboratory.nothing, (("play", "dying.py", *PLAY[2:]),)),
    "an endless bot": (Laboratory.nothing, (("play", "endless.py", *PLAY[2:], "--turn-seconds", "2"),)),
}


_ONCE: Final = (Laboratory.nothing, Laboratory.restart_scheduler, Laboratory.slow_links)


def _outcome(printed: str) -> list[Any]:
    """Return what was printed but for times, which differ from run to run."""
    times = {"seconds", "ms", "longest"}
    lines = [json.loads(line) for line in printed.splitlines()]
    return [{key: value for key, value in line.items() if key not in times} for line in lines]


def _torment(laboratory: Laboratory, fault: Callable[[Laboratory, int], None], ended: threading.Event) -> int:
    """Do something to the hosts until the run is over; return how often."""
    number = 0
    while not ended.wait(_PAUSE_SECONDS) and not (number and fault in _ONCE):
        fault(laboratory, number)
        number += 1
    return number


def _one(laboratory: Laboratory, fault: Callable[[Laboratory, int], None], command: tuple[str, ...]) -> dict[str, Any]:
    begun = time.monotonic()
    here = laboratory.here(command)
    between = time.monotonic()
    times: list[int] = []
    with laboratory.at_work():
        ended = threading.Event()
        torment = threading.Thread(target=lambda: times.append(_torment(laboratory, fault, ended)))
        torment.start()
        ends = True
        started = time.monotonic()
        try:
            if fault is Laboratory.restart_scheduler:
                ends = laboratory.ends_with_its_scheduler(command, here)
                torment.join()
            there = laboratory.there(command)
        finally:
            over = time.monotonic()
            ended.set()
            torment.join()
            for host in range(len(HOSTS)):
                laboratory.network.heal(host)
    return {
        "command": command[0],
        "same": ends and _outcome(there) == _outcome(here),
        "seconds_here": round(between - begun, 1),
        "seconds_there": round(over - started, 1),
        "times": 0 if fault is Laboratory.nothing else times[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=4000, help="of a run  [default: 4000]")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--keep", type=Path, help="leave logs in this folder")
    parser.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)  # in a namespace of its own
    given = parser.parse_args()
    if not given.apart:
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--apart"])
    wrong = 0
    with ExitStack() as leaving:
        folder = leaving.enter_context(work_folder(given.keep)).absolute()
        port = leaving.enter_context(Port())
        network = leaving.enter_context(Namespaces(len(HOSTS) + 1, {"scheduler": port.number}))
        for name, text in BOTS.items():
            (folder / name).write_text(text)
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_STATE_HOME"] = str(folder)
        laboratory = Laboratory(folder, network, port, given.games)
        for name in given.faults:
            fault, commands = FAULTS[name]
            for command in commands:
                found = {"fault": name, **_one(laboratory, fault, command)}
                wrong += not (found["same"] and (found["times"] or fault is Laboratory.nothing))
                print(json.dumps(found), flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
