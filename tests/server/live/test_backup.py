"""The server's machine is lost in mid-game: another one, with nothing but a backup, takes its place and its address.

Both teams' programs run all the time, and remember the server's key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.command_line import run
from kit.killed import SECONDS, Stage, kill

#: Fires at random, and waits from the turn on that a file says.
_BOT = """
import pathlib, time
import salvo

@salvo.bot
def fire(view):
    while view.turn >= int(pathlib.Path({!r}).read_text()):
        time.sleep(0.01)
    return view.untouched.sample(view.shots)
"""


class Machines(Stage):
    """The machine that is lost, then the one that takes its place; and two teams."""

    def play_until(self, turn: int) -> None:
        """Let the teams play until this turn."""
        halt = self.folder / "halt"
        halt.with_suffix(".new").write_text(str(turn))
        halt.with_suffix(".new").replace(halt)
        self.bot.write_text(_BOT.format(str(halt)))

    def run(self, *words: str) -> str:
        done = run(*words, environment=self.environment | {"SALVO_LISTEN": self.url.removeprefix("mqtt://")})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def restored(self, archive: Path) -> None:
        """Restore the backup on an empty machine, and start the server there."""
        self.environment["XDG_STATE_HOME"] = str(self.folder / "second")
        assert "--resume always" in self.run("restore", str(archive))
        self.serve("--resume", "always")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(tmp_path)
    yield machines
    machines.end()


def test_teams_detect_a_server_restored_to_an_earlier_point_of_a_game(machines: Machines, tmp_path: Path) -> None:
    server = machines.serve()
    machines.play_until(4)
    teams = [machines.join(name) for name in ("a", "b")]
    machines.until_salvos("a", 3)
    machines.run("backup", str(tmp_path / "evening.tar.gz"))
    machines.play_until(9)
    for name in ("a", "b"):
        machines.until_salvos(name, 8)
    kill(server)
    machines.restored(tmp_path / "evening.tar.gz")
    machines.play_until(1000)
    for team in teams:
        _, output = team.communicate(timeout=SECONDS)
        assert "error: unfair: " in output
    verified = run("verify", *(str(machines.proof(name)) for name in ("a", "b"))).stdout
    assert verified.count("NOT FAIR: the server contradicts itself: two histories were signed after entry ") == 2
