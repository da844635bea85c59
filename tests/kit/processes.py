"""Programs that tests start: whatever becomes of the test, none is left, and none of its pipes is open."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple


class Process(NamedTuple):
    """A process of this machine.

    Attributes:
        state: a letter, ``Z`` of one that has ended and whose parent has not asked how.
    """

    number: int
    state: str
    parent: int
    group: int
    command: str


def processes() -> Iterator[Process]:
    """Return all processes of this machine, which needs Linux and not the program ``ps``."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            state, parent, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            command = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
            yield Process(int(folder.name), state, int(parent), int(group), command)


def without_settings(**more: str) -> dict[str, str]:
    """Return the environment for a program: this one's, without the variables that Salvo reads, and more."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")} | more


@contextmanager
def started(command: Sequence[str], **given: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a program beside a test, and kill it at the end if it is there still.

    Left to the garbage collector it would be a warning, and so a failure, of whatever test is on by then.
    """
    with subprocess.Popen(command, text=True, **given) as process:
        try:
            yield process
        finally:
            process.kill()
