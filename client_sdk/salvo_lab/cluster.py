"""Hosts that Dask connects carry out the laboratory's work: blocks travel by it, and each host plays them on its own.

    salvo lab scheduler --listen HOST:PORT --tls DIR    on one host
    salvo lab worker tls://HOST:PORT --tls DIR          on each that plays
    salvo compare A B --scheduler tls://HOST:PORT --tls DIR

Dask knows no bot: it queues blocks (:mod:`salvo_lab.blocks`), moves them to hosts, and gives those of a lost host to
another one. Bots run where they always do, in processes that a host may end.

Anyone who can connect to a scheduler or to a worker can run code there, other users of this machine, too: both want
certificates, those of ``salvo tls``.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit
from uuid import uuid4

from salvo.bots.programs.linux import cores
from salvo.errors import MissingExtra, SalvoError
from salvo.net.addresses import split_url
from salvo.net.tls import CA, CERTIFICATE, KEY
from salvo_lab.blocks import (
    BlockAnswer,
    BlockResult,
    Carrying,
    Item,
    RunOnHost,
    carry_out,
    check_software,
    in_blocks,
    software,
)

if TYPE_CHECKING:
    from distributed import Client, Security
    from distributed import Future as Task

#: Hosts that may be lost while they have the same block; then it is perhaps the block that ends them.
ALLOWED_LOSSES: Final = 20
#: Seconds to connect to a scheduler.
CONNECT_SECONDS: Final = 30

_log = logging.getLogger(__name__)


# --- for a command ------------------------------------------------------------------------------------------------


class Cluster:
    """A connection to the hosts of a scheduler; closing it ends what they do for it."""

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
        knock(url, security)
        distributed = import_dask(logging.CRITICAL)  # what is wrong is raised here
        self._url = url
        try:
            self._client: Client = distributed.Client(
                url, timeout=CONNECT_SECONDS, security=security, set_as_default=False, name="salvo"
            )
        except (OSError, TimeoutError) as error:
            raise no_scheduler(url, error) from None
        self._hosts: dict[str, tuple[str, int]] = {}
        self._polled = 0.0
        self._is_empty = False
        try:
            found = self._client.run(software)
        except Exception as error:
            self.close()
            raise SalvoError("host_versions", f"a host has another version of Salvo: {error}") from None
        self._count_hosts()
        for address, (host, _) in self._hosts.items():
            if address in found:
                check_software(software(), host, found[address])

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
        self,
        begin: Callable[[int], AbstractContextManager[Carrying[Item, BlockResult]]],
        items: Sequence[Item],
        waiting: Callable[[], object] | None = None,
    ) -> Iterator[list[BlockResult]]:
        """Have hosts carry out work, and yield the results as :func:`salvo_lab.blocks.in_blocks` does.

        Args:
            begin: starts that many processes on a host; it is pickled.

        Raises:
            SalvoError: ``host_versions``, ``host_failed``, ``scheduler_lost``; what the work raises.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of the size of what is sent, which is sent once
            run = self._client.submit(_same, RunOnHost(uuid4().hex, software(), begin), pure=False)
        yield from in_blocks(partial(self._submit, run), items, self._count_hosts, waiting)

    def _submit(self, run: Task[RunOnHost], items: Sequence[Any]) -> Future[BlockAnswer[Any]]:
        """Queue a block.

        Dask's own executor (``Client.get_executor``) never completes a future if the connection breaks while its result
        is fetched.
        """
        task = self._client.submit(_carry_out, run, items, pure=False)
        block: Future[BlockAnswer[Any]] = Future()
        block.add_done_callback(partial(_cancel, task))
        task.add_done_callback(partial(_answer, block))
        return block

    def _count_hosts(self) -> int:
        """Return the number of hosts; poll the scheduler for them once a second."""
        if time.monotonic() - self._polled < 1:
            return len(self._hosts)
        self._polled = time.monotonic()
        try:
            workers = self._client.scheduler_info()["workers"]
        except (OSError, TimeoutError):
            return len(self._hosts)  # the scheduler is away, which the blocks show
        before, self._hosts = (
            self._hosts,
            {
                address: (str(worker["name"]), int(worker.get("resources", {}).get("cores", 1)))
                for address, worker in workers.items()
            },
        )
        for address in before.keys() - self._hosts.keys():
            _log.warning("host %s is gone; others play its blocks", before[address][0])
        for address in self._hosts.keys() - before.keys():
            _log.info("host %s plays on %d cores", *self._hosts[address])
        if not self._hosts and not self._is_empty:
            _log.warning("no host has joined; start one: salvo lab worker %s", self._url)
        self._is_empty = not self._hosts
        return len(self._hosts)


def _answer(block: Future[BlockAnswer[Any]], task: Task[BlockAnswer[Any]]) -> None:
    """Give a block the outcome of its task, which no host needs to have any more."""
    from distributed import CancelledError, KilledWorker

    if not block.set_running_or_notify_cancel():
        return
    try:
        block.set_result(task.result())
    except CancelledError:
        block.set_exception(SalvoError("scheduler_lost", "the scheduler has ended or restarted; play the games again"))
    except KilledWorker as error:
        text = f"{ALLOWED_LOSSES} hosts were lost with the same block: {error}"
        block.set_exception(SalvoError("host_failed", text))
    except BaseException as error:
        failed = SalvoError("host_failed", f"a host cannot carry out a block: {type(error).__name__}: {error}")
        failed.__cause__ = error
        block.set_exception(failed)
    task.release()


def _cancel(task: Task[Any], block: Future[Any]) -> None:
    """Take a block back; its host stops within a tenth of a second."""
    if block.cancelled():
        with suppress(Exception):  # the cluster is gone, and the block with it
            task.cancel()


# --- on each host -------------------------------------------------------------------------------------------------


class _Gone(Exception):
    """No one is waiting for this block."""


def _same(run: RunOnHost) -> RunOnHost:
    """Keep a run on a host: Dask moves what a task returns to the hosts that need it, once, and makes it again."""
    return run


def _carry_out(run: RunOnHost, items: Sequence[Any]) -> BlockAnswer[Any]:
    from distributed import Status, get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def look() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status not in (Status.running, Status.paused):
            raise _Gone

    jobs = int(worker.state.total_resources.get("cores", 0)) or cores()
    return carry_out(run, items, str(worker.name), jobs, look)


# --- for all of them ----------------------------------------------------------------------------------------------


def import_dask(level: int | None = None) -> Any:
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
    logging.getLogger("distributed.client").setLevel(logging.NOTSET)  # it has a level of its own
    return distributed


def no_scheduler(url: str, error: Exception) -> SalvoError:
    """Return the error for a URL at which no scheduler answers."""
    return SalvoError("no_scheduler", f"no scheduler answers at {url} ({error}); salvo lab scheduler starts one")


def knock(url: str, security: Security) -> None:
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
        raise no_scheduler(url, error) from None


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
        import_dask().Security(
            require_encryption=True,
            tls_ca_file=ca,
            **{
                f"tls_{who}_{what}": file
                for who in ("client", "scheduler", "worker")
                for what, file in (("cert", certificate), ("key", key))
            },
        ),
    )
