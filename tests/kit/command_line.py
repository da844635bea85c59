"""The command line called in this process: what its caller sees, without a new Python for every call.

Signals, terminals, closed streams, process trees and what is left when the process ends need a real process.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn
from unittest.mock import patch

import pytest

from kit.processes import without_settings
from salvo.bots.programs import linux
from salvo.cli import main

#: How long a command may take, as a guard against one that never ends.
_MAX_SECONDS: Final = 60
#: Signals that commands handle, as far as the system has them.
_HANDLED: Final = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)
]
_HAS_ALARM: Final = hasattr(signal, "SIGALRM")


def run(
    *arguments: str, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call ``salvo`` as ``subprocess.run`` would, with no settings but those given."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    clean = without_settings()
    with (
        chdir(cwd or "."),
        patch.dict(os.environ, clean | dict(environment or {}), clear=True),
        patch.object(linux, "is_single_threaded", lambda: True),  # as the command is; xdist's threads are beside us
        _process_state_restored(),
        open(os.devnull) as nothing,
        patch.object(sys, "stdin", nothing),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = _exit_code(list(arguments))
    output = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(["salvo", *arguments], code, *output)


def _exit_code(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@contextmanager
def _process_state_restored() -> Iterator[None]:
    """Put back what a command changes of its process: who hears signals, and where the log goes."""
    received = {number: signal.getsignal(number) for number in _HANDLED}
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # else the command leaves the log to pytest
    if _HAS_ALARM:
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(_MAX_SECONDS)
    try:
        yield
    finally:
        if _HAS_ALARM:
            signal.alarm(0)
        root.handlers[:] = handlers
        root.setLevel(level)
        for number, handler in received.items():
            signal.signal(number, handler)


def _give_up(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"salvo has not ended within {_MAX_SECONDS} s")
