"""The command gateway, and one command a protocol."""

from typing import Final

from salvo.cli.listing import ORGANISE, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    ORGANISE,
    {"gateway"},
    gateway="Accept clients of older Battleship protocols.",
)
