"""The SDK and the laboratory on a system without what only Unix has, such as Windows: simulated by taking it away."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kit.command_line import run
from kit.person_at_a_terminal import pond_file
from kit.processes import started, without_settings
from salvo.bots.programs.process import Program
from salvo.bots.sources import load
from salvo.errors import BotError
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

pytestmark = pytest.mark.long

#: Python reads it before anything else, in every process. What only needs it since this is no Windows is loaded first.
_ELSEWHERE = """
import asyncio, multiprocessing.popen_spawn_posix, multiprocessing.spawn, os, platformdirs, subprocess, sys, tempfile
import signal
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("getuid", "geteuid", "killpg", "sched_getaffinity", "setsid", "fork", "register_at_fork", "waitid"):
    delattr(os, name)
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGUSR1", "SIGUSR2", "pthread_sigmask", "sigtimedwait"):
    delattr(signal, name)
"""
#: What output to a file is encoded in there.
_CODE_PAGE = "cp1252"
BOT = """
import salvo

@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)
"""
_IMPORT_ALL = """
import importlib, pkgutil, salvo, salvo_lab
for package in (salvo, salvo_lab):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        # The protocol's own package chooses by sys.platform, which no test can change in time.
        if not module.name.endswith(("__main__", "language_model.tools")) and ".templates." not in module.name:
            importlib.import_module(module.name)
"""


def _run(folder: Path, *words: str, elsewhere: str = _ELSEWHERE) -> str:
    (folder / "sitecustomize.py").write_text(elsewhere)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *words]
    environment = without_settings(PYTHONPATH=path, PYTHONIOENCODING=_CODE_PAGE, PYTHONUTF8="0")
    environment.pop("HOME", None)
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(_CODE_PAGE)


@pytest.mark.long
def test_every_module_of_the_sdk_and_the_lab_is_imported(tmp_path: Path) -> None:
    assert _run(tmp_path, "-c", _IMPORT_ALL) == ""


def test_a_program_plays_where_an_ended_process_cannot_be_left_a_zombie(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS before Python 3.13."""
    monkeypatch.delattr(os, "waitid")
    bots = {"program": load(f"exec:{sys.executable} -m salvo_lab.programs random")(), "random": RandomBot()}
    with contextlib.closing(bots["program"]):
        assert arena.play(bots, seed=1).turns > 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tournament", "run", "cup.toml", "--jobs", "2"), "hunter"),
        (("play", "hunter", "exec:{python} -m salvo_lab.programs random", "--seed", "1"), "winner: "),
        (("play", "\u6230.py", "random", "--seed", "1"), "places: 1. \\u6230, 2. random"),
    ],
    ids=["tournament", "program", "name it cannot print"],
)
def test_every_command_that_tries_a_bot_runs_where_teams_sit(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('name = "cup"\ngames = 2\n[bots]\nhunter = "hunter"\nrandom = "random"\n')
    (tmp_path / "\u6230.py").write_text(BOT)
    words = tuple(word.format(python=sys.executable) for word in words)
    assert says in _run(tmp_path, "-m", "salvo", *words)


@pytest.mark.long
def test_a_bot_joins_a_contest(tmp_path: Path) -> None:
    serve = ["-m", "salvo", "serve", "--listen", "127.0.0.1:0", "--profile", "open", "--players", "2", "--json"]
    serve += ["--rules", pond_file(tmp_path, "salvo")]
    with started([sys.executable, *serve], stdout=subprocess.PIPE, env=without_settings()) as server:
        assert server.stdout is not None
        join = ["-m", "salvo", "join", json.loads(server.stdout.readline())["url"], "hunter", "--games", "1", "--team"]
        with started([sys.executable, *join, "ann"], stdout=subprocess.PIPE, env=without_settings()) as other:
            # The file of known servers is locked, on Windows by another module, which no test can put in its place.
            assert "wins" in _run(tmp_path, *join, "bob", elsewhere=_ELSEWHERE.replace('"fcntl", ', ""))
            assert other.wait() == 0


def test_a_program_is_refused_on_windows_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(["bot"])
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "name", "nt")
        with pytest.raises(BotError) as refused:
            program.start()
    assert str(refused.value) == "cannot_start: bot: programs need Linux or macOS; use a bot in Python, or WSL"


_OF_LINUX = {"serve": "salvo_server", "web": "salvo_watch", "league": "salvo_league", "gateway": "salvo_gateways"}


@pytest.mark.parametrize("command", [name for name, package in _OF_LINUX.items() if find_spec(package)])
def test_a_command_that_needs_linux_warns_on_other_systems_with_a_remedy(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = run(command, "--help")
    monkeypatch.setattr(sys, "platform", "darwin")
    elsewhere = run(command, "--help")
    assert here.stderr == ""
    assert elsewhere.stderr == (
        f"warning: salvo {command} needs Linux: it was never tried on darwin; "
        "use a machine with Linux, Docker, or on Windows WSL\n"
    )
