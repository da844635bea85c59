"""``salvo bots``."""

from __future__ import annotations

import inspect

import click

from salvo.bots.player import Bot
from salvo.errors import plain, printable
from salvo.system import plugins
from salvo.system.plugins import package_of
from salvo_lab.human import HUMAN, MCP


@click.command()
def bots() -> None:
    """List the installed bots."""
    for point, bot in plugins.load_all(plugins.BOTS, Bot):
        click.echo(f"{point.name:10} {_about(bot) or f'Of {package_of(point)}, which says no more.'}")
    click.echo(f"{HUMAN:10} You, at this terminal.")
    click.echo(f"{MCP:10} A language model, whose program starts this command and calls its tools.")


def _about(bot: type[Bot]) -> str:
    """Return the first line of a bot's own docstring; empty without one, whatever it is derived from."""
    text = plain(vars(bot).get("__doc__")) or ""
    return printable(inspect.cleandoc(text).partition("\n")[0])
