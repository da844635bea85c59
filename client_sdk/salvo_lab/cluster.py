"""Work of the laboratory on several hosts: blocks of it travel by Dask, and each host plays them on its own processes.

    salvo lab scheduler --listen HOST:PORT --tls DIR    on one host
    salvo lab worker tls://HOST:PORT --tls DIR          on each that plays
    salvo compare A B --scheduler tls://HOST:PORT --tls DIR

Dask knows no bot: it queues blocks, moves them to hosts, and gives those of a lost host to another one. Bots run where
they always do, in processes that a host may end. Results come in the order of the work, so that their reader
cannot tell how many hosts there were.

Anyone who can connect to a scheduler or to a worker can run code there, other users of this machine, too: both want
certificates, those of ``salvo tls``.
"""

from __future__ import annotations

import hashlib
import logging
import os
import queue
import socket
import ssl
import sys
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit
from uuid import uuid4

from salvo.bots.programs.linux import cores
from salvo.bots.sources import is_program
from salvo.bots.versions import code_files, contents_of, keep_content, path_of, split
from salvo.errors import BotError, MissingExtra, SalvoError
from salvo.net.addresses import split_url
from salvo.net.tls import CA, CERTIFICATE, KEY
from salvo.system.distribution import PACKAGES
from salvo.system.text_files import missing_file
from salvo_lab.programs.worker_process import LOOK_SECONDS

if TYPE_CHECKING:
    from distributed import Client, Future, Security

#: How long a host should work on a block, in seconds: long compared with the way to it, short compared with a run.
BLOCK_SECONDS: Final = 2.0
#: Towards the end blocks get smaller, so that all hosts end together, down to one in so many.
SHARES: Final = 16
#: Blocks that a host has at a time: the one that it plays, and the next.
BLOCKS_AHEAD: Final = 2
#: Hosts that may be lost while they have the same block; then it is perhaps the block that ends them.
ALLOWED_LOSSES: Final = 20
#: Seconds of silence after which a host counts as lost.
SILENCE_SECONDS: Final = 30
#: Seconds to connect to a scheduler.
CONNECT_SECONDS: Final = 30
#: Seconds after which a host ends the processes of a run that has no more blocks for it.
IDLE_SECONDS: Final = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Carries out a block on a host; the second argument is called about ten times a second, and raises to end it.
Carrying = Callable[[Sequence[Item], Callable[[], None]], list[Result]]

_log = logging.getLogger(__name__)


class Work(ABC, Generic[Item, Result]):
    """What hosts do with items; it is pickled."""

    @abstractmethod
    def begin(self, jobs: int) -> AbstractContextManager[Carrying[Item, Result]]:
        """Start that many processes on this host."""


# --- bots ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shipped:
    """A bot's file with all that is in its folder.

    Attributes:
        source: as it was typed.
        folder: where it is on the machine of the command.
        inside: its source in that folder.
        content: by name in the folder; None for a bot that ships with Salvo.
    """

    source: str
    folder: str = ""
    inside: str = ""
    content: dict[str, bytes] | None = None

    def unpacked(self) -> str:
        """Return its source on this host; what is there already is used again."""
        return self.source if self.content is None else str(keep_content(self.content) / self.inside)

    def seen_there(self, text: str) -> str:
        """Return a text with this host's paths replaced."""
        if self.content is None:
            return text
        here = split(self.unpacked())[0]
        return text.replace(here, split(self.source)[0]).replace(os.path.dirname(here), self.folder)


def ship(sources: Iterable[str]) -> list[Shipped]:
    """Return bots by content, so that hosts need no file of theirs.

    Raises:
        BotError: ``bad_bot``: a program, or no such file; ``bad_version``: more than 1,000 files or 20 MB in its
            folder, or git has no such version.
    """
    folders: dict[Path, dict[str, bytes]] = {}
    shipped = []
    for source in sources:
        if is_program(source):
            raise BotError(
                "bad_bot", f"{source} is a program of this machine; other hosts play bots in Python, or built-in ones"
            )
        file, name = split(source)
        if not file.endswith(".py"):
            shipped.append(Shipped(source))
            continue
        path = path_of(file).resolve()
        if not path.is_file():
            raise BotError("bad_bot", missing_file(Path(file)))
        if path.parent not in folders:
            folders[path.parent] = contents_of(path.parent)
        inside = path.name + (f":{name}" if name else "")
        shipped.append(Shipped(source, str(path.parent), inside, folders[path.parent]))
    return shipped


# --- what hosts must have in common ---------------------------------------------------------------------------------


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


