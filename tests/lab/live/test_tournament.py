"""``salvo tournament`` as people use it: killed, interrupted, gone on with."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from kit.processes import started, without_settings
from kit.waiting import until
from salvo_lab.templates import FOLDER

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")

#: The last one's games do not end while there is a file ``hold`` beside it.
CUP = f"""\
name = "five"
format = "FORMAT"
games = GAMES
seed = 5
rules = "pond.toml"

[time]
decision_seconds = 3600
bank_seconds = 3600

[bots]
hunter = "hunter"
staying = "exec:python3 {FOLDER / "program.py"}"
random = "random"
rude = "rude"
held = "held.py"
"""
POND = """\
name = "pond"
like = "salvo"
width = 6
height = 6
[fleet]
cruiser = 3
raft = 1
"""
HELD = """\
import time
from pathlib import Path

import salvo

HOLD = Path(__file__).with_name("hold")


@salvo.bot
def fire(view):
    while HOLD.exists():
        time.sleep(0.01)
    return view.untouched.sample(view.shots)
"""


def _cup(folder: Path, form: str, games: int) -> Path:
    folder.mkdir()
    (folder / "cup.toml").write_text(CUP.replace("FORMAT", form).replace("GAMES", str(games)))
    (folder / "pond.toml").write_text(POND)
    (folder / "held.py").write_text(HELD)
    return folder


def _play(folder: Path) -> subprocess.CompletedProcess[str]:
    return run("tournament", "run", "cup.toml", "--jobs", "1", cwd=folder)


def _shown(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(run("tournament", "show", "cup.toml", "--json", cwd=folder).stdout)
    return record


def _interrupt(folder: Path, number: signal.Signals) -> str:
    """Start a run and send it a signal when all games are on the disk before the first that is held."""
    command, pipe = [SALVO, "tournament", "run", "cup.toml", "--jobs", "2"], subprocess.PIPE
    environment, hold, stored = without_settings(), folder / "hold", folder / "cup.games.jsonl"
    hold.touch()
    with started(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, start_new_session=True) as running:
        until(
            lambda: running.poll() is not None or (stored.exists() and stored.read_bytes().count(b"\n") >= STORED),
            seconds=240,
        )
        assert running.poll() is None, running.communicate()
        if number is signal.SIGINT:
            os.killpg(running.pid, number)  # as a terminal does
        else:
            running.send_signal(number)
        running.wait(60)
        hold.unlink()  # its processes, which may still be at a game, have its output open
        _, err = running.communicate(timeout=60)
    return err


#: It plays to lose, and in its second game does something to the results as soon as there is one.
CHEAT = """\
import os, time
from pathlib import Path

import salvo

RESULTS = Path(__file__).with_name("cup.games.jsonl")
GAMES = []


def rows():
    return RESULTS.read_text().splitlines(keepends=True)


class Cheat(salvo.Bot):
    def prepare(self, name, seed, game):
        super().prepare(name, seed, game)
        GAMES.append(game)
        if len(GAMES) == 2:
            while len(rows()) < 4:
                time.sleep(0.01)
            DOES

    def choose_salvo(self, view):
        return ()
"""
CHEATS = {
    "swaps the places": (
        "RESULTS.write_text(''.join(rows()).replace('\"places\":[2,1]', '\"places\":[1,2]'))",
        "game 1 of match 1 differs",
    ),
    "replaces the file": (
        "new = Path('new'); new.write_text(rows()[0]); new.rename(RESULTS)",
        "game 1 of match 1 is gone, game 2 of match 1 is gone, game 3 of match 1 is gone",
    ),
    "puts a pipe there": ("RESULTS.unlink(); os.mkfifo(RESULTS)", "it was removed"),
    "writes no games": (
        "RESULTS.write_text('won\\n')",
        "line 1: not written by this version's salvo tournament or salvo league",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_bot_cannot_change_the_results_of_a_tournament(cheat: str, tmp_path: Path) -> None:
    does, record = CHEATS[cheat]
    (tmp_path / "cheat.py").write_text(CHEAT.replace("DOES", does))
    (tmp_path / "cup.toml").write_text(
        'name = "cup"\ngames = 3\nseed = 1\n[time]\ndecision_seconds = 60\nbank_seconds = 600\n'
        '[bots]\ncheat = "cheat.py"\nrandom = "random"\n'
    )
    (tmp_path / "new").touch()
    played = run("tournament", "run", "cup.toml", "--jobs", "1", "--json", cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    warning = (
        f"warning: cup.games.jsonl was changed while games were played: {record}; it has the games as played again"
    )
    assert played.stderr.startswith(warning), played.stderr
    assert (tmp_path / "cup.games.1.jsonl").exists()
    table = json.loads(played.stdout)
    assert [(row["bot"], row["wins"]) for row in table["table"]] == [("random", 3), ("cheat", 0)]
    assert _shown(tmp_path) == table


#: The first game of each process; what it plays next is saved together.
NOT_HELD = 2
#: Lines with these: before them stand the settings, and the version of each bot.
STORED = 1 + 5 + NOT_HELD


@pytest.mark.long
def test_a_killed_tournament_that_goes_on_ends_like_one_run_through(tmp_path: Path) -> None:
    through, killed = (_cup(tmp_path / name, "round_robin", 2) for name in ("through", "killed"))
    whole = _play(through)
    assert whole.returncode == 0, whole.stderr
    _interrupt(killed, signal.SIGKILL)
    half = _shown(killed)
    assert NOT_HELD <= half["games_played"] < 20
    assert not half["complete"]
    assert _play(killed).stdout == whole.stdout
    record = _shown(through)
    assert _shown(killed) == record
    assert (record["complete"], len(record["games"])) == (True, 20)
    assert [row["games"] for row in record["table"]] == [8] * 5
    assert record["table"][-1]["bot"] == "rude"


def test_ctrl_c_prints_the_command_that_goes_on(tmp_path: Path) -> None:
    folder = _cup(tmp_path / "cup", "round_robin", 2)
    err = _interrupt(folder, signal.SIGINT)
    assert "Traceback" not in err
    advice = re.search(r"(\d+) of 20 games are played and saved; go on: (salvo tournament run cup.toml)", err)
    assert advice is not None
    assert int(advice[1]) >= NOT_HELD
    shown = run("tournament", "show", "cup.toml", cwd=folder)
    assert f"go on:  {advice[2]}" in shown.stdout
    whole = run(*shlex.split(advice[2])[1:], "--jobs", "1", cwd=folder)
    assert whole.returncode == 0
    assert "five: round_robin, rules pond.toml, seed 5, 20 games" in whole.stdout
