"""Gateways to older Battleship systems: one package each, ``xbs``, ``smackdown``, ``jsonline``, ``classic``.

A client of Xterm Boat Sinker is a player like any other: its handler sits at a table with its own session and
connection, and translates. For the other three systems the gateway is the system's own server: their programs play one
another, or a bot of ours, or a person, without a table. In the other direction our bots are clients of such servers.
An annex: it can be deleted. Start reading in ``client_handler``, then ``classic``.

    peer            lines to and from one client
    handler         one client's stay
    host            listens, and admits clients
    children        programs that the gateway starts itself
    hidden_fleet/   games against programs that hide their fleet
    transcripts     writes the games that a gateway referees itself
    table_watch     the table of xbs: where it is, and what a spectator knows of it
    bot_clients/    our bots on servers of these systems
"""

from typing import Final

from salvo.gateway import Gateway

#: Our own entry points of ``salvo.gateways``.
XBS: Final = Gateway(
    "Xterm Boat Sinker: lines over TCP; many players, points, taunts and chat.",
    rules="xbs",
    command="salvo_gateways.commands.gateway_xbs:command",
    check="salvo_gateways.xbs:check",
    bot_client="salvo_gateways.bot_clients.connection:play",
    for_people=True,
)
SMACKDOWN: Final = Gateway(
    "Code Smackdown: |QUERY|...|END| with child processes, or over TCP.",
    command="salvo_gateways.commands.gateway_smackdown:command",
    bot_client="salvo_gateways.bot_clients.connection:play_on_streams",
    appends_names=True,
)
JSONLINE: Final = Gateway(
    "Battleship in JSON lines over TCP, against a built-in bot.",
    command="salvo_gateways.commands.gateway_jsonline:command",
    bot_client="salvo_gateways.bot_clients.connection:play",
)
CLASSIC: Final = Gateway(
    "The two-player game of set-up, shots and replies, over its bus or TCP.",
    command="salvo_gateways.commands.gateway_classic:command",
)
