"""Leagues over the tables of running contest servers: who meets whom, where, and what came of it.

    file      the TOML file of a league
    seating   which table a match gets, of one server or of several
    lines     what is kept of a league, one line after the other
    book      all that the lines come to: matches, tables, results, standings
    draw      who meets next
    director  decides what happens at the tables; no clock, no sockets
    views     what is known of a table, from its topics
    desk      the connection to one broker: views in, a host's commands and seats out
    cells     all desks as one
    fill      built-in bots for seats that would stay empty
    run       all of that together

A league is beside the server, not in it: it acts as a host (SALVO-HOST) and reads what everybody may read. Whatever
is killed, nothing is lost: a game is written down before it is opened and its result before the next one is. An
annex: it can be deleted. Start reading in ``file``, then ``director``.
"""
