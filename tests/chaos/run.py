"""A contest of real processes, and somebody who kills them.

    python tests/chaos/run.py                        200 kills of the server, 50 of mosquitto, over 50 games
    python tests/chaos/run.py --broker embedded      20 kills of a server that has its broker in it
    python tests/chaos/run.py --accounts 300         40 kills in a contest with a roster; eight teams of it play
    python tests/chaos/run.py --javascript 2         two of the teams play with the SDK in JavaScript

Server, broker and every team are processes of their own; they get SIGKILL, SIGSTOP and SIGTERM at moments drawn from
a seed (the moments repeat with the seed, what the processes are doing then does not). In the end the journal is held
against what the teams themselves took down: every game is over, executes again to the very same announcements, no
shot is lost, doubled or someone else's, and no turn ran out of time. With a roster, teams that do not play log in all
the while with their right passwords, and in the end the folder of transcripts has every game, whole and with its proof.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))


from chaos.dying_server import MOMENTS
from kit import javascript
from kit.mosquitto import ContestMosquitto, Mosquitto
from kit.ports import Port
from kit.postgresql import PostgreSQL
from kit.raw import ACCEPTED, Raw
from salvo import messages as m
from salvo.errors import SalvoError
from salvo.join.fairness.proof import PROOF
from salvo.net.mqtt import BrokerUrl
from salvo_game.journal_interface import GameOpened, JournalError
from salvo_game.log_verification import verify_file
from salvo_game.recordings import JournalGames, Recording, open_recordings
from salvo_game.transcript import check, read_transcript
from salvo_server.storage.journal.bounded_connection import ANSWER_SECONDS
from salvo_server.storage.journal.database import DatabaseReader
from salvo_server.storage.roster import Roster, RosterEntry
from salvo_server.storage.transcript_folder import DEFAULT_TABLE

SALVO = [sys.executable, "-m", "salvo"]
BOT = Path(__file__).with_name("bot.py")
BOT_IN_JAVASCRIPT = Path(__file__).with_name("bot.mjs")
SERVER = Path(__file__).with_name("dying_server.py")
FLOODER = Path(__file__).with_name("flooder.py")
#: A server that is not killed before it has had a chance: starting takes about half of that on a busy machine.
_UP_SECONDS = (0.2, 1.2)
#: Two players have joined and placed their fleets, and some salvos are fired; a game has some 180 shots.
_BEGUN_STEPS = 40
#: On a machine that is busy with other things, a server may take a minute to start.
_PATIENCE_SECONDS = 600.0
_LOGIN_PAUSE_SECONDS = 0.01
#: What a contest with a roster may not lose.
REFUSALS_OF_RIGHT_PASSWORDS = "refusals of right passwords"
BOTS_ENDED = "bots that ended"
TURNS_LOST = "turns lost"
FILES_LOST = "empty or missing files"
#: Beside the default table, of a contest with a roster: eight teams play.
_TABLES = ("blue", "green", "red")
LOSSES = (REFUSALS_OF_RIGHT_PASSWORDS, BOTS_ENDED, TURNS_LOST, FILES_LOST)


@dataclass
class Report:
    """What was done, and what came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    games: int = 0
    shots: int = 0
    announcements: int = 0
    recovered: int = 0
    logins: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def lose(self, what: str, text: str) -> None:
        """Count a loss."""
        self.losses[what] += 1
        self.wrong.append(f"{what}: {text}")

    def __str__(self) -> str:
        faults = ", ".join(f"{count} x {name}" for name, count in sorted(self.faults.items()))
        return (
            f"{self.games} games over, {self.shots} shots and {self.announcements} announcements executed again and"
            f" equal, {self.recovered} times a table was taken up in mid-game; {faults}; {self.seconds:.0f} s;"
            f" {len(self.wrong)} things wrong ({', '.join(f'{self.losses[what]} {what}' for what in LOSSES)};"
            f" {self.logins} further logins)"
        )


