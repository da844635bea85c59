"""Files that a release wrote are read by every later version: ``tests/releases`` has them, as they were written."""

from __future__ import annotations

import gzip
import io
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kit import command_line
from kit.documents import ROOT

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
        pytest.param(["replay", "contest.journal", "--games"], "won by ", id="journal"),
        pytest.param(["replay", "contest.journal", "--check"], "1 game, ", id="game in the journal"),
        pytest.param(["league", "show", "--journal", "contest.journal"], "blue", id="standings"),
        pytest.param(["verify", "red.proof.jsonl"], "fair: game 1", id="proof"),
        pytest.param(["teams", "--roster", "roster.json", "list"], "red", id="roster"),
        pytest.param(["restore", "evening.tar.gz"], "salvo serve", id="backup"),
    ],
)
def test_a_file_of_a_release_is_read(written: Path, words: list[str], printed: str) -> None:
    done = _run(words, written)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    return command_line.run(*words, cwd=folder, environment=environment)


def _replaced(old: bytes, new: bytes) -> Callable[[Path], None]:
    """What gives a file the form of a later version."""

    def change(file: Path) -> None:
        content = file.read_bytes()
        assert old in content
        file.write_bytes(content.replace(old, new, 1))

    return change


def _later_transcript(file: Path) -> None:
    text = gzip.decompress(file.read_bytes())
    assert text.startswith(b'{"transcript":1,')
    file.write_bytes(gzip.compress(text.replace(b'{"transcript":1,', b'{"transcript":9,', 1)))


def _later_journal(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE schema_version SET version_num = '9999'")
    connection.close()


def _later_backup(file: Path) -> None:
    with tarfile.open(file) as old:
        members = [(each, old.extractfile(each).read()) for each in old]  # type: ignore[union-attr]
    with tarfile.open(file, "w:gz") as new:
        for member, content in members:
            later = content.replace(b'"backup": 1,', b'"backup": 9,', 1)
            member.size = len(later)
            new.addfile(member, io.BytesIO(later))


SERVE = "serve --listen 127.0.0.1:0"


@pytest.mark.parametrize(
    ("name", "change", "command", "verdict", "cure"),
    [
        ("game-1.jsonl.gz", _later_transcript, "replay", "unknown_version: ", "install that version or a later one"),
        ("contest.journal", _later_journal, "replay --games", "journal_version: ", "use that one"),
        ("contest.journal", _later_journal, "league show --journal", "journal_version: ", "use that one"),
        ("contest.journal", _later_journal, f"{SERVE} --journal", "journal_version: ", "use that one"),
        ("red.proof.jsonl", _replaced(b'"log":1', b'"log":9'), "verify", "NOT PROVEN: ", "install a later one"),
        ("roster.json", _replaced(b'"roster": 1', b'"roster": 9'), f"{SERVE} --roster", "roster_version: ", "use that"),
        ("identity.key", _replaced(b"identity 1", b"identity 9"), f"{SERVE} --identity", "identity_key: ", "use that"),
        ("evening.tar.gz", _later_backup, "restore", "backup_version: ", "restore it with that one"),
    ],
)
def test_a_file_of_a_later_version_is_refused_by_its_name_with_what_to_do(
    written: Path, name: str, change: Callable[[Path], None], command: str, verdict: str, cure: str
) -> None:
    change(written / name)
    done = _run([*command.split(), name], written)
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert name in output
    assert verdict in output
    assert cure in output
