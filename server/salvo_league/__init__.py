"""Leagues at the tables of running contest servers: who meets whom, at which table, and the results.

    league_file     the TOML file of a league
    evening_plan    the files of an evening for so many teams and so much time
    seating         which table a match gets, of one server or of several
    league_state    all that the record comes to: matches, tables, results
    next_matches    who meets next
    roll_call       which teams follow seats
    director        decides what happens at the tables; no clock, no sockets
    table_desk      one table: what follows from what is seen there, and its host's commands
    table_views     what is known of a table, from its topics
    one_broker      the connection to one broker: views in, a host's commands and seats out
    all_brokers     all of these as one
    house_bots      built-in bots for seats that would stay empty
    run             all of that together

Its schedules, record and standings are those of any series (:mod:`salvo_lab.series`).

A league is beside the server, not in it: it acts as a host (SALVO-HOST) and reads what everybody may read. Whatever
is killed, nothing is lost: a game is written down before it is opened and its result before the next one is. An
annex: it can be deleted. Start reading in ``league_file``, then ``director``.
"""