class Process:
    """A program that is started again whenever it was killed."""

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self.command = command
        self.log = log
        own = {name: str(log.parent) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}  # and not the developer's
        self.environment = os.environ | own | environment
        self.child: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(self.command, env=self.environment | environment, stdout=log, stderr=log)

    def send(self, number: signal.Signals) -> None:
        assert self.child is not None
        self.child.send_signal(number)

    def end(self, number: signal.Signals) -> None:
        self.send(number)
        assert self.child is not None
        self.child.wait(60)

    def ended(self) -> bool:
        return self.child is not None and self.child.poll() is not None


class Stage:
    """A contest of real processes, and what its teams take down.

    Attributes:
        processes: all that is started, and started again.
        least_games: how many games have to be over at the end.
        in_javascript: how many teams, the first of each pair, play in JavaScript.
    """

    def __init__(
        self, folder: Path, seed: str, *, broker: Mosquitto | None = None, database: PostgreSQL | None = None
    ) -> None:
        self.folder = folder
        self.random = Random(seed)
        self.report = Report()
        self.broker = broker
        self.database = database
        self.journal = database.url if database else str(folder / "contest.journal")
        self.processes: list[Process] = []
        self.teams: list[Process] = []
        self.least_games = 0
        self.in_javascript = 0
        self._made = 0  # teams
        self.tables = ["", "blue"]

    def _play(self, url: str) -> None:
        """Let two teams play at each table."""
        self.teams = [self._team(url, table, name) for table in self.tables for name in ("ann", "bob")]

    def settings(self, broker: Sequence[str], journal: str) -> list[str]:
        """Return what a server is started with."""
        further = [word for table in self.tables if table for word in ("--table", table)]
        words = ["serve", *broker, "--journal", journal, *further]
        return [*words, "--players", "2", "--over-seconds", "1", "--resume", "always", "--profile", "open"]

    def _team(self, url: str, table: str, name: str, secret: str = "") -> Process:
        pair, second = divmod(self._made, 2)
        self._made += 1
        if pair < self.in_javascript and not second:
            command = ["node", str(self._scripts() / BOT_IN_JAVASCRIPT.name)]
        else:
            command = [*SALVO, "join", url, str(BOT)]
        log = self.folder / f"{table}-{name}.log"
        where = {"SALVO_URL": url, "SALVO_TEAM": name, "SALVO_SECRET": secret or f"{name}'s"}
        where |= {"SALVO_TABLE": table} if table else {}
        return Process(command, log, **where, WITNESS_FILE=str(self.folder / f"{table}-{name}.salvos"))

    def _scripts(self) -> Path:
        """Return the folder where the SDK in JavaScript is installed, with the bot."""
        bots, checkout = self.folder / "bots", self.folder / "checkout"
        if not bots.exists():
            bots.mkdir()
            checkout.mkdir()
            javascript.install(checkout, bots)
            shutil.copy(BOT_IN_JAVASCRIPT, bots)
        return bots

    # --- doing it -----------------------------------------------------------------------------------------------

    def run(self, progress: Callable[[str], None]) -> Report:
        begin = time.monotonic()
        if self.broker:
            self.broker.start()
        with self.database or contextlib.nullcontext():
            self.play(progress)
            self.inspect()
        self.report.seconds = time.monotonic() - begin
        return self.report

    def play(self, progress: Callable[[str], None]) -> None:
        try:
            for process in self.processes:
                process.start()
            self._until(self._is_open, "a table stands in the journal")
            self.torment(progress)
            while (over := self._games_over()) < self.least_games:
                time.sleep(0.5)
                self._look_after_teams()
                progress(f"{over} of {self.least_games} games over")
            self._finish()
        finally:
            for process in self.processes:
                if process.child is not None and not process.ended():
                    process.send(signal.SIGCONT)
                    process.end(signal.SIGKILL)
            if self.broker:
                self.broker.stop()

    def torment(self, progress: Callable[[str], None]) -> None:
        """Do to them what this experiment is about."""
        raise NotImplementedError

    def _look_after_teams(self) -> None:
        """Start the teams again that have ended by themselves, which none may."""
        for team in self.teams:
            if team.ended():
                self.report.lose(BOTS_ENDED, f"{team.log.name}: {team.log.read_text()[-300:]}")
                team.start()

    def _finish(self) -> None:
        """Do what comes after the last game."""

    # --- looking on ---------------------------------------------------------------------------------------------

    def _until(self, holds: Callable[[], object], what: str) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < end, f"not within {_PATIENCE_SECONDS:g} s: {what}; look into {self.folder}"
            time.sleep(0.1)

    def _reader(self) -> DatabaseReader:
        return DatabaseReader(self.journal)

    def _is_open(self) -> bool:
        """Whether the server has made its journal; the file is there a moment before its tables are."""
        with contextlib.suppress(JournalError):
            return bool(self._reader().games())
        return False

    def _games_over(self) -> int:
        """How many games have their next lobby: those are over and forgotten."""
        per_table: dict[str, int] = defaultdict(int)
        for game, _ in self._reader().games():
            per_table[game.table] = max(per_table[game.table], game.number - 1)
        return sum(per_table.values())

    def _in_a_game(self) -> bool:
        """Whether a table has begun to shoot, and is far from its end."""
        last = {game.table: steps for game, steps in self._reader().games()}
        return any(_BEGUN_STEPS <= steps <= 2 * _BEGUN_STEPS for steps in last.values())

    # --- afterwards ---------------------------------------------------------------------------------------------

    def inspect(self) -> None:
        witnessed = self._witnessed()
        recordings = open_recordings(self.journal)
        assert isinstance(recordings, JournalGames)
        rows = recordings.games()
        last = {game.table: game.number for game, _, _ in rows}
        for game, steps, recording in rows:
            if steps and game.number < last[game.table]:
                self.inspect_game(game, recording, witnessed)

    def inspect_game(
        self, game: GameOpened, recording: Recording, witnessed: dict[tuple[str, str, int, int], list[list[Any]]]
    ) -> None:
        where = f"table {game.table!r}, game {game.number}"
        fired: dict[tuple[str, int], list[list[Any]]] = defaultdict(list)
        won = turn = 0
        for step in recording.executed()[2]:
            command = step.command
            self.report.announcements += len(step.announcements)
            won += sum(isinstance(a, m.GameWon) for a in step.announcements)
            refused = [a for a in step.announcements if isinstance(a, m.CommandRefused)]
            for late in refused:
                if late.code == "turn_timeout":
                    self.report.lose(TURNS_LOST, f"{where}: {late}")
            if isinstance(command, m.Resumed):
                self.report.recovered += 1
            if isinstance(command, m.Fire) and any(isinstance(a, m.ShotLanded) for a in step.announcements):
                fired[command.player, turn].append([command.target, command.x, command.y])
            turn = max([turn, *(a.turn for a in step.announcements if isinstance(a, m.TurnBegan))])
        if won != 1:
            self.report.wrong.append(f"{where}: won {won} times")
        for (player, turn), shots in fired.items():
            chosen = witnessed[game.table, player, game.number, turn]
            self._compare(f"{where}, turn {turn}, {player}", shots, chosen)
        self.report.games += 1

    def _compare(self, where: str, shots: list[list[Any]], chosen: list[list[Any]]) -> None:
        """Every shot that counted was chosen, once; the team chose them in that order."""
        self.report.shots += len(shots)
        left = list(chosen)
        for shot in shots:
            if shot not in left:
                self.report.wrong.append(f"{where}: {shot} counted and was not chosen, or was counted twice: {chosen}")
                return
            del left[: left.index(shot) + 1]

    def _witnessed(self) -> dict[tuple[str, str, int, int], list[list[Any]]]:
        chosen: dict[tuple[str, str, int, int], list[list[Any]]] = defaultdict(list)
        for path in self.folder.glob("*.salvos"):
            table = path.stem.rpartition("-")[0]
            for line in path.read_text().splitlines():
                record = json.loads(line)
                chosen[table, record["me"], record["game"], record["turn"]] += record["shots"]
        return chosen


