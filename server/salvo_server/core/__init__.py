"""The authority of a contest: who may play, what they may do, and what comes of it.

No socket, file, database or display. What decides a game is pure: time, randomness and the journal are arguments. Only
``clock``, ``keyring`` and ``foresight`` read a clock or start threads.
"""
