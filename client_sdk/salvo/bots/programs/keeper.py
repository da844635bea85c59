"""The keeper of a process in which bots play: its parent, which ends when it does, and leaves nothing of it behind.

A process becomes a keeper by :func:`keep`: it makes a copy of itself, in which bots play, and waits for that. It adopts
whatever they start and leave, in whatever session, and kills all of it when the copy has ended, or when the process has
for which it plays. It ends a copy that has too many processes or threads, or that a bot has stopped. To bots it is the
parent: one that kills its parent ends its own process, and not the command's.

``python -m salvo.bots.programs.keeper COMMAND...`` keeps a program in this way, with the limits of bots.

A bot that looks for processes by other means finds the command, and may end it: that takes a sandbox to prevent.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Final

from salvo.bots.programs import linux

#: The exit code of a process that had too many others, or threads.
TOO_MANY: Final = 93
#: That of one that a bot has stopped.
STOPPED: Final = 94
#: How often to look at what there is, in seconds.
_LOOK_SECONDS: Final = 0.1
#: At so many looks, one after the other, a copy may be stopped: a terminal that stops it stops its keeper as well.
_MOST_STOPPED: Final = 10
#: Of a signal that a process has sent, and not a terminal, which sends it to the copy, too.
_SENT: Final = 0


def keep(
    passed_on: Mapping[int, int], begun: Callable[[int], object] = lambda copy: None, parent: int | None = None
) -> int | None:
    """Make a copy of this process, which has one thread, and keep it; only on Linux.

    Args:
        passed_on: by signal that this process gets, what it sends to the copy.
        begun: called here with the number of the copy.
        parent: the process with which this one ends; None for one that outlives its parent, as a command does.

    Returns:
        None in the copy. Here, when it has ended and nothing is left of it, its exit code; a negative one is the
        signal that killed it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    own = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child has ended
    awaited = {signal.SIGCHLD, *map(signal.Signals, passed_on)}
    # Those for the copy as well: Python forgets there what it has received while it was made.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited.union(passed_on.values()))
    linux.adopt_orphans()
    copy = os.fork()
    if not copy:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        linux.end_with(own)
        return None
    begun(copy)
    code, stopped = None, 0
    while code is None:
        got = signal.sigtimedwait(awaited, _LOOK_SECONDS)
        if got is not None and got.si_signo in passed_on and got.si_code <= _SENT:
            os.kill(copy, passed_on[got.si_signo])
        code = linux.reap().get(copy)
        if code is None and parent not in (None, os.getppid()):
            code = -signal.SIGKILL
        elif code is None:
            there = list(linux.below(own))
            stopped = stopped + 1 if any((each.number, each.state) == (copy, "T") for each in there) else 0
            if linux.are_too_many(there):
                code = TOO_MANY
            elif stopped > _MOST_STOPPED:
                code = STOPPED
    linux.end_below(own)
    linux.reap()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return code


def end_as(code: int) -> None:
    """End this process as another one did."""
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code)


def how_it_ended(code: int | None) -> str:
    """Return how a process ended, from its exit code; a negative one is the signal that killed it."""
    if code == TOO_MANY:
        return f"it had more than {linux.most_processes()} processes, or {linux.most_threads()} threads"
    if code == STOPPED:
        return "it was stopped by a bot"
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def keep_program(command: list[str]) -> None:
    """Keep a program for the parent of this process, and end as it does."""
    code = keep({}, parent=os.getppid())
    if code is not None:
        end_as(code)
    linux.lead_session()
    linux.limit()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    keep_program(sys.argv[1:])
