"""The SDK and the laboratory on a system without what only Unix has, such as Windows: simulated by taking it away."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.sources import load
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

#: Python reads it before anything else, in every process. What only needs it since this is no Windows is loaded first.
_ELSEWHERE = """
import asyncio, multiprocessing.popen_spawn_posix, multiprocessing.spawn, os, platformdirs, subprocess, sys, tempfile
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("getuid", "geteuid", "killpg", "sched_getaffinity", "setsid", "fork", "register_at_fork", "waitid"):
    delattr(os, name)
"""
_IMPORT_ALL = """
import importlib, pkgutil, salvo, salvo_lab
for package in (salvo, salvo_lab):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        # The protocol's own package chooses by sys.platform, which no test can change in time.
        if not module.name.endswith(("__main__", "human.mcp")) and ".templates." not in module.name:
            importlib.import_module(module.name)
"""


def _run(folder: Path, *words: str) -> str:
    (folder / "sitecustomize.py").write_text(_ELSEWHERE)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, *words]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
        (("play", "hunter", "random", "--seed", "1"), "winner: "),
        (("solo", "hunter", "--boards", "20", "--jobs", "2"), "salvos:"),
        (("compare", "hunter", "random", "--games", "40", "--jobs", "2"), "hunter"),
        (("play", "hunter", "random", "--games", "40", "--jobs", "2"), "wins:   "),
        (("tournament", "run", "cup.toml", "--jobs", "2"), "hunter"),
        (("play", "hunter", "exec:{python} -m salvo_lab.programs random", "--seed", "1"), "winner: "),
    ],
    ids=["play", "solo", "compare", "play --games", "tournament", "program"],
)
def test_a_bot_is_tried_out(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('name = "cup"\ngames = 2\n[bots]\nhunter = "hunter"\nrandom = "random"\n')
    words = tuple(word.format(python=sys.executable) for word in words)
    assert says in _run(tmp_path, "-m", "salvo", *words)
