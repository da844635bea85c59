"""A contest of real processes, and somebody who kills them.

    python tests/chaos/run.py                        200 kills of the server, 50 of mosquitto, over 50 games
    python tests/chaos/run.py --broker embedded      20 kills of a server that has its broker in it

Server, broker and every team are processes of their own; they get SIGKILL, SIGSTOP and SIGTERM at moments drawn from
a seed (the moments repeat with the seed, what the processes are doing then does not). In the end the journal is held
against what the teams themselves took down: every game is over, executes again to the very same announcements, no
shot is lost, doubled or someone else's, and no turn ran out of time.
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
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from chaos.dying_server import MOMENTS
from integration.mosquitto import Mosquitto
from integration.postgresql import PostgreSQL
from ports import Port
from salvo import messages as m
from salvo.codec.steps import read_input
from salvo_server.core.journal import JournalError, SavedGame
from salvo_server.core.recovery import execute_step, open_table
from salvo_server.storage.journal.database import JournalReader
from salvo_server.storage.transcript import no_status

SALVO = [sys.executable, "-m", "salvo_server"]
BOT = Path(__file__).with_name("bot.py")
SERVER = Path(__file__).with_name("dying_server.py")
FLOODER = Path(__file__).with_name("flooder.py")
#: A server that is not killed before it has had a chance: starting takes about half of that on a busy machine.
_UP_SECONDS = (0.2, 1.2)
#: Two players have joined and placed their fleets, and some salvos are fired; a game has some 180 shots.
_BEGUN_STEPS = 40
_PATIENCE_SECONDS = 60.0


@dataclass
class Report:
    """What was done, and what came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    games: int = 0
    shots: int = 0
    announcements: int = 0
    recovered: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        faults = ", ".join(f"{count} x {name}" for name, count in sorted(self.faults.items()))
        return (
            f"{self.games} games over, {self.shots} shots and {self.announcements} announcements executed again and"
            f" equal, {self.recovered} times a table was taken up in mid-game; {faults}; {self.seconds:.0f} s;"
            f" {len(self.wrong)} things wrong"
        )


