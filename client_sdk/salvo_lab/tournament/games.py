"""The games that were played, durable: a file of JSON lines next to the tournament's.

The first line has the tournament and its seed: only its owner may read the file, since the seed of a running game
reveals all fleets. A game is a line, and is on the disk before it is reported. A partial line of a killed process is
cut off when the file is opened again. Bots run with the rights of the file's owner, so a run believes what it has
played, and not what the file says at its end.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from salvo.errors import BotError
from salvo_lab.loaded_code import changed, check_same
from salvo_lab.tournament.file import TournamentError
from salvo_lab.tournament.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines

_FORM: Final = 2
_CURE: Final = "undo that, or play everything again with --fresh, which sets this file aside"


@dataclass(frozen=True, slots=True)
class TournamentGame:
    """A game that was played; all tuples are by seat.

    Attributes:
        match, index: which game of the tournament it is.
        bots: names in the tournament.
        players: names at the table.
        seed, game: what ``salvo play`` takes.
        turns: salvos of all together.
        places: 1 for the winner.
        strikes: what went wrong, each in a line.
        forfeited: whether one was out before the end.
        seconds: of thinking; ``longest`` of a single decision; ``decisions`` how many.
        code: digests of files of bots, by file; of those that an earlier game has, only if they differ.
    """

    match: int
    index: int
    bots: tuple[str, ...]
    players: tuple[str, ...]
    seed: str
    game: int
    turns: int
    places: tuple[int, ...]
    shots: tuple[int, ...]
    hits: tuple[int, ...]
    strikes: tuple[tuple[str, ...], ...]
    forfeited: tuple[bool, ...]
    seconds: tuple[float, ...]
    longest: tuple[float, ...]
    decisions: tuple[int, ...]
    code: dict[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class _Head:
    form: Literal[2]
    tournament: dict[str, str]
    seed: str


_HEAD: Final = TypeAdapter(_Head)
_GAME: Final = TypeAdapter(TournamentGame)


class GamesFile:
    """A file of games; one process at a time writes to it.

    Attributes:
        games: in the order in which they ended.
        seed: the tournament's.
        aside: where the games of before are, after ``fresh``; None when there were none.
    """

    def __init__(self, path: Path, fingerprint: Mapping[str, str], *, seed: str = "", fresh: bool = False) -> None:
        """Open or make it.

        Args:
            fingerprint: what must not have changed since the first game, as the code of bots; a file without a game is
                then replaced.
            seed: of a new file; 128 bits are drawn when it is empty.
            fresh: begin again; the file that is there gets another name.

        Raises:
            TournamentError: ``bad_results``: the file is of another tournament, or of a changed one, another process
                writes to it, or it cannot be written.
        """
        self._path = path
        self._fingerprint = dict(fingerprint)
        try:
            self._file = LinesFile(path)
            self.aside = _set_aside(path) if fresh else None
            found, self.games = read_games(path, fingerprint)
            self._code = check_code(path, self.games)
            self.seed = found or seed or secrets.token_hex(16)
            self._file.begin(self._head(), anew=not found)
        except Busy:
            raise TournamentError("bad_results", f"{path}: another process plays this tournament") from None
        except OSError as error:
            raise TournamentError("bad_results", f"{path}: {error.strerror}") from None

    def add(self, games: Iterable[TournamentGame]) -> None:
        """Write games; they are on the disk when this returns.

        Raises:
            TournamentError: ``bad_results``: they cannot be written, or a bot's code has changed since the first game.
        """
        same: list[TournamentGame] = []
        try:
            for game in games:
                check_same(self._code, game.code)
                same.append(game)
        except BotError as error:
            raise self.changed(error) from None
        finally:
            self._write(same)

    def changed(self, error: BotError) -> TournamentError:
        """Return the error of code that has changed, with what to do about it."""
        return TournamentError("bad_results", f"{self._path}: {error.text}; {_CURE}")

    def mend(self) -> str:
        """Write all games anew if somebody else has changed the file since it was opened, which is put aside.

        Returns:
            What was changed, and where it is now; empty when nothing was.

        Raises:
            TournamentError: ``bad_results``: the file cannot be written.
        """
        if self._file.is_as_written():
            return ""
        change = self._change()
        try:
            aside = _set_aside(self._path)
            self._file.begin(self._head(), anew=True)
            self._file.add(map(_as_line, self.games))
        except OSError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.strerror}") from None
        there = f"; what was there is in {aside.name}" if aside is not None else ""
        return f"{self._path} was changed while games were played: {change}; it has the games as played again{there}"

    def _change(self) -> str:
        """Return how the file differs from the games that were played."""
        if not self._path.is_file():
            return "it was removed"
        try:
            seed, games = read_games(self._path, self._fingerprint)
        except TournamentError as error:
            return error.text.removeprefix(f"{self._path}").lstrip(",: ").partition(";")[0]
        there = {(game.match, game.index): _as_line(game) for game in games}
        played = {(game.match, game.index): _as_line(game) for game in self.games}
        words = ["the seed differs"] if seed != self.seed else []
        for key in sorted(there.keys() | played.keys()):
            if there.get(key) != played.get(key):
                what = "is gone" if key not in there else "is new" if key not in played else "differs"
                words.append(f"game {key[1] + 1} of match {key[0]} {what}")
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        return ", ".join(words[:3]) + more if words else "no game differs"

    def _head(self) -> dict[str, Any]:
        return {"form": _FORM, "tournament": self._fingerprint, "seed": self.seed}

    def _write(self, games: Sequence[TournamentGame]) -> None:
        self.games += games
        try:
            self._file.add(map(_as_line, games))
        except OSError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.strerror}") from None

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def _as_line(game: TournamentGame) -> dict[str, Any]:
    return {key: value for key, value in asdict(game).items() if key != "code" or value}


def read_games(path: Path, fingerprint: Mapping[str, str]) -> tuple[str, list[TournamentGame]]:
    """Return seed and games of a file, in the order in which they ended; empty when there is no such file.

    So it is with a file of a changed tournament of which no game was played: a bot could not be loaded, maybe.

    Raises:
        TournamentError: ``bad_results``: they are not games of this tournament.
    """
    try:
        lines = whole_lines(path)
    except OSError as error:
        raise TournamentError("bad_results", f"{path}: {error.strerror}") from None
    if not lines:
        return "", []
    (number, first), *rows = lines
    try:
        head = _HEAD.validate_json(first)
        other = ", ".join(
            key for key in {**head.tournament, **fingerprint} if head.tournament.get(key) != fingerprint.get(key)
        )
        if other and not rows:
            return "", []
        if other:
            raise TournamentError("bad_results", f"{path}: games were played before {other} changed; {_CURE}")
        games: list[TournamentGame] = []
        seen: dict[Hashable, tuple[int, object]] = {}
        for number, line in rows:
            game = _GAME.validate_json(line, strict=False, extra="forbid")
            games += [game] if is_new(seen, (game.match, game.index), number, game) else []
    except Contradiction as error:
        raise TournamentError("bad_results", f"{path}, line {number}: {error}") from None
    except ValidationError:
        cure = "remove the line, and its game is played again" if number != lines[0][0] else _CURE
        raise TournamentError(
            "bad_results", f"{path}, line {number}: not written by salvo tournament; {cure}"
        ) from None
    return head.seed, games


def check_code(path: Path, games: Iterable[TournamentGame]) -> dict[str, str]:
    """Return the digests of the code that games were played with, by file.

    Raises:
        TournamentError: ``bad_results``: a file is not what it was.
    """
    code: dict[str, str] = {}
    for game in games:
        code |= game.code
    if differing := changed(code):
        text = f"games were played before {', '.join(differing)} changed"
        raise TournamentError("bad_results", f"{path}: {text}; {_CURE}")
    return code


def _set_aside(path: Path) -> Path | None:
    """Give a file another name, and return it; None when there is no such file."""
    if not os.path.lexists(path):
        return None
    other = next(other for number in count(1) if not (other := path.with_suffix(f".{number}{path.suffix}")).exists())
    return path.rename(other)
