"""``salvo lab``: the scheduler, and the hosts that play for ``--scheduler``."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from salvo.bots.programs.linux import cores
from salvo.cli.checked import Suggesting
from salvo.cli.options import JOBS
from salvo.errors import SalvoError
from salvo_lab.blocks import close_idle, software
from salvo_lab.cluster import ALLOWED_LOSSES, CONNECT_SECONDS, import_dask, knock, no_scheduler, security_for
from salvo_lab.commands.on_hosts import TLS

#: Seconds of silence after which a host counts as lost.
SILENCE_SECONDS: Final = 30


@click.group(cls=Suggesting)
def lab() -> None:
    """Play on several hosts: one scheduler, a worker on each host, and --scheduler URL of the commands that play.

    Anyone who can connect to a scheduler or a worker can run code on its host. So they want certificates of each other:
    salvo tls makes them, in a folder to copy to all hosts.
    """


@lab.command()
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8786", help="Where workers and commands connect.")
@TLS
def scheduler(listen: str, tls: Path | None) -> None:
    """Hand blocks of games to workers, until Ctrl-C."""

    def listening(address: str) -> None:
        click.echo(f"scheduler: {address}")
        click.echo(f"on each host: salvo lab worker {address} --tls {shlex.quote(str(tls))}")

    _until_ended(_schedule(f"tls://{listen}", tls, listening))


@lab.command()
@click.argument("url", metavar="URL")
@TLS
@JOBS
def worker(url: str, tls: Path | None, jobs: int | None) -> None:
    """Play for the scheduler at URL, tls://HOST:PORT, until that ends or Ctrl-C."""
    name = f"{socket.gethostname()}-{os.getpid()}"
    _until_ended(_serve_blocks(url, tls, jobs, name, lambda address: click.echo(f"host {name}: plays at {address}")))


def _until_ended(running: Coroutine[Any, Any, None]) -> None:
    """Run until SIGINT or SIGTERM."""

    async def run() -> None:
        task = asyncio.ensure_future(running)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await task

    try:
        asyncio.run(run())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _schedule(url: str, tls: Path | None, listening: Callable[[str], object]) -> None:
    """Be a scheduler until this is cancelled.

    Args:
        listening: called with its address once it listens.

    Raises:
        SalvoError: as in :func:`salvo_lab.cluster.security_for`; ``bad_lab_url``: the address cannot be used.
    """
    security = security_for(url, tls)
    distributed = import_dask()
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


async def _serve_blocks(
    url: str, tls: Path | None, jobs: int | None, name: str, connected: Callable[[str], object]
) -> None:
    """Play blocks for a scheduler until that ends, or this is cancelled.

    Args:
        jobs: processes to play in, all cores if None.
        connected: called with the address of this host's worker.

    Raises:
        SalvoError: as in :func:`salvo_lab.cluster.security_for`; ``no_scheduler``.
    """
    security = security_for(url, tls)
    distributed = import_dask()
    host = urlsplit(url).hostname or ""
    here = distributed.utils.get_ip(host)
    knock(url, security)
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
        raise no_scheduler(url, error) from None
    finally:
        close_idle()