def _check_software(wanted: Mapping[str, str], host: str, found: Mapping[str, str]) -> None:
    for what, value in wanted.items():
        if found.get(what) != value:
            raise SalvoError(
                "host_versions",
                f"{what} is {found.get(what)} on host {host}, and {value} here; install the same on both, and start "
                "the worker again",
            )


# --- on each host -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """What all blocks of a run share, and a host gets once."""

    token: str
    software: dict[str, str]
    work: Work[Any, Any]


class _Answer(NamedTuple):
    """What a host makes of a block.

    Attributes:
        seconds: that it took.
        results: None after an error.
        error: its code, text and trace.
    """

    seconds: float
    results: list[Any] | None
    error: tuple[str, str, str] = ("", "", "")


class _Gone(Exception):
    """No one is waiting for this block."""


class _Started:
    """Processes of a run on this host, which end when it has had no block for a while."""

    def __init__(self, work: Work[Any, Any], jobs: int) -> None:
        self._stack = ExitStack()
        self.carry_out = self._stack.enter_context(work.begin(jobs))
        self.used = time.monotonic()

    def close(self) -> None:
        self._stack.close()


_started: dict[str, _Started] = {}
#: A host plays one block at a time, on all of its cores.
_lock = threading.Lock()


def _same(run: _Run) -> _Run:
    """Keep a run on a host: Dask moves what a task returns to the hosts that need it, once, and makes it again."""
    return run


def _carry_out(run: _Run, items: Sequence[Any]) -> _Answer:
    from distributed import Status, get_worker

    worker = get_worker()
    key = worker.get_current_task()
    host = str(worker.name)

    def look() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status not in (Status.running, Status.paused):
            raise _Gone

    with _lock:
        start = time.monotonic()
        try:
            _check_software(run.software, host, software())
            started = _started.pop(run.token, None)
            if started is None:
                started = _Started(run.work, int(worker.state.total_resources.get("cores", 0)) or cores())
            try:
                results = started.carry_out(items, look)
            except BaseException:
                started.close()
                raise
            started.used = time.monotonic()
            _started[run.token] = started
            threading.Timer(IDLE_SECONDS, close_idle, [IDLE_SECONDS]).start()
        except SalvoError as error:
            return _Answer(0.0, None, (error.code, error.text, getattr(error, "trace", "")))
        return _Answer(time.monotonic() - start, results)


def close_idle(seconds: float = 0.0) -> None:
    """End the processes of runs that this host has not heard of for that long."""
    with _lock:
        for token, started in list(_started.items()):
            if time.monotonic() - started.used >= seconds:
                _started.pop(token).close()


# --- for a command ------------------------------------------------------------------------------------------------


