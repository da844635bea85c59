"""The commands check, verify and doctor."""

from typing import Final

from salvo.cli.listing import CHECK, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    CHECK,
    check="Judge a client in any language, and explain what it does wrong.",
    verify="Check offline, from signed logs, that games were fair.",
    doctor="Examine a contest's configuration, and report what to fix.",
)
