"""A file of lines that only grows: one writer, its owner's eyes only, and whatever else is done to it is noticed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from salvo_lab.series.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cup.jsonl"


@pytest.fixture
def file(path: Path) -> Iterator[LinesFile]:
    with closing(LinesFile(path)) as file:
        file.begin({"form": 1}, forget=False)
        file.add([{"game": 1}])
        yield file


WRITTEN = b'{"form":1}\n{"game":1}\n'


def test_a_file_has_one_writer_and_only_its_owner_reads_it(file: LinesFile, path: Path) -> None:
    with pytest.raises(Busy):
        LinesFile(path)
    assert path.read_bytes() == WRITTEN
    assert {each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == {0o600}
    file.close()
    LinesFile(path).close()


def test_lines_and_the_name_of_a_new_file_are_on_the_disk_once_they_are_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: forced.append(os.fstat(descriptor).st_ino))
    with closing(LinesFile(path)) as file:
        file.begin({"form": 1}, forget=False)
        file.add([{"game": 1}])
    lines, folder = path.stat().st_ino, path.parent.stat().st_ino
    assert forced == [lines, folder, lines]


@pytest.mark.parametrize(
    ("there", "forget", "then"),
    [
        (b"", False, b'{"form":2}\n'),
        (WRITTEN, False, WRITTEN),
        (WRITTEN, True, b'{"form":2}\n'),
        (WRITTEN + b'{"ga', False, WRITTEN),
        (b'{"fo', False, b'{"form":2}\n'),
    ],
)
def test_a_reopened_lines_file_continues_after_its_last_whole_line(
    there: bytes, forget: bool, then: bytes, path: Path
) -> None:
    path.write_bytes(there)
    with closing(LinesFile(path)) as file:
        file.begin({"form": 2}, forget=forget)
        assert path.read_bytes() == then
        file.add([{"game": 2}, {"game": 3}])
        assert file.is_as_written()
        file.begin({"form": 2}, forget=False)
        assert file.is_as_written()
    lines = [*then.splitlines(), b'{"game":2}', b'{"game":3}']
    assert whole_lines(path) == list(enumerate(lines, start=1))


def _replaced(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.write_bytes(WRITTEN)


def _linked(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.symlink_to("away")


@pytest.mark.parametrize(
    "change",
    [
        Path.unlink,
        _replaced,
        _linked,
        lambda path: os.truncate(path, len(WRITTEN) - 1),
        lambda path: path.write_bytes(WRITTEN.replace(b"1", b"2")),
        lambda path: path.write_bytes(WRITTEN * 2),
    ],
)
def test_a_file_that_somebody_else_changed_is_not_as_written(
    change: Callable[[Path], object], file: LinesFile, path: Path
) -> None:
    assert file.is_as_written()
    change(path)
    assert not file.is_as_written()


def test_a_file_whose_writing_failed_is_taken_as_written(
    file: LinesFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows how much of a line is on a full disk; it is no sign of another writer."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        file.add([{"game": 2}])
    assert file.is_as_written()
    path.unlink()
    assert file.is_as_written()


def test_a_repeated_line_counts_once_and_a_contradicting_one_is_refused() -> None:
    seen: dict[object, tuple[int, object]] = {}
    lines = [("a", 1), ("b", 2), ("a", 1)]
    assert [is_new(seen, key, number, line) for number, (key, line) in enumerate(lines, start=1)] == [True, True, False]
    with pytest.raises(Contradiction, match="differs from line 2"):
        is_new(seen, "b", 4, 3)
