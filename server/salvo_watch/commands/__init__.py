"""The commands of a spectator."""

from typing import Final

from salvo.cli.listing import WATCH, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    WATCH,
    {"web"},
    {"watch": "terminal", "web": "server"},
    watch="Follow a table live.",
    web="Show a contest to browsers: the hall, phones, past games, and the SDK to install.",
    site="Write games that are over as a small static site, to search and to watch.",
)
