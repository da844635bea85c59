"""``salvo teams``: the roster of the contest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from salvo.cli.checked import Suggesting, refuse_unused
from salvo.cli.options import json_option
from salvo.cli.output import Integer, check_page, write_page
from salvo.errors import SalvoError
from salvo.net.addresses import split_web_url
from salvo.net.mqtt import BrokerUrl, without_password
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.embedded.addresses import joined, lan_addresses
from salvo_server.operations.local_servers import RunningServer, reached_at, running_servers
from salvo_server.settings import identity_path, roster_path
from salvo_server.storage.identity import load_identity
from salvo_server.storage.register import MAX_SCREENS, SCREENS
from salvo_server.storage.roster import ROLES, Member, Roster, RosterEntry
from salvo_server.storage.roster_csv import read_entries

if TYPE_CHECKING:
    from salvo_server.host.cards import Venue

_Command = TypeVar("_Command", bound=Callable[..., Any])
#: The port of a broker, unless another one is given.
_PORT = 1883
_MAX_WEB_ADDRESS = 200
#: What lines have in place of an address that only the organiser knows.
_SOMEWHERE = "mqtt://HOST:PORT"


def _with_cards(command: _Command) -> _Command:
    """Give a command the options of the page with cards."""
    for option in (
        click.option(
            "--web", metavar="URL", help="The web front's address, for the cards' QR code and a sheet for the hall."
        ),
        click.option(
            "--url",
            metavar="URL",
            envvar="SALVO_JOIN",
            help="The broker's address that teams type, mqtt://HOST:PORT.  "
            "[default: SALVO_JOIN, or the running server's]",
        ),
        click.option(
            "--cards",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="Write a page to print, with a card for each account, and do not show the secrets here; "
            "an earlier page is replaced.",
        ),
    ):
        command = option(command)
    return command


@click.group(cls=Suggesting)
@click.option(
    "--roster",
    "file",
    type=click.Path(path_type=Path),
    envvar="SALVO_ROSTER",
    help="The roster's file.  [default: one per user]",
)
@click.pass_context
def teams(ctx: click.Context, file: Path | None) -> None:
    """Add accounts to the roster, list and remove them, replace secrets, or allow more viewers.

    A running server notices it at once, without a restart.
    """
    ctx.obj = roster_path(file)  # not yet a roster, which would be made: the command may be refused


@teams.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--csv",
    "table",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Add the names in a CSV file; its first line names the columns: name, and if needed role and screens.",
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in ROLES]),
    default="team",
    show_default=True,
    help="What the accounts may do.",
)
@_with_cards
@click.option("--new", is_flag=True, help="Begin a new roster if the file is lost; its accounts are gone.")
@json_option("One JSON line per name.")
@click.pass_obj
def add(
    path: Path,
    names: tuple[str, ...],
    table: Path | None,
    role: str,
    cards: Path | None,
    url: str | None,
    web: str | None,
    new: bool,
    as_json: bool,
) -> None:
    """Add names, all or none of them, and show their secrets, only this once.

    A team plays; a watcher reads what is public; a referee also sees all boards.
    """
    if as_json and cards is None:
        refuse_unused("url", "with --json, whose lines have no address; leave it out")
    roster = Roster(path)
    entries = [RosterEntry(name, Role(role), SCREENS) for name in names]
    if table is not None:
        entries += read_entries(table, Role(role))
    if not entries:
        raise click.UsageError("Missing argument 'NAME...'; or give --csv FILE.")
    given = None if not url else BrokerUrl.parse(url)
    venue = _venue(roster, cards, given, web)
    if new:
        roster.begin_anew()
    roster.add_all(entries)
    _show(roster, [entry.name for entry in entries], cards, venue, given, as_json=as_json)


@teams.command("list")
@click.pass_obj
def list_(path: Path) -> None:
    """List the names on the roster; secrets are never shown again."""
    roster = Roster(path)
    members = roster.members()
    width = max((len(member.name) for member in members), default=0)
    for member in members:
        click.echo(f"{member.name:<{width}}  {member.role.value:<7}  secret of {member.since}")
    if not members:
        click.echo(f"{roster.path} has no names yet; salvo teams add NAME")


@teams.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@_with_cards
@click.pass_obj
def rotate(path: Path, names: tuple[str, ...], cards: Path | None, url: str | None, web: str | None) -> None:
    """Give names new secrets, all or none of them; connections with an old one are ended.

    A team in a game continues it once its bot is restarted with the new one.
    """
    roster = Roster(path)
    given = None if not url else BrokerUrl.parse(url)
    venue = _venue(roster, cards, given, web)
    roster.rotate_all(names)
    _show(roster, names, cards, venue, given, as_json=False)


@teams.command()
@click.argument("name")
@click.argument("number", type=Integer(1, MAX_SCREENS))
@click.pass_obj
def screens(path: Path, name: str, number: int) -> None:
    """Allow this many viewers with a watcher's or referee's secret, which stays the same."""
    roster = Roster(path)
    roster.give_screens(name, number)
    click.echo(f"{name} has users {name}.1 to {name}.{number} now" if number > 1 else f"{name} has user {name}.1 now")


@teams.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.pass_obj
def remove(path: Path, names: tuple[str, ...]) -> None:
    """Remove names from the roster; their connections are ended."""
    roster = Roster(path)
    for name in names:
        roster.remove(name)
        click.echo(f"{name} is struck off")


def _show(
    roster: Roster,
    names: Iterable[str],
    cards: Path | None,
    venue: Venue | None,
    given: BrokerUrl | None,
    *,
    as_json: bool,
) -> None:
    """Show new secrets: here, or on the page of cards; here, too, if that fails, since nobody sees them again."""
    there = {member.name: member for member in roster.members()}
    members = [there[name] for name in dict.fromkeys(names)]
    if cards is None or venue is None:
        _print(members, as_json, _where(roster, given))
        return
    from salvo_server.host.cards import cards_page  # most commands make no page

    try:
        write_page(cards, cards_page(members, venue), private=True)
    except SalvoError:
        _print(members, as_json, venue.address)
        raise
    if as_json:
        _print(members, as_json, venue.address)
    web = f", web front {venue.web}/" if venue.web else ""
    count = f"{len(members)} card{'s' * (len(members) != 1)}"
    click.echo(f"{cards}: {count} for {venue.address}, server {venue.fingerprint}{web}", err=as_json)
    click.echo("print it, then delete it: the secrets are not shown again", err=as_json)


def _where(roster: Roster, given: BrokerUrl | None) -> str:
    """Return the address for lines that teams copy; one to fill in where it is not known."""
    if given is not None:
        return str(given)
    running = running_servers(roster.path)
    return (_reached(running[0]) if len(running) == 1 else "") or _SOMEWHERE


def _reached(server: RunningServer) -> str:
    """Return where teams reach a server; empty for one at a broker of its own, which others may call otherwise."""
    if server.settings.broker is not None:
        return ""
    return next(iter(reached_at(server.url, server.settings)), server.url)


def _print(members: Iterable[Member], as_json: bool, address: str) -> None:
    for member in members:
        name, role, secret = member.name, member.role.value, member.secret
        if as_json:
            click.echo(json.dumps({"name": name, "role": role, "secret": secret, "screens": member.screens}))
            continue
        click.echo(f"{role} {name}, secret {secret} (not shown again)")
        login = address.replace("://", f"://{name}@")
        if role == "team":
            click.echo(f"  play:     salvo join {address} bot.py --team {name}")
        elif role == "host":
            click.echo(f"  host:     salvo control pause {login}")
        click.echo(f"  watch:    salvo watch {login}")
        users = f"user {name}.1" + (f" ... {name}.{member.screens}, each" if member.screens > 1 else ",")
        click.echo(f"  explorer: {users} for one connection; password: the secret")


# --- cards --------------------------------------------------------------------------------------------------------


def _venue(roster: Roster, cards: Path | None, given: BrokerUrl | None, web: str | None) -> Venue | None:
    """Return what all cards say, if there shall be cards; whatever is wrong with it is found before any secret is made.

    Raises:
        SalvoError: ``bad_url``, ``html_unwritable``, ``identity_key``.
    """
    if cards is None:
        refuse_unused("web", "without --cards FILE, which it is about; leave it out")
        return None
    from salvo_server.host.cards import Venue

    check_page(cards, private=True)
    server = _server(roster, given)
    own_key = os.environ.get("SALVO_IDENTITY")
    file = server.settings.identity if server is not None else Path(own_key) if own_key else None
    address = _address(server) if given is None else str(given)
    pages, evening = "" if web is None else _web_address(web), "" if server is None else server.league
    return Venue(address, load_identity(identity_path(file)).fingerprint, pages, evening)


def _server(roster: Roster, given: BrokerUrl | None) -> RunningServer | None:
    """Return the server that runs with this roster, if there is one; of several, the one that has the port."""
    running = running_servers(roster.path)
    if len(running) <= 1:
        return running[0] if running else None
    named = [each for each in running if given is not None and BrokerUrl.parse(each.url).port == given.port]
    if len(named) != 1:
        urls = ", ".join(sorted(each.url for each in running))
        raise SalvoError("bad_url", f"several servers run with this roster, at {urls}; name the one with --url")
    return named[0]


def _address(server: RunningServer | None) -> str:
    """Return what teams type; with no server, what the next one has if it listens where others reach it."""
    if server is None:
        return f"mqtt://{joined(next(iter(lan_addresses('0.0.0.0')), '127.0.0.1'), _PORT)}"
    if address := _reached(server):
        return address
    raise SalvoError(
        "bad_url",
        f"the server that runs is at {server.url}, a broker that others may call otherwise; "
        "name the address that teams type with --url mqtt://HOST:PORT",
    )


def _web_address(text: str) -> str:
    """Return the web front's address without a slash at its end.

    Raises:
        SalvoError: ``bad_url``.
    """
    try:
        split_web_url(text)
        if len(text) > _MAX_WEB_ADDRESS or not text.isprintable() or " " in text:
            raise ValueError("it is too long for a card, or has spaces")
    except ValueError as error:
        raise SalvoError("bad_url", f"--web {without_password(text)[:80]!r}: {error}") from None
    return text.rstrip("/")
