"""What the commands of all gateways share: options of those that referee games themselves, and admitting clients."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from salvo.bots import sources
from salvo.bots.player import Bot
from salvo.errors import BotError, SalvoError
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo_gateways.listener import Listener
from salvo_server.brokers.embedded.addresses import split_address

_POLL_SECONDS: Final = 0.5
_Command = TypeVar("_Command", bound=Callable[..., Any])


def rules_option(default: str, check: Callable[[RuleBook], None]) -> Callable[[_Command], _Command]:
    """Return the option for the ruleset, which becomes the book.

    Args:
        check: raises a SalvoError where the protocol cannot express a book.
    """

    def load(_: click.Context, __: click.Parameter, source: str) -> RuleBook:
        try:
            book = load_book(source)
            check(book)
        except SalvoError as error:
            raise click.BadParameter(error.text) from None
        return book

    text = "Ruleset: a name, or a TOML file."
    return click.option("--rules", "book", default=default, show_default=True, callback=load, help=text)


def opponent_option(text: str, *, other: str | None = None, **given: Any) -> Callable[[_Command], _Command]:
    """Return the option for the bot that plays against a program; its value makes a player for each game.

    Args:
        text: the option's help.
        other: a value that is not a bot, and remains as it is.
        given: further settings of the option.
    """

    def load(_: click.Context, __: click.Parameter, source: str | None) -> Callable[[], Bot] | str | None:
        try:
            return source if source in (None, other) else sources.load(source)
        except BotError as error:
            raise click.BadParameter(error.text) from None

    return click.option("--opponent", metavar="BOT", callback=load, help=text, **given)


transcripts_option: Final = click.option(
    "--transcripts",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write every game to this folder when it is over.",
)


def serve_clients(
    host: Listener,
    listen: str,
    what: str,
    stop: threading.Event | None = None,
    report: Callable[[str], object] = click.echo,
) -> None:
    """Listen and admit clients until Ctrl-C or SIGTERM, or until ``stop`` is set.

    Args:
        stop: from :func:`ended_by_signals`, for a caller that waits for something else, too.
        report: gets a line with the address.

    Raises:
        BrokerError: ``bad_address``.
        GatewayError: ``address_in_use``.
    """
    stop = stop or ended_by_signals()
    host.open(*split_address(listen))
    with contextlib.closing(host):
        report(f"{what} on {host.address[0]}:{host.address[1]}")
        wait_until_set(stop)


def wait_until_set(stop: threading.Event) -> None:
    """Wait, and check now and then: a signal just before an endless wait would be lost."""
    while not stop.wait(_POLL_SECONDS):
        pass


def ended_by_signals() -> threading.Event:
    """Return what Ctrl-C and SIGTERM set from now on; let the log show which clients come and go."""
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("salvo_gateways").setLevel(logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # On a separate thread: the main thread may be waiting for the event, and hold its lock.
        signal.signal(number, lambda *_: threading.Thread(target=stop.set).start())
    return stop
