"""Doors for programs that speak the protocol of an older Battleship system.

One module each: ``xbs``, ``smackdown``, ``jsonline``, ``classic``. A program that comes in is a player like any other:
its guest (:mod:`~salvo_server.gateways.guest`) sits at a table with a session and a connection of its own, and
translates. A gateway keeps nothing of a game: guests that come back, also to a gateway that was started again, are told
by the server how their game stands. Only games that the gateway plays itself, before the table can have them, are in a
file of its own.

    peer            lines to and from one program
    guest           one program's stay: its peer, its seat, what is said on both sides
    table_watch     what all guests of a gateway share: where the table is, the accounts, what a spectator knows of it
    accounts        names of guests and their secrets
    host            listens, and lets guests in
    children        programs that the gateway starts itself
    supervisor      gateways that run alongside a server
    hidden_fleet/   games against programs that keep their fleet to themselves
"""
