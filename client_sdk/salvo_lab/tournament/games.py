"""The games of a tournament in its record, and the versions of the bots that played them.

A bot's version is that of its source and code (:func:`salvo_lab.loaded_code.code_of`). Only games between the versions
that bots have now count. Those of other versions stay in the record, and count again when a bot is what it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from salvo.bots.sources import in_sandbox
from salvo.bots.versions import pinned
from salvo.errors import BotError
from salvo_lab.loaded_code import changed, check_same, code_of, digest_of, has_code
from salvo_lab.series.lines import Entered, SeriesKind, SeriesLine, TournamentGame
from salvo_lab.series.record import SeriesError, SeriesRecord
from salvo_lab.tournament.file import Tournament

_AGAIN: Final = "start it again: its games by then are those of an earlier version"


def entered(lines: Iterable[SeriesLine]) -> dict[str, Entered]:
    """Return the version of each bot that entered last, by name."""
    return {line.entered: line for line in lines if isinstance(line, Entered)}


def versions_now(tournament: Tournament, lines: Iterable[SeriesLine]) -> dict[str, Entered]:
    """Return the versions that the bots of a tournament have now, by name, with what a record knows of their code."""
    known = {(line.entered, line.version): line for line in lines if isinstance(line, Entered)}
    return {name: _version_now(name, source, known, tournament.sandbox) for name, source in tournament.bots.items()}


def _version_now(name: str, source: str, known: Mapping[tuple[str, str], Entered], sandbox: bool) -> Entered:
    code: dict[str, str] = {}
    with suppress(BotError):  # what is wrong with it shows when it is loaded
        source, code = pinned(source), code_of(in_sandbox(source) if sandbox else source)
    version = _version(source, code)
    while (before := known.get((name, version))) is not None:
        if not changed(before.code):
            return before
        code = {file: digest_of(file) for file in before.code}  # one that was found while it played is another now
        version = _version(source, code)
    return Entered(name, version, source, code)


def _version(source: str, code: Mapping[str, str]) -> str:
    text = json.dumps([source, sorted(code.items())])
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def replaced(before: Mapping[str, Entered], now: Mapping[str, Entered]) -> list[str]:
    """Return the bots whose version is another one now."""
    return [name for name, version in now.items() if name in before and before[name].version != version.version]


def games_between(lines: Iterable[SeriesLine], versions: Mapping[str, Entered]) -> list[TournamentGame]:
    """Return the games between these versions, in the order in which they ended."""
    return [line for line in lines if isinstance(line, TournamentGame) and _is_between(line, versions)]


def _is_between(game: TournamentGame, versions: Mapping[str, Entered]) -> bool:
    return all(
        bot in versions and versions[bot].version == version
        for bot, version in zip(game.teams, game.versions, strict=True)
    )


class GamesFile(SeriesRecord):
    """The record of a tournament that is played here.

    Attributes:
        versions: those that bots have now, by name.
        games: between these, in the order in which they ended.
        replaced: bots whose last version in the record is another one.
    """

    def __init__(self, path: Path, tournament: Tournament) -> None:
        """Open or make it.

        Args:
            tournament: as its file says it; without a seed there, 128 bits are drawn for a new one.

        Raises:
            SeriesError: ``bad_results``: the file is of another tournament, or of a changed one, another process
                writes to it, or it cannot be written.
        """
        settings = tournament.settings()
        super().__init__(path, SeriesKind.TOURNAMENT, settings, seed=tournament.seed)
        self.take(tournament)

    def take(self, tournament: Tournament) -> None:
        """Go on with other bots of a folder."""
        self._tournament = tournament
        self.versions = versions_now(tournament, self.lines)
        self.games = games_between(self.lines, self.versions)
        before = entered(self.lines)
        self.replaced = replaced(before, self.versions)
        self._code = {file: digest for now in self.versions.values() for file, digest in now.code.items()}

    def add_games(self, games: Iterable[TournamentGame]) -> None:
        """Write games; they are on the disk when this returns.

        Raises:
            SeriesError: ``bad_results``: they cannot be written, or a bot's code is not that of its version any more.
        """
        played: list[TournamentGame] = []
        found: dict[str, str] = {}
        try:
            for game in games:
                check_same(self._code, game.code)
                found |= game.code
                versions = tuple(self.versions[bot].version for bot in game.teams)
                played.append(replace(game, versions=versions, code={}))
        except BotError as error:
            raise self.changed(error) from None
        finally:
            self._find(found)
            self.games += played
            self.add([*self._entering(), *played])

    def enter(self) -> None:
        """Write the versions that bots have now, if others count yet: games of all pairs are there."""
        self.add(self._entering())

    def _entering(self) -> list[Entered]:
        before = entered(self.lines)
        return [now for name, now in self.versions.items() if before.get(name) != now]

    def _find(self, code: Mapping[str, str]) -> None:
        """Note code that no version names, of each bot that may have loaded it."""
        unnamed = {file: digest for file, digest in code.items() if not self._is_named(file)}
        for name, now in self.versions.items():
            own = {file: digest for file, digest in unnamed.items() if has_code(self._tournament.bots[name], file)}
            if own:
                self.versions[name] = Entered(name, now.version, now.source, now.code | own)

    def _is_named(self, file: str) -> bool:
        return any(file in version.code for version in self.versions.values())

    def changed(self, error: BotError) -> SeriesError:
        """Return the error of code that has changed, with what to do about it."""
        text = error.text.partition(";")[0]
        return SeriesError("bad_results", f"{self.path}: {text}; {_AGAIN}")
