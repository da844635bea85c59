"""Options that several commands have: one name, one type and one help text each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
from click.core import ParameterSource

from salvo.cli.output import Integer
from salvo.errors import ConnectionLost


class _Url(click.types.StringParamType):
    """A broker's address. Every user of the machine can read a command line, so it has no secret there."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the address as it was given.

        Raises:
            ConnectionLost: ``bad_url``.
        """
        name = param.name if param is not None else None
        typed = ctx is None or not name or ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        scheme, _, rest = str(value).rpartition("://")
        account, _, host = rest.rpartition("@")
        user, colon, _ = account.partition(":")
        if typed and colon:
            own = f"{scheme or 'mqtt'}://{user}@{host}"[:200]
            seen = "the address has a secret, which every user of this machine can read in the list of processes"
            cure = f"give {own}, and the secret in SALVO_SECRET, or in a file that SALVO_SECRET_FILE names"
            raise ConnectionLost("bad_url", f"{seen}: {cure}")
        return str(value)


URL: Final = _Url()

RULES: Final = click.option("--rules", default="salvo", help="Ruleset: a name, or a TOML file.")
SEED: Final = click.option(
    "--seed", help="Seed of everything that is drawn; 128 random bits by default, because a bot can guess a small one."
)
JOBS: Final = click.option("--jobs", type=Integer(1, 256), help="Processes to play in.  [default: all cores]")
#: Wherever bots are played here; an error that ends the command is shown by who runs it.
TRACEBACK: Final = click.option("--traceback", is_flag=True, help="Show the whole traceback of a bot's error.")
SANDBOXED: Final = click.option("--sandbox", is_flag=True, help="Play files, folders and commands in a sandbox; Linux.")
CA: Final = click.option(
    "--ca",
    metavar="FILE",
    envvar="SALVO_CA",
    help="For mqtts://, the CA file to trust; or SALVO_CA.  [default: the system's]",
)


def json_option(what: str) -> Callable[[Any], Any]:
    """Return ``--json``, which prints ``what``, for programs."""
    return click.option("--json", "as_json", is_flag=True, help=what)
