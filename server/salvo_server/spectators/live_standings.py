"""The standings that a server publishes: counted on a thread of their own from its journal.

A result counts once it is durable, so what is published is what a restart finds. The loop only hands results over and
publishes what is ready.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Final

from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.errors import SalvoError
from salvo_game.journal_interface import Batch, GameConcluded, Journal, JournalWrapper, ResultAnnulled
from salvo_game.standings.chronicle import Chronicle
from salvo_game.table import Follower

log = logging.getLogger(__name__)

_CLOSED: Final = None


class LiveStandings(Follower):
    """Counts results on its own thread; a follower of the tables that publishes the standings (SALVO-STAND-5).

    Attributes:
        retained: payload by topic, of what the broker should retain now; nothing before the first result.
    """

    def __init__(self, journal: Journal, table: str, wake: Callable[[], None]) -> None:
        """Begin with the results that a journal has.

        Args:
            table: whose topic has the standings.
            wake: called from the thread when something is ready.

        Raises:
            JournalError: a result cannot be read.
            MissingExtra: OpenSkill is not installed.
        """
        self._table, self._wake = table, wake
        self._chronicle = Chronicle(journal.results())
        # Now, and not on the thread: what the broker retains of an earlier server is not cleared in between.
        written = [self._write()] if self._chronicle.results else []
        self.retained = {publication.topic: publication.payload for publication in written}
        self._handed: SimpleQueue[GameConcluded | ResultAnnulled | None] = SimpleQueue()
        self._ready: SimpleQueue[Publication] = SimpleQueue()
        self._thread = Thread(target=self._work, name="standings", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._handed.put(_CLOSED)
        self._thread.join()

    def take(self, batch: Batch) -> None:
        """Count what has become durable."""
        for record in batch:
            if isinstance(record, (GameConcluded, ResultAnnulled)):
                self._handed.put(record)

    # --- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (record := self._handed.get()) is not _CLOSED:
                self._note(record)
                if self._handed.empty():  # else there is more to come, and nobody sees what is between
                    self._ready.put(self._write())
                    self._wake()
        except SalvoError as error:
            log.error("the standings are not published any more: %s", error)

    def _note(self, record: GameConcluded | ResultAnnulled) -> None:
        if isinstance(record, GameConcluded):
            self._chronicle.add(record.result)
        else:
            self._chronicle.annul(record)

    def _write(self) -> Publication:
        [publication] = write_announcement(self._chronicle.shown(), self._table)
        return publication

    # --- the loop: a follower of its tables, of what is durable and not of their steps -------------------------------

    def take_ready(self) -> list[Publication]:
        """Return the newest standings if they are new."""
        due: list[Publication] = []
        while not self._ready.empty():
            due = [self._ready.get()]
        self.retained.update((publication.topic, publication.payload) for publication in due)
        return due


class CountedJournal(JournalWrapper):
    """Another journal, whose results are counted as soon as they are durable."""

    def __init__(self, journal: Journal, standings: LiveStandings) -> None:
        super().__init__(journal)
        self._standings = standings

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, and hand its results over."""
        super().commit(batch)
        self._standings.take(batch)
