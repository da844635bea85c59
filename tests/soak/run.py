"""A week in half an hour: ``make soak``, or ``python tests/soak/run.py --games 200 --broker mosquitto``.

A ladder of so many games at ten tables, on real processes: broker, server, web front, league and a host's console, 20
teams that stay, and four that come and go, now at their end and now killed. Spectators open and close pages. All the
while it is taken down what each process and the folder hold; in the end that is a table and a plot, and what grows
although it should not is named.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple, Self

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.league import SALVO, LeagueStage
from chaos.run import Process, work_folder
from kit.waiting import until
from salvo.net.mqtt import Connection
from salvo.system.atomic_file import replace_file
from salvo_server.storage.journal.database import DatabaseReader
from soak.plot import Lines, plot

WATCHED = Path(__file__).with_name("watched.py")
PLOTS: Final = Path(__file__).parents[2] / "build" / "soak"
TABLES: Final = tuple(f"t{number}" for number in range(1, 11))
_STAY: Final = tuple(f"team{number:02}" for number in range(20))
_COME_AND_GO: Final = tuple(f"guest{number}" for number in range(4))
_CONSOLE: Final = "console"
_COUNTER: Final = "counter"
#: A small sea, on which a game takes a sixth of the turns: what counts is how many games there are.
_POND: Final = """\
name = "pond"
like = "salvo"
width = 5
height = 4

