"""A journal that also caches the records of the games in play.

What is written about a game is taken from here, so that it is the same whatever the journal is, and none at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from salvo_game.journal_interface import (
    Batch,
    EveningChanged,
    GameConcluded,
    GameFiled,
    GameOpened,
    Journal,
    JournalWrapper,
    Saved,
    SavedGame,
    StepTaken,
)


class GamesInPlay(JournalWrapper):
    """Another journal, and the two latest games of every table: the one in play, and the one that may be read still.

    Of the games before those, the journal lets go as soon as their files are there, one with a commit: whatever it has
    of a long evening is deleted while the contest goes on, and does not delay it. So it does with a lobby that closed
    before a game began.
    """

    def __init__(
        self,
        journal: Journal,
        evening_changed: Callable[[], None] = lambda: None,
        closed: Callable[[SavedGame], None] = lambda game: None,
    ) -> None:
        """Keep the games of a journal.

        Args:
            evening_changed: called when what is on has changed, and that is durable.
            closed: called with each game that has steps and no result of this run, when the next one at its table opens
                and that is durable; it may have begun.
        """
        super().__init__(journal)
        self._evening_changed, self._closed = evening_changed, closed
        self._concluded: set[int] = set()  # of the games that are kept
        self._latest: dict[str, list[GameOpened]] = {}
        self._steps: dict[int, list[StepTaken]] = {}
        self._handed: SimpleQueue[GameFiled] = SimpleQueue()
        self._written: dict[int, GameFiled] = {}  # of the games that are kept
        self._to_file: deque[GameFiled] = deque()

    def file(self, game: GameOpened, transcript: Path | None) -> None:
        """Let a later commit file a game; from any thread.

        Args:
            transcript: which is written, and the proof with it; None if the lobby closed before a game began.
        """
        self._handed.put(GameFiled(game.id, None if transcript is None else str(transcript.absolute())))

    def game(self, table: str, number: int) -> SavedGame:
        """Return what is durable of one of a table's two latest games, without its secrets."""
        games = self._latest[table]
        [(opened, then)] = [each for each in zip(games, [*games[1:], None], strict=True) if each[0].number == number]
        return SavedGame(opened, tuple(self._steps[opened.id]), (), then)

    def games(self) -> list[SavedGame]:
        """Return what is durable of all games that are kept."""
        return [self.game(table, game.number) for table, games in self._latest.items() for game in games]

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, and keep what it has of the games."""
        self._take_written()
        filed = [self._to_file[0]] if self._to_file else []
        super().commit([*batch, *filed])
        if filed:
            self._to_file.popleft()
        for record in batch:
            match record:
                case GameOpened():
                    self._enter(record)
                case StepTaken(game=game) if game in self._steps:
                    self._steps[game].append(record)
                case GameConcluded(id=game) if game in self._steps:
                    self._concluded.add(game)
                case EveningChanged():
                    self._evening_changed()
                case _:
                    pass

    def load(self) -> Saved:
        """Return what a restart needs, and keep the games in it."""
        saved = super().load()
        for game in saved.games:
            self._enter(game.opened)
            self._steps[game.opened.id] += game.steps
        return saved

    def _enter(self, opened: GameOpened) -> None:
        games = self._latest.get(opened.table, [])
        others = [game for game in games if game.number == opened.number - 1]
        for last in games[-1:]:
            if self._steps[last.id] and last.id not in self._concluded:
                self._closed(SavedGame(last, tuple(self._steps[last.id]), (), opened))
        for game in games:
            if game not in others:
                del self._steps[game.id]
                self._concluded.discard(game.id)
                if (written := self._written.pop(game.id, None)) is not None:
                    self._to_file.append(written)
        self._latest[opened.table] = [*others, opened]
        self._steps[opened.id] = []

    def _take_written(self) -> None:
        while not self._handed.empty():
            game = self._handed.get()
            if game.game in self._steps:
                self._written[game.game] = game
            else:
                self._to_file.append(game)
