"""The folder to which a server writes its games, each when it is over.

Writing executes a game once more, so it is done on a separate thread while the contest goes on. What a server that was
killed had not come to, the next one writes.
"""

from __future__ import annotations

import gzip
import logging
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Final

from salvo import messages as m
from salvo.codec.announcements import EVENING
from salvo.codec.transcript import EndOfGame, read_line
from salvo.errors import SalvoError, WireError
from salvo.join.fairness.proof import PROOF, proof_path
from salvo.system.atomic_file import create_file, replace_file, sync_folder
from salvo_game.journal_interface import GameOpened, SavedGame
from salvo_game.log import proof_lines
from salvo_game.transcript import TranscriptError, repeat_game, transcript_bytes, until_forgotten
from salvo_server.storage.identity import Identity

log = logging.getLogger(__name__)

_TRANSCRIPT = ".jsonl.gz"
#: How the name of a proof ends that has no more than what a host has annulled in a game that is not over.
ANNULLED: Final = f".annulled{PROOF}"
#: What a game of the default table is called; no table can have this name.
DEFAULT_TABLE: Final = "game"
#: The file of a folder that has what is on, as it is published: the league's name and table, and the teams' badges.
_EVENING: Final = "evening.json"
#: And those of leagues that were over before another one began, the first is 1.
_EARLIER: Final = "evening-{}.json"
_MAX_EVENING_BYTES: Final = 1024 * 1024
#: Badges that it has at most: those of now, and of earlier evenings.
_MOST_BADGES: Final = 128


class TranscriptFolder:
    """Writes games to ``TABLE-GAME.jsonl.gz``, each once and whole, and never over a file that is there.

    Next to each is its proof, ``TABLE-GAME.proof.jsonl``, for ``salvo verify`` (SALVO-LOG-10). Of a game that is not
    over, and may never begin, ``TABLE-GAME.annulled.proof.jsonl`` has the log up to the last result that a host has
    annulled in it (SALVO-STAND-4). ``evening.json`` has what is not part of a game: the latest league, and the badges.
    """

    def __init__(
        self,
        folder: Path,
        written: Callable[[GameOpened, Path], None],
        identity: Identity | None = None,
        let_go: Callable[[GameOpened, Path | None], None] = lambda game, file: None,
    ) -> None:
        """Make the folder if there is none.

        Args:
            written: called on another thread with every game that was written, and its file.
            identity: signs the proofs; without one there are none.
            let_go: called with a game and its file once all its files are on the disk, whichever run wrote them; with
                None for a lobby that closed before a game began, which gets no file.

        Raises:
            TranscriptError: ``transcript_unwritable``.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TranscriptError("transcript_unwritable", f"{folder}: {error.strerror}; name another folder") from None
        self._folder = folder
        self._written = written
        self._identity = identity
        self._let_go = let_go
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transcripts")
        self._closing = threading.Event()

    def write(self, game: SavedGame, evening: m.EveningShown) -> None:
        """Write a game soon, and before it what is on."""
        self.write_evening(evening)
        self._thread.submit(self._write, game)

    def read_lobby(self, game: SavedGame) -> None:
        """Let go soon of a game that is closed, if it never began."""
        self._thread.submit(self._read_lobby, game)

    def write_evening(self, evening: m.EveningShown) -> None:
        """Write soon what is on."""
        self._thread.submit(self._write_evening, evening)

    def complete(self, journal: str) -> Future[None]:
        """Write soon the games of a journal that are over and not here, or without their proof; let go of its lobbies.

        Games that are filed are left out, wherever their files are.

        Args:
            journal: a file's path or a database's URL.

        Returns:
            What ends when that is done.
        """
        return self._thread.submit(self._complete, journal)

    def _complete(self, journal: str) -> None:
        from salvo_server.storage.journal.database import DatabaseReader

        try:
            reader = DatabaseReader(journal)
            self._write_evening(reader.evening())
            over = {(result.table, result.number) for result in reader.results()}
            files = reader.files()
            sync_folder(self._folder)  # a server that was killed may not have come to it
            games = [opened for opened, _ in reader.games()]
            latest = {opened.table: opened for opened in games}
            for opened in games:
                if self._closing.is_set():
                    return
                if opened.id in files:
                    continue
                game = reader.saved(opened)
                if (opened.table, opened.number) not in over:
                    if opened != latest[opened.table]:
                        self._read_lobby(game)
                    continue
                if (path := self._find(game)) is None:
                    self._write(game)
                else:
                    self._let_go(opened, path)
                for half in self._folder.glob(f".{_stem(opened)}.*"):  # which a server was writing when it was killed
                    half.unlink(missing_ok=True)
        except (SalvoError, OSError) as error:
            log.error("the games of %s that are not in %s were not written: %s", journal, self._folder, error)

    def _find(self, game: SavedGame) -> Path | None:
        """Return the file of a game that is here with its proof; another journal's may have its number."""
        for path in self._names(_stem(game.opened), _TRANSCRIPT):
            if not path.exists():
                return None
            if path.is_file() and (self._identity is None or proof_path(path).is_file()):
                end = _end(path)
                if end is not None and any(step.check.hex() == end for step in game.steps):
                    return path
        raise AssertionError("there is a name without a file")

    def _write(self, game: SavedGame) -> None:
        try:
            header, steps = repeat_game(game)
            played = list(until_forgotten(steps))
            content = transcript_bytes(header, played, packed=True)
            path = next(path for path in self._names(_stem(game.opened), _TRANSCRIPT) if _put(path, content))
            if self._identity is not None:
                proof = b"".join(proof_lines(header, played, self._identity))
                _put(proof_path(path), proof)
                for each in self._folder.glob(f"{_stem(game.opened)}*{ANNULLED}"):
                    if proof.startswith(each.read_bytes()):
                        each.unlink()
        except (SalvoError, OSError) as error:
            log.error("game %d was not written: %s", game.opened.number, error)
            return
        self._written(game.opened, path)
        self._let_go(game.opened, path)

    def _read_lobby(self, game: SavedGame) -> None:
        try:
            _, steps = repeat_game(game)
            if not any(_is_worth_storing(each) for step in steps for each in step.announcements):
                self._let_go(game.opened, None)
        except SalvoError as error:
            log.error("the lobby of game %d stays in the journal: %s", game.opened.number, error)

    def _write_evening(self, evening: m.EveningShown) -> None:
        earlier = read_evening(self._folder)
        latest = evening if evening.name else earlier  # a league stays until there is another one
        badges = {**evening.badges, **{name: earlier.badges[name] for name in earlier.badges.keys() - evening.badges}}
        written = replace(latest, badges=dict(islice(badges.items(), _MOST_BADGES)))
        if written == earlier:
            return
        another = earlier.over and evening.name and not (evening.over and evening.name == earlier.name)
        try:
            if another:  # of the same night; the one before has its table
                number = next(number for number in count(1) if not (self._folder / _EARLIER.format(number)).exists())
                (self._folder / _EVENING).replace(self._folder / _EARLIER.format(number))
            replace_file(self._folder / _EVENING, EVENING.write(written))
        except OSError as error:
            log.error("what is on was not written: %s", error)

    def write_annulments(self, game: SavedGame) -> None:
        """Write soon what hosts have annulled in a game, unless a file has it, as that of the whole game does."""
        asked = any(m.HostAction.ANNUL in step.text for step in game.steps)  # at a start, most games need no execution
        if asked and self._identity is not None:
            self._thread.submit(self._write_annulments, game, self._identity)

    def _write_annulments(self, game: SavedGame, identity: Identity) -> None:
        stem = _stem(game.opened)
        try:
            header, steps = repeat_game(game)
            played = list(until_forgotten(steps))
            while played and not any(map(_annuls, played[-1].announcements)):
                played.pop()
            proof = b"".join(proof_lines(header, played, identity)) if played else b""
            if any(each.read_bytes().startswith(proof) for each in self._folder.glob(f"{stem}*{PROOF}")) or not proof:
                return
            path = next(path for path in self._names(stem, ANNULLED) if _may_grow(path, proof))
            replace_file(path, proof)
        except (SalvoError, OSError) as error:
            log.error("what was annulled in game %d was not written: %s", game.opened.number, error)

    def _names(self, stem: str, ending: str) -> Iterator[Path]:
        yield self._folder / f"{stem}{ending}"
        yield from (self._folder / f"{stem}.{copy}{ending}" for copy in count(2))

    def close(self) -> None:
        """Wait until all games of this run are written; those of earlier ones can wait for the next."""
        self._closing.set()
        self._thread.shutdown()


