"""The authority of a contest: who may play, what they may do, and what comes of it.

Pure: no socket, file, clock, database or display. Time, randomness and the journal are arguments.
"""
