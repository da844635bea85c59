"""A league of real processes, and somebody who kills them: broker, server and league, again and again.

    python tests/chaos/league.py           12 teams at three tables; 20 kills each of server, web front and league
    python tests/chaos/league.py --kills 3

In the end the league's own table is held against what the signed logs say alone. In an evening with a web front, the
hall's pictures are held against the rounds that the league has written down: after a kill a page may show nothing, but
nothing that was never so, or is over.
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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.run import Process, work_folder
from kit.command_line import run
from kit.mosquitto import listens_elsewhere, start_mosquitto
from kit.ports import Port
from salvo import messages as m
from salvo.errors import ConnectionLost
from salvo.net.mqtt import Connection
from salvo_game.log_verification import verify_file

SALVO = [sys.executable, "-m", "salvo"]
BOTS = Path(__file__).with_name("many_bots.py")
HOST = "desk"
WATCHER = "hall"
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
        web: bool = False,
        fill: str = "",
    ) -> None:
        """Prepare everything.

        Args:
            text: of the league's file.
            teams: who plays with our bots.
            others: further accounts; the secret of each is in the variable that has its name, for ``[fill]``.
            web: whether a web front shows it.
            fill: the bot that fills seats.
        """
        self.folder = folder
        self.file = folder / "cup.toml"
        self.file.write_text(text)
        self.log = folder / "league.log"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        self._own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self._environment = clean | self._own
        self._ports = [Port(), Port(), Port(), Port()]
        self.url = f"mqtt://{self._ports[0].address}"
        self.page = self._ports[3].address
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
        self.web: Process | None = None
        if web:
            account = {"SALVO_TEAM": WATCHER, "SALVO_SECRET": self._add(WATCHER, "--role", "watcher")[WATCHER]}
            command = [*SALVO, "web", self.url, "--listen", self.page]
            self.web = Process(command, folder / "web.log", **self._own, **account)
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
        port, web, own, _ = self._ports
        folder = self.folder / "broker"
        self.call("mosquitto", str(folder), "--server-listen", own.address)
        config = folder / "mosquitto.conf"
        listens_elsewhere(config, port, web)
        return config

    # --- starting and ending --------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._start_broker()
        self.server.start()
        for name, secret in {**self.secrets, HOST: self.host_secret}.items():
            self.until(lambda: self._is_let_in(name, secret), f"{name} has an account at the broker")  # noqa: B023
        if self.web is not None:
            self.web.start()
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
        for process in (self.league, self.web, self.server):
            if process is not None and process.child is not None and not process.ended():
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

    def rounds(self) -> int:
        """Return how many rounds are drawn."""
        return max((line["drawn"] for line in self.lines() if "drawn" in line), default=0)

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

    def torment_between_games(self, parts: Sequence[str], times: int, seed: int, hall: Hall) -> Counter[str]:
        """As :meth:`torment`, but between two kills a game ends, so that the rounds go on; the hall learns of each."""
        random = Random(seed)
        order = [part for part in parts for _ in range(times)]
        random.shuffle(order)
        killed: Counter[str] = Counter()
        for part in order:
            over = len(self.results())
            self.until(lambda: len(self.results()) > over or self.league.ended(), "a game ends")  # noqa: B023
            time.sleep(random.uniform(0, _AFTER_A_GAME_SECONDS))
            if self.league.ended():
                break
            hall.note_kill(part)
            self.kill(part)
            killed[part] += 1
        return killed

    def agrees(self) -> None:
        """Assert that the league's own table says of every game what the signed logs say."""
        logged = places_of_logs([self.folder, self.transcripts])
        results = self.results()
        assert len({(line["table"], line["game"]) for line in results}) == len(results)
        games = {}
        for line in results:
            assert not any(line["absent"]), line
            games[line["table"], line["game"]] = dict(zip(line["teams"], line["places"], strict=True))
        assert games.items() <= logged.items()
        assert logged.keys() <= games.keys()  # and the other way round: no game of the league is missing
        points = {row["team"]: round(row["points"], 6) for row in self.table()}
        assert points == points_of_logs(logged)

    def counts_each_match_once(self) -> None:
        """Assert that every match of every round that was drawn has one result, and that every game was fair."""
        drawn = [line for line in self.lines() if "drawn" in line]
        assert [line["drawn"] for line in drawn] == list(range(1, len(drawn) + 1))
        matches = {line["first"] + place: teams for line in drawn for place, teams in enumerate(line["matches"])}
        results = self.results()
        assert sorted(line["result"] for line in results) == sorted(matches), self.announced()
        assert all(sorted(line["teams"]) == sorted(matches[line["result"]]) for line in results)
        for proof in _proofs([self.transcripts]):
            self.call("verify", str(proof))


#: A game's end is followed by the next round's lobbies, and these by its first turns.
_AFTER_A_GAME_SECONDS = 4.0
#: What the hall shows for so long after a kill is counted as its consequence.
SEEN_SECONDS = 10.0
_PHASES = ("arrivals", "round", "between", "final")
_RETRY_SECONDS = 0.1


