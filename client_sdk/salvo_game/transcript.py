"""Games as files: writing them, reading them, and executing them again (SALVO-FILE).

A transcript comes out of a journal, or straight from a table that is watched. It is read by line; what does not fit
is a :class:`TranscriptError` that names file and line and says what to do. A file whose name ends in ``.gz`` is
compressed.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shlex
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import IO, Final

from salvo import messages as m
from salvo.codec.header import Header, read_first_line, write_header
from salvo.codec.steps import MAX_LINE_BYTES, public_announcements, write_announcement_line
from salvo.codec.transcript import EndOfGame, StepLine, read_line, write_end, write_step
from salvo.errors import SalvoError, WireError
from salvo.system.atomic_file import replace_file
from salvo.system.distribution import __version__
from salvo.system.text_files import lines_of, missing_file, unread
from salvo_game.journal_interface import SavedGame
from salvo_game.recovery import execute_step, open_table
from salvo_game.referee import Referee
from salvo_game.table import Table, header_check, seat
from salvo_game.table_step import Step

#: How much of the chain's value a line has; the last line has all of it.
LINE_CHECK_BYTES: Final = 4
_GZIP: Final = b"\x1f\x8b"
_CURE: Final = "take the file again from its source, such as: salvo replay JOURNAL --export FILE"
#: The key that a transcript begins with.
_TRANSCRIPT: Final = b'"transcript"'
#: Before the games of a tournament, which are not transcripts.
_TOURNAMENT: Final = b'{"form":'


class TranscriptError(SalvoError):
    """A file that is not a whole game: the text names file and line, and says what to do."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game as a file has it.

    Attributes:
        steps: step n is in line n + 1; the header is line 1.
        end: the game's checksum in the last line; None in the file of an unfinished game.
    """

    name: str
    header: Header
    steps: Sequence[StepLine]
    end: str | None

    def line(self, number: int) -> str:
        """Return how people call a line."""
        return f"{self.name}, line {number}"

    @property
    def cure(self) -> str:
        """What to do when something is wrong."""
        return _cure(self.header, self.steps)


def no_status(referee: Referee) -> m.ServerStatus:
    """Return a status for a table without a server; it is not part of the game."""
    return m.ServerStatus(True, __version__, referee.number, "open")


# --- writing ------------------------------------------------------------------------------------------------------


def write_lines(header: Header, steps: Iterable[Step]) -> Iterator[str]:
    """Return a game's lines; the end line only when the game is over in these steps."""
    yield write_header(header, _line_check(header_check(header)))
    number, over, check = 0, False, b""
    for step in steps:
        if not step.recorded:
            continue
        number += 1
        check = step.check
        over = over or any(isinstance(announcement, m.GameWon) for announcement in step.announcements)
        yield write_step(number, step.at, step.command, step.announcements, _line_check(check))
    if over:
        yield write_end(number, check.hex())


def write_transcript(path: Path, header: Header, steps: Iterable[Step]) -> None:
    """Write a game to a file. A transcript that was there before is replaced, and only by a whole one.

    Raises:
        TranscriptError: ``transcript_unwritable``, also for a file that is something else than a transcript.
    """
    try:
        if _is_something_else(path):
            raise TranscriptError(
                "transcript_unwritable", f"{path} exists and is not a transcript; name another file, or remove it"
            )
        replace_file(path, transcript_bytes(header, steps, packed=path.suffix == ".gz"))
    except OSError as error:
        raise TranscriptError("transcript_unwritable", f"{path}: {error.strerror}; name another file") from None


def transcript_bytes(header: Header, steps: Iterable[Step], *, packed: bool) -> bytes:
    """Return a game as the content of a file, compressed or not."""
    text = "".join(line + "\n" for line in write_lines(header, steps)).encode()
    return _packed(text) if packed else text


def _packed(text: bytes) -> bytes:
    # Without time, name and system in it, equal games are equal files; gzip.compress names the system on some Pythons.
    file = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(text)
    return file.getvalue()


def _is_something_else(path: Path) -> bool:
    if not path.is_file():
        return path.is_dir()
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile), path.open("rb") as raw:
        first = next(_split(raw), b"")
        return bool(first) and not first.startswith(b'{"transcript":')
    return True


