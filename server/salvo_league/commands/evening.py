"""``salvo evening``: the folder of an evening."""

from __future__ import annotations

import datetime
import logging
import shlex
from pathlib import Path

import click

from salvo.cli.output import Integer, Number
from salvo.errors import WireError
from salvo.wire.chat_text import clean_text
from salvo_league.evening_plan import Plan
from salvo_league.league_file import MAX_NAME, LeagueError
from salvo_league.rehearsal import AROUND_SECONDS, CONTEST, SPEED, TEAMS, Rehearsal
from salvo_server.brokers.embedded.addresses import joined, lan_addresses
from salvo_server.spectators.game_lengths import duration

CARDS = "cards.html"
_PAGES = {"hall": "projector and phones", "team": "a team's page", "tables": "all tables", "host": "the host's page"}


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--teams", type=Integer(2, 256), metavar="N", help="How many teams come.")
@click.option("--hours", type=Number(0.01, 24), metavar="H", help="How long they play.")
@click.option("--name", metavar="TEXT", help="What the evening is called.  [default: the folder's name]")
@click.option("--rehearse", is_flag=True, help="Play the evening of DIR with built-in bots, 20 times as fast.")
def evening(folder: Path, teams: int | None, hours: float | None, name: str | None, rehearse: bool) -> None:
    """Write the folder of an evening: contest.toml, which salvo serve plays whole, and teams.csv, to be filled in.

    Up to four teams play at one table; more play a league of short games, at as many tables as they need.

    A rehearsal shows the evening before anybody comes: the same server and pages, on the same addresses, with bots in
    place of the teams; one comes late, one dies, one sleeps, all take a break, and the server is killed and started
    again. It leaves nothing behind.
    """
    if teams is None and hours is None and name is None and rehearse:
        _rehearse(folder)
        return
    if teams is None or hours is None:
        raise click.UsageError("a new evening needs --teams and --hours; --rehearse alone plays one that exists")
    plan = Plan.of(teams, hours)
    name = _name(folder.resolve().name if name is None else name)
    _write(folder, {CONTEST: plan.contest(name), TEAMS: plan.accounts()})
    began = datetime.datetime.now().astimezone()
    ends = (began + datetime.timedelta(seconds=plan.seconds)).astimezone()  # summer may end before
    click.echo(f"{name}: {plan}; begun now, it ends at about {ends:%H:%M}")
    if rehearse:
        _rehearse(folder)
    host = next(iter(lan_addresses("0.0.0.0")), "HOST")
    files = {each: shlex.quote(str(folder / each)) for each in (CONTEST, TEAMS, CARDS)}
    click.echo(f"\nWrite the teams' names into {files[TEAMS]}, then:")
    click.echo(f"  salvo serve --config {files[CONTEST]}")
    click.echo(f"  salvo teams add --csv {files[TEAMS]} --cards {files[CARDS]} --web http://{joined(host, 8080)}")
    click.echo("and each team, with the secret of its card:")
    click.echo(f"  salvo join mqtt://{joined(host, 1883)} mybot.py --team NAME")


def _rehearse(folder: Path) -> None:
    rehearsal = Rehearsal(folder)
    seconds = rehearsal.seconds()
    long = ""
    if seconds is not None:
        long = f", {duration(seconds)} on the day, about {duration(seconds / SPEED + AROUND_SECONDS)} now"
    click.echo(f"rehearsal: {len(rehearsal.teams)} teams{long}; Ctrl-C ends it")
    logging.getLogger("salvo.net.mqtt").setLevel(logging.ERROR)  # the server is killed on purpose
    for problem in rehearsal.foreseen():
        click.echo(f"on the day: {problem}")
    with rehearsal:
        for what, address in rehearsal.pages.items():
            click.echo(f"{_PAGES[what]}: {address}")
        for moment in rehearsal.play():
            click.echo(f"{datetime.datetime.now().astimezone():%H:%M:%S} {moment.text}")
    click.echo("it has ended, and has left nothing behind")


def _name(text: str) -> str:
    try:
        name = clean_text(text)
    except WireError as error:
        raise click.BadParameter(error.text, param_hint="--name") from None
    if len(name) > MAX_NAME:
        raise click.BadParameter(f"{len(name)} characters; {MAX_NAME} at most", param_hint="--name")
    return name


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write files that are not there yet.

    Raises:
        LeagueError: ``bad_league``: one of them is there, or the folder cannot be written; nothing is.
    """
    for name in files:
        if (folder / name).exists():
            raise LeagueError("bad_league", f"{folder / name} exists already; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise LeagueError("bad_league", f"{folder}: {error.strerror}; name another folder") from None
