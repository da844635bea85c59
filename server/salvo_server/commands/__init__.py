"""The commands of an organiser."""

from typing import Final

from salvo.cli.listing import ORGANISE, listed

#: The entry point of these commands.
COMMANDS: Final = listed(
    __name__,
    ORGANISE,
    {"serve"},
    dict.fromkeys(("demo", "serve", "teams", "backup", "restore", "mosquitto", "health"), "server"),
    demo="Watch built-in bots play a whole game over a real broker, in one process.",
    serve="Run the contest server, with its own broker or on a given one.",
    teams="Manage a contest's roster: add, list, rotate and remove accounts, and their viewers.",
    control="Act as the host at a table: start, pause, extend, abort and more.",
    backup="Write one archive with roster, identity and journal, also while the server runs.",
    restore="Put a backup's files where a server on this machine looks for them.",
    mosquitto="Write the configuration that makes mosquitto a contest's broker.",
    tls="Create a test certificate, and the CA that signs it.",
    health="Report whether a server is online.",
)
