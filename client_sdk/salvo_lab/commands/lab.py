"""``salvo lab``: the hosts that play for ``--scheduler``."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click

from salvo.cli.checked import Suggesting
from salvo.cli.options import JOBS
from salvo_lab.cluster import is_loopback, schedule, serve_blocks
from salvo_lab.commands.on_hosts import TLS


@click.group(cls=Suggesting)
def lab() -> None:
    """Play on several hosts: one scheduler, a worker on each host, and --scheduler URL of the commands that play.

    Anyone who can connect to a scheduler or a worker can run code on its host. So they want certificates of each other:
    salvo tls makes them, in a folder to copy to all hosts. On one machine alone they have some of their own.
    """


@lab.command()
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8786", help="Where workers and commands connect.")
@TLS
@click.option("--dashboard", metavar="HOST:PORT", default="127.0.0.1:8787", help="Dask's pages, which need no key.")
def scheduler(listen: str, tls: Path | None, dashboard: str) -> None:
    """Hand blocks of games to workers, until Ctrl-C."""
    if not is_loopback(dashboard.rpartition(":")[0].strip("[]")):
        text = f"anyone who reaches {dashboard} sees on the dashboard what is played, without a key"
        click.echo(f"warning: {text}", err=True)

    def listening(address: str, pages: str) -> None:
        more = "" if tls is None else f" --tls {shlex.quote(str(tls))}"
        click.echo(f"scheduler: {address}")
        click.echo(f"dashboard: {pages}")
        click.echo(f"on each host: salvo lab worker {address}{more}")

    _until_ended(schedule(f"tls://{listen}", tls, dashboard, listening))


@lab.command()
@click.argument("url", metavar="URL")
@TLS
@JOBS
@click.option("--name", help="What this host is called.  [default: its own name and the process's number]")
def worker(url: str, tls: Path | None, jobs: int | None, name: str | None) -> None:
    """Play for the scheduler at URL, tls://HOST:PORT, until that ends or Ctrl-C."""
    name = name or f"{socket.gethostname()}-{os.getpid()}"
    _until_ended(serve_blocks(url, tls, jobs, name, lambda address: click.echo(f"host {name}: plays at {address}")))


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