[fleet]
boat = 2
raft = 1
"""
_LADDER: Final = """\
name = "soak"
format = "ladder"
games = {games}
table_size = 2
tables = [{tables}]
wait_seconds = 5
result_seconds = 0
placement_seconds = 20
turn_seconds = 2
pace_seconds = 0
patience_seconds = 1
seed = 7
"""
#: Between two visits: a guest comes or goes, and a spectator opens pages.
_GUEST_SECONDS: Final = (12.0, 36.0)
_SPECTATOR_SECONDS: Final = 6.0
_PAGES: Final = ("/", "/tables", "/games", "/standings", "/events?table=", "/events?table=t1")
_SAMPLES: Final = 40
#: No game ends for so long: something stands still.
_STILL_SECONDS: Final = 300.0
_REPORT_SECONDS: Final = 60.0
#: A subscriber has been sent all that is retained when nothing more comes for so long.
_SILENCE_SECONDS: Final = 1.0


class Bound(NamedTuple):
    """How a figure may grow.

    Attributes:
        each: with each game.
        slack: besides; what a figure goes up and down by.
    """

    each: float = 0.0
    slack: float = 0.0


#: By figure, of each program. What is not here may grow: the transcripts, and the records of the league.
BOUNDS: Final[Mapping[str, Bound]] = {
    "descriptors": Bound(slack=12),
    "threads": Bound(slack=4),
    "timers": Bound(slack=400),  # the web front has one for each game that ended within 150 s
    "tasks": Bound(slack=20),
    "games in memory": Bound(),
    "retained topics": Bound(slack=150),  # which ten games in play have, and ten lobbies do not
    "temporary files": Bound(slack=2),
    "journal, kB": Bound(each=4, slack=1_500),  # a game that is filed takes 2, and a lobby that is filed 1
}
#: Of memory, which needs more games than a short run has to be told from what goes up and down.
MEMORY: Final[Mapping[str, Bound]] = {"memory, kB": Bound(each=15, slack=6_000)}
#: From so many games on.
MEMORY_GAMES: Final = 200

#: By figure and program.
Sample = dict[str, dict[str, float]]


class Soak(LeagueStage):
    """A contest that goes on and on."""

    def __init__(self, folder: Path, games: int, *, mosquitto: bool) -> None:
        text = _LADDER.format(games=games, tables=", ".join(f'"{table}"' for table in TABLES))
        teams = [*_STAY, *_COME_AND_GO]
        super().__init__(folder, text, teams, TABLES, mosquitto=mosquitto, web=True)
        pond = folder / "pond.toml"
        pond.write_text(_POND)
        self.server.command += ["--rules", str(pond)]
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        account = {"SALVO_TEAM": _CONSOLE, "SALVO_SECRET": self._add(_CONSOLE, "--role", "host")[_CONSOLE]}
        self.counter = _COUNTER, self._add(_COUNTER, "--role", "watcher")[_COUNTER]
        command = [*SALVO, "control", self.url, "--browser"]
        self.console = Process(command, folder / "console.log", **self._own, **account, BROWSER="true")
        assert self.web is not None
        self.web.command += ["--games", str(self.transcripts)]
        self.programs = {"server": self.server, "web": self.web, "league": self.league, "console": self.console}
        for name, process in self.programs.items():
            process.command[: len(SALVO)] = [sys.executable, str(WATCHED)]
            process.environment |= {"SOAK_REPORT": str(self._report(name)), "TMPDIR": str(self.temporary)}
        self._random = Random(7)
        self._guests: dict[str, subprocess.Popen[str]] = {}
        self._stop = threading.Event()
        self._visits = [threading.Thread(target=each, daemon=True) for each in (self._visit, self._look)]

    def _report(self, name: str) -> Path:
        return self.folder / f"{name}.held.json"

    def __enter__(self) -> Self:
        self.teams = list(_STAY)
        super().__enter__()
        self.console.start()
        for visit in self._visits:
            visit.start()
        return self

    def __exit__(self, *given: object) -> None:
        self._stop.set()
        for visit in self._visits:
            visit.join(60)
        if self.console.child is not None and not self.console.ended():
            self.console.end(signal.SIGTERM)
        super().__exit__(*given)

    # --- who comes and goes -----------------------------------------------------------------------------------------

    def _visit(self) -> None:
        """Let a guest come, or one that is there go: half of them at once."""
        while not self._stop.wait(self._random.uniform(*_GUEST_SECONDS)):
            name = self._random.choice(_COME_AND_GO)
            bots = self._guests.pop(name, None)
            if bots is None:
                self.start_bots([name])
                self._guests[name] = self._bots.pop()
                continue
            bots.send_signal(self._random.choice((signal.SIGTERM, signal.SIGKILL)))
            with contextlib.suppress(subprocess.TimeoutExpired):
                bots.wait(20)
            bots.kill()
            bots.wait(60)
        self._bots += self._guests.values()

    def _look(self) -> None:
        """Let a spectator open some pages, and leave again."""
        while not self._stop.wait(_SPECTATOR_SECONDS):
            for page in _PAGES:
                connection = http.client.HTTPConnection(self.page, timeout=10)
                with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
                    connection.request("GET", page)
                    answer = connection.getresponse()
                    _ = answer.readline() if page.startswith("/events") else answer.read()

    # --- what is taken down -----------------------------------------------------------------------------------------

    def games(self) -> int:
        """Return how many games have their file."""
        return sum(1 for _ in self.transcripts.glob("*.jsonl.gz"))

    def journal(self) -> Path:
        """Return the file of the journal."""
        [journal] = (self.folder / "state").rglob("*.journal")
        return journal

    def sample(self) -> Sample:
        """Return what all processes and the folder hold now."""
        found: Sample = {}
        numbers = {name: _pid(process) for name, process in self.programs.items() if not process.ended()}
        for name, number in numbers.items():
            for figure, value in self._held(name, number).items():
                found.setdefault(figure, {})[name] = value
        if self._mosquitto is not None:
            numbers["mosquitto"] = self._mosquitto.pid
        for name, number in numbers.items():
            process = psutil.Process(number)
            found.setdefault("memory, kB", {})[name] = process.memory_info().rss / 1024
            found.setdefault("descriptors", {})[name] = process.num_fds()
        journal = self.journal()
        log = journal.with_name(journal.name + "-wal")
        files = [file for file in self.transcripts.iterdir() if not file.name.startswith(".")]
        found["retained topics"] = {"broker": self._retained()}
        found["temporary files"] = {"": sum(1 for _ in self._temporary_files())}
        found["journal, kB"] = {"journal": _kb(journal), "its log": _kb(log) if log.exists() else 0}
        found["transcripts, kB"] = {"transcripts": sum(map(_kb, files))}
        found["record, kB"] = {"league": _kb(self.file.with_suffix(".league.jsonl"))}
        return found

    def _temporary_files(self) -> Iterator[Path]:
        yield from self.temporary.rglob("*")
        yield from self.transcripts.glob(".*")

    def _held(self, name: str, number: int) -> dict[str, float]:
        path = self._report(name)
        path.unlink(missing_ok=True)
        os.kill(number, signal.SIGUSR1)
        until(lambda: path.exists() or self.programs[name].ended(), self.announced, _REPORT_SECONDS)
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def _retained(self) -> int:
        """Return how many topics the broker sends to a watcher that asks for all."""
        user, secret = self.counter
        connection = Connection(self.url, user, clean_session=True, username=user, password=secret)
        connection.on_connect = lambda _: connection.subscribe(["#"])
        topics: set[str] = set()
        with contextlib.closing(connection):
            connection.connect(30)
            until(lambda: self._receive_retained(connection, topics), self.announced, _REPORT_SECONDS)
            while self._receive_retained(connection, topics):
                pass
        return len(topics)

    def _receive_retained(self, connection: Connection, topics: set[str]) -> bool:
        """Add what a subscriber is sent of what is retained; False if there was none for a while."""
        arrived = connection.poll(_SILENCE_SECONDS)
        for message in arrived:
            connection.acknowledge(message)
        topics |= {message.topic for message in arrived if message.retain and message.payload}
        return any(message.retain for message in arrived)

    def take_down(self, games: int, progress: Callable[[str], None]) -> Iterator[tuple[list[int], list[Sample]]]:
        """Take samples until the league is over; yield after each how many games were over, and all samples."""
        counts: list[int] = []
        samples: list[Sample] = []
        ended, moved = 0, time.monotonic()
        while not self.league.ended():
            time.sleep(0.5)
            if (now := self.games()) > ended:
                ended, moved = now, time.monotonic()
            assert time.monotonic() < moved + _STILL_SECONDS, f"no game ends: {self.announced()}"
            if self.rounds_begun() and (not counts or ended >= counts[-1] + max(1, games // _SAMPLES)):
                progress(f"{ended} of {games} games")
                samples.append(self.sample())
                counts.append(ended)
                yield counts, samples

    def rounds_begun(self) -> bool:
        """Whether the first games are over, so that all that a contest needs is there."""
        return self.games() >= len(TABLES)


def _pid(process: Process) -> int:
    assert process.child is not None
    return process.child.pid


def _kb(file: Path) -> float:
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_size / 1024
    return 0.0


# --- what came of it ----------------------------------------------------------------------------------------------


def figures_of(samples: Sequence[Sample]) -> Mapping[str, Lines]:
    """Return each figure of each program over time; of a program that has ended, what it had last."""
    names: dict[str, dict[str, list[float]]] = {}
    for number, sample in enumerate(samples):
        for figure, values in sample.items():
            for program, value in values.items():
                line = names.setdefault(figure, {}).setdefault(program, [])
                line += [line[-1] if line else value] * (number - len(line))
                line.append(value)
    for lines in names.values():
        for line in lines.values():
            line += [line[-1]] * (len(samples) - len(line))
    return names


class Growth(NamedTuple):
    """What became of a figure.

    Attributes:
        first, last: the least of it in the middle third of the samples, and in the last: all is there by then, and what
            is there for a moment, such as the 64 MB that make a key, does not count.
        games: how many ended from the middle of the one to the middle of the other.
    """

    figure: str
    program: str
    first: float
    last: float
    games: int
    bound: Bound | None

    @property
    def too_much(self) -> bool:
        """Whether it grew more than it may."""
        if self.bound is None:
            return False
        return self.last - self.first > self.bound.slack + self.bound.each * self.games

    def __str__(self) -> str:
        each = (self.last - self.first) / max(1, self.games)
        may = "" if self.bound is None else f"{self.bound.each:g} a game + {self.bound.slack:g}"
        cells = (self.figure, self.program, f"{self.first:,.0f}", f"{self.last:,.0f}", f"{each:+.2f}", may)
        return " | ".join(cells) + " | GROWS" * self.too_much


def growths(counts: Sequence[int], figures: Mapping[str, Lines]) -> list[Growth]:
    """Return how each figure grew from the middle third of the run to the last."""
    third = max(1, len(counts) // 3)
    games = counts[-1] - counts[-1 - third]
    bounds = {**BOUNDS, **(MEMORY if counts[-1] >= MEMORY_GAMES else {})}
    return [
        Growth(figure, program, min(line[third:-third]), min(line[-third:]), games, bounds.get(figure))
        for figure, lines in figures.items()
        for program, line in lines.items()
    ]


def soak(
    folder: Path, games: int, broker: str, plots: Path, progress: Callable[[str], None] = lambda line: None
) -> list[str]:
    """Play so many games; write ``BROKER.svg`` and ``BROKER.json``, and print the table.

    Returns:
        What was wrong.
    """
    begin = time.monotonic()
    plots.mkdir(parents=True, exist_ok=True)
    with Soak(folder, games, mosquitto=broker == "mosquitto") as stage:
        for counts, samples in stage.take_down(games, progress):
            figures = figures_of(samples)
            title = f"{counts[-1]} games at {len(TABLES)} tables on {broker}, {(time.monotonic() - begin) / 60:.0f} min"
            replace_file(plots / f"{broker}.svg", plot(title, counts, figures).encode())
            replace_file(plots / f"{broker}.json", json.dumps({"games": counts, "figures": figures}).encode())
        stage.end()
        results = len(stage.results())
        reader = DatabaseReader(str(stage.journal()))
        filed, known = reader.files(), reader.games()
        over = {(result.table, result.number) for result in reader.results()}
        whole = sum(game.id not in filed and (game.table, game.number) in over for game, _ in known)
        missing = [file for file in filed.values() if not file.is_file()]
    print(f"{title}\n\nfigure | of | middle third | last third | a game | may grow by")
    print(" | ".join(["---"] * 6))
    found = growths(counts, figures)
    for each in found:
        print(each)
    wrong = [str(each) for each in found if each.too_much]
    if results < games:
        wrong.append(f"{results} of {games} games have a result")
    if missing:
        wrong.append(f"{len(missing)} games that are filed have no file, such as {missing[0]}")
    if whole > 3 * len(TABLES):
        wrong.append(f"{whole} games that are over have all their steps in the journal")
    others = len(known) - len(over)
    print(f"\n{len(over)} games are over, {len(filed)} of them filed, {others} lobbies; {len(wrong)} things wrong")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2000, help="[default: 2000]")
    parser.add_argument("--broker", choices=["mosquitto", "embedded"], default="mosquitto")
    parser.add_argument("--keep", type=Path, help="leave all files in this folder")
    given = parser.parse_args()
    live = sys.stderr.isatty()

    def progress(line: str) -> None:
        if live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    with work_folder(given.keep) as folder:
        wrong = soak(folder, given.games, given.broker, PLOTS, progress)
    print(f"plot: {PLOTS / f'{given.broker}.svg'}")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
