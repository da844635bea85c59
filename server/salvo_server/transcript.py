"""Games as files: writing them, reading them, and executing them again (SALVO-FILE).

A transcript comes out of a journal, or straight from a table that is watched. It is read by line; what does not fit
is a :class:`TranscriptError` that names file and line and says what to do. A file whose name ends in ``.gz`` is
compressed.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from salvo import arena
from salvo import messages as m
from salvo.errors import SalvoError, WireError
from salvo.messages import State
from salvo.player import Bot
from salvo.rules import SALVO, RuleBook
from salvo.view import Shot
from salvo.wire.transcript import Header, parse_line, read_header, read_input, said, write_header
from salvo_server import __version__
from salvo_server.journal import SavedGame
from salvo_server.recovery import open_table, repeat
from salvo_server.referee import Referee
from salvo_server.table import Step, Table, seat


class TranscriptError(SalvoError):
    """A file that is no whole game: the text names file and line, and says what to do."""


@dataclass(frozen=True, slots=True)
class Line:
    """One input of a transcript.

    Attributes:
        number: of the line in the file, from 1; the header is line 1.
        said: what the file says that the referee said.
    """

    number: int
    at: int
    command: m.Input
    said: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game as a file has it.

    Attributes:
        check: what the last line says that the game comes to; None in the file of a game that was still on.
    """

    name: str
    header: Header
    lines: Sequence[Line]
    check: str | None


def no_status(referee: Referee) -> m.ServerStatus:
    """Return a status for a table that no server stands for; it is no part of the game."""
    return m.ServerStatus(True, __version__, referee.number, "literal")


# --- writing ------------------------------------------------------------------------------------------------------


class TranscriptWriter:
    """Writes games step by step, each to a file of its own.

    The file has its end line once the game is over; until then it is a game that is still on.
    """

    def __init__(self, file: IO[str], header: Header) -> None:
        """Write the header."""
        self._file = file
        self._steps = 0
        self._check = b""
        print(write_header(header), file=file)

    def write(self, step: Step) -> None:
        """Write a step; one that changed nothing is no part of the game."""
        if not step.recorded:
            return
        self._steps += 1
        self._check = step.check
        line = {"n": self._steps, "at": step.at, **json.loads(step.text), "says": said(step.announcements)}
        print(json.dumps(line, separators=(",", ":")), file=self._file)

    def end(self) -> None:
        """Write the end line."""
        end = {"end": {"steps": self._steps, "check": self._check.hex()}}
        print(json.dumps(end, separators=(",", ":")), file=self._file)


def export(game: SavedGame, path: Path) -> int:
    """Write a game of a journal to a file; return how many steps it has.

    Raises:
        JournalError: the journal's record cannot be executed.
        TranscriptError: ``transcript_unwritable``.
    """
    table = open_table(game, no_status)
    try:
        with _open(path, "w") as file:
            writer = TranscriptWriter(file, table.header)
            over = False
            for number, record in enumerate(game.steps, start=1):
                step = repeat(table, game, number, record)
                writer.write(step)
                over = over or any(isinstance(a, m.GameWon) for a in step.announcements)
            if over:
                writer.end()
    except OSError as error:
        raise TranscriptError("transcript_unwritable", f"{path}: {error.strerror}") from None
    return len(game.steps)


def _open(path: Path, mode: Literal["r", "w"]) -> IO[str]:
    if path.suffix == ".gz":
        # Without name and time in it, equal games are equal files.
        zipped = gzip.GzipFile("", f"{mode}b", fileobj=path.open(f"{mode}b"), mtime=0)
        return io.TextIOWrapper(zipped, encoding="utf-8")
    return path.open(mode, encoding="utf-8")


def play_at_table(
    bots: Mapping[str, Bot], *, seed: int | str = 0, game: int = 1, book: RuleBook = SALVO
) -> tuple[Header, list[Step]]:
    """Play a game in the arena and take it down as the game that a contest with this seed would have been.

    The clock is made up: it begins at 0 and goes on a second with every step.

    Raises:
        BotError: see :func:`salvo.arena.play`.
    """
    salvos: list[tuple[str, Sequence[Shot]]] = []
    outcome = arena.play(
        bots, seed=seed, game=game, book=book, listener=lambda shots, result: salvos.append((result.player, shots))
    )
    table = Table(Referee(seed, "", book, m.Limits(players=len(bots)), game), no_status)
    table.open()
    inputs: list[m.Input] = [m.Participate(name, b"") for name in bots]
    inputs += [
        m.PlaceShip(name, place.ship, place) for name, fleet in outcome.fleets.items() for place in fleet.placements
    ]
    inputs += [m.Fire(player, shot.player, shot.x, shot.y) for player, shots in salvos for shot in shots]
    header = table.header
    return header, [step for at, each in enumerate(inputs) if (step := table.carry_out(each, at * 1000)).recorded]


def write_transcript(path: Path, header: Header, steps: Iterable[Step]) -> None:
    """Write a game that is over to a file.

    Raises:
        TranscriptError: ``transcript_unwritable``.
    """
    try:
        with _open(path, "w") as file:
            writer = TranscriptWriter(file, header)
            for step in steps:
                writer.write(step)
            writer.end()
    except OSError as error:
        raise TranscriptError("transcript_unwritable", f"{path}: {error.strerror}") from None


# --- reading ------------------------------------------------------------------------------------------------------


