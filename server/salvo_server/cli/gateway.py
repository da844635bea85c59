"""``salvo gateway``: one command a protocol, each in its own module next to this one, ``gateway_NAME``."""

from __future__ import annotations

import contextlib
import importlib
import logging
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from salvo.errors import BotError
from salvo.lab import sources
from salvo.net.mqtt import BrokerUrl
from salvo.rules import BOOKS, RuleBook
from salvo.topics import check_name
from salvo_server.brokers.embedded.addresses import split_address
from salvo_server.cli.checked import DEFAULT_BROKER, ca_rule, given, option_of
from salvo_server.cli.output import end_with_input
from salvo_server.gateways.accounts import Accounts, GatewayError, OpenAccounts, RosterAccounts
from salvo_server.gateways.host import Host
from salvo_server.gateways.table_watch import TableWatch
from salvo_server.human import HUMAN
from salvo_server.settings import ServerSettings, SettingsError, gateway_key_path, roster_path
from salvo_server.storage.roster import Roster, has_begun
from salvo_server.unused import Unused, UnusedOption, is_set, refuse_unused

#: Protocol -> which programs connect there.
DOORS: Final = {
    "xbs": "Xterm Boat Sinker: lines over TCP; many players, points, taunts and chat.",
    "smackdown": "Code Smackdown: |QUERY|...|END| with child processes, or over TCP.",
    "jsonline": "Battleship in JSON lines over TCP, against a built-in bot or another team.",
    "classic": "The two-player game of set-up, shots and replies, over TCP or a pair of MQTT topics.",
}
#: Protocol -> what is played where no rules are named.
_RULES: Final = {"xbs": "xbs", "smackdown": "smackdown", "jsonline": "alternate", "classic": "classic"}
#: Protocols whose programs are for people.
_FOR_PEOPLE: Final = frozenset({"xbs"})

#: For the options that choose a gateway's table.
TABLE_RULES: Final = (
    ca_rule("broker"),
    Unused("roster", is_set("no_roster"), "with --no-roster; leave one of them out"),
)
#: What a server tells the gateways that it runs.
_SAID_BY_SERVER: Final = [
    Unused(each, lambda _: True, "with a server, which passes its own on to its gateways; leave it out")
    for each in ("broker", "roster", "no_roster", "ca", "no_pin", "players")
]

_LOOK_SECONDS = 0.5
_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Doors(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(DOORS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in DOORS:
            return None
        command: click.Command = importlib.import_module(f"salvo_server.cli.gateway_{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Protocols"):
            formatter.write_dl(list(DOORS.items()))


@click.group(cls=_Doors)
@click.option("--until-eof", is_flag=True, hidden=True)
def gateway(until_eof: bool) -> None:
    """Accept clients of older Battleship protocols; each is a player like any other.

    A gateway runs on the server's machine, whose roster it adds its guests to, or on any machine with an open broker.
    """
    if until_eof:  # a server has started it, and ends it so, however it ends itself
        end_with_input()


class GatewayCall(NamedTuple):
    """What ``--gateway`` was given.

    Attributes:
        words: those behind ``salvo gateway``.
        table: the one that it leads to.
    """

    words: list[str]
    table: str

    @property
    def for_people(self) -> bool:
        """Whether people sit at the other end, who take their time."""
        return self.words[0] in _FOR_PEOPLE


def with_rules_of_gateways(settings: ServerSettings) -> ServerSettings:
    """Return the settings, with the rules of the first gateway's protocol where they name none."""
    protocol = next((line.split(maxsplit=1)[0] for line in settings.gateways if line.strip()), "")
    if "rules" in settings.model_fields_set or protocol not in _RULES:
        return settings
    return ServerSettings(**settings.model_dump(exclude_unset=True) | {"rules": _RULES[protocol]})


def read_gateway(line: str, book: RuleBook) -> GatewayCall:
    """Read what ``--gateway`` was given.

    Args:
        book: what the server plays.

    Raises:
        SettingsError: ``bad_setting``: no such protocol, option or opponent, or other rules than the protocol's;
            ``unused_option``.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SettingsError("bad_setting", f"gateway {line!r}: {error}") from None
    if not words or words[0] not in DOORS:
        raise SettingsError("bad_setting", f"gateway {line!r} does not begin with one of {', '.join(DOORS)}")
    command = gateway.get_command(click.Context(gateway), words[0])
    assert command is not None
    if {"-h", "--help"} & {*words}:
        raise SettingsError("bad_setting", f"gateway {line!r}: --help is for salvo gateway {words[0]}")
    try:
        context = command.make_context(words[0], words[1:])
        refuse_unused(_SAID_BY_SERVER, given(context), context.params, lambda name: option_of(context, name))
    except click.ClickException as error:
        raise SettingsError("bad_setting", f"gateway {line!r}: {error.format_message()}") from None
    except UnusedOption as error:
        raise SettingsError(error.code, f"gateway {line!r}: {error.text}") from None
    if context.params.get("opponent") == HUMAN:
        alone = f"a person needs a terminal; start salvo gateway {words[0]} --opponent {HUMAN} in one of its own"
        raise SettingsError("bad_setting", f"gateway {line!r}: {alone}")
    _check_rules(words[0], book)
    return GatewayCall(words, context.params["table"])


def _check_rules(protocol: str, book: RuleBook) -> None:
    check: Callable[[RuleBook], None] = importlib.import_module(f"salvo_server.gateways.{protocol}").check

    def fits(other: RuleBook) -> bool:
        with contextlib.suppress(GatewayError):
            check(other)
            return True
        return False

    try:
        check(book)
    except GatewayError as error:
        which = " or ".join(f"--rules {name}" for name, other in BOOKS.items() if fits(other))
        raise SettingsError("bad_setting", f"gateway {protocol}: {error.text}; give {which}") from None


def opponent_option(text: str, *, other: str) -> Callable[[_Command], _Command]:
    """Return the option for the bot that plays against a program; an unknown one is reported before connecting.

    Args:
        text: the option's help.
        other: the value that means somebody else.
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
        click.option("--no-pin", is_flag=True, help="Do not remember the server's key, nor compare it."),
        click.option("--ca", metavar="FILE", envvar="SALVO_CA", help="For mqtts://, the CA to trust, PEM."),
        click.option(
            "--roster",
            type=click.Path(path_type=Path),
            help="The roster that guests are added to.  [default: one per user]",
        ),
        click.option("--no-roster", is_flag=True, help="Add guests to no roster: the broker is open to everyone."),
        click.option("--broker", metavar="URL", default=DEFAULT_BROKER, help="Where the server is."),
        click.option("--table", default="", help="The table; the default one when not given."),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def table_watch(
    door: str, *, broker: str, table: str, roster: Path | None, no_roster: bool, ca: str | None, no_pin: bool
) -> Iterator[TableWatch]:
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
    if not no_roster and (roster is not None or has_begun(file)):
        accounts = RosterAccounts(Roster(file), door)
    else:
        accounts = OpenAccounts(gateway_key_path(), door)
    watch = TableWatch(str(url), table, accounts, ca=ca, pin=not no_pin)
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
        logging.getLogger("salvo_server.gateways").setLevel(logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # On a separate thread: the main thread may be waiting for the event, and hold its lock.
        signal.signal(number, lambda *_: threading.Thread(target=stop.set).start())
    return stop
