"""``salvo evening DIR --rehearse``: a whole evening, before anybody comes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.command_line import run
from kit.ports import Port
from kit.processes import processes, without_settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an evening of six teams and two rounds, at ports of this machine."""
    folder = tmp_path / "cup"
    done = run("evening", str(folder), "--teams", "6", "--hours", "0.3", "--name", "Hack Night Cup")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def served(folder: Path) -> Path:
    with Port() as broker, Port() as web:
        file = folder / "contest.toml"
        text = file.read_text().replace("0.0.0.0:1883", broker.address).replace("0.0.0.0:8080", web.address)
        file.write_text(re.sub(r"rounds = \d+", "rounds = 2", text))
        return folder


def test_a_rehearsal_goes_through_an_evening_and_leaves_nothing_behind(served: Path, tmp_path: Path) -> None:
    folder, temporary = served, tmp_path / "temporary"
    temporary.mkdir()
    before = sorted(folder.iterdir())
    command = [sys.executable, "-m", "salvo", "evening", str(folder), "--rehearse"]
    own = without_settings(TMPDIR=str(temporary))
    done = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line.partition(" ")[2] for line in done.stdout.splitlines() if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert said[0] == "5 teams are here, team6 is late"
    assert "the server was killed; the same command goes on with all games" in said
    assert said[-1].startswith("it is over: 1. team")
    assert "teams on other machines do not reach" in done.stdout
    assert sorted(folder.iterdir()) == before
    assert list(temporary.iterdir()) == []
    assert not [each.command for each in processes() if str(temporary) in each.command]
