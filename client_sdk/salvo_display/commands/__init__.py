"""The commands that show a recorded game again, and check that it was fair; they need no server."""

from typing import Final

from salvo.cli.listing import CHECK, WATCH, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    WATCH,
    replay="Replay a game, list the games of a journal, or check that a record replays exactly.",
) | listed(
    __name__,
    CHECK,
    verify="Check offline, from signed logs, that games were fair.",
)
