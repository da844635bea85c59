"""Write the files of a release again: ``PYTHONPATH=tests python -m release.files``, until that version has a tag.

A contest of two teams on a real server: its roster, identity, journal, transcript, a team's proof and a backup, in
``tests/releases/MAJOR.MINOR``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from kit.ports import Port
from kit.processes import without_settings
from release.dist import ROOT
from salvo.system.distribution import __version__

_FOLDER: Final = ROOT / "tests" / "releases" / __version__.rpartition(".")[0]
_TEAMS: Final = ("red", "blue")
_ROSTER, _IDENTITY, _JOURNAL, _PROOF, _BACKUP = (
    "roster.json",
    "identity.key",
    "contest.journal",
    "red.proof.jsonl",
    "evening.tar.gz",
)


def _start(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    command = [str(Path(sys.executable).with_name("salvo")), *words]
    return subprocess.Popen(
        command, cwd=folder, env=without_settings(**own, **more), stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )


def _run(folder: Path, *words: str) -> str:
    output, _ = _start(folder, *words).communicate()
    return output


def _play(folder: Path, address: str) -> None:
    """Play one game."""
    config = f'listen = "{address}"\nplayers = 2\nover_seconds = 1\ngames = 1\njournal = "{_JOURNAL}"\n'
    (folder / "contest.toml").write_text(f'{config}roster = "{_ROSTER}"\nidentity = "{_IDENTITY}"\n')
    for team in _TEAMS:
        added = json.loads(_run(folder, "teams", "--roster", _ROSTER, "add", team, "--json"))
        (folder / f"{team}.secret").write_text(added["secret"])
    server = _start(folder, "serve", "--config", "contest.toml", "--transcripts", ".")
    players = [
        _start(
            folder, "join", f"mqtt://{address}", "hunter", "--team", team, "--games", "1",
            "--proof", f"{team}.proof.jsonl", SALVO_SECRET_FILE=f"{team}.secret",
        )
        for team in _TEAMS
    ]  # fmt: skip
    for process in (*players, server):
        process.communicate()
    _run(folder, "backup", "--config", "contest.toml", _BACKUP)


def main() -> None:
    """Write them."""
    with tempfile.TemporaryDirectory() as name, Port() as port:
        folder = Path(name)
        _play(folder, port.address)
        written = (
            _ROSTER,
            f"{_ROSTER}.key",
            _IDENTITY,
            _JOURNAL,
            f"{_JOURNAL}.key",
            _PROOF,
            _BACKUP,
            "game-1.jsonl.gz",
        )
        _FOLDER.mkdir(parents=True, exist_ok=True)
        for each in written:
            shutil.copyfile(folder / each, _FOLDER / each)
            print(f"{_FOLDER / each}: {os.path.getsize(_FOLDER / each)} bytes")


if __name__ == "__main__":
    main()
