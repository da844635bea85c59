"""The team that is fired at."""

from __future__ import annotations

from salvo_lab.testing import board

VICTIM = board("""
    A A A A A . . . . .
    B B B B . . . . . .
    D D D . . . . . . .
    S S S . . . . . . .
    P P . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
""")
