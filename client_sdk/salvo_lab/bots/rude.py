"""Answers with invalid salvos, a different kind in each round. For testing code that asks bots."""

from __future__ import annotations

from typing import Any

from salvo.bots.player import Bot
from salvo.view import View


class Rude(Bot):
    """Breaks the rules: fires too many shots, off the grid, at an unknown player, or answers with no salvo at all."""

    def choose_salvo(self, view: View) -> Any:
        rival = view.opponents[0]
        answers: list[Any] = [
            [(rival, 1, 1)] * (view.shots + 1),
            [(rival, 0, 11)],
            [("nobody", 1, 1)],
            [(rival, "A", 1.5)],
            [(rival, 1)],
            "B3",
            None,
            42,
        ]
        return answers[view.turn // max(1, len(view.players)) % len(answers)]
