"""The server, which kills itself at a given step: ``DIE_AT=after_commit:37 python dying_server.py serve ...``.

The steps are those of one message's way. Before or after the 37th commit, say, the process sends itself SIGKILL; with
``DIE_AT`` unset this is the server.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from salvo.cli import main
from salvo.net import mqtt
from salvo_server.core import inbox, play
from salvo_server.storage.journal import database

#: Object and name of the function that is each step.
STEPS: dict[str, tuple[Any, str]] = {
    "receive": (mqtt.Connection, "_arrived"),
    "decode": (inbox, "read_command"),
    "append": (play.Play, "follow"),
    "commit": (database.DatabaseJournal, "commit"),
    "publish": (mqtt.Connection, "publish"),
    "acknowledge": (mqtt.Connection, "acknowledge"),
}
MOMENTS = [f"{side}_{step}" for step in STEPS for side in ("before", "after")]


def _mine(side: str, step: str, countdown: int) -> None:
    """Make the step deadly when it is taken for the last time."""
    home, name = STEPS[step]
    taken: Callable[..., Any] = getattr(home, name)
    left = countdown

    def deadly(*args: Any, **given: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = taken(*args, **given)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(home, name, deadly)


if __name__ == "__main__":
    if wanted := os.environ.get("DIE_AT"):
        moment, _, count = wanted.partition(":")
        side, _, step = moment.partition("_")
        _mine(side, step, int(count))
    sys.exit(main())
