"""``salvo join``."""

from __future__ import annotations

import json
import logging
import secrets
from pathlib import Path

import click

from salvo.client import play as play_contest
from salvo.sources import load, team_name


@click.command()
@click.argument("url")
@click.argument("bot")
@click.option("--team", envvar="SALVO_TEAM", help="The team's name; the file's by default.")
@click.option("--secret", envvar="SALVO_SECRET", help="The team's secret; drawn and shown when not given.")
@click.option("--table", envvar="SALVO_TABLE", default="", help="The table; the default one when not given.")
@click.option("--games", type=click.IntRange(min=1), help="How many games; for ever when not given.")
@click.option("--seed", help="Decides all that the bot draws.")
@click.option(
    "--proof",
    type=click.Path(path_type=Path),
    help="Write the server's signed log and what the team sends here, for salvo verify.",
)
@click.option("--strict", is_flag=True, help="End when the bot fails, instead of losing the turn.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line a game.")
def join(
    url: str,
    bot: str,
    team: str | None,
    secret: str | None,
    table: str,
    games: int | None,
    seed: str | None,
    proof: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Play BOT (a file.py, file.py:Name or a house bot) in the contest at URL; come back after any lost connection."""
    if logging.getLogger().level > logging.INFO:
        logging.getLogger("salvo").setLevel(logging.INFO)
    kind = load(bot)
    team = team or team_name(bot)
    if secret is None:
        secret = secrets.token_urlsafe(16)
        click.echo(f"secret of {team}: {secret} (give it with --secret to come back)", err=True)
    reports = play_contest(kind(), url, team, secret, table=table, games=games, seed=seed, strict=strict, proof=proof)
    for report in reports:
        if as_json:
            click.echo(json.dumps({"game": report.game, "winner": report.winner, "place": report.place}))
        else:
            click.echo(f"game {report.game}: {report.winner or 'nobody alone'} wins, {team} is number {report.place}")
