"""A league over several cells of real processes: a mosquitto and a server each, which share nothing but a roster."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from chaos.league import HOST, SALVO, WATCHER, LeagueStage, places_of_logs
from chaos.run import Process
from kit.command_line import run
from kit.mosquitto import listens_elsewhere, start_mosquitto
from kit.ports import Port
from salvo.net.mqtt import Connection
from salvo.wire import topics


class Cell:
    """One mosquitto and one server.

    Attributes:
        name: as the league has it, ``HOST:PORT``.
        games: the folder of its transcripts.
    """

    def __init__(self, folder: Path, roster: Path, tables: Sequence[str]) -> None:
        folder.mkdir()
        self._ports = [Port(), Port(), Port()]
        port, web, own = self._ports
        self.name = port.address
        self.url = f"mqtt://{port.address}"
        self.games = folder / "games"
        for name in (roster, roster.with_name(roster.name + ".key")):
            shutil.copy(name, folder)
        home = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        home["SALVO_ROSTER"] = str(folder / roster.name)
        done = run("mosquitto", str(folder / "broker"), "--server-listen", own.address, environment=home)
        assert done.returncode == 0, done.stderr
        self._config = folder / "broker" / "mosquitto.conf"
        listens_elsewhere(self._config, port, web)
        self._broker: subprocess.Popen[bytes] | None = None
        of_tables = [word for table in tables for word in ("--table", table)]
        command = [*SALVO, "serve", "--broker", f"mqtt://{own.address}", "--profile", "contest", "--resume", "always"]
        command += ["--transcripts", str(self.games), *of_tables]
        self.server = Process(command, folder / "server.log", **home)

    def start(self, what: str) -> None:
        if what == "broker":
            self._broker = start_mosquitto(self._config)
        else:
            self.server.start()

    def kill(self, what: str) -> None:
        """End a part with SIGKILL."""
        if what == "server":
            self.server.end(signal.SIGKILL)
        elif self._broker is not None:
            self._broker.kill()
            self._broker.wait(60)
            self._broker = None

    def close(self) -> None:
        if self.server.child is not None and not self.server.ended():
            self.kill("server")
        self.kill("broker")
        for port in self._ports:
            port.close()


class CellsStage(LeagueStage):
    """A contest in cells, its teams, half of whom begin in each, and a league."""

    def __init__(self, folder: Path, text: str, teams: Sequence[str], tables: Sequence[str], count: int = 2) -> None:
        self.folder = folder
        self.file = folder / "cup.toml"
        self.file.write_text(text)
        self.log = folder / "league.log"
        roster = folder / "roster.json"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        self._own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self._own |= {"SALVO_ROSTER": str(roster), "SALVO_KNOWN_SERVERS": str(folder / "known_servers.json")}
        self._environment = clean | self._own
        self.teams = list(teams)
        self.secrets = self._add(*teams)
        self.host_secret = self._add(HOST, "--role", "host")[HOST]
        self.watcher_secret = self._add(WATCHER, "--role", "watcher")[WATCHER]
        self.cells = [Cell(folder / f"cell{number}", roster, tables) for number in range(count)]
        self._bots: list[subprocess.Popen[str]] = []
        account = {"SALVO_TEAM": HOST, "SALVO_SECRET": self.host_secret}
        command = [*SALVO, "league", str(self.file), *(cell.url for cell in self.cells), "--json"]
        self.league = Process(command, self.log, **self._own, **account)

    def __enter__(self) -> CellsStage:
        try:
            for number, cell in enumerate(self.cells):
                cell.start("broker")
                cell.start("server")
                self.url = cell.url
                accounts = {**self.secrets, HOST: self.host_secret, WATCHER: self.watcher_secret}
                for name, secret in accounts.items():
                    self.until(lambda: self._is_let_in(name, secret), f"{name} has an account")  # noqa: B023
                self.start_bots(self.teams[number :: len(self.cells)])
            self.league.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for bots in self._bots:
            bots.kill()
            bots.wait(60)
        if self.league.child is not None and not self.league.ended():
            self.league.end(signal.SIGKILL)
        for cell in self.cells:
            cell.close()

    def start_again(self, number: int) -> None:
        """Kill the bots that began in a cell, and start them again: they connect there, wherever their seats are."""
        bots = self._bots.pop(number)
        bots.kill()
        bots.wait(60)
        self.url = self.cells[number].url
        self.start_bots(self.teams[number :: len(self.cells)])

    def announced(self) -> str:
        logs = [self.log, *(cell.server.log for cell in self.cells), *self.folder.glob("bots-*.log")]
        return "\n".join(f"{path}: {path.read_text(errors='replace')[-1500:]}" for path in logs if path.exists())

    def logged(self) -> dict[tuple[str, int], dict[str, int]]:
        """Return what the signed logs of all cells say: places by place and game number."""
        return {
            (f"{table}@{cell.name}", game): places
            for cell in self.cells
            for (table, game), places in places_of_logs([cell.games]).items()
        }

    def counted(self) -> dict[tuple[str, int], dict[str, int]]:
        """Return what the league has written down, in the same form; every team has come."""
        games = {}
        for line in self.results():
            assert not any(line["absent"]), (line, self.announced())
            games[line["table"], line["game"]] = dict(zip(line["teams"], line["places"], strict=True))
        assert len(games) == len(self.results())
        return games


class TurnTimes:
    """Listens at a cell to when turns begin."""

    def __init__(self, stage: CellsStage, cell: Cell) -> None:
        self._given = (cell.url, f"{WATCHER}.1", stage.watcher_secret)
        self._received: dict[str, list[float]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        url, user, secret = self._given
        connection = Connection(url, user, clean_session=True, username=user, password=secret)
        connection.on_connect = lambda _: connection.subscribe([topics.TURN.filter("+")])
        while not self._stop.is_set():
            for message in connection.poll(0.2):
                if not message.retain:
                    self._received.setdefault(message.topic, []).append(time.monotonic())
                connection.acknowledge(message)
        connection.close()

    def __enter__(self) -> TurnTimes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)

    def between(self, begin: float, end: float) -> list[float]:
        """Return how long the turns took that ended in a time, in seconds; longer ones are pauses between games."""
        pairs = [pair for times in self._received.values() for pair in pairwise(times)]
        return [later - earlier for earlier, later in pairs if begin <= later < end and later - earlier < 5]


def summary(pairs: Mapping[str, tuple[list[float], list[float]]]) -> str:
    """Return turn times before and after what was done, as a table of milliseconds."""
    lines = ["what was done | turns | median before | after | longest before | after"]
    for what, (before, after) in pairs.items():
        if before and after:
            figures = [f"{1000 * each:.0f}" for each in (median(before), median(after), max(before), max(after))]
            lines.append(" | ".join([what, f"{len(before)} + {len(after)}", *figures]))
    return "\n".join(lines)
