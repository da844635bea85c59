"""``salvo evening DIR --rehearse``: a whole evening before anybody comes, and what all its screens show of it."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import threading
import time
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from chaos.league import places_of_logs, points_of_logs
from kit.browser import Browser
from kit.command_line import run
from kit.ports import Port
from kit.processes import processes
from kit.programs import needs
from kit.screens import Facts, hall_read, host_read, published, show_read, tables_read, terminal_read, tree_read
from kit.waiting import until
from salvo import messages as m
from salvo.net.mqtt import Connection
from salvo_league.commands import evening as command
from salvo_league.rehearsal import Rehearsal, RehearsalMoment
from salvo_watch.web.stage import LATEST_SECONDS

pytestmark = [needs("chromium"), pytest.mark.long]

#: How much older than the broker's news a screen may be.
LAG_SECONDS: Final = 5.0
#: How long a screen may take until all that it shows is so: pages come back by themselves when a server does.
PATIENCE_SECONDS: Final = 60.0
#: Pages by size: what a projector, a laptop and a phone show.
PAGES: Final = {"host": (1280, 800), "hall": (1920, 1080), "tables": (1920, 1080), "team": (390, 844)}
#: Those that show results when their tapes have.
HALL: Final = ("hall", "team")
#: What each screen shows at every moment,.
SHOWN: Final[Mapping[str, frozenset[str]]] = {
    "hall": frozenset({"online"}),
    "team": frozenset({"online"}),
    "tables": frozenset({"online", "t1 state", "t2 state", "t1 teams"}),
    "host": frozenset({"online", "phase", "paused", "t1 state", "t2 state", "t1 teams"}),
    "topics": frozenset({"online", "phase", "t1 state", "t2 state", "t1 teams"}),
    "show": frozenset(),
    "terminal": frozenset(),
}
#: What else they show at some.
ALSO: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("arrivals", "hall"): frozenset({"phase", "league", "here", "missing", "badge team1"}),
    ("arrivals", "team"): frozenset({"phase", "league", "here", "missing", "badge team1"}),
    ("arrivals", "host"): frozenset({"missing"}),
    ("begin", "hall"): frozenset({"league", "rows"}),
    ("begin", "host"): frozenset({"round", "matches", "league", "first lines"}),
    ("begin", "terminal"): frozenset({"round of team1", "match of team1"}),
    ("break", "hall"): frozenset({"phase"}),
    ("break", "team"): frozenset({"phase"}),
    ("final", "host"): frozenset({"league", "first lines"}),
    ("final", "topics"): frozenset({"rows", "over"}),
    ("final", "show"): frozenset({"rows"}),
    ("final", "terminal"): frozenset({f"over of team{number}" for number in range(1, 7)}),
    ("free", "host"): frozenset({"phase"}),
    ("free", "topics"): frozenset({"standings"}),
    ("podium", "hall"): frozenset({"over", "first", "league"}),
    ("podium", "team"): frozenset({"over", "first", "league"}),
}
#: How long until a page of the hall has shown the tapes of a league's last games.
PODIUM_SECONDS: Final = LATEST_SECONDS + PATIENCE_SECONDS


def is_live(fact: str) -> bool:
    """Whether pages of the hall show it at once, also while a tape is to show a result."""
    return re.match(r"(phase|paused|online|missing|(badge|match of|t\d+)? .*)$", fact) is not None


def differences(read: Mapping[str, Facts]) -> Iterator[str]:
    """Yield in what two screens differ that show the same time."""
    for one, other in combinations(read, 2):
        for fact in read[one].keys() & read[other].keys():
            stale = "terminal" in (one, other) and fact.startswith("row of ")  # what it printed is of that time
            if not stale and read[one][fact] != read[other][fact] and (one not in HALL or is_live(fact)):
                yield f"{fact} differs: {one} {read[one][fact]}, {other} {read[other][fact]}"


#: What nobody publishes: estimates of a game's time, what is of a tape, and of which time a page is.
_UNKNOWN: Final = r"tape |as of$|over at$|.* left$"


class Record:
    """All that is retained on a broker's topics, and its history, as one of a team's screens reads it.

    Attributes:
        tree: payloads by topic, as they are now.
        ends: when games ended.
    """

    def __init__(self, url: str, user: str, secret: str) -> None:
        self.tree: dict[str, bytes] = {}
        self._times: list[float] = []
        self._trees: list[dict[str, bytes]] = []
        self._facts: dict[int, Facts] = {}
        self.ends: list[float] = []
        self._connection = Connection(url, user, clean_session=True, username=user, password=secret)
        self._connection.on_connect = lambda _: self._connection.subscribe(["#"])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Record:
        self._thread.start()
        until(lambda: "/game/league" in self.tree)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._connection.wake()
        self._thread.join()
        self._connection.close()

    def _listen(self) -> None:
        while not self._stop.is_set():
            for message in self._connection.poll(0.5):
                self._connection.acknowledge(message)
                if not message.topic.endswith(("/log", "/hits", "/chat", "/error")):  # which are not retained
                    ended = (message.topic.endswith("/game/state"), message.payload) == (True, b"over")
                    if ended and self.tree.get(message.topic) != b"over":
                        self.ends.append(time.time())
                    self.tree = self.tree | {message.topic: message.payload}
                    self._trees.append(self.tree)
                    self._times.append(time.time())

    def since(self, began: float) -> list[Facts]:
        """Return what was published at any time since a time, the newest first."""
        first, last = max(0, bisect(self._times, began) - 1), len(self._times)
        for number in range(first, last):
            if number not in self._facts:
                self._facts[number] = published(self._trees[number])
        return [self._facts[number] for number in reversed(range(first, last))]


class Story(Rehearsal):
    """A rehearsal whose screens are read at each of its moments.

    Attributes:
        window: where its pages are shown, each in a tab.
        kept: where what was read is, with pictures.
        names: of the moments so far.
        file: of the league that is on.
    """

    window: Browser
    kept: Path
    names: list[str]
    file = "contest.toml"

    def play(self) -> Iterator[RehearsalMoment]:
        with contextlib.ExitStack() as stack:
            team = self.teams[0]
            self._record = stack.enter_context(Record(self.url, f"{team}.1", self.secrets[team]))
            self._tabs = {page: self._opened(self.pages[page], *size) for page, size in PAGES.items()}
            for moment in super().play():
                self._read_all(moment.name)
                yield moment
            self._compare_with_logs()
            yield from self.go_on()

    def go_on(self) -> Iterator[RehearsalMoment]:
        """Go on after the end of the league."""
        yield from ()

    def _opened(self, address: str, width: int, height: int) -> str:
        tab = self.window.tab()
        self.window.resize(width, height)
        self.window.open(address)
        return tab

    def _read_all(self, moment: str) -> None:
        """Read all screens: each is right, and in a break, when nothing moves, no two disagree."""
        self.names.append(moment)
        hall = {page: lambda: hall_read(self.window) for page in HALL}
        readers: dict[str, Callable[[], Facts]] = {
            **hall,
            "tables": lambda: tables_read(self.window),
            "host": lambda: host_read(self.window),
            "topics": lambda: tree_read(self._record.tree),
            "show": self._show,
            "terminal": self._terminals,
        }
        differ: list[str] = []

        def agree() -> bool:
            read = {screen: self._read(screen, reader) for screen, reader in readers.items()}
            differ[:] = differences(read) if moment == "break" else []  # else time passes from one to the next
            return not differ

        until(agree, lambda: "\n".join(differ), PATIENCE_SECONDS)

    def _read(self, screen: str, reader: Callable[[], Facts]) -> Facts:
        """Return what a screen shows, as soon as all of it is so."""
        if screen in self._tabs:
            self.window.switch(self._tabs[screen])
        facts: Facts = {}
        wrong: list[str] = []

        def is_right() -> bool:
            began = time.time()
            facts.clear()
            facts.update(reader())
            wrong[:] = self._wrong(self.names[-1], screen, facts, began)
            self._keep(f"{len(self.names)}-{self.names[-1]}-{screen}", facts, wrong)
            return not wrong

        patience = PODIUM_SECONDS if self.names[-1] == "podium" else PATIENCE_SECONDS
        until(is_right, lambda: "\n".join(wrong), patience, 0.2)
        return facts

    def _wrong(self, moment: str, screen: str, facts: Facts, began: float) -> Iterator[str]:
        """Yield what was at no time so from a little before a reading on, or is missing."""
        wanted = SHOWN[screen] | ALSO.get((moment, screen), frozenset())
        if missing := wanted - facts.keys():
            yield f"{moment}, {screen} does not show {', '.join(sorted(missing))}"
        live = self._record.since(began - LAG_SECONDS)
        # Nothing in the hall tells the end of a game before its tape has; what a terminal printed stays there.
        untold = [at for at in self._record.ends if at > began - LATEST_SECONDS - LAG_SECONDS]
        late = self._record.since(min([began, *untold]) - LAG_SECONDS) if screen in HALL else live
        ever = self._record.since(0.0)
        tape = {fact.removeprefix("tape "): value for fact, value in facts.items() if fact.startswith("tape ")}
        tape = {fact: value for fact, value in tape.items() if not fact.endswith((" left", " state", " to fire"))}
        if tape and not any(tape.items() <= truth.items() for truth in ever):
            yield f"{moment}, {screen}: a tape shows {tape}, which never was"
        clocks = {time.strftime("%H:%M", time.localtime(at + late)) for at in self._record.ends for late in (-1.0, 0.0)}
        if facts.get("over at", "live") not in {"live", *clocks}:
            yield f"{moment}, {screen}: a tape is of a game over at {facts['over at']}; games ended at {clocks}"
        for fact, value in facts.items():
            name = re.sub(r"^(round|rounds|over) of .*", r"\1", fact)
            at_once = is_live(name) and (name != "phase" or value not in ("round", "between", "final"))
            truths = live if at_once else ever if screen == "terminal" else late
            known = [truth[name] for truth in truths if name in truth]
            if known and value not in known:
                yield f"{moment}, {screen}: {fact} is {value}, published {known[0]}"
            elif not known and not re.match(_UNKNOWN, name) and not (moment == "free" and name.startswith("match of ")):
                yield f"{moment}, {screen}: {fact} is {value}, which nobody has published"

    def _keep(self, name: str, facts: Facts, wrong: list[str]) -> None:
        lines = [f"{fact}: {value}" for fact, value in facts.items()]
        with (self.kept / f"{name}.txt").open("a", encoding="utf-8") as file:
            file.write("\n".join([f"{time.time():.1f}", *lines, *wrong, "", ""]))
        if name.rpartition("-")[2] in self._tabs:
            (self.kept / f"{name}.png").write_bytes(self.window.picture())

    def _show(self) -> Facts:
        if not self._now().name:
            return {}
        done = run("league", "show", str(self.folder / self.file), "--json")
        assert done.returncode == 0, done.stderr
        return show_read(done.stdout)

    def _terminals(self) -> Facts:
        facts: Facts = {}
        for team in self.teams:
            files = sorted(self.folder.glob(f"{team}'s-bot-*"), key=lambda file: int(re.findall(r"\d+", file.name)[-1]))
            read = terminal_read(team, "".join(file.read_text(encoding="utf-8") for file in files))
            facts |= {fact if fact.endswith(team) else f"{fact} of {team}": value for fact, value in read.items()}
        return facts

    def _compare_with_logs(self) -> None:
        """The signed logs, the league's record and what was published agree."""
        logged = places_of_logs([self.folder / "games"])
        record = self.folder / "contest.league.jsonl"
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        results = {
            (line["table"], line["game"]): dict(zip(line["teams"], line["places"], strict=True))
            for line in lines
            if "result" in line
        }
        assert results == logged
        shown = published(self._record.tree)
        points = {team: round(points, 2) for _, team, points in shown["rows"]}
        assert points == {team: round(each, 2) for team, each in points_of_logs(logged).items()}


