"""A file of JSON lines that only grows: what a tournament or a league came to, kept whatever happens.

A line is on the disk when :meth:`LinesFile.add` returns. The partial line of a killed process is cut off when the file
is opened again; no reader sees it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from salvo.errors import MissingExtra
from salvo_server.storage.atomic_file import sync_folder

try:
    import filelock
except ModuleNotFoundError:
    raise MissingExtra("a tournament", "tournament") from None

#: Another process writes to the file.
Busy = filelock.Timeout


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file that were written to their end; none when there is no such file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        whole, newline, _ = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return []
    return whole.split(b"\n") if newline else []


class LinesFile:
    """A file that one process at a time writes to; only its owner may read it."""

    def __init__(self, path: Path) -> None:
        """Keep other processes from writing.

        Raises:
            Busy: another one does already.
            OSError: the lock cannot be made.
        """
        self._path = path
        self._lock = filelock.FileLock(f"{path}.lock", thread_local=False)
        self._lock.acquire(timeout=0)
        self._file: BinaryIO | None = None

    def begin(self, head: Mapping[str, Any], *, anew: bool) -> None:
        """Open the file for writing.

        Args:
            head: the first line of a file without one.
            anew: whether to forget what is there.

        Raises:
            OSError: it cannot be written.
        """
        self._file = open(self._path, "ab", opener=partial(os.open, mode=0o600))  # noqa: SIM115
        whole = 0 if anew else self._path.read_bytes().rfind(b"\n") + 1
        self._file.truncate(whole)
        if not whole:
            self.add([head])
            sync_folder(self._path.parent)  # the file's name, too

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write lines; they are on the disk when this returns.

        Raises:
            OSError: they cannot be written.
        """
        assert self._file is not None
        self._file.write(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let others write."""
        if self._file is not None:
            self._file.close()
        self._lock.release()
