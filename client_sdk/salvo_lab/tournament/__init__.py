"""Tournaments of bots in this process's children: a series (:mod:`salvo_lab.series`) without a broker.

    file        the TOML file of a tournament
    pairings    the matches, and the games of each
    playing     plays games in processes, with time limits and strikes
    games       what was played, by which versions of the bots
    run         all of that together

A tournament is a function of its file and its bots' code, except for bots whose thinking comes near a time limit:
whatever the number of processes, and wherever it was interrupted, the same games are played, with the same table.
"""
