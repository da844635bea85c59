"""The commands check and doctor."""

from typing import Final

from salvo.cli.listing import CHECK, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    CHECK,
    (),
    {"check": "server", "doctor": "server"},
    check="Judge a client in any language, and explain what it does wrong.",
    doctor="Examine a contest's configuration, and report what to fix.",
)
