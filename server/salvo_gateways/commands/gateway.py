"""``salvo gateway``: one command a protocol, each in its own module next to this one, ``gateway_NAME``."""

from __future__ import annotations

import contextlib
import importlib
import shlex
from collections.abc import Callable
from typing import Final, NamedTuple

import click

from salvo.cli.checked import given, option_of
from salvo.cli.output import end_with_input
from salvo.rules import BOOKS, RuleBook
from salvo.unused import Unused, UnusedOption, refuse_unused
from salvo_gateways.accounts import GatewayError
from salvo_lab.human import HUMAN
from salvo_server.settings import ServerSettings, SettingsError

#: Protocol -> which programs connect there.
DOORS: Final = {
    "xbs": "Xterm Boat Sinker: lines over TCP; many players, points, taunts and chat.",
    "smackdown": "Code Smackdown: |QUERY|...|END| with child processes, or over TCP.",
    "jsonline": "Battleship in JSON lines over TCP, against a built-in bot or another team.",
    "classic": "The two-player game of set-up, shots and replies, over TCP or its own bus.",
}
#: Protocol -> what is played where no rules are named.
_RULES: Final = {"xbs": "xbs", "smackdown": "smackdown", "jsonline": "alternate", "classic": "spaced"}
#: Protocols whose programs are for people.
_FOR_PEOPLE: Final = frozenset({"xbs"})

#: What a server tells the gateways that it runs.
_SAID_BY_SERVER: Final = [
    Unused(each, lambda _: True, "with a server, which passes its own on to its gateways; leave it out")
    for each in ("broker", "roster", "ca", "players")
]


class _Doors(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(DOORS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in DOORS:
            return None
        command: click.Command = importlib.import_module(f"salvo_gateways.commands.gateway_{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Protocols"):
            formatter.write_dl(list(DOORS.items()))


@click.group(cls=_Doors)
def gateway() -> None:
    """Accept clients of older Battleship protocols; each is a player like any other.

    A gateway runs on the server's machine, whose roster it adds its guests to, or on any machine with an open broker.
    """
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
    check: Callable[[RuleBook], None] = importlib.import_module(f"salvo_gateways.{protocol}").check

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
