"""A file is replaced atomically, with the mode asked for, or stays as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from salvo_server.storage.atomic_file import replace_file


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


def test_what_cannot_be_replaced_stays_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
