"""Any command of Salvo, with a wall clock that a test moves: ``WALL_CLOCK=file moved_clock.py serve ...``.

The file has by how many seconds. It is read with each look at the clock, so that a process sees a jump in mid-turn.
What never goes back (``time.monotonic``) is left alone, as a system leaves it when somebody sets the time.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_FILE = Path(os.environ["WALL_CLOCK"])
_true_ns = time.time_ns


def _time_ns() -> int:
    return _true_ns() + int(float(_FILE.read_text()) * 1e9)


def _time() -> float:
    return _time_ns() / 1e9


time.time_ns, time.time = _time_ns, _time

if __name__ == "__main__":
    from salvo.cli import main

    sys.exit(main())
