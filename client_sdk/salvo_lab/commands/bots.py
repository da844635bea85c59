"""``salvo bots``."""

from __future__ import annotations

import inspect

import click

from salvo_lab.bots import HOUSE_BOTS
from salvo_lab.human import HUMAN


@click.command()
def bots() -> None:
    """List the built-in bots."""
    for name, get in HOUSE_BOTS.items():
        first_line = (inspect.getdoc(get()) or "").splitlines()[0]
        click.echo(f"{name:10} {first_line}")
    click.echo(f"{HUMAN:10} You, at this terminal.")
