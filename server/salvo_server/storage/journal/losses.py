"""Whether a journal may lack the last of what was committed to it.

Commits that are not safe against a loss of power are with the system until it writes them: they survive the end of the
process, but not that of the machine. So the journal has what the last server relied on: the boot of the machine, or the
start of the database. Damage of SQLite's write-ahead log also shows in its index (the file ``-shm``): that has how far
the log reached, and SQLite, which reads the log up to the first frame that is not sound, makes a new one.
"""

from __future__ import annotations

import os
import struct
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

#: What a journal says of itself, in place of a boot, when it lacks something, or may do so.
CUT: Final = "cut"
COPY: Final = "copy"
_REASONS: Final = {
    CUT: "the end of its journal is lost",
    COPY: "its journal is a copy, and the server went on after it",
}
_ANOTHER_BOOT: Final = (
    "the machine or the database has started again, and its journal was not safe against a power failure"
)

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
#: Of the index: whether it is in use, its last frame, the log's salts; then how many frames the database has.
_INDEX: Final = struct.Struct("=12xB3xI12x8s56xI")


def boot_id() -> str | None:
    """Return what the present boot of this machine is called; None where the system has no name for it."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def why_behind(relied_on: str | None, present: str | None, *, ended: bool) -> str:
    """Return why a journal may lack what was announced; empty where it has everything.

    Args:
        relied_on: the boot, or the database's start, without whose end nothing of the journal could be lost; None if
            nothing could be lost at all; or ``CUT``, ``COPY``.
        present: the present one.
        ended: whether the last server shut down cleanly, which everything before it has survived.
    """
    if relied_on in _REASONS:
        return _REASONS[relied_on]
    return _ANOTHER_BOOT if relied_on not in (None, present) and not ended else ""


class LogIndex(NamedTuple):
    """What the index of a write-ahead log has of it (https://sqlite.org/walformat.html).

    Attributes:
        frames: how many frames are committed.
        salts: which differ whenever the log begins again.
        stored: how many of these frames the database has, too.
    """

    frames: int = 0
    salts: bytes = b""
    stored: int = 0

    @classmethod
    def of(cls, database: Path, later: ExitStack) -> LogIndex:
        """Read the index of a SQLite file; that of an empty log where there is none.

        Args:
            later: closes the index, once this process has no connection to the database any more. A process that
                closes any descriptor of a file loses all its locks on it. Another process that opens the database
                would then believe the index abandoned and truncate it, while this one has it mapped into memory.
        """
        try:
            descriptor = os.open(f"{database}-shm", os.O_RDONLY)
            later.callback(os.close, descriptor)
            in_use, frames, salts, stored = _INDEX.unpack(os.read(descriptor, _INDEX.size))
        except (OSError, struct.error):
            return cls()
        return cls(frames, salts, stored) if in_use else cls()

    def is_cut(self, found: LogIndex) -> bool:
        """Whether commits were lost, by the index that SQLite made of what it found of the log."""
        if not found.frames and self.stored == self.frames:
            return False
        return self.frames > 0 and (found.salts != self.salts or found.frames < self.frames)
