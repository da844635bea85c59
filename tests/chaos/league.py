"""A league of real processes, and somebody who kills them: broker, server and league, again and again.

In the end the league's own table is held against what the signed logs say alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from chaos.run import Process
from kit.command_line import run
from kit.mosquitto import start_mosquitto
from kit.ports import Port
from salvo import messages as m
from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection
from salvo_game.log_verification import verify_file

SALVO = [sys.executable, "-m", "salvo"]
BOTS = Path(__file__).with_name("many_bots.py")
HOST = "desk"
#: Teams that one process plays for.
_TOGETHER = 8


class LeagueStage:
    """A contest with a roster, its teams, and a league.

    Attributes:
        file: the league's.
        log: what the league has printed.
    """

    def __init__(
        self,
        folder: Path,
        text: str,
        teams: Sequence[str],
        tables: Sequence[str],
        *,
        others: Sequence[str] = (),
        mosquitto: bool = False,
        fill: str = "",
    ) -> None:
        """Prepare everything.

        Args:
            text: of the league's file.
            teams: who plays with our bots.
            others: further accounts; the secret of each is in the variable that has its name, for ``[fill]``.
            fill: the bot that fills seats.
        """
        self.folder = folder
        self.file = folder / "cup.toml"
        self.file.write_text(text)
        self.log = folder / "league.log"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        self._own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self._environment = clean | self._own
        self._ports = [Port(), Port(), Port()]
        self.url = f"mqtt://{self._ports[0].address}"
        self.teams = list(teams)
        self.secrets = self._add(*teams, *others)
        self.host_secret = self._add(HOST, "--role", "host")[HOST]
        self._config: Path | None = None
        self._mosquitto: subprocess.Popen[bytes] | None = None
        where = ["--listen", self._ports[0].address]
        if mosquitto:
            where = ["--broker", f"mqtt://{self._ports[2].address}"]
            self._config = self._configured()
        self.transcripts = folder / "games"
        tables_of = [word for table in tables for word in ("--table", table)]
        words = ["--profile", "contest", "--resume", "always", "--transcripts", str(self.transcripts), *tables_of]
        self.server = Process([*SALVO, "serve", *where, *words], folder / "server.log", **self._own)
        account = {"SALVO_TEAM": HOST, "SALVO_SECRET": self.host_secret}
        command = [*SALVO, "league", str(self.file), self.url, "--json", *(["--fill", fill] if fill else [])]
        filling = {name: self.secrets[name] for name in others}
        self.league = Process(command, self.log, **self._own, **account, **filling)
        self._bots: list[subprocess.Popen[str]] = []

    def call(self, *words: str) -> str:
        """Return what a command prints."""
        done = run(*words, environment=self._own)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def control(self, command: str, *words: str) -> bool:
        """Act as the host; return whether that was accepted."""
        account = {"SALVO_TEAM": HOST, "SALVO_SECRET": self.host_secret}
        return run("control", command, self.url, *words, environment=self._own | account).returncode == 0

    def _add(self, *words: str) -> dict[str, str]:
        lines = map(json.loads, self.call("teams", "add", "--json", *words).splitlines())
        return {line["name"]: line["secret"] for line in lines}

    def _configured(self) -> Path:
        port, web, own = self._ports
        folder = self.folder / "broker"
        words = ("--port", str(port.number), "--websocket-port", str(web.number), "--server-listen", own.address)
        self.call("mosquitto", str(folder), *words)
        config = folder / "mosquitto.conf"
        if os.geteuid() == 0:
            with config.open("a") as more:
                more.write("user root\n")
        return config

    # --- starting and ending --------------------------------------------------------------------------------------

    def __enter__(self) -> LeagueStage:
        self._start_broker()
        self.server.start()
        for name, secret in {**self.secrets, HOST: self.host_secret}.items():
            self.until(lambda: self._is_let_in(name, secret), f"{name} has an account at the broker")  # noqa: B023
        self.start_bots(self.teams)
        self.league.start()
        return self

    def _is_let_in(self, name: str, secret: str) -> bool:
        """Whether the broker knows an account; the server tells mosquitto of them one by one."""
        connection = Connection(self.url, "", clean_session=True, username=name, password=secret)
        with contextlib.suppress(ConnectionLost), contextlib.closing(connection):
            connection.connect(5)
            return True
        return False

    def start_bots(self, names: Sequence[str]) -> None:
        """Let hunters play for some teams."""
        for first in range(0, len(names), _TOGETHER):
            some = {name: self.secrets[name] for name in names[first : first + _TOGETHER]}
            log = (self.folder / f"bots-{names[first]}.log").open("wb")
            command = [sys.executable, str(BOTS), self.url, str(self.folder)]
            with log:
                bots = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stderr=log, stdout=log, text=True, env=self._environment
                )
            assert bots.stdin is not None
            bots.stdin.write(json.dumps(some))
            bots.stdin.close()
            self._bots.append(bots)

    def _start_broker(self) -> None:
        if self._config is not None:
            self._mosquitto = start_mosquitto(self._config)

    def __exit__(self, *_: object) -> None:
        for bots in self._bots:
            bots.kill()
            bots.wait(60)
        for process in (self.league, self.server):
            if process.child is not None and not process.ended():
                process.end(signal.SIGKILL)
        if self._mosquitto is not None:
            self._mosquitto.kill()
            self._mosquitto.wait(60)
        for port in self._ports:
            port.close()

    def kill(self, what: str) -> None:
        """Kill a part and start it again."""
        if what == "broker":
            assert self._mosquitto is not None
            self._mosquitto.kill()
            self._mosquitto.wait(60)
            self._start_broker()
            return
        process: Process = getattr(self, what)
        if not process.ended():
            process.end(signal.SIGKILL)
            process.start()

    def end(self) -> None:
        """Let server and teams end as they do at the end of an evening, so that all logs are whole."""
        for bots in self._bots:
            bots.terminate()
        for bots in self._bots:
            with contextlib.suppress(subprocess.TimeoutExpired):
                bots.wait(30)
        self.server.end(signal.SIGTERM)

    # --- looking on -----------------------------------------------------------------------------------------------

    def lines(self) -> list[dict[str, Any]]:
        """Return what the league has written down, without the first line and the last if it is not whole."""
        path = self.file.with_suffix(".league.jsonl")
        whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
        return [json.loads(line) for line in whole.split(b"\n")[1:] if line]

    def results(self) -> list[dict[str, Any]]:
        """Return the results that are written down."""
        return [line for line in self.lines() if "result" in line]

    def until(self, holds: Callable[[], object], what: str, seconds: float = 120) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"not within {seconds:g} s: {what}; {self.announced()}"
            time.sleep(0.1)

    def announced(self) -> str:
        """Return the last that server and league have printed."""
        logs = [path.read_text(errors="replace")[-1500:] for path in (self.log, self.server.log) if path.exists()]
        return "\n".join(logs)

    def table(self) -> list[dict[str, Any]]:
        """Return the table that the league has printed at its end."""
        for line in reversed(self.log.read_text().splitlines()):
            if line.startswith("{") and "table" in (announced := json.loads(line)) and "name" in announced:
                return list(announced["table"])
        raise AssertionError(self.announced())

    def torment(self, parts: Sequence[str], times: int, seed: int, pauses: tuple[float, float]) -> Counter[str]:
        """Kill each part so often, in an order that is drawn; return how often each was killed before the end."""
        random = Random(seed)
        order = [part for part in parts for _ in range(times)]
        random.shuffle(order)
        killed: Counter[str] = Counter()
        for part in order:
            time.sleep(random.uniform(*pauses))
            self.kill(part)
            killed[part] += not self.league.ended()
        return killed


def places_of_logs(folders: Sequence[Path]) -> dict[tuple[str, int], dict[str, int]]:
    """Return what the signed logs in some folders say of games that are over: places by table and game number."""
    games: dict[tuple[str, int], dict[str, int]] = {}
    for path in _proofs(folders):
        for game in verify_file(path).games:
            if not game.ended or game.finding is not None:
                continue
            stats = [each for each in game.announcements if isinstance(each, m.PlayerStats)]
            places = {each.player: each.place for each in stats}
            where = (game.opening.table, game.opening.game)
            assert games.setdefault(where, places) == places
    return games


def _proofs(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.glob("*.proof.jsonl")) if path.stat().st_size)


def points_of_logs(games: dict[tuple[str, int], dict[str, int]]) -> dict[str, float]:
    """Return everybody's points: in each game the share of the others that it is placed before."""
    points: Counter[str] = Counter()
    for places in games.values():
        for team, place in places.items():
            better = sum(place < other for other in places.values())
            ties = sum(place == other for other in places.values()) - 1
            points[team] += (better + ties / 2) / (len(places) - 1)  # type: ignore[assignment]
    return {team: round(each, 6) for team, each in points.items()}
