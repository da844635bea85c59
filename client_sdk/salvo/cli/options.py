"""Options that several commands have: one name, one type and one help text each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from salvo.cli.output import Integer

RULES: Final = click.option("--rules", default="salvo", help="Ruleset: a name, or a TOML file.")
SEED: Final = click.option(
    "--seed", help="Seed of everything that is drawn; 128 random bits by default, because a bot can guess a small one."
)
JOBS: Final = click.option("--jobs", type=Integer(1, 256), help="Processes to play in.  [default: all cores]")
#: Wherever bots are played here; an error that ends the command is shown by who runs it.
TRACEBACK: Final = click.option("--traceback", is_flag=True, help="Show the whole traceback of a bot's error.")
CA: Final = click.option(
    "--ca",
    metavar="FILE",
    envvar="SALVO_CA",
    help="For mqtts://, the CA file to trust; or SALVO_CA.  [default: the system's]",
)


def json_option(what: str) -> Callable[[Any], Any]:
    """Return ``--json``, which prints ``what``, for programs."""
    return click.option("--json", "as_json", is_flag=True, help=what)
