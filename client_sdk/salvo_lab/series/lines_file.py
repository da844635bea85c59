"""A file of JSON lines that only grows: what a tournament or a league came to, kept whatever happens.

A line is on the disk when :meth:`LinesFile.add` returns. The partial line of a killed process is cut off when the file
is opened again; no reader sees it. A file that went through an editor is read as it was: blank lines are skipped, and a
last line is whole without its line feed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from salvo.errors import MissingExtra
from salvo.system.atomic_file import sync_folder
from salvo.system.text_files import end_last_line, lines_of

try:
    import filelock
except ModuleNotFoundError:
    raise MissingExtra("a tournament", "tournament") from None

#: Another process writes to the file.
Busy = filelock.Timeout


def whole_lines(path: Path) -> list[tuple[int, bytes]]:
    """Return the lines of a file that were written to their end, with their numbers; none when there is no such file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            numbered = enumerate(lines_of(file), start=1)
            return [(number, line[:-1]) for number, line in numbered if line.endswith(b"\n") and line != b"\n"]
    except FileNotFoundError:
        return []


class Contradiction(ValueError):
    """Two lines about the same thing differ."""


def is_new(seen: dict[Hashable, tuple[int, object]], key: Hashable, number: int, line: object) -> bool:
    """Return whether a line is the first with its key; one that stands twice counts once.

    Raises:
        Contradiction: another line with this key is different.
    """
    first, before = seen.setdefault(key, (number, line))
    if before != line:
        raise Contradiction(f"differs from line {first} about the same game; remove one of the two")
    return first == number


class LinesFile:
    """A file that one process at a time writes to; only its owner may read it."""

    def __init__(self, path: Path) -> None:
        """Keep other processes from writing.

        Raises:
            Busy: another one does already.
            OSError: the lock cannot be made.
        """
        self._path = path
        self._lock = filelock.FileLock(f"{path}.lock", mode=0o600, thread_local=False)
        self._lock.acquire(timeout=0)
        self._file: BinaryIO | None = None
        self._written = hashlib.blake2b()  # of all that should be there
        self._is_whole = True  # whether everything could be written

    def begin(self, head: Mapping[str, Any], *, forget: bool) -> None:
        """Open the file for writing.

        Args:
            head: the first line of a file without one.
            forget: whether to remove the lines that are there.

        Raises:
            OSError: it cannot be written.
        """
        if self._file is not None:
            self._file.close()
        self._file = open(self._path, "a+b", opener=partial(os.open, mode=0o600))  # noqa: SIM115
        if forget:
            self._file.truncate(0)
        end_last_line(self._file)
        self._written = self._digest()
        if not whole_lines(self._path):
            self.add([head])
            sync_folder(self._path.parent)  # the file's name, too

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write lines; they are on the disk when this returns.

        Raises:
            OSError: they cannot be written.
        """
        assert self._file is not None
        written = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        try:
            self._file.write(written)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._written.update(written)
        except BaseException:  # Ctrl-C, too: then nobody knows how much of it is there
            self._is_whole = False
            raise

    def is_as_written(self) -> bool:
        """Whether nobody else has changed or replaced the file since :meth:`begin`.

        Where writing has failed or was interrupted, it cannot be known, and is true.
        """
        assert self._file is not None
        if not self._is_whole:
            return True
        try:
            there = os.stat(self._path, follow_symlinks=False)
        except OSError:
            return False
        same = os.path.samestat(there, os.fstat(self._file.fileno()))
        return same and self._digest().digest() == self._written.digest()

    def _digest(self) -> hashlib.blake2b:
        """Return the digest of what is there now."""
        assert self._file is not None
        self._file.seek(0)
        digest = hashlib.blake2b()
        while chunk := self._file.read(1 << 20):
            digest.update(chunk)
        return digest

    def close(self) -> None:
        """Let others write."""
        if self._file is not None:
            self._file.close()
        self._lock.release()