def until_forgotten(steps: Iterable[Step]) -> Iterator[Step]:
    """Return a game's steps without the last one, which opens the next lobby.

    A transcript has nothing of it: its header does not tell the rules of the next game (SALVO-FILE-3).
    """
    return takewhile(
        lambda step: not any(isinstance(announcement, m.TableReset) for announcement in step.announcements), steps
    )


def repeat_game(game: SavedGame) -> tuple[Header, Iterator[Step]]:
    """Return a journal's game with its steps, executed and compared one by one.

    Raises:
        JournalError: ``journal_corrupt`` or ``journal_diverged``, the latter from the iterator.
    """
    table = open_table(game, no_status)
    numbered = enumerate(game.steps, start=1)
    return table.header, (execute_step(table, game, number, record) for number, record in numbered)


# --- reading ------------------------------------------------------------------------------------------------------


def read_transcript(path: Path) -> Transcript:
    """Read a file, compressed or not.

    Raises:
        TranscriptError: ``transcript_missing``, ``transcript_unreadable``, ``transcript_corrupt``, ``transcript_cut``
            or ``unknown_version``; ``not_a_transcript`` for something else, such as a tournament's games.
    """
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise TranscriptError("transcript_missing", missing_file(path)) from None
    except OSError as error:
        raise TranscriptError("transcript_unreadable", unread(path, error)) from None
    with raw:
        return parse_transcript(_split(raw), str(path))


def _split(raw: IO[bytes]) -> Iterator[bytes]:
    packed = raw.read(len(_GZIP)) == _GZIP
    raw.seek(0)
    with gzip.GzipFile(fileobj=raw) if packed else contextlib.nullcontext(raw) as file:
        yield from lines_of(file, MAX_LINE_BYTES + 1)


def parse_transcript(lines: Iterable[bytes], name: str) -> Transcript:
    """Read a transcript's lines, each with its line feed.

    Raises:
        TranscriptError: ``transcript_corrupt``, ``transcript_cut``, ``unknown_version`` or ``not_a_transcript``.
    """
    reader = _TranscriptReader(name)
    try:
        for line in lines:
            reader.take_in(line)
    except EOFError:
        raise reader.error("transcript_cut", "the compressed file ends too early") from None
    except (OSError, zlib.error) as error:
        raise reader.error("transcript_corrupt", f"the compressed file is damaged: {error}") from None
    return reader.transcript()


class _TranscriptReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._number = 1  # of the line to be read
        self._header: Header | None = None
        self._steps: list[StepLine] = []
        self._end: str | None = None

    def take_in(self, line: bytes) -> None:
        if self._header is None and line.startswith(_TOURNAMENT):
            cure = "add --record FILE to the command that its page, or salvo tournament show --json, has for a game"
            raise TranscriptError("not_a_transcript", f"{self._name} has a tournament's results, not shots; {cure}")
        if self._header is None and line.strip() and not line.startswith(b"{") and _TRANSCRIPT not in line:
            cure = "name a file that --record or --export wrote, or a server's journal"
            raise TranscriptError("not_a_transcript", f"{self._name} is not a recorded game; {cure}")
        if not line.endswith(b"\n"):
            code = "transcript_corrupt" if len(line) > MAX_LINE_BYTES else "transcript_cut"
            raise self.error(code, "the line is not whole")
        try:
            self._take_in(line.decode())
        except UnicodeDecodeError as error:
            raise self.error("transcript_corrupt", f"not_utf8: not UTF-8 at byte {error.start}") from None
        except WireError as error:
            if error.code == "unknown_version":
                where = f"{self._name}, line 1"
                cure = "install that version or a later one to look at it"
                raise TranscriptError("unknown_version", f"{where}: {error.text}; {cure}") from None
            raise self.error("transcript_corrupt", error.text) from None
        self._number += 1

    def _take_in(self, line: str) -> None:
        if self._header is None:
            first = read_first_line(line)
            self._header = first.header
            if first.check != _line_check(header_check(self._header)):
                raise WireError("wrong_shape", "the line was changed: its check does not match")
        elif self._end is not None:
            raise WireError("wrong_shape", "this line comes after the end")
        else:
            self._take_in_step(read_line(line))

    def _take_in_step(self, step: StepLine | EndOfGame) -> None:
        expected = len(self._steps) + 1
        if isinstance(step, EndOfGame):
            if step.steps != len(self._steps):
                raise WireError("wrong_shape", f"the end counts {step.steps} steps, the file has {len(self._steps)}")
            self._end = step.check
            return
        if step.number != expected:
            raise WireError("wrong_shape", f"step {step.number} where step {expected} belongs")
        self._steps.append(step)

    def transcript(self) -> Transcript:
        if self._header is None:
            raise self.error("transcript_cut", "the file is empty")
        return Transcript(self._name, self._header, self._steps, self._end)

    def error(self, code: str, text: str) -> TranscriptError:
        return TranscriptError(code, f"{self._name}, line {self._number}: {text}; {_cure(self._header, self._steps)}")