class Chaos(Stage):
    """One run."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.given = given
        super().__init__(
            folder,
            given.seed,
            broker=self._mosquitto() if given.broker == "mosquitto" else None,
            database=PostgreSQL() if given.journal_kills else None,
        )
        self.least_games = given.games
        self.in_javascript = given.javascript
        self.port = Port()  # of the embedded broker, which dies with its server
        url = self.broker.url if self.broker else f"mqtt://{self.port.address}"
        command = [sys.executable, str(SERVER), *self.settings(self.where(), self.journal)]
        self.server = Process(command, folder / "server.log")
        port = self.broker.port if self.broker else self.port.number
        flooders = [
            Process([sys.executable, str(FLOODER), str(port), str(given.flood)], folder / "flood.log")
            for _ in range(given.flood > 0)
        ]
        self._play(url)
        self.processes = [self.server, *self.teams, *flooders]

    def _mosquitto(self) -> Mosquitto:
        return Mosquitto()

    def where(self) -> list[str]:
        """Return what the server is started with to find its broker."""
        return ["--broker", self.broker.url] if self.broker else ["--listen", self.port.address]

    def play(self, progress: Callable[[str], None]) -> None:
        with self.port:
            super().play(progress)

    def torment(self, progress: Callable[[str], None]) -> None:
        faults = self._faults()
        for number, fault in enumerate(faults, start=1):
            self._let_run()
            self._look_after_teams()
            self._die_at(fault) if fault in MOMENTS else getattr(self, f"_{fault}")()
            self.report.faults[fault] += 1
            if self.server.ended():
                raise AssertionError(f"the server ended by itself: {self.server.log.read_text()[-2000:]}")
            progress(f"{number} of {len(faults)} faults, {self._games_over()} games over")

    def _let_run(self) -> None:
        """Wait for the next fault's moment."""
        time.sleep(self.random.uniform(*_UP_SECONDS))

    def _faults(self) -> list[str]:
        given = self.given
        faults = ["kill_server"] * given.server_kills + ["stop_server"] * given.stops + ["end_server"] * given.ends
        faults += ["kill_team"] * given.team_kills + ["stop_team"] * given.stops
        faults += MOMENTS * given.deaths
        faults += ["kill_journal", "stop_journal"] * given.journal_kills
        if self.broker:
            faults += ["kill_broker"] * given.broker_kills
        self.random.shuffle(faults)
        return faults

    def _kill_server(self) -> None:
        if not self.report.faults["kill_server"]:
            self._until(self._in_a_game, "a game is under way")  # the first kill at least; others may fall in a lobby
        self.server.end(signal.SIGKILL)
        time.sleep(self.random.choice((0.0, 0.0, 0.3)))
        self.server.start()

    def _die_at(self, moment: str) -> None:
        """Start a server that kills itself at a step, and one that does not once it has."""
        self.server.end(signal.SIGKILL)
        self.server.start(DIE_AT=f"{moment}:{self.random.randint(1, 60)}")
        self._until(self.server.ended, f"the server dies {moment}")
        assert self.server.child is not None
        assert self.server.child.returncode == -signal.SIGKILL, self.server.log.read_text()[-2000:]
        self.server.start()

    def _end_server(self) -> None:
        self.server.end(signal.SIGTERM)
        self.server.start()

    def _stop_server(self) -> None:
        self.server.send(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.05, 1.0))
        self.server.send(signal.SIGCONT)

    def _kill_team(self) -> None:
        team = self.random.choice(self.teams)
        team.end(signal.SIGKILL)
        team.start()

    def _stop_team(self) -> None:
        team = self.random.choice(self.teams)
        team.send(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.05, 1.0))
        team.send(signal.SIGCONT)

    def _kill_broker(self) -> None:
        assert self.broker is not None
        self.broker.kill()
        self.broker.start()

    def _kill_journal(self) -> None:
        assert self.database is not None
        self.database.kill()
        time.sleep(self.random.choice((0.0, 0.3, 1.5)))
        self.database.start()
        if self.server.ended():  # it was not up yet, and has said that it cannot start
            self.server.start()

    def _stop_journal(self) -> None:
        """Let the database stand still for longer or shorter than the server waits for an answer."""
        assert self.database is not None
        with self.database.standing_still():
            time.sleep(self.random.uniform(1.0, 1.5) * ANSWER_SECONDS * self.random.choice((0.2, 1.0)))
        if self.server.ended():
            self.server.start()


