"""The games that are over, from folders of transcripts and from journals, as one list.

A game is in the list once it is over, and not before: a journal has the boards of the games that are being played. What
cannot be read is in the list as well, with the code of its error and none of its content.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.badges import first_given
from salvo.errors import SalvoError
from salvo.join.fairness.proof import PROOF, proof_path
from salvo.messages import State
from salvo.system.text_files import missing_file
from salvo_display.replay import REFEREE, Replay
from salvo_display.replay_text import FIRST_REAL_TIME_MS
from salvo_game.recordings import JournalGames, Recording, open_recordings
from salvo_game.transcript import transcript_bytes, until_forgotten
from salvo_server.storage.transcript_folder import ANNULLED, DEFAULT_TABLE, read_evenings

#: Files of a folder that may be games.
_ENDINGS: Final = (".jsonl", ".jsonl.gz")
#: How long one look at the folders may take by default, and how soon after one the next is worth while.
_LOOK_SECONDS: Final = 1.0
_REST_SECONDS: Final = 2.0
#: How the results of a tournament end, which have no shots.
_TOURNAMENT: Final = ".games.jsonl"
#: Code of a proof of which no game is over.
_NOT_OVER: Final = "no_such_game"


class ArchiveEntry(NamedTuple):
    """A line of the list.

    Attributes:
        id: stands for the game in addresses; empty for what cannot be read.
        at: when the first turn began, epoch ms; of what cannot be read, when it was written.
        players: by place.
        winners: several after a tie, none of an aborted game.
        duration_ms: from the first turn to the last salvo, without a host's breaks.
        name: of the file or the journal, without its folder.
        trouble: the error's code where the game cannot be read: of the rest only ``at`` and ``name`` are known then.
    """

    id: str
    table: str
    game: int
    at: int
    players: tuple[str, ...]
    winners: tuple[str, ...]
    turns: int
    duration_ms: int
    rules: str
    name: str
    trouble: str = ""


class Query(NamedTuple):
    """Which games are wanted; what is empty excludes none.

    Attributes:
        teams: names of players, with commas between them; all have played.
        table: a table's name, ``game`` for the default table.
        text: words that all occur in the names of players, table, rules or file.
        since, until: the first and the last day (UTC).
    """

    teams: str = ""
    table: str = ""
    text: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def names(self) -> set[str]:
        """The teams that are wanted."""
        return {name.strip() for name in self.teams.split(",")} - {""}

    def takes(self, entry: ArchiveEntry) -> bool:
        """Whether a game is wanted."""
        if not self.names <= set(entry.players):
            return False
        if self.table and (entry.trouble or self.table != (entry.table or DEFAULT_TABLE)):
            return False
        searched = " ".join([*entry.players, entry.table or DEFAULT_TABLE, str(entry.game), entry.rules, entry.name])
        if not all(word in searched.casefold() for word in self.text.casefold().split()):
            return False
        day = datetime.fromtimestamp(entry.at / 1000, UTC).date()
        return (self.since is None or self.since <= day) and (self.until is None or day <= self.until)


class _Indexed(NamedTuple):
    """What is known of a recording.

    Attributes:
        stamp: changes with it; the first number is when it was written or opened, epoch ms.
        name: see :class:`ArchiveEntry`.
        entry: None for a game that is not over, and for what is not a game.
    """

    stamp: tuple[int, ...]
    name: str
    recording: Recording | None
    entry: ArchiveEntry | None
    path: Path | None


class Archive:
    """The games of some folders, files and journals; everything may be called from any thread."""

    def __init__(self, places: Iterable[str | Path], *, rest: float = _REST_SECONDS) -> None:
        """Take the places; nothing is read yet.

        Args:
            places: folders with transcripts, and all that :func:`open_recordings` takes.
            rest: seconds after a look in which no other one begins.
        """
        self._places = [str(place) for place in places]
        self._rest = rest
        self._indexed: dict[object, _Indexed] = {}
        self._by_id: dict[str, _Indexed] = {}
        self._listed: tuple[ArchiveEntry, ...] = ()
        self._evenings: list[m.EveningShown] = []
        self._badges: dict[str, int] = {}
        self._unread = 0
        self._looked = float("-inf")
        self._lock = Lock()

    # --- looking ----------------------------------------------------------------------------------------------------

    def look(self, seconds: float | None = _LOOK_SECONDS) -> int:
        """Read what is new or has changed; return how many recordings are left for the next look.

        Args:
            seconds: how long it may take, but for the last recording; None for as long as it takes.
        """
        with self._lock:
            if self._unread or time.monotonic() - self._looked >= self._rest:
                self._look(seconds)
                self._looked = time.monotonic()
            return self._unread

    def _look(self, seconds: float | None) -> None:
        end = float("inf") if seconds is None else time.monotonic() + seconds
        evenings: list[m.EveningShown] = []
        there = dict(self._recordings(evenings))
        self._evenings, self._badges = evenings, first_given(evening.badges for evening in evenings)
        self._indexed = {key: indexed for key, indexed in self._indexed.items() if key in there}
        changed = [key for key, new in there.items() if self._stamp_of(key) != new.stamp]
        for key in changed:  # it is another game until it is read, such as one that is being played
            self._indexed.pop(key, None)
        changed.sort(key=lambda key: there[key].stamp, reverse=True)
        while changed and time.monotonic() < end:
            key = changed.pop(0)
            self._indexed[key] = _read(there[key])
        self._unread = len(changed)
        in_order = [self._indexed[key] for key in there if key in self._indexed]
        self._by_id = {
            indexed.entry.id: indexed for indexed in reversed(in_order) if indexed.entry and indexed.entry.id
        }
        troubles = [indexed.entry for indexed in in_order if indexed.entry is not None and indexed.entry.trouble]
        readable = [indexed.entry for indexed in self._by_id.values() if indexed.entry is not None]
        self._listed = tuple(sorted([*readable, *troubles], key=_newest_first))

    def _stamp_of(self, key: object) -> tuple[int, ...] | None:
        return self._indexed[key].stamp if key in self._indexed else None

    def _recordings(self, evenings: list[m.EveningShown]) -> Iterator[tuple[object, _Indexed]]:
        """Return all recordings that are there, not read, and add what was on when they were made."""
        for place in self._places:
            if Path(place).is_dir():
                paths = [path for path in sorted(Path(place).rglob("*.jsonl*")) if _may_be_game(path)]
                for folder in dict.fromkeys(path.parent for path in paths):
                    evenings += read_evenings(folder)
                for path in paths:
                    yield from _file(path)
                continue
            name = "a journal" if "://" in place else Path(place).name  # an address may have a password
            try:
                found = open_recordings(place)
                if not isinstance(found, JournalGames) and not Path(place).exists():
                    raise SalvoError("transcript_missing", missing_file(Path(place)))
                if isinstance(found, JournalGames):
                    evenings.append(found.evening())
            except SalvoError as error:
                yield place, _Indexed((0,), name, None, _trouble(error, name, 0), None)
                continue
            if not isinstance(found, JournalGames):
                evenings += read_evenings(Path(place).parent)
                yield from _file(Path(place))
                continue
            for opened, steps, game in found.games():
                stamp = (opened.at, opened.id, steps)
                yield (place, opened.id), _Indexed(stamp, f"{name}, game {opened.number}", game, None, None)

    # --- the list ---------------------------------------------------------------------------------------------------

    @property
    def listed(self) -> Sequence[ArchiveEntry]:
        """All games that are over, and what cannot be read, the newest first, as of the last look."""
        return self._listed

    @property
    def leagues(self) -> list[m.EveningShown]:
        """The leagues that were played, as of the last look, the latest first."""
        named = {(each.by, each.name): each for each in reversed(self._evenings) if each.name}
        return list(reversed(named.values()))

    @property
    def badges(self) -> Mapping[str, int]:
        """The badges that servers have given the teams, as of the last look; the first place that knows one counts."""
        return self._badges

    def find(self, query: Query) -> list[ArchiveEntry]:
        """Return the games that are wanted, the newest first."""
        return [entry for entry in self._listed if query.takes(entry)]

    # --- one game ---------------------------------------------------------------------------------------------------

    def entry(self, id_: str) -> ArchiveEntry:
        """Return a game's line.

        Raises:
            SalvoError: ``no_such_game``.
        """
        entry = self._one(id_).entry
        assert entry is not None
        return entry

    def replay(self, id_: str) -> Replay:
        """Execute a game again and return it; every announcement comes out as it is recorded.

        Raises:
            SalvoError: ``no_such_game``, or why it cannot be executed.
        """
        recording = self._one(id_).recording
        assert recording is not None
        replay = Replay(*recording.executed())
        if not any(frame.places for frame in replay.frames(REFEREE)[-1:]):
            raise _no_such_game()  # the file has become another game, which is not over
        return replay

    def proof(self, id_: str) -> Path | None:
        """Return the file of a game's proof, if it lies with its transcript.

        Raises:
            SalvoError: ``no_such_game``.
        """
        path = self._one(id_).path
        if path is None or path.name.endswith(PROOF):
            return path
        proof = proof_path(path)
        return proof if proof.is_file() else None

    def _one(self, id_: str) -> _Indexed:
        indexed = self._by_id.get(id_)
        if indexed is None:
            raise _no_such_game()
        return indexed


def transcript_of(replay: Replay) -> bytes:
    """Return a game as a compressed transcript."""
    return transcript_bytes(replay.header, until_forgotten(replay.steps), packed=True)


def _no_such_game() -> SalvoError:
    return SalvoError("no_such_game", "this game does not exist, or it is not over yet")


def _file(path: Path) -> Iterator[tuple[object, _Indexed]]:
    try:
        stat = path.stat()
    except OSError:
        return  # it is gone
    if stat.st_size:  # a server has made the file and not written it yet
        stamp = (stat.st_mtime_ns // 1_000_000, stat.st_mtime_ns, stat.st_size)
        yield path, _Indexed(stamp, path.name, None, None, path)


def _may_be_game(path: Path) -> bool:
    """Whether a file of a folder is a game by its name, and no proof of one whose transcript is there."""
    if path.name.startswith(".") or path.name.endswith((_TOURNAMENT, ANNULLED)) or not path.name.endswith(_ENDINGS):
        return False
    if not path.name.endswith(PROOF):
        return True
    transcript = path.name.removesuffix(PROOF)
    return not any(path.with_name(transcript + ending).is_file() for ending in _ENDINGS)


def _read(new: _Indexed) -> _Indexed:
    """Return a recording with its entry."""
    if new.entry is not None:
        return new
    at = new.stamp[0]
    try:
        recording = new.recording or _open_file(new.path)
        header, course = recording.course()
    except SalvoError as error:
        return new._replace(entry=None if error.code == _NOT_OVER else _trouble(error, new.name, at))
    except Exception as error:
        # Whatever else a damaged file makes its reader do, the others are to be seen.
        return new._replace(entry=_trouble(SalvoError("bad_file", type(error).__name__), new.name, at))
    if course.state != State.OVER or not course.places:
        return new._replace(recording=None, entry=None)
    players = sorted(course.players, key=lambda name: course.places.get(name, 0))
    table, game = header.rules.table, header.game
    entry = ArchiveEntry(
        id=_id(table, game, course.began, course.check),
        table=table,
        game=game,
        at=course.began,
        players=tuple(players),
        winners=course.winners,
        turns=course.turns,
        duration_ms=course.played_ms,
        rules=header.rules.book.name,
        name=new.name,
    )
    return new._replace(recording=recording, entry=entry)


def _open_file(path: Path | None) -> Recording:
    assert path is not None
    found = open_recordings(str(path))
    if isinstance(found, JournalGames):  # it has an ending of transcripts
        raise SalvoError("not_a_transcript", f"{path} is a journal")
    return found


def _trouble(error: SalvoError, name: str, at: int) -> ArchiveEntry:
    return ArchiveEntry("", "", 0, at, (), (), 0, 0, "", name, error.code)


def _id(table: str, game: int, began: int, check: str) -> str:
    when = f"-{datetime.fromtimestamp(began / 1000, UTC):%Y%m%d-%H%M%S}" if began >= FIRST_REAL_TIME_MS else ""
    return f"{re.sub('[^A-Za-z0-9_-]', '_', table)[:32] or DEFAULT_TABLE}-{game}{when}-{check}"


def _newest_first(entry: ArchiveEntry) -> tuple[object, ...]:
    return -entry.at, entry.table, -entry.game, entry.name
