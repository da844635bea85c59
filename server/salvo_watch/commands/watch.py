"""``salvo watch``."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click

from salvo.cli.checked import refuse_unused_ca
from salvo.cli.options import CA, URL, json_option
from salvo.cli.output import Integer, has_terminal, table_name
from salvo.errors import ConnectionLost
from salvo.join.fairness.proof import Proof
from salvo.join.fairness.proof_connection import ProofConnection
from salvo.net.mqtt import BrokerUrl
from salvo.system.streams import let_go_of_terminal
from salvo_server.screen_users import ScreenUsers, watching_account
from salvo_watch.live_views import Watcher

#: Between two pictures on a terminal, and how soon Ctrl-C ends it.
_POLL_SECONDS = 0.25


@click.command()
@click.argument("url", type=URL)
@click.option(
    "--table",
    type=table_name,
    metavar="NAME",
    default="",
    show_default=False,
    help="Name of the table.  [default: the default table]",
)
@CA
@click.option("--games", type=Integer(min=1), help="End after this many games.  [default: never]")
@click.option(
    "--proof",
    type=click.Path(path_type=Path),
    help="Write the server's signed log here, for salvo verify; an existing file is continued.",
)
@json_option("One JSON line per event.")
def watch(
    url: str,
    table: str,
    ca: str | None,
    games: int | None,
    proof: Path | None,
    as_json: bool,
) -> None:
    """Follow a table at URL live.

    It shows what everybody may see; the hall of salvo web also shows the boards of games that are over.

    The account is SALVO_TEAM with SALVO_SECRET, or that in the URL, mqtt://NAME@HOST; at a terminal it asks for a
    secret that is missing. Watching uses a free viewer slot, NAME.1, NAME.2 ..., so that it disconnects no one.
    """
    refuse_unused_ca(url)
    watcher, users = _watcher(BrokerUrl.parse(url), table, ca, proof)
    live = has_terminal() and not as_json
    try:
        with _live(watcher) if live else contextlib.nullcontext() as screen:
            while games is None or watcher.games_ended < games:
                for line, record in users.poll(watcher, _POLL_SECONDS):
                    if not live and (as_json or line):
                        click.echo(json.dumps(record) if as_json else line)
                if screen is not None:
                    if let_go_of_terminal():
                        raise KeyboardInterrupt(signal.SIGTERM)
                    screen.update(watcher.page(), refresh=True)
    except ConnectionLost as error:
        if error.code == "not_authorised":
            hint = "the account may also be in the URL, mqtt://NAME@HOST, with its secret in SALVO_SECRET"
            raise ConnectionLost(error.code, f"{error.text}; {hint}") from None
        raise
    finally:
        if finding := watcher.close():
            click.echo(finding, err=True)


def _watcher(url: BrokerUrl, table: str, ca: str | None, proof: Path | None) -> tuple[Watcher, ScreenUsers]:
    account = watching_account(url)
    users = ScreenUsers(account.user, Random())
    address = url._replace(username=users.user, password=account.secret)
    connection = ProofConnection(
        address, f"salvo-watch-{os.getpid()}", clean_session=True, ca=ca, newcomer_gives_way=True
    )
    if proof is not None:
        connection.record(Proof(proof), table)
    return Watcher(connection, table), users


class _AmongTheNews(logging.Handler):
    """Shows what is logged on the screen's page: on standard error it would land in the midst of it."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher

    def emit(self, record: logging.LogRecord) -> None:
        self._watcher.note(record.getMessage())


@contextlib.contextmanager
def _live(watcher: Watcher) -> Iterator[Any]:
    from rich.live import Live

    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = [_AmongTheNews(watcher)]
    try:
        with Live(watcher.page(), auto_refresh=False) as screen:
            yield screen
    finally:
        root.handlers[:] = before
