"""``salvo gateway xbs``: lets clients of Xterm Boat Sinker in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from salvo.cli.checked import DEFAULT_BROKER, refuse_unused_ca
from salvo.cli.options import CA, URL
from salvo.net.mqtt import BrokerUrl
from salvo.wire.topics import check_name
from salvo_gateways.accounts import Accounts, OpenAccounts, RosterAccounts
from salvo_gateways.commands.shared import serve_clients
from salvo_gateways.listener import Listener
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs import door
from salvo_server.settings import gateway_key_path, roster_path
from salvo_server.storage.roster import Roster, has_begun

_NO_ROSTER: Final = Path("none")


@click.command("xbs")
@click.option(
    "--listen", default="127.0.0.1:7948", show_default=True, metavar="HOST:PORT", help="Where clients connect."
)
@click.option("--table", default="", show_default=False, help="Name of the table.  [default: the default table]")
@click.option("--broker", metavar="URL", type=URL, default=DEFAULT_BROKER, help="Address of the server's broker.")
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    metavar="FILE|none",
    help="The roster for the clients; none where the broker is open to everyone.  [default: one per user]",
)
@CA
def command(
    listen: str,
    table: str,
    broker: str,
    roster: Path | None,
    ca: str | None,
) -> None:
    """Accept clients and bots of Xterm Boat Sinker, at a table whose rules are like the book xbs.

    The gateway runs on the server's machine, whose roster it adds its clients to, or anywhere with an open broker.
    """
    refuse_unused_ca(broker)
    with _table_watch(broker, table, roster, ca) as watch:
        book = watch.open()
        opening = door(watch, book, title=f"Salvo {table}".strip())
        serve_clients(Listener(opening), listen, "xbs")


@contextlib.contextmanager
def _table_watch(broker: str, table: str, roster: Path | None, ca: str | None) -> Iterator[TableWatch]:
    """Yield the table that the options name; the caller opens it.

    Raises:
        WireError: ``bad_name``.
        RosterError: the roster cannot be used.
    """
    if table:
        check_name(table, "table")
    with contextlib.closing(TableWatch(str(BrokerUrl.parse(broker)), table, _accounts(roster), ca=ca)) as watch:
        yield watch


def _accounts(roster: Path | None) -> Accounts:
    file = roster_path(roster)
    if roster != _NO_ROSTER and (roster is not None or has_begun(file)):
        return RosterAccounts(Roster(file), "xbs")
    return OpenAccounts(gateway_key_path(), "xbs")