class RosterChaos(Chaos):
    """One run of a contest with a roster: teams of it play, and the others log in, one after the other, all the time.

    A server that is started has to let in whoever has the right password, at any moment.
    """

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.roster = Roster(folder / "roster.json")
        self.transcripts = folder / "games"
        names = [f"team{number}" for number in range(given.accounts)]
        self.secrets = dict(zip(names, self.roster.add_all([RosterEntry(name) for name in names]), strict=True))
        self._ended = threading.Event()
        super().__init__(folder, given)
        self.processes = [self.server]  # teams begin when the broker has their accounts

    def _mosquitto(self) -> Mosquitto:
        return ContestMosquitto(self.roster.server, self.roster.keeper, ("", *_TABLES))

    def where(self) -> list[str]:
        if isinstance(self.broker, ContestMosquitto):
            return ["--broker", self.broker.server_url]
        return super().where()

    def settings(self, broker: Sequence[str], journal: str) -> list[str]:
        self.tables = ["", *_TABLES]
        words = super().settings(broker, journal)
        words[words.index("open")] = "contest"
        own = ["--roster", str(self.roster.path), "--identity", str(self.folder / "identity")]
        return [*words, *own, "--transcripts", str(self.transcripts)]

    def _play(self, url: str) -> None:
        names = list(self.secrets)
        pairs = zip(names[::2], names[1::2], strict=True)
        for table, pair in zip(self.tables, pairs, strict=False):
            self.teams += [self._team(url, table, name, self.secrets[name]) for name in pair]
        self.url = BrokerUrl.parse(url)

    def torment(self, progress: Callable[[str], None]) -> None:
        others = dict(list(self.secrets.items())[len(self.teams) :])
        self._until(lambda: all(self._log_in(*each) for each in others.items()), "everybody has an account")
        self.report = Report()
        self.processes += self.teams
        for team in self.teams:
            team.start()
        logins = threading.Thread(target=self._log_in_all_the_time, args=(others,), daemon=True)
        logins.start()
        try:
            super().torment(progress)
        finally:
            self._ended.set()
            logins.join(60)

    def _let_run(self) -> None:
        """Choose a moment while the server starts, once it serves, or just after a game's end."""
        moment = self.random.choice(("starting", "serving", "serving", "game over"))
        if moment != "starting":
            steps = self._count(self._steps)
            self._until(lambda: self._count(self._steps) > steps, "the server accepts something")
        if moment == "game over":
            over = self._count(self._results)
            self._until(lambda: self._count(self._results) > over, "a game ends")
        time.sleep(self.random.uniform(0, 0.3 if moment == "game over" else _UP_SECONDS[1]))

    def _count(self, count: Callable[[], int]) -> int:
        """Return what the journal has, with which it goes on only while the teams are there."""
        self._look_after_teams()
        return count()

    def _steps(self) -> int:
        return sum(steps for _, steps in self._reader().games())

    def _results(self) -> int:
        return len(self._reader().results())

    def _log_in(self, name: str, secret: str) -> bool:
        with contextlib.suppress(OSError), Raw(self.url.port, name, user=name, password=secret) as raw:
            answer = raw.read(5) or b""
            if answer[:2] == ACCEPTED[:2] and answer != ACCEPTED:
                self.report.logins += 1
                self.report.lose(REFUSALS_OF_RIGHT_PASSWORDS, f"{name}: code {answer[3]}")
            return answer == ACCEPTED
        return False  # nobody is there

    def _log_in_all_the_time(self, secrets: Mapping[str, str]) -> None:
        while True:
            for name, secret in secrets.items():
                if self._ended.wait(_LOGIN_PAUSE_SECONDS):
                    return
                self.report.logins += self._log_in(name, secret)

    def _finish(self) -> None:
        self.server.end(signal.SIGTERM)

    def inspect(self) -> None:
        super().inspect()
        for team in self.teams:
            for line in team.log.read_text().splitlines():
                if "refused the connection" in line:
                    self.report.lose(REFUSALS_OF_RIGHT_PASSWORDS, f"{team.log.name}: {line}")

    def inspect_game(
        self, game: GameOpened, recording: Recording, witnessed: dict[tuple[str, str, int, int], list[list[Any]]]
    ) -> None:
        super().inspect_game(game, recording, witnessed)
        stem = self.transcripts / f"{game.table or DEFAULT_TABLE}-{game.number}"
        try:
            check(read_transcript(stem.with_suffix(".jsonl.gz")))
            report = verify_file(stem.with_suffix(PROOF))
            assert all(each.ended and each.finding is None for each in report.games), report
        except (SalvoError, OSError, AssertionError) as error:
            self.report.lose(FILES_LOST, f"{stem.name}: {error}")


