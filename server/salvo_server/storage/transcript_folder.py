"""The folder to which a server writes its games, each when it is over.

Writing executes a game once more, so it is done on a separate thread while the contest goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from salvo.codec.header import Header
from salvo.codec.log import sign_entry
from salvo.errors import SalvoError
from salvo_server.core.journal import GameOpened, SavedGame
from salvo_server.core.log import GameLog, KeyOwner, game_secret
from salvo_server.core.table import Step
from salvo_server.storage.identity import Identity
from salvo_server.storage.transcript import TranscriptError, repeat_game, until_forgotten, write_transcript

log = logging.getLogger(__name__)

_TRANSCRIPT = ".jsonl.gz"
#: How the name of a proof ends.
PROOF: Final = ".proof.jsonl"
#: What a game of the default table is called; no table can have this name.
DEFAULT_TABLE: Final = "game"


class TranscriptFolder:
    """Writes games to ``TABLE-GAME.jsonl.gz``, and never over a file that is there.

    Next to each is its proof, ``TABLE-GAME.proof.jsonl``, for ``salvo verify`` (SALVO-LOG-10).
    """

    def __init__(
        self, folder: Path, written: Callable[[GameOpened, Path], None], identity: Identity | None = None
    ) -> None:
        """Make the folder if there is none.

        Args:
            written: called on another thread with every game that was written, and its file.
            identity: signs the proofs; without one there are none.

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
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transcripts")

    def write(self, game: SavedGame) -> None:
        """Write a game soon."""
        self._thread.submit(self._write, game)

    def _write(self, game: SavedGame) -> None:
        path: Path | None = None
        try:
            path = self._reserve(game.opened)
            header, steps = repeat_game(game)
            played = list(until_forgotten(steps))
            write_transcript(path, header, played)
            if self._identity is not None:
                proof_path(path).write_bytes(b"".join(proof_lines(header, played, self._identity)))
        except (SalvoError, OSError) as error:
            log.error("game %d was not written: %s", game.opened.number, error)
            if path is not None:
                path.unlink()
            return
        self._written(game.opened, path)

    def _reserve(self, game: GameOpened) -> Path:
        """Make an empty file under the first name that is free."""
        name = f"{game.table or DEFAULT_TABLE}-{game.number}"
        copy = 1
        while True:
            path = self._folder / (f"{name}{_TRANSCRIPT}" if copy == 1 else f"{name}.{copy}{_TRANSCRIPT}")
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                copy += 1
            else:
                return path

    def close(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown()


def proof_path(transcript: Path) -> Path:
    """Return where the proof of a transcript in a folder is."""
    return transcript.with_name(transcript.name.removesuffix(".gz").removesuffix(".jsonl") + PROOF)


def proof_lines(header: Header, steps: Iterable[Step], signer: KeyOwner) -> list[bytes]:
    """Return a game's log as a file has it: one payload a line, each once."""
    log = GameLog(header, signer.signing_key, game_secret(header, signer.sign))
    for step in steps:
        log.take_in(step)
    return [sign_entry(text, signer.sign) + b"\n" for text in log.entries]
