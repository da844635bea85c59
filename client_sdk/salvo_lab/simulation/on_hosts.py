"""Games of a run on other hosts, where they are played as on this one, with the bots' files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic

from salvo.bots.sources import is_program
from salvo.bots.versions import contents_of, keep_content, path_of, split
from salvo.errors import BotError
from salvo.system.text_files import missing_file
from salvo_lab.arena import Failure
from salvo_lab.blocks import Carrying
from salvo_lab.simulation.pool import Pool
from salvo_lab.simulation.worker import GameResults, R, Run


@dataclass(frozen=True, slots=True)
class Shipped:
    """A bot's file with all that is in its folder.

    Attributes:
        source: as it was typed.
        folder: where it is on the machine of the command.
        inside: its source in that folder.
        content: by name in the folder; None for a bot that ships with Salvo.
    """

    source: str
    folder: str = ""
    inside: str = ""
    content: dict[str, bytes] | None = None

    def unpacked(self) -> str:
        """Return its source on this host; what is there already is used again."""
        return self.source if self.content is None else str(keep_content(self.content) / self.inside)

    def seen_there(self, text: str) -> str:
        """Return a text with this host's paths replaced."""
        if self.content is None:
            return text
        here = split(self.unpacked())[0]
        return text.replace(here, split(self.source)[0]).replace(os.path.dirname(here), self.folder)


def ship(sources: Iterable[str]) -> list[Shipped]:
    """Return bots by content, so that hosts need no file of theirs.

    Raises:
        BotError: ``bad_bot``: a program, or no such file; ``bad_version``: more than 1,000 files or 20 MB in its
            folder, or git has no such version.
    """
    folders: dict[Path, dict[str, bytes]] = {}
    shipped = []
    for source in sources:
        if is_program(source):
            raise BotError(
                "bad_bot", f"{source} is a program of this machine; other hosts play bots in Python, or built-in ones"
            )
        file, name = split(source)
        if not file.endswith(".py"):
            shipped.append(Shipped(source))
            continue
        path = path_of(file).resolve()
        if not path.is_file():
            raise BotError("bad_bot", missing_file(Path(file)))
        if path.parent not in folders:
            folders[path.parent] = contents_of(path.parent)
        inside = path.name + (f":{name}" if name else "")
        shipped.append(Shipped(source, str(path.parent), inside, folders[path.parent]))
    return shipped


@dataclass(frozen=True, slots=True)
class Games(Generic[R]):
    """Plays games with consecutive numbers; it is pickled."""

    run: Any  # which is a dataclass; without its bots
    bots: dict[str, Shipped]
    turn_seconds: float

    @classmethod
    def shipped(cls, run: Run[R], written: Sequence[str], turn_seconds: float) -> Games[R]:
        """Pack a run's bots.

        Args:
            written: the bots' sources; a class has that of its file.

        Raises:
            BotError: as in :func:`ship`; ``bad_bot``: a class that is in no file.
        """
        for name, bot, source in zip(run.bots, run.bots.values(), written, strict=True):
            if not isinstance(bot, str) and ".py:" not in source:
                raise BotError("bad_bot", f"{name} is a class that no other host finds; give its file.py")
        bare: Any = run
        return cls(replace(bare, bots={}), dict(zip(run.bots, ship(written), strict=True)), turn_seconds)

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, GameResults[R]]]:
        """Start a pool, which plays block after block."""
        run: Run[R] = replace(self.run, bots={name: bot.unpacked() for name, bot in self.bots.items()})
        with Pool(run, jobs, self.turn_seconds) as pool:
            yield partial(self._play, pool)

    def _play(self, pool: Pool[R], games: Sequence[int], waiting: Callable[[], None]) -> list[GameResults[R]]:
        try:
            batches = list(pool.play(games[0], len(games), waiting))
        except BotError as error:
            raise BotError(error.code, self._seen_there(error.text), self._seen_there(error.trace)) from None
        for batch in batches:
            batch.failures = [self._as_typed(failure) for failure in batch.failures]
        return batches

    def _as_typed(self, failure: Failure) -> Failure:
        return replace(failure, text=self._seen_there(failure.text), trace=self._seen_there(failure.trace))

    def _seen_there(self, text: str) -> str:
        for bot in self.bots.values():
            text = bot.seen_there(text)
        return text
