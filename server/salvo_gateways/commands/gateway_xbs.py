"""``salvo gateway xbs``: lets clients of Xterm Boat Sinker in."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.checked import Checked
from salvo.cli.output import Integer
from salvo_gateways.commands.gateway_guests import TABLE_RULES, serve_guests, table_options, table_watch
from salvo_gateways.host import Host
from salvo_gateways.xbs import MAX_PLAYERS, door


@click.command("xbs", cls=Checked, unused=TABLE_RULES)
@click.option(
    "--listen", default="127.0.0.1:7948", show_default=True, metavar="HOST:PORT", help="Where clients connect."
)
@click.option("--title", default="", help="What clients call the game.  [default: Salvo and the table's name]")
@click.option("--most", type=Integer(min=2), default=MAX_PLAYERS, show_default=True, help="Players that a game takes.")
@click.option(
    "--players", type=Integer(min=2), help="The server's --players, which it passes on to gateways beside it."
)
@table_options
def command(listen: str, title: str, most: int, players: int | None, table: str, **where: Any) -> None:
    """Accept clients and bots of Xterm Boat Sinker, at a table whose rules are like the book xbs."""
    with table_watch("xbs", table=table, **where) as watch:
        book = watch.open()
        opening = door(book, title=title or f"Salvo {table}".strip(), most=most, players=players)
        serve_guests(Host(watch, opening), listen, "xbs")
