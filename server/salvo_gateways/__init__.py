"""Doors for programs that speak the protocol of an older Battleship system.

One module each: ``xbs``, ``smackdown``, ``jsonline``, ``classic``. A program that connects is a player like any other:
its guest (:mod:`~salvo_gateways.guest`) sits at a table with its own session and connection, and translates. A
gateway stores nothing about a game: guests that come back, even to a restarted gateway, learn from the server how their
game stands. Only games that the gateway plays itself, before the table can have them, are kept in a file.

    peer            lines to and from one program
    guest           one program's stay: its peer, its seat, what is said on both sides
    table_watch     what all guests of a gateway share: where the table is, the accounts, what a spectator knows of it
    accounts        names of guests and their secrets
    host            listens, and lets guests in
    children        programs that the gateway starts itself
    supervisor      gateways that run alongside a server
    hidden_fleet/   games against programs that keep their fleet to themselves
"""
