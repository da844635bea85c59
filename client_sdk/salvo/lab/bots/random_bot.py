"""Fires at random, never twice at the same cell: the least that is legal and not silly."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.player import Bot
from salvo.view import Shot, View


class RandomBot(Bot):
    """Draws every salvo evenly from all cells of all opponents that it has not fired at."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return view.untouched.sample(view.shots)
