"""``salvo bots``."""

from __future__ import annotations

import inspect

import click

from salvo import plugins
from salvo.player import Bot
from salvo_lab.human import HUMAN, MCP


@click.command()
def bots() -> None:
    """List the installed bots."""
    for point, bot in plugins.load_all(plugins.BOTS, Bot):
        first_line = (inspect.getdoc(bot) or "").partition("\n")[0]
        click.echo(f"{point.name:10} {first_line}")
    click.echo(f"{HUMAN:10} You, at this terminal.")
    click.echo(f"{MCP:10} A language model, whose program starts this command and calls its tools.")
