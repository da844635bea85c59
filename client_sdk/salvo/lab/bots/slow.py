"""Waits before each salvo, to test deadlines."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from salvo.player import Bot
from salvo.view import Shot, View


class Slow(Bot):
    """Fires at random after a wait: one second, or the seconds in the environment variable SALVO_SLOW_SECONDS."""

    def __init__(self) -> None:
        self.seconds = float(os.environ.get("SALVO_SLOW_SECONDS", "1"))

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        time.sleep(self.seconds)
        return view.untouched.sample(view.shots)
