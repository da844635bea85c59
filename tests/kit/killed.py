"""A contest of programs that are killed and started again."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import threading
from pathlib import Path

from kit import players
from kit.command_line import run
from kit.ports import Port
from kit.processes import without_settings
from kit.waiting import until
from salvo.bots.player import Bot

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


SECONDS = 60.0


#: A bot that leaves time to kill somebody.
BOT = """
import time
import salvo

@salvo.bot
def fire(view):
    time.sleep(0.05)
    return view.untouched.sample(view.shots)
"""


#: Games of some fifty turns, and of eleven at least: nobody wins before the tests have counted to nine.
RULES = """
name = "pond"
like = "salvo"
shots = "one"
width = 6
height = 5

[fleet]
cruiser = 3
boat = 2
raft = 1
"""


class Stage:
    """A server, two teams, a spectator, and their files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        clean = without_settings()
        self.environment = clean | {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self.bot = folder / "bot.py"
        self.bot.write_text(BOT)
        self.rules = folder / "pond.toml"
        self.rules.write_text(RULES)
        self._port = Port()
        self.url = f"mqtt://{self._port.address}"
        self._running: list[subprocess.Popen[str]] = []
        self._first_lines: dict[int, str] = {}  # by process

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        env = self.environment | environment
        process = subprocess.Popen([SALVO, *words], stdout=pipe, stderr=pipe, text=True, env=env)
        self._running.append(process)
        return process

    def serve(self, *settings: str) -> subprocess.Popen[str]:
        """Start the server, with these settings before any others; return when its table is open, or again on."""
        words = ["--listen", self._port.address, "--profile", "open", "--json", "--players", "2"]
        server = self.start("serve", *words, "--over-seconds", "600", "--rules", str(self.rules), *settings)
        assert server.stdout is not None
        read = b""  # no more than a line, or what is buffered then would be lost for `communicate`
        while not read.endswith(b"\n"):
            more = os.read(server.stdout.fileno(), 1)
            assert more, server.communicate()[1]
            read += more
        self._first_lines[server.pid] = read.decode()
        return server

    def output(self, server: subprocess.Popen[str]) -> str:
        """Return all that a server has printed, once it has ended."""
        return self._first_lines[server.pid] + server.communicate(timeout=SECONDS)[0]

    def join(self, team: str) -> subprocess.Popen[str]:
        words = ["join", self.url, str(self.bot), "--team", team, "--games", "1", "--proof", str(self.proof(team))]
        return self.start(*words, SALVO_SECRET=f"secret of {team}")

    def proof(self, name: str) -> Path:
        return self.folder / f"{name}.proof.jsonl"

    def until_salvos(self, name: str, count: int) -> None:
        """Wait until so many salvos are in a file."""
        proof = self.proof(name)
        until(lambda: proof.exists() and proof.read_bytes().count(b'"result"') >= count, shown=self._ask_why)

    def _ask_why(self) -> str:
        """Kill everything, and return what each process said and how each proof ends."""
        for process in self._running:
            process.kill()
        output = [f"{process.args!r} {process.returncode}: {process.communicate()}" for process in self._running]
        ends = [f"{path}: {path.read_text()[-1000:]}" for path in self.folder.glob("*.proof.jsonl")]
        return "\n".join(output + ends)

    def seat(self, team: str, bot: Bot) -> threading.Thread:
        """Let a team that nobody kills play in this process."""
        return players.join(self.url, team, bot, games=1, proof=self.proof(team))

    def run(self, *words: str) -> str:
        """Run a command that has to succeed; return what it prints."""
        done = run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def verify(self, *names: str) -> str:
        return self.run("verify", *(str(self.proof(name)) for name in names))

    def verify_all(self, *names: str) -> str:
        """Return what is to be said of these proofs, whatever it is."""
        return run("verify", *(str(self.proof(name)) for name in names)).stdout

    def entries(self, name: str) -> list[int]:
        lines = [json.loads(line) for line in self.proof(name).read_text().splitlines()]
        return [line["entry"]["n"] for line in lines if "entry" in line]

    def end(self) -> None:
        players.send_all_home()
        for process in self._running:
            process.kill()
            process.communicate()
        self._port.close()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(60)


def ends(team: subprocess.Popen[str]) -> str:
    """Wait until a team has ended, and return what it said of its proof."""
    _, output = team.communicate(timeout=SECONDS)
    assert team.returncode == 0, output
    return output
