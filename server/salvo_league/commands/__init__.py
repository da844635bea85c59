"""The command league."""

from typing import Final

from salvo.cli.listing import ORGANISE, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    ORGANISE,
    {"league"},
    league="Play a league over the tables of a running contest server, or show its standings.",
)