class TwoLeagues(Story):
    """A rehearsal after whose league the tables are opened, and another league is played."""

    def go_on(self) -> Iterator[RehearsalMoment]:
        self._read_all("podium")
        self.command("next", "--all")
        self._await_phase(m.Phase.FREE)
        self._read_all("free")
        self.file = "two.toml"
        (self.folder / self.file).write_text(_SECOND)
        account = {"SALVO_TEAM": self.host, "SALVO_SECRET": self.secrets[self.host]}
        second = self._start("the second league", "league", self.file, self.url, **account)
        self._await_phase(m.Phase.ROUND)
        self._read_all("second")
        self._await(lambda: second.has_ended, "the second league is over")
        self._read_all("podium")
        yield self._moment("second", f"{self._now().name} is over")


_SECOND: Final = """\
name = "Night Cap"
format = "swiss"
rounds = 1
table_size = 3
tables = ["t1", "t2", "t3", "t4"]
wait_seconds = 5
pace_seconds = 0.05
result_seconds = 1
"""


@contextlib.contextmanager
def evening_of(teams: int, folder: Path) -> Iterator[None]:
    """Write the folder of an evening of two rounds, at ports of this machine."""
    done = run("evening", str(folder), "--teams", str(teams), "--hours", "0.3", "--name", "Hack Night Cup")
    assert done.returncode == 0, done.stderr
    with Port() as broker, Port() as web:
        file = folder / "contest.toml"
        text = file.read_text().replace("0.0.0.0:1883", broker.address).replace("0.0.0.0:8080", web.address)
        file.write_text(re.sub(r"rounds = \d+", "rounds = 2", text))
        yield


