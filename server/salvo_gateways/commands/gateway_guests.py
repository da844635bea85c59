"""What the commands of all gateways share: options for the table and the opponent, and admitting guests."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from salvo import sources
from salvo.cli.checked import DEFAULT_BROKER, ca_rule
from salvo.cli.options import CA
from salvo.errors import BotError
from salvo.net.mqtt import BrokerUrl
from salvo.topics import check_name
from salvo_gateways.accounts import Accounts, OpenAccounts, RosterAccounts
from salvo_gateways.host import Host
from salvo_gateways.table_watch import TableWatch
from salvo_server.brokers.embedded.addresses import split_address
from salvo_server.settings import gateway_key_path, roster_path
from salvo_server.storage.roster import Roster, has_begun

#: For the options that choose a gateway's table.
TABLE_RULES: Final = (ca_rule("broker"),)
_NO_ROSTER: Final = Path("none")

_LOOK_SECONDS = 0.5
_Command = TypeVar("_Command", bound=Callable[..., Any])


def opponent_option(text: str, *, other: str | None = None) -> Callable[[_Command], _Command]:
    """Return the option for the bot that plays against a program; an unknown one is reported before connecting.

    Args:
        text: the option's help.
        other: the value for an opponent that is not a bot, if there is one.
    """

    def checked(_: click.Context, __: click.Parameter, source: str) -> str:
        try:
            if source != other:
                sources.load(source)
        except BotError as error:
            raise click.BadParameter(error.text) from None
        return source

    return click.option("--opponent", metavar="BOT", default="hunter", callback=checked, help=text)


def table_options(command: _Command) -> _Command:
    """Add the options that choose a gateway's table."""
    for option in (
        CA,
        click.option(
            "--roster",
            type=click.Path(path_type=Path),
            metavar="FILE|none",
            help="The roster that guests are added to; none where the broker is open to everyone.  "
            "[default: one per user]",
        ),
        click.option("--broker", metavar="URL", default=DEFAULT_BROKER, help="Where the server is."),
        click.option("--table", default="", help="The table; the default one when not given."),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def table_watch(door: str, *, broker: str, table: str, roster: Path | None, ca: str | None) -> Iterator[TableWatch]:
    """Yield the table that the options name; the caller opens it.

    Raises:
        WireError: ``bad_name``.
        RosterError: the roster cannot be used.
    """
    url = BrokerUrl.parse(broker)
    if table:
        check_name(table, "table")
    file = roster_path(roster)
    accounts: Accounts
    if roster != _NO_ROSTER and (roster is not None or has_begun(file)):
        accounts = RosterAccounts(Roster(file), door)
    else:
        accounts = OpenAccounts(gateway_key_path(), door)
    watch = TableWatch(str(url), table, accounts, ca=ca)
    with contextlib.closing(watch):
        yield watch


def serve_guests(
    host: Host,
    listen: str,
    what: str,
    stop: threading.Event | None = None,
    say: Callable[[str], object] = click.echo,
) -> None:
    """Listen and admit guests until Ctrl-C or SIGTERM, or until ``stop`` is set.

    Args:
        stop: from :func:`ended_by_signals`, for a caller that waits for something else, too.
        say: told where it listens.

    Raises:
        BrokerError: ``bad_address``.
        GatewayError: ``cannot_listen``.
    """
    stop = stop or ended_by_signals()
    host.open(*split_address(listen))
    with contextlib.closing(host):
        say(f"{what} on {host.address[0]}:{host.address[1]}")
        wait_until_set(stop)


def wait_until_set(stop: threading.Event) -> None:
    """Wait, and check now and then: a signal just before an endless wait would be lost."""
    while not stop.wait(_LOOK_SECONDS):
        pass


def ended_by_signals() -> threading.Event:
    """Return what Ctrl-C and SIGTERM set from now on; let the log show which guests come and go."""
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("salvo_gateways").setLevel(logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # On a separate thread: the main thread may be waiting for the event, and hold its lock.
        signal.signal(number, lambda *_: threading.Thread(target=stop.set).start())
    return stop