def read_transcript(path: Path) -> Transcript:
    """Read a file.

    Raises:
        TranscriptError: ``transcript_missing``, ``transcript_corrupt`` or ``transcript_cut``.
    """
    try:
        with _open(path, "r") as file:
            return parse_transcript(file, str(path))
    except FileNotFoundError:
        raise TranscriptError("transcript_missing", f"no file {path}") from None
    except EOFError:
        raise TranscriptError("transcript_cut", f"{path}: compressed data ends too early; {_CURE}") from None
    except (OSError, UnicodeDecodeError, zlib.error) as error:
        raise TranscriptError("transcript_corrupt", f"{path}: {error}; {_CURE}") from None


def parse_transcript(file: Iterable[str], name: str) -> Transcript:
    """Read a transcript's lines.

    Raises:
        TranscriptError: ``transcript_corrupt`` or ``transcript_cut``.
    """
    numbered = enumerate(file, start=1)
    _, first = next(numbered, (1, ""))
    if not first:
        raise TranscriptError("transcript_cut", f"{name} is empty; {_CURE}")
    try:
        header = read_header(_whole(first, name, 1))
    except WireError as error:
        raise TranscriptError("transcript_corrupt", f"{name}, line 1, the header: {error}; {_CURE}") from None
    lines: list[Line] = []
    check: str | None = None
    for number, text in numbered:
        if check is not None:
            raise TranscriptError("transcript_corrupt", f"{name}, line {number}: stands behind the end; {_CURE}")
        try:
            value = parse_line(_whole(text, name, number))
            if isinstance(value, dict) and "end" in value:
                check = _read_end(value, len(lines))
            else:
                lines.append(_read_step(value, number))
        except WireError as error:
            raise TranscriptError("transcript_corrupt", f"{name}, line {number}: {error}; {_CURE}") from None
    return Transcript(name, header, lines, check)


def _whole(text: str, name: str, number: int) -> str:
    if not text.endswith("\n"):
        raise TranscriptError("transcript_cut", f"{name}, line {number}: the line is not whole; {_CURE}")
    return text


def _read_step(value: Any, number: int) -> Line:
    if not isinstance(value, dict) or not {"n", "at", "says"} <= value.keys():
        raise WireError("wrong_shape", "a step has n, at, one input and says")
    n, at, says = value.pop("n"), value.pop("at"), value.pop("says")
    if n != number - 1 or type(n) is not int:
        raise WireError("wrong_shape", f"step {n!r:.40} where step {number - 1} belongs")
    if type(at) is not int or not isinstance(says, list):
        raise WireError("wrong_shape", "at is an integer, says a list")
    return Line(number, at, read_input(value), says)


def _read_end(value: dict[str, Any], steps: int) -> str:
    end = value["end"]
    if len(value) != 1 or not isinstance(end, dict) or end.keys() != {"steps", "check"}:
        raise WireError("wrong_shape", "the end has steps and check")
    if end["steps"] != steps:
        raise WireError("wrong_shape", f"the end counts {end['steps']!r:.20} steps, there are {steps}")
    if not isinstance(end["check"], str):
        raise WireError("wrong_shape", "the end's check is a text")
    return end["check"]


_CURE = "take the file again from where it comes from, such as: salvo replay JOURNAL --export FILE"


# --- executing ----------------------------------------------------------------------------------------------------


def execute(transcript: Transcript) -> Iterator[Step]:
    """Execute a game again, step by step, comparing nothing.

    Raises:
        TranscriptError: ``transcript_corrupt`` for an input that no service lets through.
    """
    table = Table(seat(transcript.header), no_status)
    table.open()
    for line in transcript.lines:
        try:
            step = table.carry_out(line.command, line.at)
        except Exception as error:  # what no service gives to a referee, such as a ship that the rules don't have
            text = f"{transcript.name}, line {line.number}: cannot be carried out: {type(error).__name__}: {error}"
            raise TranscriptError("transcript_corrupt", f"{text}; {_CURE}") from error
        yield step


def check(transcript: Transcript) -> int:
    """Execute a game again and compare every announcement; return how many there were.

    Raises:
        TranscriptError: ``transcript_diverged`` or ``transcript_corrupt`` name the first line that is wrong,
            ``transcript_cut`` a file that ends before its game.
    """
    announcements = 0
    result = b""
    over = False
    for line, step in zip(transcript.lines, execute(transcript), strict=True):
        where = f"{transcript.name}, line {line.number}"
        told = said(step.announcements)
        if not step.recorded:
            raise TranscriptError("transcript_diverged", f"{where}: this input changes nothing; {_CURE}")
        if told != line.said:
            raise TranscriptError("transcript_diverged", f"{where}: {_difference(told, line.said)}; {_CURE}")
        announcements += len(told)
        result = step.check
        over = over or any(isinstance(a, m.StateChanged) and a.state is State.OVER for a in step.announcements)
    if transcript.check is None:
        reason = "its end line is missing" if over else "the game is not over in it"
        raise TranscriptError("transcript_cut", f"{transcript.name}: {reason}; {_CURE}")
    if result.hex() != transcript.check:
        raise TranscriptError(
            "transcript_diverged",
            f"{transcript.name}: comes to {result.hex()}, its end says {transcript.check[:40]}; {_CURE}",
        )
    return announcements


def _difference(told: Sequence[Any], recorded: Sequence[Any]) -> str:
    for mine, its in zip(told, recorded, strict=False):
        if mine != its:
            return f"the referee says {json.dumps(mine)[:200]}, the file {json.dumps(its)[:200]}"
    return f"the referee says {len(told)} things, the file {len(recorded)}"
