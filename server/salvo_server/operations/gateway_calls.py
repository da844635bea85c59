"""The gateways that a server runs: what ``--gateway`` was given, checked before anything starts."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable
from typing import NamedTuple

import click

from salvo.cli.checked import refuse_unused
from salvo.errors import SalvoError
from salvo.gateway import Gateway
from salvo.rules import BOOKS, RuleBook
from salvo.system import plugins
from salvo_server.settings import ServerSettings, SettingsError


class GatewayCall(NamedTuple):
    """What ``--gateway`` was given.

    Attributes:
        words: those behind ``salvo gateway``.
        table: the one that it leads to; None for a gateway that referees its games itself.
    """

    words: list[str]
    table: str | None

    @property
    def for_people(self) -> bool:
        """Whether people sit at the other end, who take their time."""
        return _gateway(self.words[0]).for_people


def with_rules_of_gateways(settings: ServerSettings) -> ServerSettings:
    """Return the settings, with the rules that the first gateway's table needs where they name none."""
    protocol = next((line.split(maxsplit=1)[0] for line in settings.gateways if line.strip()), "")
    if "rules" in settings.model_fields_set or protocol not in plugins.found(plugins.GATEWAYS):
        return settings
    rules = _gateway(protocol).rules
    return ServerSettings(**settings.model_dump(exclude_unset=True) | {"rules": rules}) if rules else settings


def read_gateway(line: str, book: RuleBook) -> GatewayCall:
    """Read what ``--gateway`` was given.

    Args:
        book: what the server plays.

    Raises:
        SettingsError: ``bad_setting``: no such protocol, option or opponent, or other rules than a table needs;
            ``unused_option``.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SettingsError("bad_setting", f"gateway {line!r}: {error}") from None
    known = plugins.found(plugins.GATEWAYS)
    if not words or words[0] not in known:
        raise SettingsError("bad_setting", f"gateway {line!r} does not begin with one of {', '.join(known)}")
    command: click.Command = plugins.imported(_gateway(words[0]).command)
    if {"-h", "--help"} & {*words}:
        raise SettingsError("bad_setting", f"gateway {line!r}: --help is for salvo gateway {words[0]}")
    try:
        context = command.make_context(words[0], words[1:])
        with context.scope(cleanup=False):
            for option in ("broker", "roster", "ca"):
                refuse_unused(option, "with a server, which passes its own on to its gateways; leave it out")
    except click.ClickException as error:
        raise SettingsError("bad_setting", f"gateway {line!r}: {error.format_message()}") from None
    except SalvoError as error:
        raise SettingsError(error.code, f"gateway {line!r}: {error.text}") from None
    opponent = context.params.get("opponent")
    if opponent in plugins.found(plugins.PLAYERS):
        alone = f"a person needs a terminal; start salvo gateway {words[0]} --opponent {opponent} in one of its own"
        raise SettingsError("bad_setting", f"gateway {line!r}: {alone}")
    table = context.params.get("table")
    if table is not None:
        _check_rules(words[0], book)
    return GatewayCall(words, table)


def _check_rules(protocol: str, book: RuleBook) -> None:
    check: Callable[[RuleBook], None] = plugins.imported(_gateway(protocol).check)

    def fits(other: RuleBook) -> bool:
        with contextlib.suppress(SalvoError):
            check(other)
            return True
        return False

    try:
        check(book)
    except SalvoError as error:
        which = " or ".join(f"--rules {name}" for name, other in BOOKS.items() if fits(other))
        raise SettingsError("bad_setting", f"gateway {protocol}: {error.text}; give {which}") from None


def _gateway(protocol: str) -> Gateway:
    found: Gateway = plugins.load(plugins.GATEWAYS, protocol, Gateway)
    return found
