"""What Linux can do about the processes of bots; everything that depends on the system is here.

On Linux a process of bots is kept (:mod:`salvo.bots.programs.keeper`): nothing that they start outlives it, in whatever
session, there are never many more processes than :func:`most_processes`, nor threads than :func:`most_threads`, and no
process gets more than :func:`most_memory`.
Elsewhere the number of processes and their memory have no limit, and what a bot starts in a session of its own goes on;
on Windows, so does all that it starts. The length of a file has a limit wherever :mod:`resource` exists. All of this
holds for root, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

#: Whether processes can be kept here.
IS_HERE: Final = sys.platform == "linux" and hasattr(os, "fork")
#: Processes of bots beside each other, at least, and for each core.
_PROCESSES: Final = 200
_PROCESSES_A_CORE: Final = 4
#: Threads for each of these processes; a program may have some for each core, and none has so many.
_THREADS_A_PROCESS: Final = 10
#: Bytes of private memory of a process of bots, at least; else this share of the machine's.
_MEMORY: Final = 2 << 30
_SHARE_OF_MEMORY: Final = 8
#: Bytes of a file that a bot writes.
MOST_IN_A_FILE: Final = 1 << 30
#: How long processes may take to end after they were killed; only one that waits for a disk takes long.
_END_SECONDS: Final = 5.0
#: Of ``prctl``.
_SET_PDEATHSIG: Final = 1
_SET_CHILD_SUBREAPER: Final = 36


class Below(NamedTuple):
    """A process that another one has started, or one of those has.

    Attributes:
        state: a letter; ``Z`` of one that has ended.
        threads: how many it has.
    """

    number: int
    group: int
    state: str
    threads: int


def cores() -> int:
    """Return how many cores this process may use; of the whole machine where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_single_threaded() -> bool:
    """Whether this process has one thread; False where the system does not say."""
    return IS_HERE and len(list(Path("/proc/self/task").iterdir())) == 1


def is_traced(number: int) -> bool:
    """Whether a debugger such as gdb traces another process; False where the system does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{number}/status").read_text("ascii").splitlines():
            if line.startswith("TracerPid:"):
                return int(line.split()[1]) != 0
    return False


# --- limits -------------------------------------------------------------------------------------------------------


def most_processes() -> int:
    """Return how many processes bots may have at a time, beside that in which they play."""
    return max(_PROCESSES, _PROCESSES_A_CORE * (os.cpu_count() or 1))


def most_threads() -> int:
    """Return how many threads all these processes may have."""
    return _THREADS_A_PROCESS * most_processes()


def are_too_many(there: Iterable[Below]) -> bool:
    """Whether these are more processes than bots may have, beside that in which they play, or have more threads."""
    running = [each for each in there if each.state not in "ZX"]
    return len(running) > most_processes() + 1 or sum(each.threads for each in running) > most_threads()


def most_memory() -> int:
    """Return how many bytes of memory a process of bots may have for itself."""
    return max(_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _SHARE_OF_MEMORY)


def limit() -> None:
    """Limit this process, and all that it will start; a lower limit that it has stays."""
    if resource is None:
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, MOST_IN_A_FILE)
    if IS_HERE:
        # Not RLIMIT_AS: runtimes reserve addresses by the terabyte. Not RLIMIT_NPROC: it counts all of the user's.
        _lower(resource.RLIMIT_DATA, most_memory() + _used())
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")  # what the system ends if all are too many


def _used() -> int:
    """Return the bytes of memory that this process has for itself, or that it shares as a copy with another one."""
    for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _lower(what: int, most: int) -> None:
    soft, hard = resource.getrlimit(what)
    least = min(each for each in (most, soft, hard) if each != resource.RLIM_INFINITY)
    resource.setrlimit(what, (least, least))


# --- who ends with whom -------------------------------------------------------------------------------------------


def lead_session() -> None:
    """Leave the session that this process was started in, so that it leads a group; where there are sessions."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(PermissionError):  # it leads one
            os.setsid()


def end_with(parent: int) -> None:
    """Let this process end as soon as its parent does; on Linux only, where a thread of the parent's counts as it."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of what descendants of this process leave behind; on Linux only."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def below(number: int) -> Iterator[Below]:
    """Yield all that a process has started, and what that has; nothing where the system does not say."""
    for child in _children(number):
        try:
            fields = Path(f"/proc/{child}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        yield Below(child, int(fields[2]), fields[0], int(fields[17]))
        yield from below(child)


def _children(number: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in list(Path(f"/proc/{number}/task").iterdir()):
            with contextlib.suppress(OSError):  # not every kernel has it
                yield from map(int, (thread / "children").read_text("ascii").split())


def end_below(number: int) -> None:
    """Kill all that a process has started, which adopts orphans and starts nothing meanwhile."""
    end = time.monotonic() + _END_SECONDS
    while (left := [each for each in below(number) if each.state not in "ZX"]) and time.monotonic() < end:
        leaders = {each.group for each in left} & {each.number for each in left}
        for leader in leaders:  # at once, so that none of the group can start another one
            _kill(os.killpg, leader)
        for each in left:
            if each.group not in leaders:
                _kill(os.kill, each.number)
        time.sleep(0.002)


def kill_group(leader: int) -> None:
    """Kill a process group that another process leads; nothing where there are none."""
    if hasattr(os, "killpg") and leader > 1 and leader != os.getpgrp():
        _kill(os.killpg, leader)


def _kill(kill: Any, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended; only a zombie is left
        kill(number, signal.SIGKILL)


def stop(number: int) -> None:
    """Let a child of this process do nothing any more, so that it can be ended with all that it has started."""
    os.kill(number, signal.SIGSTOP)
    os.waitid(os.P_PID, number, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def reap() -> dict[int, int]:
    """Forget the children that have ended, those adopted included, and return how.

    Returns:
        By number, the exit code; a negative one is the signal that killed it.
    """
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = os.waitstatus_to_exitcode(found[1])
    return ended
