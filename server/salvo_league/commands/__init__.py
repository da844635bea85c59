"""The commands evening and league."""

from typing import Final

from salvo.cli.listing import ORGANISE, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    ORGANISE,
    {"evening", "league"},
    {"evening": "server", "league": "server"},
    evening="Write the folder of an evening: its contest, its league and its teams.",
    league="Play a league over the tables of a running contest server, or show its standings.",
)