def rehearsed(
    folder: Path, tmp_path: Path, story: type[Story], window: Browser, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[str]]:
    """Rehearse an evening while its screens are read; return its moments, and what the command said of them."""
    temporary, before = tmp_path / "temporary", sorted(folder.iterdir())
    names: list[str] = []
    temporary.mkdir()
    (tmp_path / "screens").mkdir()
    for attribute, value in {"window": window, "kept": tmp_path / "screens", "names": names}.items():
        monkeypatch.setattr(story, attribute, value, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(command, "Rehearsal", story)
    monkeypatch.delenv("SALVO_PROFILE")
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.chdir(folder.parent)
    done = CliRunner().invoke(command.evening, [folder.name, "--rehearse"], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "teams on other machines do not reach" in done.stdout
    assert sorted(folder.iterdir()) == before
    assert list(temporary.iterdir()) == []
    assert not [each.command for each in processes() if str(temporary) in each.command]
    said = [line.partition(" ")[2] for line in done.stdout.splitlines() if re.match(r"\d\d:\d\d:\d\d ", line)]
    return [name for name in names if name != "last"], said  # where a machine is slow, the last round begins before


MOMENTS: Final = ("arrivals", "begin", "trouble", "break", "resumed", "restart", "final")


def test_every_screen_of_a_rehearsed_evening_shows_what_is_so_and_nothing_is_left_behind(
    tmp_path: Path, shared: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with evening_of(6, tmp_path / "cup"):
        names, said = rehearsed(tmp_path / "cup", tmp_path, Story, shared, monkeypatch)
    assert names == [*MOMENTS]
    assert said[0] == "5 teams are here, team6 is late"
    assert "the server was killed; the same command resumes all games" in said
    assert said[-1].startswith("it is over: 1. team")


@pytest.mark.slow
def test_every_screen_shows_what_is_so_from_one_league_to_the_next(
    tmp_path: Path, shared: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with evening_of(12, tmp_path / "cup"):
        names, said = rehearsed(tmp_path / "cup", tmp_path, TwoLeagues, shared, monkeypatch)
    assert names == [*MOMENTS, "podium", "free", "second", "podium"]
    assert said[-1] == "Night Cap is over"