class Process:
    """A program that is started again whenever it was killed."""

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self.command = command
        self.log = log
        self.environment = os.environ | environment
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

    def _play(self, url: str) -> None:
        """Let two teams play at each of two tables."""
        self.teams = [self._team(url, table, name) for table in ("", "blue") for name in ("ann", "bob")]

    def _settings(self, broker: Sequence[str], journal: str) -> list[str]:
        """Return what a server is started with."""
        words = ["serve", *broker, "--journal", journal, "--table", "blue"]
        return [*words, "--players", "2", "--over-seconds", "1", "--resume", "always", "--profile", "open"]

    def _team(self, url: str, table: str, name: str) -> Process:
        command = [*SALVO, "join", url, str(BOT), "--team", name, "--secret", f"{name}'s"]
        command += ["--table", table] if table else []
        log = self.folder / f"{table}-{name}.log"
        return Process(command, log, WITNESS_FILE=str(self.folder / f"{table}-{name}.salvos"))

    # --- doing it -----------------------------------------------------------------------------------------------

    def run(self, progress: Callable[[str], None]) -> Report:
        begin = time.monotonic()
        if self.broker:
            self.broker.start()
        with self.database or contextlib.nullcontext():
            self._run(progress)
            self._inspect()
        self.report.seconds = time.monotonic() - begin
        return self.report

    def _run(self, progress: Callable[[str], None]) -> None:
        try:
            for process in self.processes:
                process.start()
            self._until(self._is_open, "a table stands in the journal")
            self._torment(progress)
            while (over := self._games_over()) < self.least_games:
                time.sleep(0.5)
                progress(f"{over} of {self.least_games} games over")
        finally:
            for process in self.processes:
                if process.child is not None and not process.ended():
                    process.send(signal.SIGCONT)
                    process.end(signal.SIGKILL)
            if self.broker:
                self.broker.stop()

    def _torment(self, progress: Callable[[str], None]) -> None:
        """Do to them what this experiment is about."""
        raise NotImplementedError

    # --- looking on ---------------------------------------------------------------------------------------------

    def _until(self, holds: Callable[[], object], what: str) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < end, f"not within {_PATIENCE_SECONDS:g} s: {what}; look into {self.folder}"
            time.sleep(0.1)

    def _reader(self) -> JournalReader:
        return JournalReader(self.journal)

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

    def _inspect(self) -> None:
        witnessed = self._witnessed()
        reader = self._reader()
        rows = reader.games()
        last = {game.table: game.number for game, _ in rows}
        for game, steps in rows:
            if steps and game.number < last[game.table]:
                self._inspect_game(reader.saved(game), witnessed)

    def _inspect_game(self, game: SavedGame, witnessed: dict[tuple[str, str, int, int], list[list[Any]]]) -> None:
        where = f"table {game.opened.table!r}, game {game.opened.number}"
        table = open_table(game, no_status)
        fired: dict[tuple[str, int], list[list[Any]]] = defaultdict(list)
        won = 0
        for number, record in enumerate(game.steps, start=1):
            command = read_input(record.text)
            turn = table.referee.game.turn if table.referee.game else 0
            step = execute_step(table, game, number, record)
            self.report.announcements += len(step.announcements)
            won += sum(isinstance(a, m.GameWon) for a in step.announcements)
            refused = [a for a in step.announcements if isinstance(a, m.CommandRefused)]
            self.report.wrong += [f"{where}: {each}" for each in refused if each.code == "turn_timeout"]
            if isinstance(command, m.Resumed):
                self.report.recovered += 1
            if isinstance(command, m.Fire) and any(isinstance(a, m.ShotLanded) for a in step.announcements):
                fired[command.player, turn].append([command.target, command.x, command.y])
        if won != 1:
            self.report.wrong.append(f"{where}: won {won} times")
        for (player, turn), shots in fired.items():
            chosen = witnessed[game.opened.table, player, game.opened.number, turn]
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
        super().__init__(
            folder,
            given.seed,
            broker=Mosquitto() if given.broker == "mosquitto" else None,
            database=PostgreSQL() if given.journal_kills else None,
        )
        self.given = given
        self.least_games = given.games
        self.port = Port()  # of the embedded broker, which dies with its server
        url = self.broker.url if self.broker else f"mqtt://{self.port.address}"
        where = ["--broker", url] if self.broker else ["--listen", url.removeprefix("mqtt://")]
        command = [sys.executable, str(SERVER), *self._settings(where, self.journal)]
        self.server = Process(command, folder / "server.log")
        port = self.broker.port if self.broker else self.port.number
        flooders = [
            Process([sys.executable, str(FLOODER), str(port), str(given.flood)], folder / "flood.log")
            for _ in range(given.flood > 0)
        ]
        self._play(url)
        self.processes = [self.server, *self.teams, *flooders]

    def _run(self, progress: Callable[[str], None]) -> None:
        with self.port:
            super()._run(progress)

    def _torment(self, progress: Callable[[str], None]) -> None:
        faults = self._faults()
        for number, fault in enumerate(faults, start=1):
            time.sleep(self.random.uniform(*_UP_SECONDS))
            self._die_at(fault) if fault in MOMENTS else getattr(self, f"_{fault}")()
            self.report.faults[fault] += 1
            if self.server.ended():
                raise AssertionError(f"the server ended by itself: {self.server.log.read_text()[-2000:]}")
            progress(f"{number} of {len(faults)} faults, {self._games_over()} games over")

    def _faults(self) -> list[str]:
        given = self.given
        faults = ["kill_server"] * given.server_kills + ["stop_server"] * given.stops + ["end_server"] * given.ends
        faults += ["kill_team"] * given.team_kills + ["stop_team"] * given.stops
        faults += MOMENTS * given.deaths
        faults += ["kill_journal"] * given.journal_kills
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


@contextlib.contextmanager
def work_folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        yield Path(name)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", choices=["mosquitto", "embedded"], default="mosquitto")
    parser.add_argument("--games", type=int, help="at least so many games  [default: 50, embedded 10]")
    parser.add_argument("--server-kills", type=int, help="[default: 200, embedded 20]")
    parser.add_argument("--broker-kills", type=int, default=50)
    parser.add_argument("--journal-kills", type=int, default=0, help="of PostgreSQL, which then has the journal")
    parser.add_argument("--flood", type=int, default=0, help="forged shots a second all the while")
    parser.add_argument("--deaths", type=int, default=2, help="deaths of the server at each step of a message's way")
    parser.add_argument("--team-kills", type=int, default=0)
    parser.add_argument("--stops", type=int, default=10, help="SIGSTOPs of the server, and as many of teams")
    parser.add_argument("--ends", type=int, default=5, help="SIGTERMs of the server")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=Path, help="leave journal and logs in this folder")
    given = parser.parse_args(arguments)
    embedded = given.broker == "embedded"
    given.games = given.games or (10 if embedded else 50)
    given.server_kills = given.server_kills or (20 if embedded else 200)
    return given


def main() -> int:
    given = parse()
    live = sys.stderr.isatty()

    def progress(line: str) -> None:
        if live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    with work_folder(given.keep) as folder:
        report = Chaos(folder, given).run(progress)
    if live:
        print(file=sys.stderr)
    print(report)
    for line in report.wrong[:20]:
        print(f"WRONG {line}")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
