"""Tournaments of bots in this process's children: who meets whom, what came of it, and who is how good.

    file        the TOML file of a tournament
    schedule    who meets whom: round robin, swiss, free for all
    playing     plays games in processes, with time limits and strikes
    games       what was played, durable
    standings   the table, and ratings
    run         all of that together
    page        an HTML page of it

A tournament is a function of its file, except for bots whose thinking comes near a time limit: whatever the number of
processes, and wherever it was interrupted, the same games are played, with the same table.
"""
