"""The standard streams of a process: those that its caller has closed, a reader that has gone, a terminal that was
closed, and code pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from typing import Final

#: What a shell reports of a program that wrote to a pipe whose reader had gone: 128, and the number of SIGPIPE.
_UNREAD: Final = 128 + 13


@contextlib.contextmanager
def until_unread() -> Iterator[None]:
    """End this process quietly, as others end, once nobody reads its output, such as behind ``| head``."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        for number, stream in ((1, sys.__stdout__), (2, sys.__stderr__)):
            try:
                if stream is not None:
                    stream.flush()
            except BrokenPipeError:  # else the interpreter tries once more at its end, and complains
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        raise SystemExit(_UNREAD) from None


def open_closed() -> None:
    """Open what the caller has closed of the standard streams; the next file would get its number, and all output."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def let_go_of_terminal() -> bool:
    """Let standard streams at a terminal that was closed lead nowhere; return whether there was one.

    To write there is an error, and what ends a command writes: a screen that is put back, the end of a line.
    """
    gone = [number for number in range(3) if _was_closed(number)]
    for number in gone:
        with open(os.devnull, "r+b", buffering=0) as nowhere:
            os.dup2(nowhere.fileno(), number)
    return bool(gone)


def _was_closed(number: int) -> bool:
    """Whether a file is a terminal that was closed."""
    if not hasattr(select, "poll") or not stat.S_ISCHR(os.fstat(number).st_mode):
        return False
    looks = select.poll()
    looks.register(number, 0)
    return any(event & select.POLLHUP for _, event in looks.poll(0))


def escape_unprintable() -> None:
    """Print what the output's encoding lacks as escapes: output that goes to a file has a code page on Windows."""
    output = sys.stdout
    if isinstance(output, io.TextIOWrapper) and output.errors == "strict":
        output.reconfigure(errors="backslashreplace")
