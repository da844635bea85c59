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
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.core import inbox, play
from salvo_server.storage.journal import database

#: Objects and name of the function that is each step, whichever link to its broker the server has.
STEPS: dict[str, tuple[tuple[Any, ...], str]] = {
    "receive": ((mqtt.Connection, AttachedLink), "_arrived"),
    "decode": ((inbox,), "read_command"),
    "append": ((play.Play,), "follow"),
    "commit": ((database.DatabaseJournal,), "commit"),
    "publish": ((mqtt.Connection, AttachedLink), "publish"),
    "acknowledge": ((mqtt.Connection, AttachedLink), "acknowledge"),
}
MOMENTS = [f"{side}_{step}" for step in STEPS for side in ("before", "after")]


def _mine(side: str, step: str, countdown: int) -> None:
    """Make the step deadly when it is taken for the last time."""
    homes, name = STEPS[step]
    left = countdown

    def counted(taken: Callable[..., Any]) -> Callable[..., Any]:
        def deadly(*args: Any, **given: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0 and side == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = taken(*args, **given)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return deadly

    for home in homes:
        setattr(home, name, counted(getattr(home, name)))


if __name__ == "__main__":
    if wanted := os.environ.get("DIE_AT"):
        moment, _, count = wanted.partition(":")
        side, _, step = moment.partition("_")
        _mine(side, step, int(count))
    sys.exit(main())
