"""The games that ``salvo dev`` plays at every save, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from salvo.bots.replay_command import again, seat_names
from salvo.bots.sources import is_program, script_of
from salvo.bots.versions import code_files, split
from salvo.cli.output import progress_bar
from salvo.errors import BotError, SalvoError
from salvo_lab.arena import Failure
from salvo_lab.highlights import DuelSummary, score_of
from salvo_lab.simulation import Seats, stream

#: Seconds between two looks whether a file was saved.
LOOK_SECONDS = 0.1
#: Seconds without a further change until what an editor saves is taken for whole; it may write several times.
QUIET_SECONDS = 0.05
#: The same for a bot that is empty, or not there.
EMPTY_SECONDS = 0.5

#: What tells one state of a bot's code from another: by path, time of the last change in ns, and size.
Signature = dict[Path, tuple[int, int]]


def file_of(bot: str) -> Path:
    """Return the file that is worked on."""
    return script_of(bot) if is_program(bot) else Path(split(bot)[0])


class BotFailed(Exception):
    """A bot failed in a game; the command shows it."""

    def __init__(self, failure: Failure, command: str) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.command = command


class SavedAgain(Exception):
    """What is played is not what the files contain."""


@dataclass(frozen=True, slots=True)
class Round:
    """Games against one opponent.

    Attributes:
        against: as it was typed.
        source: what was played.
    """

    against: str
    source: str
    scores: list[DuelSummary]

    @property
    def pairs(self) -> list[float]:
        """The bot's score of each pair of games, 0..1; a tie is half a win."""
        worths = [score.worth for score in self.scores]
        return [fmean(pair) for pair in zip(worths[::2], worths[1::2], strict=True)]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the games after a save.

    Attributes:
        rounds: one for each opponent; empty when something is wrong.
        wrong: the first failure, which ended the games, or why there were none.
        at: by the clock on the wall, when they were over.
    """

    seconds: float
    rounds: Sequence[Round] = ()
    wrong: BotFailed | SalvoError | None = None
    at: str = field(default_factory=lambda: time.strftime("%H:%M:%S"))

    @property
    def pairs(self) -> list[float]:
        """What each pair was worth against all opponents, who have the same fleets in it."""
        return [fmean(scores) for scores in zip(*(played.pairs for played in self.rounds), strict=True)]

    @property
    def games(self) -> int:
        """Of all rounds."""
        return sum(len(played.scores) for played in self.rounds)


class Bench:
    """Plays one bot again and again."""

    def __init__(
        self,
        bot: str,
        opponents: Sequence[tuple[str, str]],
        games: int,
        rules: str,
        seed: str,
        jobs: int | None,
        turn_seconds: float,
    ) -> None:
        """Make each opponent once, in a separate process, since no save of the bot repairs what is wrong with it.

        Args:
            games: against each opponent, an even number.

        Raises:
            BotError: ``bad_bot``, ``bad_version``.
            SalvoError: ``bad_rules``.
        """
        self.file = file_of(bot)
        self._bot = bot
        self._opponents = opponents
        self._games = games
        self._rules = rules
        self._seed = seed
        self._jobs = jobs
        self._turn_seconds = turn_seconds
        for name, source in opponents:
            while True:
                with suppress(SavedAgain):  # perhaps the opponent, which is next to the bot
                    self._try(name, source)
                    break

    def play(self, signature: Signature) -> Trial | None:
        """Play, and return what came of it; None when the folder has changed meanwhile.

        Args:
            signature: of the folder when it was saved.
        """
        start = time.monotonic()
        rounds: list[Round] = []
        wrong: BotFailed | SalvoError | None = None
        try:
            rounds = self._rounds(signature)
        except SavedAgain:
            return None
        except (BotFailed, SalvoError) as error:
            wrong = error
        if _signature(self.file) != signature:
            return None
        return Trial(time.monotonic() - start, rounds, wrong)

    def again(self, source: str, game: int) -> str:
        """Return the command that shows a game against an opponent again."""
        return again([self._bot, source], self._seed, game, rules=self._rules, seats=Seats.PAIRED)

    def _try(self, name: str, source: str) -> None:
        """Make an opponent in a game against another.

        Raises:
            BotError: ``bad_bot``.
            SavedAgain: the folder has changed.
        """
        with progress_bar(1, f"games of {name} against random", plain=True) as show:
            waiting = self._waiting(_signature(self.file), lambda: show(0))
            played = stream(
                [source, "random"], games=1, rules=self._rules, turn_seconds=self._turn_seconds, waiting=waiting
            )
            with closing(played):
                failures = [failure for game in played for failure in game.failures if failure.code == "bad_bot"]
            if failures:
                raise BotError(failures[0].code, failures[0].text)

    def _rounds(self, signature: Signature) -> list[Round]:
        """Play against each opponent.

        Raises:
            BotFailed: a bot fails.
            SavedAgain: the folder has changed.
        """
        rounds = [Round(name, source, []) for name, source in self._opponents]
        with progress_bar(self._games * len(rounds), "games", plain=True) as show:
            waiting = self._waiting(signature, lambda: show(sum(len(played.scores) for played in rounds)))
            for played in rounds:
                played.scores.extend(self._scores(played, waiting))
        return rounds

    def _waiting(self, signature: Signature, show: Callable[[], None]) -> Callable[[], None]:
        """Return what is called while games are awaited; it raises :class:`SavedAgain`."""

        def look() -> None:
            show()
            if _signature(self.file) != signature:
                raise SavedAgain  # and the next save is there already

        return look

    def _scores(self, rival: Round, waiting: Callable[[], None]) -> Iterator[DuelSummary]:
        name, _ = seat_names([self._bot, rival.source])
        played = stream(
            [self._bot, rival.source],
            games=self._games,
            seed=self._seed,
            rules=self._rules,
            jobs=self._jobs,
            seats=Seats.PAIRED,
            turn_seconds=self._turn_seconds,
            strict=True,
            waiting=waiting,
        )
        with closing(played):
            for game in played:
                if game.failures:
                    failure = game.failures[0]
                    raise BotFailed(failure, self.again(rival.source, game.game))
                yield score_of(game, name)


def _watched(file: Path) -> Iterable[Path]:
    """Return what may change a bot: all of its language in its folder, or the file alone where that has no suffix."""
    if file.suffix == ".py":
        return code_files(file.parent)
    return file.parent.glob(f"[!.]*{file.suffix}") if file.suffix else (file,)


def _signature(file: Path) -> Signature:
    found = {}
    for path in _watched(file.resolve()):
        with suppress(FileNotFoundError):  # an editor is about to replace it
            status = path.stat()
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


def saved(file: Path, seen: Signature | None) -> Signature:
    """Wait until a file of a bot's language in its folder, or in a package in it, is not as it was seen.

    It polls: with a listening thread every process that plays would have to start from scratch, which takes as long as
    the games.
    """
    while True:
        start = time.monotonic()
        if (now := _signature(file)) == seen:
            time.sleep(max(LOOK_SECONDS, 20 * (time.monotonic() - start)))  # among many files it looks less often
            continue
        # An editor empties a file before it writes it; on a busy machine there may be time between.
        time.sleep(EMPTY_SECONDS if now.get(file.resolve(), (0, 0))[1] == 0 else QUIET_SECONDS)
        if _signature(file) == now:
            return now
