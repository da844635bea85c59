"""The command of a team in a contest."""

from typing import Final

from salvo.cli.listing import PLAY, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    PLAY,
    join="Play a bot in a contest.",
)
