"""An evening rehearsed: all of it with built-in bots, twenty times as fast, in a folder that is removed after it.

The server is the one of the evening, started by the same command, on the same addresses, with the names of teams.csv.
On the way happens what happens on such evenings: a team comes late, a program dies, another one sleeps, there is a
break, and the server is killed and started again.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from salvo import messages as m
from salvo.codec.announcements import EVENING
from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_lab.series.schedule import sizes_of_tables
from salvo_league.league_file import League, load_league
from salvo_server.brokers.embedded.addresses import lan_addresses, split_address
from salvo_server.settings import ServerSettings, league_name, load_settings
from salvo_server.storage.roster_csv import read_entries

#: The files of an evening's folder.
CONTEST: Final = "contest.toml"
TEAMS: Final = "teams.csv"
#: How many times as fast it is played.
SPEED: Final = 20
#: What a rehearsal takes besides: arrivals, a break, a crash, a restart of the server.
AROUND_SECONDS: Final = 60
#: What a rehearsal takes over of the settings: the rest is where files are, or of another broker.
_TAKEN: Final = frozenset(
    {
        *("listen", "web", "websocket", "hosts", "tables", "players", "rules", "profile", "chat"),
        *("placement_seconds", "turn_seconds", "bank_seconds", "increment_seconds", "pace_seconds", "over_seconds"),
        *("tls_cert", "tls_key", "tls_ca"),
    }
)
_BOTS: Final = ("hunter", "density", "random")
#: For each thing that should happen, whatever the machine does besides.
_LONGEST_SECONDS: Final = 180.0
_LOOK_SECONDS: Final = 0.25
#: How long a program sleeps, and a break lasts.
_NAP_SECONDS: Final = 3.0
_END_SECONDS: Final = 15.0
#: For the journal, the games and their proofs.
_DISK_BYTES: Final = 500_000_000
#: The account that reads what is on, and is the host where the table of accounts has none.
_OWN: Final = "salvo-rehearsal"
#: The host begins the first round; nobody else does meanwhile.
_LEAGUE_WAITS: Final = 3600
_SALVO: Final = (sys.executable, "-P", "-m", "salvo")


class RehearsalError(SalvoError):
    """``no_server``: something that should have happened did not."""


class RehearsalMoment(NamedTuple):
    """A moment of an evening at which people look at screens.

    Attributes:
        name: one word.
        text: what has happened, for the organiser.
        evening: what is on by then.
    """

    name: str
    text: str
    evening: m.EveningShown


class Rehearsal:
    """An evening that is rehearsed, from ``with`` on.

    Attributes:
        folder: where its files are; removed at the end.
        teams: their names, in the order of teams.csv.
        url: the broker's address on this machine, once the server has printed it.
        pages: addresses of pages by what they are, as they are known.
        secrets: of all accounts, by name.
        environment: in which its programs run.
    """

    def __init__(self, evening: Path) -> None:
        """Read the files of an evening's folder.

        Raises:
            SalvoError: one of them has a mistake.
        """
        file = evening / CONTEST
        self.settings = load_settings({}, file)
        self.league = None if league_name(file) is None else load_league(file)
        entries = read_entries(evening / TEAMS, Role.TEAM)
        self.teams = [entry.name for entry in entries if entry.role is Role.TEAM]
        if len(self.teams) < 2:
            raise SalvoError("bad_csv", f"{evening / TEAMS} has {len(self.teams)} teams; an evening has two or more")
        self.host = next((entry.name for entry in entries if entry.role is Role.HOST), _OWN)
        self._accounts = (evening / TEAMS).absolute()  # its programs run elsewhere
        self.folder = Path()
        self.url = ""
        self.pages: dict[str, str] = {}
        self.secrets: dict[str, str] = {}
        self.environment: dict[str, str] = {}
        self._running = contextlib.ExitStack()
        self._bots: dict[str, _Program] = {}
        self._server: _Program | None = None
        self._evening: m.EveningShown | None = None
        self._connection: Connection | None = None

    # --- before it ------------------------------------------------------------------------------------------------

    def foreseen(self) -> list[str]:
        """Return what would go wrong on the day, as far as the files show it."""
        found = []
        for what, address in (("teams", self.settings.listen), ("phones", self.settings.web)):
            if address is not None and not lan_addresses(split_address(address)[0]):
                found.append(f"{what} on other machines do not reach {address}; give 0.0.0.0 in place of its host")
        if self.settings.web is None:
            found.append('nobody sees anything in a browser; write web = "0.0.0.0:8080"')
        free = shutil.disk_usage(self._accounts.parent).free
        if free < _DISK_BYTES:
            found.append(f"{free // 1_000_000} MB are free on the disk of {self._accounts.parent}; clear 500 MB")
        if self.league is not None:
            needed = len(sizes_of_tables(len(self.teams), self.league.table_size))
            if needed > len(self.league.tables):
                names = json.dumps([f"t{number}" for number in range(1, needed + 1)])
                text = f"{len(self.teams)} teams need {needed} tables, and the league has {len(self.league.tables)}"
                found.append(f"{text}: each round takes as long as several; write tables = {names}")
        return found

    def seconds(self) -> float | None:
        """Return how long the evening takes whose teams answer at once; None where nobody knows."""
        return None if self.league is None else self.league.seconds(len(self.teams), self.settings.book.name)

    # --- starting and ending --------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="salvo-rehearsal-"))
        self._running.callback(shutil.rmtree, self.folder, ignore_errors=True)
        own = {"XDG_STATE_HOME": str(self.folder / "state"), "XDG_CONFIG_HOME": str(self.folder / "config")}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")} | own
        if self.settings.tls_ca is not None:
            self.environment["SALVO_CA"] = str(self.settings.tls_ca)
        (self.folder / CONTEST).write_text(_faster(self.settings, self.league), encoding="utf-8")
        try:
            self._begin()
        except BaseException:
            self._running.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _begin(self) -> None:
        self._start_server()
        lines = self._salvo("teams", "add", "--csv", str(self._accounts), "--json").splitlines()
        lines += self._salvo("teams", "add", _OWN, "--role", "host", "--json").splitlines()
        self.secrets = {account["name"]: account["secret"] for account in map(json.loads, lines)}
        account = {"SALVO_TEAM": self.host, "SALVO_SECRET": self.secrets[self.host]}
        console = self._start("the host's page", "control", "--browser", self.url, **account)
        self.pages["host"] = self._await(lambda: console.found("http://"), "the host's page is there")
        self._connection = self._connected()

    def _connected(self) -> Connection:
        """Return a connection that reads what is on."""
        ca, secret = self.environment.get("SALVO_CA"), self.secrets[_OWN]
        connection = Connection(
            BrokerUrl.parse(self.url), _OWN, clean_session=True, username=_OWN, password=secret, ca=ca
        )
        connection.on_connect = lambda _: connection.subscribe([topics.LEAGUE.of()])
        self._running.callback(connection.close)
        return connection

    def _start_server(self) -> None:
        self._server = self._start("the server", "serve", "--config", str(self.folder / CONTEST), "--json")
        server = self._server
        self.url = json.loads(self._await(lambda: server.found('"event": "listening"'), "the server listens"))["url"]
        if self.settings.web is not None:
            line = self._await(lambda: server.found('"event": "web"'), "the pages are there")
            [page, *_] = json.loads(line)["urls"]
            self.pages |= {"hall": page, "team": f"{page}?team={self.teams[0]}", "tables": f"{page}tables"}

    def _start(self, what: str, *words: str, **own: str) -> _Program:
        program = _Program(what, words, self.folder, self.environment | own)
        self._running.callback(program.end)
        return program

    def _salvo(self, *words: str, **own: str) -> str:
        """Return what a command prints."""
        done = subprocess.run(
            [*_SALVO, *words], env=self.environment | own, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RehearsalError("no_server", f"salvo {' '.join(words)}: {done.stderr.strip()[-500:]}")
        return done.stdout

    # --- what happens ---------------------------------------------------------------------------------------------

    def play(self) -> Iterator[RehearsalMoment]:
        """Play the evening; yield its moments, between which it goes on by itself.

        Raises:
            RehearsalError: something that should have happened did not.
        """
        *there, late = self.teams
        for team in there:
            self._join(team)
        self._await(lambda: {*there} <= {*self._now().badges}, "all teams but one are here")
        yield self._moment("arrivals", f"{len(there)} teams are here, {late} is late")
        if self.league is not None:
            self.command("start", "--all")
        self._await_phase(m.Phase.ROUND, m.Phase.FREE)
        yield self._moment("begin", "the first games begin")
        self._join(late)
        crashed, asleep = (there * 2)[-1], (there * 2)[-2]
        self._bots[crashed].kill()
        self._bots[asleep].send(signal.SIGSTOP)
        time.sleep(_NAP_SECONDS)
        self._bots[asleep].send(signal.SIGCONT)
        self._join(crashed)
        yield self._moment("trouble", f"{late} has come; {crashed}'s program died; {asleep}'s slept, and is awake")
        self.command("pause", "--all")
        self._await_phase(m.Phase.BREAK)
        yield self._moment("break", "a break")
        self.command("resume", "--all")
        self._await(lambda: self._now().phase is not m.Phase.BREAK, "the break is over")
        yield self._moment("resumed", "the break is over")
        before = self._now()
        assert self._server is not None
        self._server.kill()
        self._start_server()
        self._await(lambda: self._now(again=True).at >= before.at, "the server announces what is on")
        yield self._moment("restart", "the server was killed; the same command resumes all games")
        yield from self._to_the_end()

    def _to_the_end(self) -> Iterator[RehearsalMoment]:
        if self.league is None:
            self.command("finish")
            self._await_phase(m.Phase.OVER)
            yield self._moment("over", "the host has ended the evening")
            return
        rounds = self._now().rounds
        last = self._now().round
        while not self._now().over:
            self._await(lambda: self._now().over or self._now().round > last, "the next round begins")  # noqa: B023
            if not self._now().over:
                last = self._now().round
                yield self._moment("round" if last != rounds else "last", f"round {last}")
        self._await_phase(m.Phase.FINAL)
        first = ", ".join(f"{row.place}. {row.team}" for row in self._now().rows[:3])
        yield self._moment("final", f"it is over: {first}")

    def command(self, do: str, *words: str) -> None:
        """Act as the host."""
        account = {"SALVO_TEAM": self.host, "SALVO_SECRET": self.secrets[self.host]}
        self._salvo("control", do, self.url, *words, **account)

    def _join(self, team: str) -> None:
        bot = _BOTS[self.teams.index(team) % len(_BOTS)]
        words = ("join", self.url, bot, "--team", team)
        self._bots[team] = self._start(f"{team}'s bot", *words, SALVO_SECRET=self.secrets[team])

    def _moment(self, name: str, text: str) -> RehearsalMoment:
        return RehearsalMoment(name, text, self._now())

    def _now(self, *, again: bool = False) -> m.EveningShown:
        """Return what is on, as the server has published it last.

        Args:
            again: forget what was published before.
        """
        assert self._connection is not None
        if again:
            self._evening = None
        end = time.monotonic() + _LONGEST_SECONDS
        while True:
            for message in self._connection.poll(0 if self._evening is not None else _LOOK_SECONDS):
                self._evening = EVENING.read(message.payload)
                self._connection.acknowledge(message)
            if self._evening is not None:
                return self._evening
            if time.monotonic() > end:
                raise RehearsalError("no_server", "the server does not publish what is on")

    def _await_phase(self, *phases: m.Phase) -> None:
        self._await(lambda: self._now().phase in phases, f"the phase is {' or '.join(phases)}")

    def _await(self, holds: Callable[[], Any], what: str) -> Any:
        """Return what holds, once it does.

        Raises:
            RehearsalError: it has not for a long time, or the server has ended.
        """
        end = time.monotonic() + _LONGEST_SECONDS
        while not (found := holds()):
            if self._server is not None and self._server.has_ended:
                raise RehearsalError("no_server", f"the server has ended: {self._server.errors()}")
            if time.monotonic() > end:
                raise RehearsalError("no_server", f"not within {_LONGEST_SECONDS:g} s: {what}")
            time.sleep(_LOOK_SECONDS)
        return found


class _Program:
    """A program of the rehearsal, whose output is in files."""

    def __init__(self, what: str, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._what = what
        name = f"{what.replace(' ', '-')}-{time.monotonic_ns()}"
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [*_SALVO, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def found(self, text: str) -> str:
        """Return the first whole line of its output with a text; empty for none."""
        *lines, _ = self._out.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line for line in lines if text in line), "")

    def errors(self) -> str:
        """Return the end of what it says of errors."""
        return self._err.read_text(encoding="utf-8", errors="replace").strip()[-500:]

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as the system does where memory is short."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it as a person does."""
        if self.has_ended:
            return
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


def _faster(settings: ServerSettings, league: League | None) -> str:
    """Return the file of the same contest with shorter pauses, and with all of its own files beside it."""
    values = settings.model_dump(mode="json", include=set(_TAKEN), exclude_unset=True)
    for name in ("tls_cert", "tls_key", "tls_ca"):
        if values.get(name) is not None:
            values[name] = os.path.abspath(values[name])
    if values.get("rules", "").endswith(".toml"):
        values["rules"] = os.path.abspath(values["rules"])
    values |= {
        "journal": "evening.journal",
        "transcripts": "games",
        "pace_seconds": settings.pace_seconds / SPEED,
        "over_seconds": max(2, settings.over_seconds // SPEED),
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    if league is not None:
        own = league.model_dump(mode="json", exclude_unset=True, exclude={"fill", "tables", "minutes", "pace_seconds"})
        pace = league.pace(league.table_size, settings.book.name)
        if pace is not None:
            own["pace_seconds"] = pace / SPEED
        own |= {"wait_seconds": _LEAGUE_WAITS, "result_seconds": math.ceil(league.result_seconds / SPEED)}
        lines += ["[league]", *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in own.items())]
    return "\n".join(lines) + "\n"
