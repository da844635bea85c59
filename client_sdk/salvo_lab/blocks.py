"""Work in blocks: cut for hosts and put together again on one side, carried out on the other.

Nothing here knows how a block travels: the caller hands in a function that submits one, as an executor of
:mod:`concurrent.futures` does, and one that counts hosts. :mod:`salvo_lab.cluster` has both for hosts that Dask
connects. Results come in the order of the work, so that their reader cannot tell how many hosts played.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from salvo.bots.versions import code_files
from salvo.errors import BotError, SalvoError
from salvo.system.distribution import PACKAGES
from salvo_lab.programs.worker_process import LOOK_SECONDS

#: How long a host should work on a block, in seconds: long compared with the way to it, short compared with a run.
BLOCK_SECONDS: Final = 2.0
#: Towards the end blocks get smaller, so that all hosts end together, down to one in so many.
SHARES: Final = 16
#: Blocks that a host has at a time: the one that it plays, and the next.
BLOCKS_AHEAD: Final = 2
#: Seconds after which a host ends the processes of a run that has no more blocks for it.
IDLE_SECONDS: Final = 10.0

Item = TypeVar("Item")
BlockResult = TypeVar("BlockResult")
#: Carries out a block on a host; the second argument is called about ten times a second, and raises to end it.
Carrying = Callable[[Sequence[Item], Callable[[], None]], list[BlockResult]]


class BlockAnswer(NamedTuple, Generic[BlockResult]):
    """What a host makes of a block.

    Attributes:
        size: of the block, in items.
        seconds: that it took.
        results: None after an error.
        error: its code, text and trace.
    """

    size: int
    seconds: float
    results: list[BlockResult] | None
    error: tuple[str, str, str] = ("", "", "")


# --- for who asks -------------------------------------------------------------------------------------------------


def in_blocks(
    submit: Callable[[Sequence[Item]], Future[BlockAnswer[BlockResult]]],
    items: Sequence[Item],
    hosts: Callable[[], int],
    waiting: Callable[[], object] | None = None,
) -> Iterator[list[BlockResult]]:
    """Have hosts carry out work, and yield the results block by block, in the order of the items.

    Args:
        submit: sends a block of consecutive items to a host; a block that is not needed any more is cancelled.
        items: may be endless, as a range.
        hosts: returns their number; called about ten times a second.
        waiting: as often; an exception from it ends the work on all hosts.

    Raises:
        BotError: of the first block, in the order of the items, whose answer is an error.
        Exception: what a future raises; at once, whichever block it is of.
    """
    blocks: deque[Future[BlockAnswer[BlockResult]]] = deque()  # in order, until they are yielded
    pending: set[Future[BlockAnswer[BlockResult]]] = set()
    position, end, count, called = 0, len(items), 1, time.monotonic()
    try:
        while position < end or blocks:
            room = BLOCKS_AHEAD * max(1, hosts())
            while position < end and len(pending) < room:
                share = -(-(end - position) // room)
                size = max(1, min(count, max(share, count // SHARES)))
                blocks.append(submit(items[position : position + size]))
                pending.add(blocks[-1])
                position += size
            if waiting is not None and time.monotonic() - called >= LOOK_SECONDS:
                waiting()
                called = time.monotonic()
            done, pending = wait(pending, LOOK_SECONDS, FIRST_COMPLETED)
            for answer in [block.result() for block in done]:
                if answer.results is None:
                    end = position  # whatever comes later, this is the error of the run
                else:
                    count = max(1, min(int(answer.size * BLOCK_SECONDS / max(answer.seconds, 1e-6)), 8 * answer.size))
            while blocks and blocks[0].done():
                answer = blocks.popleft().result()
                if answer.results is None:
                    raise BotError(*answer.error)
                yield answer.results
    finally:
        for block in pending:
            block.cancel()


# --- on each host -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunOnHost:
    """What all blocks of a run share, and a host gets once; it is pickled.

    Attributes:
        software: of the side that submits the blocks.
        begin: starts that many processes.
    """

    token: str
    software: dict[str, str]
    begin: Callable[[int], AbstractContextManager[Carrying[Any, Any]]]


class _Processes(NamedTuple):
    """Those of a run on this host, which end when it has had no block for a while."""

    leaving: ExitStack
    carry_out: Carrying[Any, Any]
    used: float


_started: dict[str, _Processes] = {}
#: A host plays one block at a time, on all of its cores.
_lock = threading.Lock()


def carry_out(run: RunOnHost, items: Sequence[Any], host: str, jobs: int, look: Callable[[], None]) -> BlockAnswer[Any]:
    """Carry out a block on this host.

    Args:
        host: what this host is called.
        jobs: processes to start, where the run has none here yet.
        look: called about ten times a second, and raises to end it.
    """
    with _lock:
        start = time.monotonic()
        try:
            check_software(run.software, host, software())
            processes = _started.pop(run.token, None) or _begun(run, jobs)
            with processes.leaving as leaving:
                results = processes.carry_out(items, look)
                processes = processes._replace(leaving=leaving.pop_all(), used=time.monotonic())
        except SalvoError as error:
            return BlockAnswer(len(items), 0.0, None, (error.code, error.text, getattr(error, "trace", "")))
        _started[run.token] = processes
    threading.Timer(IDLE_SECONDS, close_idle, [IDLE_SECONDS]).start()
    return BlockAnswer(len(items), processes.used - start, results)


def _begun(run: RunOnHost, jobs: int) -> _Processes:
    leaving = ExitStack()
    return _Processes(leaving, leaving.enter_context(run.begin(jobs)), 0.0)


def close_idle(seconds: float = 0.0) -> None:
    """End the processes of runs that had no block on this host for that long."""
    with _lock:
        for token, processes in list(_started.items()):
            if time.monotonic() - processes.used >= seconds:
                _started.pop(token).leaving.close()


# --- what hosts must have in common -------------------------------------------------------------------------------


@cache
def software() -> dict[str, str]:
    """Return what decides how a game ends, and must be the same everywhere: rules and built-in bots are in the code."""
    code = hashlib.sha256()
    for package in PACKAGES:
        spec = find_spec(package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        for file in code_files(folder) if spec else ():
            code.update(f"\n{package} {file.relative_to(folder)}\n".encode() + file.read_bytes())
    return {"Python": ".".join(map(str, sys.version_info[:2])), "Salvo's code": code.hexdigest()[:12]}


def check_software(wanted: Mapping[str, str], host: str, found: Mapping[str, str]) -> None:
    """Compare the software of a host with that of the side that submits the blocks.

    Raises:
        SalvoError: ``host_versions``.
    """
    for what, value in wanted.items():
        if found.get(what) != value:
            raise SalvoError(
                "host_versions",
                f"{what} is {found.get(what)} on host {host}, and {value} here; install the same on both, and start "
                "the worker again",
            )