class Cluster:
    """A connection to the hosts of a scheduler. Use it in a ``with`` block, whose end ends what hosts do for it."""

    def __init__(self, url: str, tls: Path | None = None) -> None:
        """Connect.

        Args:
            url: of the scheduler, ``tls://HOST:PORT``.
            tls: the folder of ``salvo tls``.

        Raises:
            SalvoError: ``bad_lab_url``, ``lab_without_tls``, ``bad_tls``; ``no_scheduler``; ``host_versions``.
            MissingExtra: ``cluster`` is not installed.
        """
        security = security_for(url, tls)
        _knock(url, security)
        distributed = _distributed(logging.CRITICAL)  # what is wrong is raised here
        self._url = url
        try:
            self._client: Client = distributed.Client(
                url, timeout=CONNECT_SECONDS, security=security, set_as_default=False, name="salvo"
            )
        except (OSError, TimeoutError) as error:
            raise _no_scheduler(url, error) from None
        self._hosts: dict[str, tuple[str, int]] = {}
        self._looked = 0.0
        self._is_empty = False
        try:
            found = self._client.run(software)
        except Exception as error:
            self.close()
            raise SalvoError("host_versions", f"a host has another version of Salvo: {error}") from None
        self._look()
        for address, (host, _) in self._hosts.items():
            if address in found:
                _check_software(software(), host, found[address])

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=5)

    @property
    def in_words(self) -> str:
        """How many hosts and cores there are."""
        count = len(self._hosts)
        return f"{count} host{'' if count == 1 else 's'}, {sum(cores for _, cores in self._hosts.values())} cores"

    def play(
        self, work: Work[Item, Result], items: Sequence[Item], waiting: Callable[[], object] | None = None
    ) -> Iterator[list[Result]]:
        """Have hosts carry out work, and yield the results block by block, in the order of the items.

        Args:
            work: carries them out.
            items: may be endless, as a range.
            waiting: called about ten times a second; an exception from it ends the work on all hosts.

        Raises:
            SalvoError: ``host_versions``, ``host_failed``, ``scheduler_lost``; what the work raises.
        """
        feed = _Feed(self._client, _Run(uuid4().hex, software(), work))
        done: dict[int, _Answer] = {}
        position, end, count, yielded, called = 0, len(items), 1, 0, time.monotonic()
        try:
            while position < end or yielded < feed.blocks:
                self._look()
                while position < end and len(feed) < BLOCKS_AHEAD * max(1, len(self._hosts)):
                    share = -(-(end - position) // (BLOCKS_AHEAD * max(1, len(self._hosts))))
                    size = max(1, min(count, max(share, count // SHARES)))
                    feed.give(items[position : position + size])
                    position += size
                if waiting is not None and time.monotonic() - called >= LOOK_SECONDS:
                    waiting()
                    called = time.monotonic()
                for number, size, answer in feed.answers():
                    done[number] = answer
                    if answer.results is None:
                        end = position  # whatever comes later, this is the error of the run
                    else:
                        count = max(1, min(int(size * BLOCK_SECONDS / max(answer.seconds, 1e-6)), 8 * size))
                while yielded in done:
                    answer = done.pop(yielded)
                    if answer.results is None:
                        raise BotError(*answer.error)
                    yield answer.results
                    yielded += 1
        finally:
            feed.close()

    def _look(self) -> None:
        """Look once a second which hosts are there."""
        if time.monotonic() - self._looked < 1:
            return
        self._looked = time.monotonic()
        try:
            workers = self._client.scheduler_info()["workers"]
        except (OSError, TimeoutError):
            return  # the scheduler is away, which the blocks show
        now = {
            address: (str(worker["name"]), int(worker.get("resources", {}).get("cores", 1)))
            for address, worker in workers.items()
        }
        for host, _ in (self._hosts[address] for address in self._hosts.keys() - now.keys()):
            _log.warning("host %s is gone; others play its blocks", host)
        for host, count in (now[address] for address in now.keys() - self._hosts.keys()):
            _log.info("host %s plays on %d cores", host, count)
        if not now and not self._is_empty:
            _log.warning("no host has joined; start one: salvo lab worker %s", self._url)
        self._is_empty = not now
        self._hosts = now


class _Feed:
    """The blocks that hosts have, or will have next.

    Attributes:
        blocks: how many there have been.
    """

    def __init__(self, client: Client, run: _Run) -> None:
        self.blocks = 0
        self._client = client
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of the size of what is sent, which is sent once
            self._run = client.submit(_same, run, pure=False)
        self._waiting: dict[str, tuple[int, int, Future[_Answer]]] = {}
        self._ready: queue.SimpleQueue[Future[_Answer]] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._waiting)

    def give(self, items: Sequence[Any]) -> None:
        """Queue a block of consecutive items."""
        future = self._client.submit(_carry_out, self._run, items, key=f"salvo-{uuid4().hex}", pure=False)
        self._waiting[str(future.key)] = self.blocks, len(items), future
        self.blocks += 1
        future.add_done_callback(self._ready.put)

    def answers(self) -> Iterator[tuple[int, int, _Answer]]:
        """Wait a little for blocks that are done, and yield their numbers, sizes and answers."""
        timeout = LOOK_SECONDS
        while True:
            try:
                future = self._ready.get(timeout=timeout)
            except queue.Empty:
                return
            timeout = 0.0
            number, size, _ = self._waiting.pop(str(future.key))
            yield number, size, self._answer(future)

    def _answer(self, future: Future[_Answer]) -> _Answer:
        from distributed import CancelledError, KilledWorker

        try:
            answer: _Answer = future.result()
        except CancelledError:
            raise SalvoError("scheduler_lost", "the scheduler has ended or restarted; play the games again") from None
        except KilledWorker as error:
            raise SalvoError("host_failed", f"{ALLOWED_LOSSES} hosts were lost with the same block: {error}") from None
        except (SalvoError, KeyboardInterrupt):
            raise
        except Exception as error:
            text = f"a host cannot carry out a block: {type(error).__name__}: {error}"
            raise SalvoError("host_failed", text) from error
        return answer

    def close(self) -> None:
        """Take back all blocks; hosts stop within a tenth of a second."""
        futures: list[Future[Any]] = [self._run, *(future for _, _, future in self._waiting.values())]
        with suppress(OSError, TimeoutError):
            self._client.cancel(futures, force=True)


# --- scheduler and worker -----------------------------------------------------------------------------------------


def _distributed(level: int | None = None) -> Any:
    """Import Dask.

    Args:
        level: of what it logs; None for that of the command.

    Raises:
        MissingExtra: ``cluster`` is not installed.
    """
    try:
        import dask
        import distributed
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask"):
            raise
        raise MissingExtra("a laboratory on several hosts", "cluster") from None
    # It would look at the stack a hundred times a second, in processes that play no game themselves.
    dask.config.set({"distributed.worker.profile.enabled": False})
    log = logging.getLogger("distributed")
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.getLogger().level if level is None else level)
    return distributed


def _no_scheduler(url: str, error: Exception) -> SalvoError:
    return SalvoError("no_scheduler", f"no scheduler answers at {url} ({error}); salvo lab scheduler starts one")


def _knock(url: str, security: Security) -> None:
    """Look whether a scheduler listens; Dask would go on trying.

    Raises:
        SalvoError: ``no_scheduler``; ``bad_tls``: it has other certificates.
    """
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as door:
            security.get_connection_args("client")["ssl_context"].wrap_socket(door).close()
    except ssl.SSLError:
        raise SalvoError(
            "bad_tls",
            f"the scheduler at {url} has other certificates: give the --tls DIR that it was started with, "
            "or start one of your own",
        ) from None
    except OSError as error:
        raise _no_scheduler(url, error) from None


def security_for(url: str, tls: Path | None) -> Security:
    """Return the certificates for a URL.

    Raises:
        SalvoError: ``bad_lab_url``; ``lab_without_tls``: a URL without TLS, or no folder; ``bad_tls``: a file is
            missing.
        MissingExtra: ``cluster`` is not installed.
    """
    try:
        parts = split_url(url, least_port=0)
    except ValueError as error:
        raise SalvoError("bad_lab_url", f"{url[:200]!r}: {error}") from None
    there = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port is not None
    if not there or parts.path or parts.username:
        raise SalvoError("bad_lab_url", f"{url[:200]!r} is not tls://HOST:PORT")
    if parts.scheme == "tcp" or tls is None:
        fix = f"salvo tls DIR --host {parts.hostname}; copy DIR to all hosts, and give tls://{parts.netloc} --tls DIR"
        raise SalvoError("lab_without_tls", f"{url}: anyone who reaches it could run code without TLS. {fix}")
    ca, certificate, key = (str(tls / name) for name in (CA, CERTIFICATE, KEY))
    for file in (ca, certificate, key):
        if not os.access(file, os.R_OK):
            raise SalvoError("bad_tls", f"{file} cannot be read; salvo tls DIR makes it, with the others")
    return cast(
        "Security",
        _distributed().Security(
            require_encryption=True,
            tls_ca_file=ca,
            **{
                f"tls_{who}_{what}": file
                for who in ("client", "scheduler", "worker")
                for what, file in (("cert", certificate), ("key", key))
            },
        ),
    )


async def schedule(url: str, tls: Path | None, listening: Callable[[str], object]) -> None:
    """Be a scheduler until this is cancelled.

    Args:
        listening: called with its address once it listens.

    Raises:
        SalvoError: as in :func:`security_for`; ``bad_lab_url``: the address cannot be used.
    """
    security = security_for(url, tls)
    distributed = _distributed()
    import dask

    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": ALLOWED_LOSSES,
            "distributed.scheduler.worker-ttl": f"{SILENCE_SECONDS} s",
        }
    )
    parts = urlsplit(url)
    try:
        scheduler = await distributed.Scheduler(
            host=url.removesuffix(f":{parts.port}"), port=parts.port, security=security, dashboard=False
        )
    except (OSError, RuntimeError) as error:
        cause = error.__cause__ or error
        raise SalvoError("bad_lab_url", f"cannot listen at {url}: {getattr(cause, 'strerror', cause)}") from None
    async with scheduler:
        listening(scheduler.address)
        await scheduler.finished()


async def serve_blocks(
    url: str, tls: Path | None, jobs: int | None, name: str, connected: Callable[[str], object]
) -> None:
    """Play blocks for a scheduler until that ends, or this is cancelled.

    Args:
        jobs: processes to play in, all cores if None.
        connected: called with the address of this host's worker.

    Raises:
        SalvoError: as in :func:`security_for`; ``no_scheduler``.
    """
    security = security_for(url, tls)
    distributed = _distributed()
    host = urlsplit(url).hostname or ""
    here = distributed.utils.get_ip(host)
    _knock(url, security)
    software()  # of the code that runs here, whatever is installed while it runs
    try:
        async with distributed.Worker(
            url,
            nthreads=1,
            name=name,
            host=here,
            security=security,
            memory_limit=0,
            dashboard=False,
            dashboard_address="127.0.0.1:0",
            resources={"cores": jobs or cores()},
            death_timeout=CONNECT_SECONDS,
        ) as worker:
            connected(worker.address)
            await worker.finished()
    except (OSError, RuntimeError, ValueError) as error:  # the latter for a name that is taken
        raise _no_scheduler(url, error) from None
    finally:
        close_idle()
