"""The games that were played, durable: a file of JSON lines next to the tournament's.

The first line has the tournament and its seed: only its owner may read the file, since the seed of a running game
reveals all fleets. A game is a line, and is on the disk before it is reported. A partial line of a killed process is
cut off when the file is opened again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from salvo_server.storage.lines_file import Busy, LinesFile, whole_lines
from salvo_server.tournament.file import TournamentError

_FORM: Final = 2


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


def _read(line: bytes) -> Played:
    said: dict[str, Any] = json.loads(line)
    said |= {key: tuple(value) for key, value in said.items() if isinstance(value, list)}
    return Played(**said | {"strikes": tuple(map(tuple, said["strikes"]))})


class GamesFile:
    """A file of games; one process at a time writes to it.

    Attributes:
        games: in the order in which they ended.
        seed: the tournament's.
    """

    def __init__(self, path: Path, fingerprint: Mapping[str, str], *, seed: str = "", fresh: bool = False) -> None:
        """Open or make it.

        Args:
            fingerprint: what must not have changed since the first game; a file without a game is then replaced.
            seed: of a new file; 128 bits are drawn when it is empty.
            fresh: forget what is there.

        Raises:
            TournamentError: ``bad_results``: the file is of another tournament, or of a changed one, another process
                writes to it, or it cannot be written.
        """
        self._path = path
        try:
            self._file = LinesFile(path)
            if fresh:
                path.unlink(missing_ok=True)
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
    number, seed = 1, ""
    try:
        for head in lines[:1]:
            said = json.loads(head)
            if said["form"] != _FORM:
                raise ValueError
            changed = _changed(said["tournament"], fingerprint)
            if changed and len(lines) == 1:
                return "", []
            if changed:
                cure = "undo that, or replay everything with --fresh"
                raise TournamentError("bad_results", f"{path}: games were played before {changed} changed; {cure}")
            seed = str(said["seed"])
        games: list[Played] = []
        for number, line in enumerate(lines[1:], start=2):  # noqa: B007
            games.append(_read(line))
    except (ValueError, KeyError, TypeError):
        raise TournamentError(
            "bad_results", f"{path}, line {number}: not written by salvo tournament; --fresh replays everything"
        ) from None
    return seed, games


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return what is not the same, in words."""
    return ", ".join(key for key in {**old, **new} if old.get(key) != new.get(key))