def _cure(header: Header | None, steps: Sequence[StepLine]) -> str:
    """Return where a whole file comes from; a game that begins at time 0 had no server, and is in no journal."""
    if header is None or not steps or steps[0].at:
        return _CURE
    given = f"--seed {shlex.quote(header.seed)} --game {header.game}"
    return f"take the file again: salvo play ... {given} --record FILE, with bots and options as they were"


# --- executing ----------------------------------------------------------------------------------------------------


def execute(transcript: Transcript) -> Iterator[Step]:
    """Execute a game again, step by step, and compare every announcement.

    Raises:
        TranscriptError: ``transcript_diverged`` or ``transcript_corrupt`` name the first line that is wrong.
    """
    table = Table(seat(transcript.header), no_status)
    if replace(table.header, version=transcript.header.version) != transcript.header:
        where = transcript.line(1)
        raise TranscriptError(
            "transcript_corrupt", f"{where}: rules and limits contradict each other; {transcript.cure}"
        )
    table.open()
    whole = table.check.hex()
    for number, line in enumerate(transcript.steps, start=2):
        where = transcript.line(number)
        if table.referee.number != transcript.header.game:
            raise TranscriptError("transcript_corrupt", f"{where}: comes after the game's end; {transcript.cure}")
        try:
            step = table.carry_out(line.command, line.at)
        except Exception as error:  # what no service gives to a referee, such as a ship that the rules don't have
            text = f"{where}: cannot be carried out: {type(error).__name__}: {error}"
            raise TranscriptError("transcript_corrupt", f"{text}; {transcript.cure}") from error
        difference = _compare(step, line)
        if difference:
            raise TranscriptError("transcript_diverged", f"{where}: {difference}; {transcript.cure}")
        whole = step.check.hex()
        yield step
    if transcript.end not in (None, whole):
        where = transcript.line(len(transcript.steps) + 2)
        text = f"{where}: the game's check is {whole}, the end has {transcript.end:.40}"
        raise TranscriptError("transcript_diverged", f"{text}; {transcript.cure}")


def _compare(step: Step, line: StepLine) -> str:
    """Return in what a step differs from what its line says, empty for nothing."""
    if not step.recorded:
        return "this input changes nothing"
    announced = public_announcements(step.announcements)
    if announced != line.public_announcements:
        return _difference(announced, line.public_announcements)
    check = _line_check(step.check)
    if check != line.check:
        return f"the input or its time was changed: its check is {check}, the line has {line.check:.40}"
    return ""


def _difference(announced: Sequence[m.Announcement], recorded: Sequence[m.Announcement]) -> str:
    for mine, its in zip(announced, recorded, strict=False):
        if mine != its:
            right, recorded_line = (write_announcement_line(line)[:200] for line in (mine, its))
            return f"the referee announces {right}, the file has {recorded_line}"
    return f"the referee makes {len(announced)} announcements, the file has {len(recorded)}"


def check(transcript: Transcript) -> tuple[int, int]:
    """Execute a whole game again and compare; return how many steps and announcements it has.

    Raises:
        TranscriptError: see :func:`execute`; ``transcript_cut`` for a file that ends before its game.
    """
    announcements = 0
    over = False
    for step in execute(transcript):
        announcements += len(step.announcements)
        over = over or any(isinstance(announcement, m.GameWon) for announcement in step.announcements)
    if transcript.end is None:
        reason = "the end line is missing" if over else "the file ends before the game is over"
        raise TranscriptError(
            "transcript_cut", f"{transcript.line(len(transcript.steps) + 2)}: {reason}; {transcript.cure}"
        )
    return len(transcript.steps), announcements


def _line_check(check: bytes) -> str:
    return check[:LINE_CHECK_BYTES].hex()
