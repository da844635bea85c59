"""The record of a series, durable: a file of JSON lines beside its TOML file.

Only its owner may read it, since the seed is in its first line. A line is on the disk before anything follows from it,
or is reported. A partial line of a killed process is cut off when the file is opened again. Bots run with the rights of
the file's owner, so a tournament believes what it has played, and not what the file says at its end.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from salvo.errors import SalvoError
from salvo_lab.series.lines import (
    Head,
    SeriesKind,
    SeriesLine,
    TournamentGame,
    once,
    read_head,
    read_line,
    write_head,
    write_line,
)
from salvo_lab.series.lines_file import Busy, Contradiction, LinesFile, is_new, whole_lines

_IN_USE: Final = {SeriesKind.TOURNAMENT: "bad_results", SeriesKind.LEAGUE: "league_in_use"}


class SeriesError(SalvoError):
    """``bad_results``: a record that is not of this series, or cannot be read or written; ``league_in_use``."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a record has."""

    head: Head
    lines: list[SeriesLine]


def record_path(file: Path, kind: SeriesKind) -> Path:
    """Return where the record of a TOML file is."""
    return file.with_suffix(kind.suffix)


def read_record(path: Path) -> Recorded | None:
    """Return what a record has; None when there is no such file, or nothing in it.

    Raises:
        SeriesError: ``bad_results``: it is not a record.
    """
    try:
        lines = whole_lines(path)
    except OSError as error:
        raise _failed(path, error) from None
    if not lines:
        return None
    (number, first), *rows = lines
    try:
        head = read_head(first)
    except ValidationError:
        cure = "rename it to play a tournament again; a signed log is for salvo league show --logs"
        text = f"{path}, line {number}: not written by this version's salvo tournament or salvo league; {cure}"
        raise SeriesError("bad_results", text) from None
    read: list[SeriesLine] = []
    seen: dict[Hashable, tuple[int, object]] = {}
    try:
        for number, row in rows:
            line = read_line(head.kind, row)
            key = once(line)
            read += [line] if key is None or is_new(seen, key, number, line) else []
    except Contradiction as error:
        raise SeriesError("bad_results", f"{path}, line {number}: {error}") from None
    except ValidationError:
        again = "; remove the line, and its game is played again" if head.kind is SeriesKind.TOURNAMENT else ""
        raise SeriesError("bad_results", f"{path}, line {number}: not written by salvo {head.kind}{again}") from None
    return Recorded(head, read)


def changed_settings(head: Head, settings: Mapping[str, Any]) -> list[str]:
    """Return which of these settings are others than in a record."""
    return [key for key, value in settings.items() if head.settings.get(key) != value]


class SeriesRecord:
    """The record of a series that is played; one process at a time writes to it.

    Attributes:
        path: where it is.
        recorded: all of it.
    """

    def __init__(
        self,
        path: Path,
        kind: SeriesKind,
        settings: Mapping[str, Any],
        *,
        more: Mapping[str, Any] | None = None,
        seed: str = "",
    ) -> None:
        """Open or make it.

        Args:
            settings: what must be the same for as long as the series is played. The record of a changed tournament
                of which no game was played is replaced: a bot could not be loaded, maybe.
            more: settings that may change, as they are at its beginning.
            seed: of a new one; 128 bits are drawn when it is empty.

        Raises:
            SeriesError: ``bad_results``: it is of another series, or of a changed one, or it cannot be written; this
                or ``league_in_use``: another process plays it.
        """
        self.path = path
        self._kind = kind
        try:
            self._file = LinesFile(path)
        except Busy:
            raise SeriesError(_IN_USE[kind], f"{path}: another process plays this {kind}") from None
        except OSError as error:
            raise _failed(path, error) from None
        try:
            recorded = self._to_go_on_with(settings)
            head = Head(3, kind, {**settings, **(more or {})}, seed or secrets.token_hex(16))
            self.recorded = recorded or Recorded(head, [])
            self._file.begin(write_head(self.recorded.head), forget=recorded is None)
        except OSError as error:
            self._file.close()
            raise _failed(path, error) from None
        except BaseException:
            self._file.close()
            raise

    def _to_go_on_with(self, settings: Mapping[str, Any]) -> Recorded | None:
        recorded = read_record(self.path)
        if recorded is None:
            return None
        again = f"rename {self.path.name} to begin again"
        if recorded.head.kind is not self._kind:
            text = f"{self.path}: the record of a {recorded.head.kind}; {again}"
            raise SeriesError("bad_results", text)
        changed = ", ".join(changed_settings(recorded.head, settings))
        if changed and self._kind is SeriesKind.TOURNAMENT and not recorded.lines:
            return None
        if changed:
            text = f"{self.path}: games were played before {changed} changed; undo that, or {again}"
            raise SeriesError("bad_results", text)
        return recorded

    @property
    def seed(self) -> str:
        """The seed of the series."""
        return self.recorded.head.seed

    @property
    def lines(self) -> list[SeriesLine]:
        """All lines but the first."""
        return self.recorded.lines

    def add(self, lines: Iterable[SeriesLine]) -> None:
        """Write lines; they are on the disk when this returns.

        Raises:
            SeriesError: ``bad_results``: they cannot be written.
        """
        lines = list(lines)
        self.lines.extend(lines)
        try:
            self._file.add(map(write_line, lines))
        except OSError as error:
            raise _failed(self.path, error) from None

    def mend(self) -> str:
        """Write all lines again if somebody else has changed the file since it was opened, which is put aside.

        Returns:
            What was changed, and where it is now; empty when nothing was.

        Raises:
            SeriesError: ``bad_results``: the file cannot be written.
        """
        if self._file.is_as_written():
            return ""
        change = self._change()
        try:
            aside = _set_aside(self.path)
            self._file.begin(write_head(self.recorded.head), forget=True)
            self._file.add(map(write_line, self.lines))
        except OSError as error:
            raise _failed(self.path, error) from None
        there = f"; what was there is in {aside.name}" if aside is not None else ""
        return f"{self.path} was changed while games were played: {change}; it has the games as played again{there}"

    def _change(self) -> str:
        """Return how the file differs from the games that were played."""
        if not self.path.is_file():
            return "it was removed"
        try:
            recorded = read_record(self.path)
        except SeriesError as error:
            return error.text.removeprefix(f"{self.path}").lstrip(",: ").partition(";")[0]
        there, played = _games(recorded.lines if recorded else ()), _games(self.lines)
        words = ["the seed differs"] if recorded is None or recorded.head.seed != self.seed else []
        for key in sorted(there.keys() | played.keys()):
            if there.get(key) != played.get(key):
                what = "is gone" if key not in there else "is new" if key not in played else "differs"
                words.append(f"game {key[1] + 1} of match {key[0]} {what}")
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        return ", ".join(words[:3]) + more if words else "no game differs"

    def close(self) -> None:
        """Let others write."""
        self._file.close()


def _failed(path: Path, error: OSError) -> SeriesError:
    return SeriesError("bad_results", f"{path}: {error.strerror}")


def _games(lines: Sequence[SeriesLine]) -> dict[tuple[int, int, tuple[str, ...], tuple[str, ...]], dict[str, Any]]:
    games = (line for line in lines if isinstance(line, TournamentGame))
    return {(game.result, game.index, game.teams, game.versions): write_line(game) for game in games}


def _set_aside(path: Path) -> Path | None:
    """Give a file another name, and return it; None when there is no such file."""
    if not os.path.lexists(path):
        return None
    other = next(other for number in count(1) if not (other := path.with_suffix(f".{number}{path.suffix}")).exists())
    return path.rename(other)
