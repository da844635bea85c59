"""``salvo teams``: the roster of the contest."""

from __future__ import annotations

import json
from pathlib import Path

import click

from salvo.topics import Role
from salvo_server.cli.checked import Suggesting
from salvo_server.cli.output import Integer
from salvo_server.settings import roster_path
from salvo_server.storage.roster import MAX_SCREENS, SCREENS, Roster

_ROLES = {"team": Role.TEAM, "watcher": Role.WATCHER, "referee": Role.REFEREE}


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
    ctx.obj = Roster(roster_path(file))


@teams.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--role", type=click.Choice(list(_ROLES)), default="team", show_default=True, help="What the accounts may do."
)
@click.option(
    "--screens",
    type=Integer(1, MAX_SCREENS),
    default=SCREENS,
    help="Viewer slots: how many people may watch with a watcher's or referee's secret.",
)
@click.option("--new", is_flag=True, help="Begin a new roster if the file is lost; its accounts are gone.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per name.")
@click.pass_obj
def add(roster: Roster, names: tuple[str, ...], role: str, screens: int, new: bool, as_json: bool) -> None:
    """Add names and show their secrets, only this once.

    A team plays; a watcher reads what is public; a referee also sees all boards.
    """
    if new:
        roster.begin_anew()
    for name in names:
        roster.add(name, _ROLES[role], screens)
        _show(roster, name, as_json)


@teams.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per name.")
@click.pass_obj
def list_(roster: Roster, as_json: bool) -> None:
    """List the names on the roster; secrets are never shown again."""
    members = roster.members()
    width = max((len(member.name) for member in members), default=0)
    for member in members:
        if as_json:
            click.echo(
                json.dumps(
                    {"name": member.name, "role": member.role.value, "since": member.since, "screens": member.screens}
                )
            )
        else:
            click.echo(f"{member.name:<{width}}  {member.role.value:<7}  secret of {member.since}")
    if not members and not as_json:
        click.echo(f"{roster.path} has no names yet; salvo teams add NAME")


@teams.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per name.")
@click.pass_obj
def rotate(roster: Roster, names: tuple[str, ...], as_json: bool) -> None:
    """Give names new secrets; connections with an old one are ended.

    A team in a game continues it once its bot is restarted with the new one.
    """
    for name in names:
        roster.rotate(name)
        _show(roster, name, as_json)


@teams.command()
@click.argument("name")
@click.argument("number", type=Integer(1, MAX_SCREENS))
@click.pass_obj
def screens(roster: Roster, name: str, number: int) -> None:
    """Allow this many viewers with a watcher's or referee's secret, which stays the same."""
    roster.give_screens(name, number)
    click.echo(f"{name} has users {name}.1 to {name}.{number} now" if number > 1 else f"{name} has user {name}.1 now")


@teams.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.pass_obj
def remove(roster: Roster, names: tuple[str, ...]) -> None:
    """Remove names from the roster; their connections are ended."""
    for name in names:
        roster.remove(name)
        click.echo(f"{name} is struck off")


def _show(roster: Roster, name: str, as_json: bool) -> None:
    member = next(each for each in roster.members() if each.name == name)
    role, secret = member.role.value, member.secret
    if as_json:
        click.echo(json.dumps({"name": name, "role": role, "secret": secret, "screens": member.screens}))
        return
    click.echo(f"{role} {name}, secret {secret} (not shown again)")
    account = f"SALVO_TEAM={name} SALVO_SECRET={secret}"
    if role == "team":
        click.echo(f"  play:     {account} salvo join mqtt://HOST bot.py")
    click.echo(f"  watch:    {account} salvo watch mqtt://HOST")
    users = f"user {name}.1" + (f" ... {name}.{member.screens}, each" if member.screens > 1 else ",")
    click.echo(f"  explorer: {users} for one connection; password: the secret")
