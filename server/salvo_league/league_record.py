"""What is kept of a league: lines that are only added to, in a file beside the league's.

A line is on the disk before anything follows from it. The first line has the league and its seed: only its owner may
read the file, since who knows the seed knows who will meet.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from salvo_lab.tournament.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines
from salvo_league.league_file import League, LeagueError

_FORM: Final = 1


@dataclass(frozen=True, slots=True)
class Began:
    """The league's first round was drawn, at this time in epoch seconds."""

    began: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round, or a single game of a ladder, was drawn.

    Attributes:
        drawn: the round's number.
        first: the number of its first match.
        matches: teams by match; one alone has a bye.
    """

    drawn: int
    first: int
    matches: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """A match is to be played at a table, as the game of this number there, by those of its teams that are not away."""

    assigned: int
    table: str
    game: int
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Closing:
    """A match's table is to be closed, because fewer than two teams came; who did is ``there``.

    If its game begins after all, that counts.
    """

    closing: int
    there: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeagueResult:
    """What came of a match; all tuples are by seat.

    Attributes:
        result: the match's number.
        places: 1 for the winner; those that did not come are last.
        absent: who did not come.
    """

    result: int
    table: str
    game: int
    teams: tuple[str, ...]
    places: tuple[int, ...]
    shots: tuple[int, ...]
    hits: tuple[int, ...]
    turns: int
    absent: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Voided:
    """A match's game at its table does not count; the match is played again."""

    voided: int
    why: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A team followed no seat in its match (:attr:`Book.plain`)."""

    plain: str


@dataclass(frozen=True, slots=True)
class Back:
    """A team that was absent twice is back."""

    back: str


@dataclass(frozen=True, slots=True)
class Annulled:
    """A host has annulled a match's game: it no longer counts, and is not played again (SALVO-STAND-4)."""

    annulled: int
    by: str


LeagueLine = Began | Drawn | Assigned | Closing | LeagueResult | Voided | Plain | Back | Annulled
_LINE: Final[TypeAdapter[LeagueLine]] = TypeAdapter(LeagueLine)


@dataclass(frozen=True, slots=True)
class _Head:
    form: Literal[1]
    league: dict[str, Any]
    seed: str


_HEAD: Final = TypeAdapter(_Head)


def record_path(file: Path) -> Path:
    """Return where the record of a league's file is."""
    return file.with_suffix(".league.jsonl")


def _marks(league: League) -> dict[str, Any]:
    """Return what must be the same for as long as a league is played."""
    return league.model_dump(mode="json", include={"name", "format", "rounds", "table_size", "seed"})


class LeagueRecord:
    """A league's record; one process at a time writes to it.

    Attributes:
        lines: all of it.
        league: with the seed that was drawn, if its file has none.
    """

    def __init__(self, path: Path, league: League) -> None:
        """Open or make it.

        Raises:
            LeagueError: ``league_in_use``: another process plays this league; ``bad_results``: it is of another league,
                or of a changed one, or it cannot be written.
        """
        self._path = path
        try:
            self._file = LinesFile(path)
            try:
                self.league, self.lines = read_record(path, league)
                new = not self.league.seed
                self.league = self.league.with_seed(self.league.seed or secrets.token_hex(16))
                head = _Head(_FORM, _marks(league), self.league.seed)
                self._file.begin(_HEAD.dump_python(head, mode="json"), anew=new)
            except BaseException:
                self._file.close()
                raise
        except Busy:
            raise LeagueError("league_in_use", f"{path}: another process plays this league") from None
        except OSError as error:
            raise LeagueError("bad_results", f"{path}: {error.strerror}") from None

    def add(self, line: LeagueLine) -> None:
        """Write a line; it is on the disk when this returns.

        Raises:
            LeagueError: ``bad_results``.
        """
        try:
            self._file.add([_LINE.dump_python(line, mode="json")])
        except OSError as error:
            raise LeagueError("bad_results", f"{self._path}: {error.strerror}") from None
        self.lines.append(line)

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def read_record(path: Path, league: League) -> tuple[League, list[LeagueLine]]:
    """Return a league with the seed of its record, and the lines; none when there is no record.

    Raises:
        LeagueError: ``bad_results``: they are not of this league.
    """
    try:
        lines = whole_lines(path)
    except OSError as error:
        raise LeagueError("bad_results", f"{path}: {error.strerror}") from None
    if not lines:
        return league, []
    (number, first), *rows = lines
    try:
        head = _HEAD.validate_json(first)
        changed = ", ".join(key for key, value in _marks(league).items() if head.league.get(key) != value)
        if changed:
            cure = f"undo that, or rename {path.name} to begin again"
            raise LeagueError("bad_results", f"{path}: games were played before {changed} changed; {cure}")
        read: list[LeagueLine] = []
        seen: dict[Hashable, tuple[int, object]] = {}
        for number, text in rows:
            line = _LINE.validate_json(text, strict=False, extra="forbid")
            key = _only_once(line)
            read += [line] if key is None or is_new(seen, key, number, line) else []
    except Contradiction as error:
        raise LeagueError("bad_results", f"{path}, line {number}: {error}") from None
    except ValidationError:
        raise LeagueError("bad_results", f"{path}, line {number}: not written by salvo league") from None
    return league.with_seed(head.seed), read


def _only_once(line: LeagueLine) -> Hashable:
    """Return what there is only one line of; None if there may be several."""
    match line:
        case Drawn(number) | LeagueResult(number):
            return type(line), number
    return None
