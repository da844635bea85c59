"""A bot of the gateway's at the table, on its own thread."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from typing import Final

from salvo import messages as m
from salvo.client import Contestant
from salvo.errors import ConnectionLost, SalvoError
from salvo.player import Bot
from salvo_gateways.table_watch import ACCOUNT_SECONDS, TableWatch

log = logging.getLogger(__name__)

_AGAIN_SECONDS: Final = 0.3
_STEP_SECONDS: Final = 0.2


class Sitting:
    """One bot's stay for one game.

    Attributes:
        placed: set when the server has approved the whole fleet.
        ended: set when the game is over or the bot cannot stay.
        winner: of the game; None as long as it is not over.
    """

    def __init__(self, watch: TableWatch, name: str, bot: Bot, stop: threading.Event) -> None:
        """Prepare; :meth:`start` sits down.

        Args:
            stop: ends it early.
        """
        self.placed = threading.Event()
        self.ended = threading.Event()
        self.winner: str | None = None
        self._watch = watch
        self._name = name
        self._bot = bot
        self._seed = secrets.token_hex(16)
        self._stop = stop
        self._approved: set[str] = set()
        self._thread = threading.Thread(target=self._run, name=f"sitting {name}", daemon=True)

    def start(self) -> Sitting:
        self._thread.start()
        return self

    def join(self) -> None:
        """Wait until the bot has left."""
        self._thread.join()

    def _run(self) -> None:
        let_in_by = time.monotonic() + ACCOUNT_SECONDS
        try:
            while not self._stop.is_set():
                try:
                    self._stay()
                    return
                except ConnectionLost as error:
                    if error.code != "not_authorised" or time.monotonic() > let_in_by:
                        raise
                    self._stop.wait(_AGAIN_SECONDS)
        except SalvoError as error:
            log.error("%s: %s", self._name, error)
        except Exception:
            log.exception("%s cannot play", self._name)
        finally:
            self.ended.set()

    def _stay(self) -> None:
        with contextlib.closing(self._watch.seat(self._name)) as seat:
            seat.session.tap = self._heard
            contestant = Contestant(
                self._bot, seat.session, seat.connection, seed=self._seed, games=1, strict=False, meet=seat.meet
            )
            with contextlib.closing(contestant):
                while not contestant.done and not self._stop.is_set():
                    contestant.step(_STEP_SECONDS)
            if contestant.done:
                self.winner = contestant.reports[0].winner

    def _heard(self, announcement: m.Announcement, retained: bool) -> None:
        """Note which ships the server has approved; a session hears its own player's only."""
        rules = self._watch.news.rules
        if isinstance(announcement, m.PlacementJudged) and rules is not None:
            (self._approved.add if announcement.approved else self._approved.discard)(announcement.spelling)
            if len(self._approved) == len(rules.book.fleet):
                self.placed.set()
