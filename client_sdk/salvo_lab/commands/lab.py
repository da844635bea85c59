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
from salvo_lab.cluster import schedule, serve_blocks
from salvo_lab.commands.on_hosts import TLS


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

    _until_ended(schedule(f"tls://{listen}", tls, listening))


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