def read_evening(folder: Path) -> m.EveningShown:
    """Return what was on when a folder's games were played; nothing where nobody knows."""
    return _read(folder / _EVENING)


def read_evenings(folder: Path) -> list[m.EveningShown]:
    """Return the same, and before it what was on when earlier leagues had ended, the latest first."""
    earlier = takewhile(Path.exists, (folder / _EARLIER.format(number) for number in count(1)))
    return [read_evening(folder), *map(_read, reversed(list(earlier)))]


def _read(file: Path) -> m.EveningShown:
    try:
        with file.open("rb") as opened:
            return EVENING.read(opened.read(_MAX_EVENING_BYTES))
    except (OSError, WireError):
        return m.EveningShown()


def _stem(game: GameOpened) -> str:
    return f"{game.table or DEFAULT_TABLE}-{game.number}"


def _put(path: Path, content: bytes) -> bool:
    """Make a file, or find it as it should be; False if there is another one."""
    return create_file(path, content, 0o666) or _unpacked(path.read_bytes()) == _unpacked(content)


def _end(path: Path) -> str | None:
    """Return the check in a transcript's last line; None where there is none. To read all lines takes a hundredfold."""
    try:
        last = read_line(_unpacked(path.read_bytes()).splitlines()[-1].decode() + "\n")
    except (WireError, LookupError, UnicodeDecodeError):
        return None
    return last.check if isinstance(last, EndOfGame) else None


def _unpacked(content: bytes) -> bytes:
    """Return what a file has, which another version of zlib may have compressed to other bytes."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return content


def _annuls(announcement: m.Announcement) -> bool:
    return isinstance(announcement, m.HostActed) and announcement.do is m.HostAction.ANNUL


def _is_worth_storing(announcement: m.Announcement) -> bool:
    """Whether a game begins, or a result no longer counts: of that, the journal may have the only proof."""
    return announcement == m.StateChanged(m.State.TURN) or _annuls(announcement)


def _may_grow(path: Path, proof: bytes) -> bool:
    """Whether a file is not there, or has the beginning of this proof."""
    return not path.exists() or proof.startswith(path.read_bytes())
