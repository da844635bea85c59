"""Doors for programs that speak the protocol of an older Battleship system.

One module each: ``xbs``, ``smackdown``, ``jsonline``, ``classic``. A program that connects is a player like any
other: its guest (:mod:`~salvo_gateways.guest`) sits at a table with its own session and connection, and translates. A
gateway stores nothing about a game: guests that come back, even to a restarted gateway, learn from the server how
their game stands. Only games that the gateway plays itself, before the table can have them, are kept in a file. An
annex: it can be deleted. Start reading in ``guest``, then ``classic``, the smallest of the systems.

    peer            lines to and from one program
    guest           one program's stay: its peer, its seat, what is said on both sides
    table_watch     what all guests of a gateway share: where the table is, the accounts, what a spectator knows of it
    accounts        names of guests and their secrets
    host            listens, and lets guests in
    children        programs that the gateway starts itself
    hidden_fleet/   games against programs that keep their fleet to themselves
"""

from typing import Final

from salvo.gateway import Gateway

#: Our own entry points of ``salvo.gateways``.
XBS: Final = Gateway(
    "Xterm Boat Sinker: lines over TCP; many players, points, taunts and chat.",
    rules="xbs",
    command="salvo_gateways.commands.gateway_xbs:command",
    check="salvo_gateways.xbs:check",
    visit="salvo_gateways.visits.line:visits",
    for_people=True,
)
SMACKDOWN: Final = Gateway(
    "Code Smackdown: |QUERY|...|END| with child processes, or over TCP.",
    rules="smackdown",
    command="salvo_gateways.commands.gateway_smackdown:command",
    check="salvo_gateways.smackdown:check",
    visit="salvo_gateways.visits.line:visit_on_streams",
    appends_names=True,
)
JSONLINE: Final = Gateway(
    "Battleship in JSON lines over TCP, against a built-in bot or another team.",
    rules="alternate",
    command="salvo_gateways.commands.gateway_jsonline:command",
    check="salvo_gateways.jsonline:check",
    visit="salvo_gateways.visits.line:visits",
)
CLASSIC: Final = Gateway(
    "The two-player game of set-up, shots and replies, over TCP or its own bus.",
    rules="spaced",
    command="salvo_gateways.commands.gateway_classic:command",
    check="salvo_gateways.classic:check",
)
