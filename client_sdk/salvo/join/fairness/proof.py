"""Proof files: a table's log as it was received, one payload a line, for ``salvo verify`` (SALVO-LOG-10).

A team's own file also has what the team sent, to be compared with what the server counted. A placement is recorded by
its message's digest, as in the log; a shot, a skip or leaving the lobby by its body, because the log has no digest of
it:

    {"sent":{"team":"red","topic":"/players/red/ships/carrier/place","message":"<16 bytes>"}}
    {"sent":{"team":"red","topic":"/players/blue/fire","body":{"x":3,"y":4}}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, BinaryIO, Final

from salvo.codec import log, log_reader
from salvo.codec.commands import read_envelope
from salvo.codec.json_codec import Codec
from salvo.errors import SalvoError, WireError
from salvo.messages import MESSAGE_BYTES, State, StateChanged
from salvo.system.text_files import end_last_line, lines_of
from salvo.wire import topics
from salvo.wire.json_shape import Hexadecimal, OneOf, Strict

SENT: Final = b'{"sent":'
#: What the lines of a proof file begin with.
PROOF_LINES: Final = (b'{"entry":', SENT)
#: How the name of a proof ends that a server has written.
PROOF: Final = ".proof.jsonl"


@dataclass(slots=True)
class _ProvenGame:
    """Entries of one game: those in the file, and those that wait for earlier ones.

    Attributes:
        game: its number; 0 without its opening.
        written: digests of the entries in the file, by number.
    """

    game: int = 0
    next: int = 0
    written: dict[int, bytes] = field(default_factory=dict)
    early: dict[int, bytes] = field(default_factory=dict)
    begun: bool = False
    last: int | None = None

    def take_in(self, entry: log.Entry, text: bytes) -> None:
        self.written[entry.number] = log.entry_digest(text)
        while self.next in self.written:
            self.next += 1
        if isinstance(entry.body, log.Opening):
            self.game = entry.body.game
        self.begun = self.begun or (isinstance(entry.body, log.LogStep) and has_begun([entry.body]))
        if isinstance(entry.body, log.LogEnd):
            self.last = entry.number

    @property
    def whole(self) -> bool:
        return self.last is not None and self.next > self.last

    def __str__(self) -> str:
        name = f"game {self.game}" if self.game else "a game"
        if self.whole:
            return f"{name} is whole"
        known = max([*self.written, *self.early], default=-1)
        if known >= self.next:
            return f"{name} lacks entries from {self.next} on"
        return f"{name} ends with entry {known}, before the server has revealed it"


class Proof:
    """A proof file in the making: every entry once and in order, however it was heard.

    Entries after a gap wait, because a team asks for those that it missed; if they never come, the gap stays. Nothing
    is checked here; finding a forged line is up to the file's reader.
    """

    def __init__(self, path: Path) -> None:
        """Begin a file, or continue one, as after a bot was killed.

        An incomplete last line is cut off.

        Raises:
            SalvoError: ``file_unusable``; ``not_a_proof`` for a file that has something else in it.
        """
        self._path = path
        self._games: dict[str, _ProvenGame] = {}
        self._here: set[str] = set()  # games heard since the file was opened
        try:
            self._file = path.open("a+b")
            self._file.seek(0)
            self._go_on(self._file)
        except OSError as error:
            raise SalvoError("file_unusable", f"{path}: {error.strerror}; name another file") from None

    def _go_on(self, file: BinaryIO) -> None:
        for line in lines_of(file):
            if line == b"\n":
                continue
            if not line.startswith(PROOF_LINES):
                file.close()
                text = f"{self._path} exists and is not a proof to continue; name another file"
                raise SalvoError("not_a_proof", text)
            if not line.endswith(b"\n"):
                break
            read = _read(line[:-1])
            if read is not None:
                text_, entry = read
                self._games.setdefault(log_reader.game_of(text_, entry), _ProvenGame()).take_in(entry, text_)
        end_last_line(file)

    @property
    def games(self) -> int:
        """How many games are whole, of those heard since the file was opened."""
        return sum(self._games[of].whole for of in self._here)

    def receive(self, payload: bytes) -> None:
        """Take in a payload of the log."""
        read = _read(payload)
        if read is None:
            self._write(payload)
            return
        text, entry = read
        of = log_reader.game_of(text, entry)
        game = self._games.setdefault(of, _ProvenGame())
        if of not in self._here:
            self._finish()
            self._here.add(of)
        known = game.written.get(entry.number)
        if known == log.entry_digest(text) or payload == game.early.get(entry.number):
            return
        if known is not None or entry.number in game.early:
            self._write(payload)  # a different entry with this number, which a reader must see
            return
        game.early[entry.number] = payload
        while game.next in game.early:
            self._put(game, game.early.pop(game.next))

    def _put(self, game: _ProvenGame, payload: bytes) -> None:
        self._write(payload)
        text, _ = log_reader.take_apart(payload)
        game.take_in(log_reader.read_entry(text), text)

    def _finish(self) -> None:
        """Write entries whose predecessors never came: a reader reports what is missing."""
        for game in self._games.values():
            for number in sorted(game.early):
                self._put(game, game.early.pop(number))

    def summary(self) -> str:
        """Return whether the games in the file are whole, for people."""
        games = [str(game) for game in self._games.values() if game.begun or game.last is not None or not game.game]
        return f"{self._path}: {', '.join(games) or 'no game has begun'}"

    def sent(self, team: str, topic: str, payload: bytes) -> None:
        """Note one of the team's own commands."""
        line = write_sent(team, topic, payload)
        if line is not None:
            self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            self._file.write(line.replace(b"\n", b" ") + b"\n")
            self._file.flush()
        except OSError as error:
            raise SalvoError("file_unusable", f"{self._path}: {error.strerror}") from None

    def close(self) -> None:
        """Write the waiting entries, and close the file."""
        if not self._file.closed:
            self._finish()
            self._file.close()


