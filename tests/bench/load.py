"""What one server carries: ``make load``, or ``python tests/bench/load.py --tables 30 100 300``.

A real mosquitto, one real ``salvo serve`` with journal and signed log, and every team and spectator with a connection
of its own (``crowd.py``). All shots miss, so every table plays without end, five shots a salvo. There are four windows
of the same length: teams alone, with watchers on MQTT, with a web front, and with as many browsers at it. A bare echo
on the same broker is asked all the time: what counts is ratios to it, to the pace, and to what ``sizes.py`` predicts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil
from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.children import Child, process, table_names
from bench.figures import percentiles
from bench.sizes import Costs, Load, Size, predict
from bench.teams import echo_round_trips, echo_throughput
from bench.web import read_received
from kit.mosquitto import Mosquitto
from kit.processes import started
from kit.waiting import until
from kit.web_front import web_front

#: Between two questions to the echo.
_REST_SECONDS: Final = 0.1
#: Round trips of the quiet echo, before anybody plays.
_QUIET: Final = 300
#: Messages of the busy one, whose cost is the unit of all costs.
_BUSY: Final = 10_000
#: For the server to open its tables, and for all keys to be derived.
_PATIENCE_SECONDS: Final = 600.0
#: Until what was just begun has settled.
_SETTLE_SECONDS: Final = 3.0
_LATE_SECONDS: Final = 0.025


class Window(NamedTuple):
    """A part of the run.

    Attributes:
        begin: ``time.monotonic()``, as is ``end``.
        cpu: seconds of processor time, by program.
        echo: seconds of the echo's round trips.
    """

    begin: float
    end: float
    cpu: Mapping[str, float]
    echo: list[float]

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.begin

    def has(self, at: float) -> bool:
        """Whether a moment is in it."""
        return self.begin <= at < self.end

    def share(self, program: str) -> float:
        """Return how much of one core a program had."""
        return self.cpu[program] / self.seconds


@dataclass(frozen=True, slots=True)
class Result:
    """What one size gave; all but ``costs`` and ``load`` for the table.

    Attributes:
        figures: by name: p50 and p99 in ms, ratios, counts.
        costs: the unit costs that follow.
        load: what was measured of what is predicted.
    """

    size: Size
    figures: dict[str, float]
    costs: Costs
    load: Load
    predicted: Load


# --- the run ------------------------------------------------------------------------------------------------------


def measure(size: Size, seconds: float) -> Result:
    """Run a contest of some size, four windows of ``seconds`` each."""
    with (
        tempfile.TemporaryDirectory(prefix="load-", dir=Path.home()) as folder,
        Mosquitto() as broker,
        process("echo", broker.url) as echo,
    ):
        _tell("a quiet echo")
        quiet = echo_round_trips(broker.url, _QUIET)
        before = _cpu(broker.pid), _cpu(echo.pid)
        echo_throughput(broker.url, _BUSY)
        spent = _cpu(broker.pid) - before[0], _cpu(echo.pid) - before[1]
        with _server(broker.url, folder, size._replace(tables=1)) as (server, _), web_front(broker.url) as web:
            time.sleep(_SETTLE_SECONDS)
            alone = {"server alone": _kb(server), "web alone": _kb(web.pid), "broker": _kb(broker.pid)}
        run = _Run(size, seconds, broker, Path(folder))
        run.figures["echo, quiet: p50"], run.figures["echo, quiet: p99"] = percentiles(quiet)
        run.figures["echo, busy: us of the broker"] = 1e6 * spent[0] / _BUSY
        run.carry_out(alone)
        return run.result(1e6 * spent[1] / _BUSY)


class _Run:
    """One size."""

    def __init__(self, size: Size, seconds: float, broker: Mosquitto, folder: Path) -> None:
        self.size, self._seconds, self._broker, self._folder = size, seconds, broker, folder
        self.figures: dict[str, float] = {}
        self._kb: dict[str, float] = {}
        self._windows: dict[str, Window] = {}
        self._diary: dict[str, Any] = {}
        self._watched: dict[str, Any] = {}
        self._browsed: list[float] = []
        self._received = ""

    def carry_out(self, alone: Mapping[str, float]) -> None:
        """Play, watch and browse.

        Args:
            alone: memory of the programs with one table and without clients, KB.
        """
        size, url, kb = self.size, self._broker.url, self._kb
        kb.update(alone)
        with _server(url, self._folder, size) as (server, metrics):
            kb["tables"] = _kb(server)
            with process("players", url, size.tables, size.teams) as players:
                self._seat(players)
                kb["teams"], kb["broker, teams"] = _kb(server), _kb(self._broker.pid)
                programs = {"server": server, "broker": self._broker.pid, "players": players.pid}
                journal = self._journal_bytes()
                counted = _counted(metrics)
                self._measure("teams", programs)
                self._take_counted(counted, _counted(metrics))
                self.figures["journal: bytes a salvo"] = self._journal_bytes() - journal
                kb["server, later"] = _kb(server)
                with process("watchers", url, size.spectators, size.tables) as watchers:
                    time.sleep(_SETTLE_SECONDS)
                    self._measure("watchers", {**programs, "spectators": watchers.pid})
                    kb["broker, watchers"] = _kb(self._broker.pid)
                    self._watched = json.loads(watchers.end())
                with web_front(url) as web:
                    time.sleep(_SETTLE_SECONDS)
                    programs["web"] = web.pid
                    self._measure("web", programs)
                    kb["web"] = _kb(web.pid)
                    with process("browsers", web.port, size.spectators, size.tables) as browsers:
                        time.sleep(_SETTLE_SECONDS)
                        self._measure("browsers", {**programs, "spectators": browsers.pid})
                        kb["web, browsers"] = _kb(web.pid)
                        self._received = browsers.end()
                self._diary = json.loads(players.end())

    def _seat(self, players: Child) -> None:
        """Wait until all games are on."""
        assert players.running.stdout is not None
        ended = threading.Timer(_PATIENCE_SECONDS, players.running.kill)
        ended.start()
        tables, teams = self.size.tables, self.size.tables * self.size.teams
        for line in players.running.stdout:
            word, _, number = line.strip().partition(" ")
            _progress(
                f"{number} of {teams} teams have a key" if word == "keys" else f"{number} of {tables} games are on"
            )
            if (word, number) == ("begun", str(tables)):
                break
        else:
            raise AssertionError("the games did not begin")
        ended.cancel()
        time.sleep(_SETTLE_SECONDS)

    def _measure(self, name: str, programs: Mapping[str, int]) -> None:
        _tell(f"{self._seconds:.0f} s: {name}")
        before, begin = {each: _cpu(pid) for each, pid in programs.items()}, time.monotonic()
        machine = _busy()
        echo: list[float] = []
        while time.monotonic() < begin + self._seconds:
            echo += echo_round_trips(self._broker.url, 10, _REST_SECONDS)
        cpu = {each: _cpu(pid) - before[each] for each, pid in programs.items()}
        self._windows[name] = window = Window(begin, time.monotonic(), cpu, echo)
        others = _busy() - machine - sum(cpu.values())
        self.figures[f"{name}: other programs, of one core"] = others / window.seconds

    def _journal_bytes(self) -> int:
        return sum(file.stat().st_size for file in self._folder.glob("tables.journal*"))

    def _take_counted(self, before: Mapping[str, float], after: Mapping[str, float]) -> None:
        found = {name: value - before.get(name, 0.0) for name, value in after.items()}
        rounds, commits = found["salvo_lateness_seconds_count"], found["salvo_commit_seconds_count"]
        window = self._windows["teams"]
        self.figures["rounds of the server: at most 25 ms late"] = found["late"] / rounds
        self.figures["commits a second"] = commits / window.seconds
        self.figures["commits: ms each"] = 1000 * found["salvo_commit_seconds_sum"] / commits

    # --- what it gave ---------------------------------------------------------------------------------------------

    def result(self, echo_us: float) -> Result:
        """Return what was found."""
        costs, load = self._costs(echo_us), self._load()
        self._take_opening()
        for name, window in self._windows.items():
            self._take_times(name, window)
        self.figures["players and spectators: most of one core"] = max(
            sum(window.share(each) for each in window.cpu if each in ("players", "spectators"))
            for window in self._windows.values()
        )
        begin = self._windows["teams"].begin
        played = sum(at < begin for _, _, at in self._diary["results"])
        self.figures["salvos a second / those of the pace"] = self.figures["teams: salvos a second"] / self.size.salvos
        return Result(self.size, self.figures, costs, load, predict(self.size, echo_us, played=played))

    def _salvos(self, window: Window) -> int:
        return sum(window.has(at) for _, _, at in self._diary["results"])

    def _take_opening(self) -> None:
        begun, sent, figures = sorted(self._diary["begun"].values()), self._diary["sent"], self.figures
        seconds = begun[-1] - self._diary["came"]
        figures["keys derived a second"] = self.size.tables * self.size.teams / seconds
        figures["first game after the last fleet: s"] = next((at for at in begun if at > sent), sent) - sent
        figures["last game after the last fleet: s"] = begun[-1] - sent
        self.figures["answers with an error"] = sum(self._diary["refusals"].values())

    def _take_times(self, name: str, window: Window) -> None:
        figures, diary = self.figures, self._diary
        waits, turns, pauses = (
            [taken for at, taken in diary[each] if window.has(at)] for each in ("waits", "turns", "pauses")
        )
        pace = 1000 * self.size.pace
        p50, p99 = percentiles(turns)
        figures[f"{name}: turn / pace, p50"], figures[f"{name}: turn / pace, p99"] = p50 / pace, p99 / pace
        p50, p99 = percentiles(pauses)
        figures[f"{name}: turn late, p50"], figures[f"{name}: turn late, p99"] = p50 - pace, p99 - pace
        p50, p99 = figures[f"{name}: salvo to result, p50"], figures[f"{name}: salvo to result, p99"] = percentiles(
            waits
        )
        echo50, echo99 = figures[f"{name}: echo, p50"], figures[f"{name}: echo, p99"] = percentiles(window.echo)
        figures[f"{name}: salvo / echo, p50"], figures[f"{name}: salvo / echo, p99"] = p50 / echo50, p99 / echo99
        figures[f"{name}: salvos a second"] = self._salvos(window) / window.seconds

    def _costs(self, echo_us: float) -> Costs:
        size, kb, windows = self.size, self._kb, self._windows
        teams, watching, web, browsing = (windows[each] for each in ("teams", "watchers", "web", "browsers"))
        salvos = self._salvos(teams)
        self.figures["journal: bytes a salvo"] /= salvos
        self.figures["server: KB more a salvo"] = (kb["server, later"] - kb["teams"]) / salvos
        messages, octets = _traffic(self._diary["traffic"], teams)
        per_team = messages / self._salvos_whole(teams) / size.teams
        self.figures["bytes of a salvo to a team"] = octets / self._salvos_whole(teams) / size.teams
        watched, octets = _traffic(self._watched, watching)
        follow = self._salvos_whole(watching) / size.tables * size.spectators
        self.figures["bytes of a salvo to a watcher"] = octets / follow
        broker_us = 1e6 * teams.cpu["broker"] / salvos
        more = 1e6 * watching.cpu["broker"] - broker_us * self._salvos(watching)
        web_us = 1e6 * web.cpu["web"] / self._salvos(web)
        resolved = {(table, turn): at for table, turn, at in self._diary["results"]}
        received = dict(read_received(self._received))
        late = [at - resolved[key] for key, times in received.items() if key in resolved for at in times]
        self.figures["browsers: result to page, p50"], self.figures["browsers: result to page, p99"] = percentiles(late)
        shown = sum(browsing.has(at) for times in received.values() for at in times)
        self.figures["browsers: results that were shown"] = shown / (
            self._salvos(browsing) / size.tables * size.spectators
        )
        browsers = 1e6 * browsing.cpu["web"] - web_us * self._salvos(browsing)
        further = max(1, size.tables - 1)
        return Costs(
            echo_us=echo_us,
            server_us=1e6 * teams.cpu["server"] / salvos,
            round_us=0.0,  # a run at one size cannot tell a salvo from its rounds
            broker_us=broker_us,
            broker_round_us=0.0,
            received=per_team,
            watched=watched / follow,
            delivery_us=more / (watched * watching.seconds / _whole_seconds(watching)),
            web_fixed=0.0,
            web_us=web_us,
            picture_us=0.0,
            browser_us=browsers / shown,
            server_kb=kb["server alone"],
            table_kb=(kb["tables"] - kb["server alone"]) / further,
            team_kb=(kb["teams"] - kb["tables"]) / (size.tables * size.teams),
            salvo_kb=self.figures["server: KB more a salvo"],
            broker_kb=kb["broker"],
            broker_table_kb=0.0,
            client_kb=(kb["broker, watchers"] - kb["broker"]) / (size.tables * size.teams + size.spectators),
            front_kb=kb["web alone"],
            front_table_kb=(kb["web"] - kb["web alone"]) / further,
            browser_kb=(kb["web, browsers"] - kb["web"]) / size.spectators,
        )

    def _salvos_whole(self, window: Window) -> int:
        """The salvos of the whole seconds in a window, as the traffic is counted."""
        first, last = _whole(window)
        return sum(first <= at < last for _, _, at in self._diary["results"])

    def _load(self) -> Load:
        windows, kb = self._windows, self._kb
        return Load(
            server=windows["teams"].share("server"),
            broker=windows["teams"].share("broker"),
            broker_watched=windows["watchers"].share("broker"),
            web=windows["web"].share("web"),
            web_watched=windows["browsers"].share("web"),
            server_mb=kb["teams"] / 1024,
            broker_mb=kb["broker, watchers"] / 1024,
            web_mb=kb["web, browsers"] / 1024,
        )


def _whole(window: Window) -> tuple[int, int]:
    return int(window.begin) + 1, int(window.end)


def _whole_seconds(window: Window) -> int:
    first, last = _whole(window)
    return last - first


def _traffic(resolved: Mapping[str, Mapping[str, int]], window: Window) -> tuple[int, int]:
    """Return messages and bytes of the whole seconds in a window."""
    first, last = _whole(window)
    messages, octets = (
        sum(count for second, count in resolved[each].items() if first <= int(second) < last)
        for each in ("messages", "octets")
    )
    return messages, octets


# --- programs -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _server(url: str, folder: str | Path, size: Size) -> Iterator[tuple[int, str]]:
    """Run ``salvo serve``; yield its process id and where its metrics are once all tables are open."""
    name = "tables" if size.tables > 1 else "alone"
    words = [word for table in table_names(size.tables)[1:] for word in ("--table", table)]
    words += ["--profile", "open", "--broker", url, "--players", str(size.teams), "--pace", str(size.pace)]
    words += ["--journal", f"{folder}/{name}.journal", "--metrics", "127.0.0.1:0", "--json"]
    # No key is derived too late, and no turn ends by itself, while something is measured.
    words += ["--placement-seconds", "3600", "--turn-seconds", "3600"]
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    report = Path(folder, f"{name}.json")
    with (
        report.open("w") as output,
        started([sys.executable, "-m", "salvo", "serve", *words], stdout=output, env=environment) as server,
    ):
        until(
            lambda: report.read_text().count('"lobby"') >= size.tables or server.poll() is not None,
            report.read_text,
            _PATIENCE_SECONDS,
        )
        assert server.poll() is None, report.read_text()
        resolved = (json.loads(line) for line in report.read_text().splitlines())
        yield server.pid, next(event["url"] for event in resolved if event["event"] == "metrics")
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(30)


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _busy() -> float:
    """Return the processor time of all programs so far, seconds."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0))


