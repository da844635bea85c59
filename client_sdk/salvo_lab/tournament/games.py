"""The games that were played, durable: a file of JSON lines next to the tournament's.

The first line has the tournament and its seed: only its owner may read the file, since the seed of a running game
reveals all fleets. A game is a line, and is on the disk before it is reported. A partial line of a killed process is
cut off when the file is opened again.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from salvo.errors import BotError
from salvo_lab.loaded_code import changed, check_same
from salvo_lab.tournament.file import TournamentError
from salvo_server.storage.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines

_FORM: Final = 2
_CURE: Final = "undo that, or play everything again with --fresh, which sets this file aside"


@dataclass(frozen=True, slots=True)
class Played:
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
        moves: digest of all fleets and shots; empty in files that are older than it.
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
    moves: str = ""
    code: dict[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class _Head:
    form: Literal[2]
    tournament: dict[str, str]
    seed: str


_HEAD: Final = TypeAdapter(_Head)
_GAME: Final = TypeAdapter(Played)


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
        try:
            self._file = LinesFile(path)
            self.aside = _set_aside(path) if fresh else None
            found, self.games = read_games(path, fingerprint)
            self._code = check_code(path, self.games)
            self.seed = found or seed or secrets.token_hex(16)
            head = {"form": _FORM, "tournament": dict(fingerprint), "seed": self.seed}
            self._file.begin(head, anew=not found)
        except Busy:
            raise TournamentError("bad_results", f"{path}: another process plays this tournament") from None
        except OSError as error:
            raise TournamentError("bad_results", f"{path}: {error.strerror}") from None

    def add(self, games: Iterable[Played]) -> None:
        """Write games; they are on the disk when this returns.

        Raises:
            TournamentError: ``bad_results``: they cannot be written, or a bot's code has changed since the first game.
        """
        same: list[Played] = []
        try:
            for game in games:
                check_same(self._code, game.code)
                same.append(game)
        except BotError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.text}; {_CURE}") from None
        finally:
            self._write(same)

    def _write(self, games: Sequence[Played]) -> None:
        try:
            self._file.add({key: said for key, said in asdict(game).items() if key != "code" or said} for game in games)
        except OSError as error:
            raise TournamentError("bad_results", f"{self._path}: {error.strerror}") from None
        self.games += games

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def read_games(path: Path, fingerprint: Mapping[str, str]) -> tuple[str, list[Played]]:
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
        games: list[Played] = []
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


def check_code(path: Path, games: Iterable[Played]) -> dict[str, str]:
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
    if not path.exists():
        return None
    other = next(other for number in count(1) if not (other := path.with_suffix(f".{number}{path.suffix}")).exists())
    return path.rename(other)