@dataclass(frozen=True, slots=True)
class SentBody(Strict):
    """The open body of a shot as the team sent it, or of a skip or of leaving, which have no cell."""

    x: int | None = None
    y: int | str | None = None
    g: int | None = None
    t: int | None = None
    n: int | None = None
    to: str | None = None


@dataclass(frozen=True, slots=True)
class SentCommand(Strict):
    """A placement has a message; a shot, a skip or leaving has a body."""

    team: str
    topic: str
    message: Annotated[bytes, Hexadecimal(MESSAGE_BYTES)] | None = None
    body: SentBody | None = None


#: A line with a team's own command.
SENT_COMMAND: Final = OneOf({"sent": SentCommand})
SENT_LINE: Final[Codec[SentCommand]] = Codec(Annotated[SentCommand, SENT_COMMAND])


def write_sent(team: str, topic: str, payload: bytes) -> bytes | None:
    """Return the line that notes a placement, shot, skip or leave; None for the rest, such as a request to play."""
    sent_on = topics.parse(topic).topic
    if sent_on is topics.PLACE:
        return SENT_LINE.write(SentCommand(team, topic, message=log.message_digest(topic, payload)))
    if sent_on in (topics.FIRE, topics.SKIP, topics.LEAVE):
        body, _ = read_envelope(payload)
        return SENT_LINE.write(SentCommand(team, topic, body=SentBody(**body)))
    return None


def _read(payload: bytes) -> tuple[bytes, log.Entry] | None:
    """Return an entry's text and the entry; None if there is none."""
    try:
        text, _ = log_reader.take_apart(payload)
        return text, log_reader.read_entry(text)
    except WireError:
        return None


def has_begun(steps: Sequence[log.LogStep]) -> bool:
    """Whether a game has begun in these steps."""
    return any(StateChanged(State.TURN) in step.announcements for step in steps)


def proof_path(transcript: Path) -> Path:
    """Return where the proof of a transcript in a folder is."""
    return transcript.with_name(transcript.name.removesuffix(".gz").removesuffix(".jsonl") + PROOF)