def _kb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 1024


def _counted(url: str) -> dict[str, float]:
    """Return the server's counts of rounds and commits, and of rounds that were in time as ``late``."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    samples = [sample for family in families for sample in family.samples]
    found = {each.name: each.value for each in samples if not each.labels}
    [found["late"]] = [
        each.value
        for each in samples
        if each.name == "salvo_lateness_seconds_bucket" and float(each.labels["le"]) == _LATE_SECONDS
    ]
    return found


# --- what is shown ------------------------------------------------------------------------------------------------


def _tell(what: str) -> None:
    clear = "\r" if sys.stderr.isatty() else ""
    print(f"{clear}  {what:60}", file=sys.stderr, flush=True)


def _progress(what: str) -> None:
    """Replace the line before, on a terminal; elsewhere it says enough when all of it is done."""
    if sys.stderr.isatty():
        print(f"\r  {what:60}", end="", file=sys.stderr, flush=True)


_FIGURE_ROWS: Final = (
    ("turn time / pace, p50 and p99", "teams: turn / pace", "{:.2f} / {:.2f} x"),
    ("the same with watchers", "watchers: turn / pace", "{:.2f} / {:.2f} x"),
    ("the same with browsers", "browsers: turn / pace", "{:.2f} / {:.2f} x"),
    ("turn later than the pace, p50 and p99", "teams: turn late", "{:.0f} / {:.0f} ms"),
    ("salvo to result / echo, p50 and p99", "teams: salvo / echo", "{:.1f} / {:.1f} x"),
    ("echo meanwhile, p50 and p99", "teams: echo", "{:.1f} / {:.1f} ms"),
    ("result to page, p50 and p99", "browsers: result to page", "{:.0f} / {:.0f} ms"),
)
_LOAD_ROWS: Final = {
    "server": "server, of one core",
    "broker": "broker, of one core",
    "broker_watched": "broker with the watchers",
    "web": "web front without browsers",
    "web_watched": "web front with the browsers",
    "server_mb": "server, MB",
    "broker_mb": "broker with the watchers, MB",
    "web_mb": "web front with the browsers, MB",
}
_COST_ROWS: Final = {
    "echo_us": "a message of the busy echo, us",
    "server_us": "a salvo in the server, us",
    "broker_us": "a salvo in the broker, us",
    "received": "messages of a salvo to a team",
    "watched": "messages of a salvo to a watcher",
    "delivery_us": "each of those in the broker, us",
    "web_us": "a salvo in the web front, us",
    "browser_us": "its result to a browser, us",
    "server_kb": "the server with one table, KB",
    "table_kb": "a further table, KB",
    "team_kb": "a team in the server, KB",
    "client_kb": "a client in the broker, KB",
    "front_table_kb": "a table in the web front, KB",
    "browser_kb": "a browser in the web front, KB",
}
_OTHERS: Final = {
    "salvos a second": "teams: salvos a second",
    "salvos a second / those of the pace": "salvos a second / those of the pace",
    "other programs meanwhile, of one core": "teams: other programs, of one core",
    "keys derived a second": "keys derived a second",
    "last game after the last fleet, s": "last game after the last fleet: s",
    "rounds of the server at most 25 ms late": "rounds of the server: at most 25 ms late",
    "commits a second": "commits a second",
    "journal, bytes a salvo": "journal: bytes a salvo",
    "a salvo of a game that goes on, in the server, KB": "server: KB more a salvo",
}


def table(results: list[Result]) -> list[str]:
    """Return what was measured, a column for each size, as Markdown; prediction and measurement side by side."""
    heads = " | ".join(f"{r.size.tables} tables of {r.size.teams}, {r.size.spectators} spectators" for r in results)
    under = f"|---|{'---|' * len(results)}"

    def row(what: str, cells: Iterable[str]) -> str:
        return f"| {what} | {' | '.join(cells)} |"

    return [
        f"| measured | {heads} |",
        under,
        *(
            row(what, (form.format(r.figures[f"{name}, p50"], r.figures[f"{name}, p99"]) for r in results))
            for what, name, form in _FIGURE_ROWS
        ),
        *(row(what, (_short(r.figures[name]) for r in results)) for what, name in _OTHERS.items()),
        *(row(what, (_short(getattr(r.costs, name)) for r in results)) for name, what in _COST_ROWS.items()),
        "",
        f"| predicted / measured | {heads} |",
        under,
        *(
            row(what, (f"{_figure(name, r.predicted)} / {_figure(name, r.load)}" for r in results))
            for name, what in _LOAD_ROWS.items()
        ),
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _figure(name: str, load: Load) -> str:
    value: float = getattr(load, name)
    return f"{value:.0f}" if name.endswith("_mb") else f"{value:.1%}"


def show(result: Result) -> None:
    """Print all figures of a size."""
    size = result.size
    print(f"\n{size.tables} tables of {size.teams}, {size.spectators} spectators, a pace of {size.pace:g} s\n")
    costs = {f"cost: {name}": value for name, value in asdict(result.costs).items()}
    for what, figure in {**result.figures, **costs}.items():
        print(f"{what:52} {_short(figure):>12}")


def read_size(words: list[str] | None = None) -> argparse.Namespace:
    """Return what is to be measured; a size that cannot be played ends the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[30], help="one run for each number")
    parser.add_argument("--teams", type=int, default=2, help="at each table")
    parser.add_argument("--spectators", type=int, default=500, help="watchers on MQTT, then as many browsers")
    parser.add_argument("--pace", type=float, default=0.8, help="seconds between a result and the next turn")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each of four windows")
    parser.add_argument("--json", action="store_true", help="print an array, an object a size, instead of tables")
    given = parser.parse_args(words)
    for name, least in (("tables", 1), ("teams", 2), ("spectators", 1), ("pace", 0.1), ("seconds", 2)):
        values = given.tables if name == "tables" else [getattr(given, name)]
        if min(values) < least:
            parser.error(f"--{name}: at least {least}")
    return given


def main() -> None:
    given = read_size()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all programs that run are ended
    results = []
    for count in given.tables:
        _tell(f"{count} tables")
        results.append(measure(Size(count, given.teams, given.spectators, given.pace), given.seconds))
        if not given.json:
            show(results[-1])
    if given.json:
        print(json.dumps([{**asdict(each), "size": each.size._asdict()} for each in results]))
        return
    print(f"\n{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print("\n".join(table(results)))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
