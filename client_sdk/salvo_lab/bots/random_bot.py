"""The baseline bot: it fires at random, but never at the same cell twice."""

from __future__ import annotations

from collections.abc import Sequence

from salvo.bots.player import Bot
from salvo.view import Shot, View


class RandomBot(Bot):
    """Fires at random cells of its opponents that it has not fired at yet."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return view.untouched.sample(view.shots)
