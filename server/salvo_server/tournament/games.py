"""The games that were played, durable: a file of JSON lines next to the tournament's.

The first line has the tournament and its seed: only its owner may read the file, since the seed of a running game
reveals all fleets. A game is a line, and is on the disk before it is reported. A partial line of a killed process is
cut off when the file is opened again.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from salvo_server.storage.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines
from salvo_server.tournament.file import TournamentError

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
            fingerprint: what must not have changed since the first game; a file without a game is then replaced.
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
            TournamentError: ``bad_results``.
        """
        games = list(games)
        try:
            self._file.add(map(asdict, games))
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
        changed = _changed(head.tournament, fingerprint)
        if changed and not rows:
            return "", []
        if changed:
            raise TournamentError("bad_results", f"{path}: games were played before {changed} changed; {_CURE}")
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


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return what is not the same, in words."""
    return ", ".join(key for key in {**old, **new} if old.get(key) != new.get(key))


def _set_aside(path: Path) -> Path | None:
    """Give a file another name, and return it; None when there is no such file."""
    if not path.exists():
        return None
    other = next(other for number in count(1) if not (other := path.with_suffix(f".{number}{path.suffix}")).exists())
    return path.rename(other)
