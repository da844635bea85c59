"""A file is replaced atomically, with the mode asked for, or stays as it was."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from salvo.system.atomic_file import create_file, replace_file


@pytest.mark.parametrize(("mode", "has"), [(0o666, 0o644), (0o600, 0o600)])
def test_a_replaced_file_has_the_mode_asked_for_less_the_umask(tmp_path: Path, mode: int, has: int) -> None:
    path = tmp_path / "roster"
    path.write_bytes(b"old")
    path.chmod(0o640)
    before = os.umask(0o022)
    try:
        replace_file(path, b"new", mode)
    finally:
        os.umask(before)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", has)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_replacement_of_a_file_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_a_file_through_a_symbolic_link_changes_its_target(tmp_path: Path) -> None:
    path, link = tmp_path / "roster", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_created_once_on_a_memory_stick_too(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:

        def refused(*_: object) -> None:
            raise PermissionError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "folder" / "key"
    assert create_file(path, b"first")
    assert not create_file(path, b"second")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"first", 0o600)
    assert list(path.parent.iterdir()) == [path]


_RECORDED = Path(__file__).parents[1] / "golden/v1/2-players-small.jsonl.gz"
#: What writes a file in one piece, and the files that it writes.
_WRITERS: dict[str, tuple[list[str], list[str]]] = {
    "salvo new": (["new", "mine.py"], ["mine.py"]),
    "salvo new, a project": (["new", "mine/"], ["mine/bot.py", "mine/README.md"]),
    "salvo tournament init": (["tournament", "init", "cup.toml"], ["cup.toml"]),
    "salvo mosquitto": (["mosquitto", "broker", "--plugin", "x.so"], ["broker/mosquitto.conf"]),
    "salvo mosquitto, open": (["mosquitto", "broker", "--profile", "open"], ["broker/mosquitto.conf"]),
    "salvo tls": (["tls", "keys"], ["keys/server.pem", "keys/server.key"]),
    "a recorded game": (["play", "random", "random", "--record", "a.jsonl.gz"], ["a.jsonl.gz"]),
    "a page": (["explain", str(_RECORDED), "--html", "a.html", "--fleets", "100"], ["a.html"]),
}


@pytest.mark.parametrize(("words", "files"), _WRITERS.values(), ids=_WRITERS)
def test_no_file_is_seen_before_it_is_whole(
    words: list[str], files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is killed while it writes leaves no half of a file: under its own name, it appears with one call."""
    for name in ("link", "rename", "replace"):
        whole = getattr(os, name)

        def dies(source: str, target: str, *, _whole: Any = whole, **given: Any) -> None:
            if str(target).endswith(tuple(files)):
                raise OSError(errno.EIO, "killed")
            _whole(source, target, **given)

        monkeypatch.setattr(os, name, dies)
    done = run(*words, cwd=tmp_path, environment={"SALVO_ROSTER": str(tmp_path / "roster.json")})
    assert done.returncode != 0, done.stdout
    assert "killed" in done.stderr
    assert not any((tmp_path / name).exists() for name in files)