@contextlib.contextmanager
def work_folder(stored: Path | None) -> Iterator[Path]:
    if stored is not None:
        stored.mkdir(parents=True, exist_ok=True)
        yield stored
        return
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        yield Path(name)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", choices=["mosquitto", "embedded"], default="mosquitto")
    parser.add_argument("--accounts", type=int, default=0, help="teams on the roster of a contest, and only kills")
    parser.add_argument("--games", type=int, help="at least so many games  [default: 50, embedded or with roster 10]")
    parser.add_argument("--server-kills", type=int, help="[default: 200, embedded 20, with a roster 40]")
    parser.add_argument("--broker-kills", type=int, help="[default: 50, with a roster 0]")
    parser.add_argument(
        "--journal-kills",
        type=int,
        default=0,
        help="of PostgreSQL, which then has the journal; it stands still as often",
    )
    parser.add_argument("--flood", type=int, default=0, help="forged shots a second all the while")
    parser.add_argument("--deaths", type=int, help="of the server at each step of a message's way  [default: 2 or 0]")
    parser.add_argument("--team-kills", type=int, default=0)
    parser.add_argument("--javascript", type=int, default=0, help="teams that play with the SDK in JavaScript")
    parser.add_argument("--stops", type=int, help="SIGSTOPs of the server, and as many of teams  [default: 10 or 0]")
    parser.add_argument("--ends", type=int, help="SIGTERMs of the server  [default: 5 or 0]")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path, help="leave journal and logs in this folder")
    given = parser.parse_args(arguments)
    embedded, roster = given.broker == "embedded", bool(given.accounts)
    defaults = {
        "games": 10 if embedded or roster else 50,
        "server_kills": 40 if roster else 20 if embedded else 200,
        "broker_kills": 0 if roster else 50,
        "deaths": 0 if roster else 2,
        "stops": 0 if roster else 10,
        "ends": 0 if roster else 5,
    }
    for name, default in defaults.items():
        if getattr(given, name) is None:
            setattr(given, name, default)
    return given


def prepare(folder: Path, given: argparse.Namespace) -> Chaos:
    """Return the run that is asked for."""
    return (RosterChaos if given.accounts else Chaos)(folder, given)


def main() -> int:
    given = parse()
    live = sys.stderr.isatty()

    def progress(line: str) -> None:
        if live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    with work_folder(given.keep) as folder:
        report = prepare(folder, given).run(progress)
    if live:
        print(file=sys.stderr)
    print(report)
    for line in report.wrong[:20]:
        print(f"WRONG {line}")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
