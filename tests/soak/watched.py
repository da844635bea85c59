"""Any command of Salvo, which says what it holds: ``SOAK_REPORT=file watched.py serve ...``, then SIGUSR1.

Each signal replaces the file, as JSON: how many threads, timers and blocks of memory the process has, and what else
can be counted in it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from salvo.cli import main
from salvo.system.atomic_file import replace_file
from salvo_server.core.play import Play, Timers
from salvo_server.service import Service

#: What is counted of the objects of these classes.
_COUNTED: Final[dict[type, dict[str, Callable[[Any], int]]]] = {
    asyncio.BaseEventLoop: {
        # Without those that are cancelled, of which the loop drops half once they are more than a hundred.
        "timers": lambda loop: sum(not each.cancelled() for each in loop._scheduled),
        "tasks": lambda loop: len(asyncio.all_tasks(loop)),
    },
    Timers: {"timers": lambda timers: len(timers._due)},
    Play: {"games in memory": lambda play: len(play.games) + len(play.logs)},
    Service: {"nonces": lambda service: len(service.gate._burned)},
}
#: All of them. To ask the garbage collector for them in a signal's handler would let a tuple that is being made fail.
_made: list[Any] = []


def _note_all(kind: type) -> None:
    """Take down each object of a class."""
    make = kind.__init__  # type: ignore[misc]

    def noted(self: Any, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        _made.append(self)

    kind.__init__ = noted  # type: ignore[misc]


def report(path: Path) -> None:
    """Write what this process holds."""
    gc.collect()
    timers = sum(isinstance(thread, threading.Timer) for thread in threading.enumerate())
    holds = {"threads": threading.active_count(), "timers": timers, "blocks": sys.getallocatedblocks()}
    for each in _made:
        for kind, counts in _COUNTED.items():
            if isinstance(each, kind):
                for name, count in counts.items():
                    holds[name] = holds.get(name, 0) + count(each)
    replace_file(path, json.dumps(holds).encode())


if __name__ == "__main__":
    file = Path(os.environ["SOAK_REPORT"])
    for kind in _COUNTED:
        _note_all(kind)
    signal.signal(signal.SIGUSR1, lambda *_: report(file))
    sys.exit(main())
