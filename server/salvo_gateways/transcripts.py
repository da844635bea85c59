"""Transcripts of the games that a gateway referees itself, without a table: files for ``salvo replay`` and ``web``."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from salvo.errors import SalvoError
from salvo.rules import Fleet, RuleBook
from salvo.rules.starter import set_starter
from salvo.view import Shot
from salvo_game.transcript import write_transcript
from salvo_lab.recording import take_down

log = logging.getLogger(__name__)


class Transcripts:
    """A folder with a file a game, ``SYSTEM-NUMBER.jsonl.gz``."""

    def __init__(self, system: str, folder: Path | None) -> None:
        """Use a folder, which the first game makes.

        Args:
            folder: None where games are not written.
        """
        self._system = system
        self._folder = folder
        self._lock = threading.Lock()

    def write(
        self,
        book: RuleBook,
        fleets: Mapping[str, Fleet],
        salvos: Iterable[tuple[str, Sequence[tuple[str, int]]]],
        *,
        first: str,
    ) -> None:
        """Write a game that is over; what prevents it goes to the log.

        Args:
            fleets: by player.
            salvos: who fired, and the targets and cells, of every turn.
            first: the player that began.
        """
        if self._folder is None:
            return
        order = {first: fleets[first], **fleets}
        # Where players take turns at beginning, the game's number says whose turn it was.
        number = next(number for number in (1, 2) if set_starter(book, number, list(order)) == 0)
        shots = [(player, [Shot(target, *book.grid.xy(cell)) for target, cell in salvo]) for player, salvo in salvos]
        try:
            header, steps = take_down(order, shots, seed=0, game=number, book=book)
            with self._lock:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_transcript(self._next_file(), header, steps)
        except (SalvoError, OSError) as error:
            log.error("the game is not written: %s", error)

    def _next_file(self) -> Path:
        assert self._folder is not None
        paths = (self._folder / f"{self._system}-{number}.jsonl.gz" for number in count(1))
        return next(path for path in paths if not path.exists())


#: For games that are not written.
NO_TRANSCRIPTS: Final = Transcripts("", None)
