"""``salvo gateway jsonline``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from salvo.bots.player import Bot
from salvo.rules import RuleBook
from salvo_gateways.commands.shared import opponent_option, rules_option, serve_clients, transcripts_option
from salvo_gateways.jsonline import check, door
from salvo_gateways.listener import Listener
from salvo_gateways.transcripts import Transcripts


@click.command()
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:4001", help="Where programs connect.")
@opponent_option("The server's player: a built-in bot, or a bot's file.", default="hunter")
@click.option(
    "--status-names", is_flag=True, help="Write a status as its name instead of its number, and results as echoed."
)
@rules_option("alternate", check)
@transcripts_option
def command(
    listen: str, opponent: Callable[[], Bot], status_names: bool, book: RuleBook, transcripts: Path | None
) -> None:
    """Play against programs that speak Battleship in JSON lines over TCP, one at a time.

    The gateway is the system's server, and needs no other one.
    """
    games = Transcripts("jsonline", transcripts)
    host = Listener(door(book, opponent, status_names=status_names, transcripts=games))
    serve_clients(host, listen, "programs that speak JSON lines play")