@dataclass
class Pictures:
    """What pages have got after the kills of one part.

    Attributes:
        right, empty: how many pictures were so; an empty one says that nothing is known yet.
        longest: the longest time without a right one after a kill, in seconds.
        wrong: what was wrong with others.
    """

    kills: int = 0
    right: int = 0
    empty: int = 0
    longest: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Hall:
    """A page of the hall that is always open: it takes down what its stream brings, and comes back when it ends.

    Attributes:
        seen: by the part that was killed in the ten seconds before; empty for none.
    """

    def __init__(self, stage: LeagueStage, name: str) -> None:
        """Follow nothing yet.

        Args:
            name: the league's.
        """
        self.seen: dict[str, Pictures] = {}
        self._stage = stage
        self._name = name
        self._at: tuple[int, int, int] = (0, 0, 0)  # round, phase and games, as they were shown last
        self._killed = ("", 0.0)
        self._right_at = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Hall:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)

    def note_kill(self, part: str) -> None:
        """Count what follows as a consequence of this."""
        now = time.monotonic()
        self._killed, self._right_at = (part, now), now
        self._pictures(part).kills += 1

    def _pictures(self, part: str) -> Pictures:
        return self.seen.setdefault(part, Pictures())

    def _follow(self) -> None:
        while not self._stop.wait(_RETRY_SECONDS):
            connection = http.client.HTTPConnection(self._stage.page, timeout=SEEN_SECONDS + 5)
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
                connection.request("GET", "/events?table=")
                for line in connection.getresponse():
                    if line.startswith(b"data: "):
                        self._take(json.loads(line[6:]))
                    if self._stop.is_set():
                        return

    def _take(self, picture: Mapping[str, Any]) -> None:
        part, killed = self._killed
        now = time.monotonic()
        pictures = self._pictures(part if now - killed < SEEN_SECONDS else "")
        if not picture["state"]:
            pictures.empty += 1
            return
        if what := self._wrong(picture):
            pictures.wrong.append(
                f"{now - killed:.1f} s after a kill of {part}: {what}; trouble {picture['trouble']!r}"
            )
            return
        pictures.right += 1
        if now - killed < SEEN_SECONDS:
            pictures.longest = max(pictures.longest, now - self._right_at)
        self._right_at = now

    def _wrong(self, picture: Mapping[str, Any]) -> str:
        """Return what a picture shows that cannot be so; empty for nothing."""
        evening, league = picture["evening"], picture["league"]
        if evening["phase"] not in _PHASES or evening["silent"]:
            return f"the evening is {evening}"
        if league is None:
            return f"no league, phase {evening['phase']}" if self._at > (0, 0, 0) else ""
        at = (league["round"], _PHASES.index(evening["phase"]), sum(row["games"] for row in league["rows"]))
        if league["name"] != self._name or league["round"] > self._stage.rounds():
            return f"{league['name']}, round {league['round']}"
        if at < self._at:
            return f"round, phase and games are {at} after {self._at}"
        self._at = at
        return ""

    def __str__(self) -> str:
        lines = ["killed | times | pictures right | empty | wrong | longest without a right one"]
        for part, seen in sorted(self.seen.items()):
            longest = f"{seen.longest:.1f} s" if part else ""
            figures = (seen.kills or "", seen.right, seen.empty, len(seen.wrong), longest)
            lines.append(" | ".join([part or "nothing", *map(str, figures)]))
        return "\n".join(lines)


EVENING = """\
name = "evening"
format = "swiss"
rounds = {rounds}
table_size = 4
tables = ["t1", "t2", "t3"]
wait_seconds = 5
result_seconds = 0
pace_seconds = 0.05
placement_seconds = 60
seed = 7
"""
PARTS = ("server", "web", "league")


def play_evening(folder: Path, kills: int, seed: int = 1) -> tuple[Counter[str], Hall]:
    """Play an evening of 12 teams at three tables, in which each part is killed so often; check all of it.

    Returns:
        How often each was killed, and what the hall has shown.
    """
    text, tables = EVENING.format(rounds=len(PARTS) * kills + 3), ["t1", "t2", "t3"]  # more than there will be
    with LeagueStage(folder, text, [f"bot{number:02}" for number in range(12)], tables, web=True) as stage:
        stage.until(stage.rounds, "the league has begun")
        with Hall(stage, "evening") as hall:
            killed = stage.torment_between_games(PARTS, kills, seed, hall)
            stage.until(lambda: stage.control("finish"), "the host ends the league after its round")
            stage.until(stage.league.ended, "the league is over", 1500)
        stage.end()
        stage.agrees()
        stage.counts_each_match_once()
    return killed, hall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="of each part  [default: 20]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="leave all files in this folder")
    given = parser.parse_args()
    with work_folder(given.keep) as folder:
        killed, hall = play_evening(folder, given.kills, given.seed)
    print(hall)
    wrong = [line for seen in hall.seen.values() for line in seen.wrong]
    for line in wrong[:20]:
        print(f"WRONG {line}")
    if killed.total() < len(PARTS) * given.kills:
        print(f"WRONG the league was over after {killed.total()} kills")
    return 1 if wrong or killed.total() < len(PARTS) * given.kills else 0


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


if __name__ == "__main__":
    sys.exit(main())
