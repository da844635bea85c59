"""Waits before each salvo, to test deadlines."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Final

from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.view import Shot, View

_MAX_SECONDS: Final = 86_400


class Slow(Bot):
    """Fires at random after a wait: one second, or the seconds in the environment variable SALVO_SLOW_SECONDS."""

    def __init__(self) -> None:
        given = os.environ.get("SALVO_SLOW_SECONDS") or "1"
        try:
            self.seconds = float(given)
            if not 0 <= self.seconds <= _MAX_SECONDS:
                raise ValueError
        except ValueError:
            text = f"SALVO_SLOW_SECONDS is {given[:40]!r}: give a number of seconds from 0 to {_MAX_SECONDS:,}"
            raise BotError("bad_setting", text) from None

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        time.sleep(self.seconds)
        return view.untouched.sample(view.shots)
