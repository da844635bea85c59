"""``salvo gateway jsonline``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from salvo.cli.checked import Checked
from salvo_gateways.commands.gateway_guests import (
    TABLE_RULES,
    opponent_option,
    serve_guests,
    table_options,
    table_watch,
)
from salvo_gateways.host import Host
from salvo_gateways.jsonline import door


@click.command(cls=Checked, unused=TABLE_RULES)
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:4001", help="Where programs connect.")
@opponent_option("The server's player: a bot that ships, or a bot's file.")
@click.option(
    "--status-names", is_flag=True, help="Write a status as its name instead of its number, and results as echoed."
)
@click.option("--name", default="jsonline-client", help="The program's name at the table.")
@click.option("--games", type=click.Path(path_type=Path), help="The file that keeps games.  [default: one per table]")
@table_options
def command(listen: str, opponent: str, status_names: bool, name: str, games: Path | None, **table: Any) -> None:
    """Accept clients that play Battleship in JSON lines over TCP, one at a time, at a table with the rules alternate.

    The server plays itself. A finished game is played again at the table, as the program's fleet is not known before.
    """
    with table_watch("jsonline", **table) as watch:
        opening = door(watch.open(), opponent=opponent, status_names=status_names, name=name, games=games)
        serve_guests(Host(watch, opening), listen, f"programs that speak JSON lines play against {opponent}")
