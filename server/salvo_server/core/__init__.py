"""The authority of a contest: who may play, what they may do, and the effects.

No socket, file, database, thread or display: time, randomness, the journal and what derives keys are arguments. Only
``clock`` reads a clock. How a game goes on is decided in :mod:`salvo_game`.
"""
