"""Series of games, however they are played: who meets whom, the results, and the ratings.

    schedule    who meets whom: round robin, swiss, free for all, ladder
    lines       what is recorded of a series, one line after the other
    record      the file with these lines, durable
    standings   the table, ratings, and what earlier versions of bots came to
    page        an HTML page of it

There are two ways to play one: a tournament, in processes of this machine (:mod:`salvo_lab.tournament`), and a league,
at the tables of a contest (``salvo_league``). Wherever it is played, its record alone shows what came of it.
"""
