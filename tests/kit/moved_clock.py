"""Any command of Salvo, with clocks that a test moves: ``MOVED_CLOCK=file moved_clock.py serve ...``.

The file has the seconds by which somebody has set the wall clock, and for how many seconds the machine was asleep,
while the clock that never goes back (``time.monotonic``) stood still. It is read with each look at a clock, so that a
process sees a jump in mid-turn. A process has to be stopped while it is asleep, or its clock would go back.

``moved_clock.mjs`` beside it does the same for Node.js.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Final

VARIABLE: Final = "MOVED_CLOCK"
_FILE: Final = Path(os.environ.get(VARIABLE, os.devnull)).absolute()  # a program's own: bots do not get the variable
_true_ns, _true_monotonic_ns = time.time_ns, time.monotonic_ns


def move(file: Path, *, wall: float = 0.0, asleep: float = 0.0) -> None:
    """Set the clocks of all processes that have this file."""
    new = file.with_suffix(".new")
    new.write_text(f"{wall} {asleep}")
    new.replace(file)


def summer_ends_in(seconds: float) -> str:
    """Return a time zone, for the variable ``TZ``, whose clocks are then set back by an hour, to that of Greenwich."""
    ends = time.gmtime(time.time() + 3600 + seconds)  # by the summer's own time
    begins = ends.tm_yday % 365
    return f"WINTER0SUMMER-1,{begins}/0,{ends.tm_yday - 1}/{ends.tm_hour}:{ends.tm_min}:{ends.tm_sec}"


def _moved_ns() -> tuple[int, int]:
    wall, asleep = _FILE.read_text().split()
    return int(float(wall) * 1e9), int(float(asleep) * 1e9)


def _time_ns() -> int:
    return _true_ns() + _moved_ns()[0]


def _monotonic_ns() -> int:
    return _true_monotonic_ns() - _moved_ns()[1]


if __name__ == "__main__":
    time.time_ns, time.time = _time_ns, lambda: _time_ns() / 1e9
    time.monotonic_ns, time.monotonic = _monotonic_ns, lambda: _monotonic_ns() / 1e9
    sys.path.remove(str(Path(__file__).parent))  # where a module may have the name of one of the program's

    from salvo.cli import main

    sys.exit(main())
