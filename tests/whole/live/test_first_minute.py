"""What somebody sees who has just cloned the repository: ``make demo``, with pip and with uv."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.documents import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_fresh_clone_plays_the_demo_from_a_small_environment_which_then_becomes_the_workshop(
    installer: str, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    path = ["/usr/bin", "/bin"]
    if installer == "uv":
        what = ["-m", "pip", "install", "--quiet", "--target", str(tmp_path / "uv"), "uv"]
        subprocess.run([sys.executable, *what], check=True)
        path.insert(0, str(tmp_path / "uv/bin"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SALVO_", "PYTHON"))}
    environment |= {"PATH": ":".join(path), "PYTHON": sys.executable}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=clone, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    shown = run("make", "demo")
    assert re.search(r"^winner: ", shown, re.MULTILINE)
    assert re.search(r"^next, in this shell:\n  \. \.venv/bin/activate\n", shown, re.MULTILINE)
    assert (clone / ".venv/pip.log").exists() == (installer == "pip")
    assert not (clone / ".venv/bin/pytest").exists()
    run("make", ".venv/ready")
    run(".venv/bin/pip", "check")
    run(".venv/bin/pytest", "--quiet", "tests/sdk/test_rules.py")
    assert run("make", "demo").startswith("broker for an MQTT explorer: ")
