"""Files that a release wrote are read by every later version: ``tests/releases`` has them, as they were written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kit import command_line
from kit.documents import ROOT

pytestmark = pytest.mark.long

RELEASES = sorted((ROOT / "tests" / "releases").iterdir())


@pytest.fixture(params=RELEASES, ids=lambda release: release.name)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what the release wrote, for its user alone, as the release left it."""
    folder = Path(shutil.copytree(request.param, tmp_path / "written"))
    for file in folder.iterdir():
        file.chmod(0o600)
    return folder


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        pytest.param(["replay", "game-1.jsonl.gz", "--check"], "all come out as they are recorded", id="transcript"),
        pytest.param(["replay", "contest.journal", "--games"], "won by blue", id="journal"),
        pytest.param(["replay", "contest.journal", "--check"], "1 game, ", id="game in the journal"),
        pytest.param(["league", "show", "--journal", "contest.journal"], "blue", id="standings"),
        pytest.param(["verify", "red.proof.jsonl"], "fair: game 1", id="proof"),
        pytest.param(["teams", "--roster", "roster.json", "list"], "red", id="roster"),
        pytest.param(["restore", "evening.tar.gz"], "salvo serve", id="backup"),
    ],
)
def test_a_file_of_a_release_is_read(written: Path, words: list[str], printed: str) -> None:
    environment = {"XDG_STATE_HOME": str(written / "state"), "XDG_CONFIG_HOME": str(written / "config")}
    done = command_line.run(*words, cwd=written, environment=environment)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout
