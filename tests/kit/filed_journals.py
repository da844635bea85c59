"""A journal with a game to file, and processes that are killed while they file it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from salvo_game.journal_interface import (
    BurnedMessage,
    GameConcluded,
    GameFiled,
    GameOpened,
    JournalProgress,
    Result,
    StepTaken,
)
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader

PROOFS = [BurnedMessage(bytes([number]) * 16, bytes(16)) for number in range(1, 9)]
OVER = GameConcluded(1, Result("", 1, 2000, "salvo", (), aborted=False))
FILED = GameFiled(1, "/games/game-1.jsonl.gz")
LOBBY_FILED = GameFiled(1, None)
_GAMES = [GameOpened(1, "", 1, 1000, "{}"), GameOpened(2, "", 2, 2000, "{}")]
_STEPS = [StepTaken(n, 1, 1000 + n, "{}", bytes([n] * 16), proof) for n, proof in enumerate(PROOFS, start=1)]


def fill(journal: DatabaseJournal, *, over: bool, sent_through: int = 8) -> DatabaseJournal:
    """Let a journal have two games, the first of them with eight steps."""
    journal.commit([*_GAMES, *_STEPS, *([OVER] if over else []), JournalProgress(sent_through=sent_through)])
    return journal


#: Files the game in copies 1, 2, ... of a journal, each in a process that is killed behind the n-th statement of that,
#: until one lives. Forked, so that the libraries are loaded once.
_DIE_AT_EACH = """
import os, shutil, signal, sys
import sqlalchemy
from pathlib import Path
from salvo_game.journal_interface import GameFiled
from salvo_server.storage.journal.database import DatabaseJournal

where, key, file = sys.argv[1:]
left = 0

@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "after_cursor_execute")
def executed(*given):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

for number in range(1, 20):
    if "://" in where:
        import psycopg
        with psycopg.connect(where, autocommit=True) as admin:
            template = where.rpartition("/")[2]
            admin.execute(f"CREATE DATABASE {template}{number} TEMPLATE {template}")
    else:
        shutil.copy(where, f"{where}{number}")
    if not os.fork():
        journal = DatabaseJournal(f"{where}{number}", key_file=Path(key))
        journal._closing.set()  # PostgreSQL hears nothing else of it
        left = number
        journal.commit([GameFiled(1, file or None)])
        os._exit(0)
    if os.wait()[1] == 0:
        print(number)
        sys.exit()
sys.exit("each of them died")
"""


def check_kills(where: str, key: Path, filing: GameFiled) -> None:
    """Kill servers that file the game of a journal: each copy has all of it, as it was or as it is filed.

    Args:
        where: a file's path or the URL of a database of the test's own; nobody has it open.
    """
    over = filing.file is not None
    command = [sys.executable, "-c", _DIE_AT_EACH, where, str(key), filing.file or ""]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    filed = []
    for number in range(1, int(done.stdout) + 1):
        copy = f"{where}{number}"
        # A database may need a moment to notice that a process is gone.
        journal = DatabaseJournal(copy, key_file=key, standby=lambda: True)
        reader, saved = DatabaseReader(copy), journal.load()
        assert (saved.last_step, saved.last_game, journal.results()) == (8, 2, [OVER.result] if over else [])
        assert b"".join(saved.burned_before) == b"".join(proof.nonce for proof in PROOFS)
        is_filed = len(reader.saved(_GAMES[0]).steps) == 0
        filed.append(is_filed)
        assert reader.games() == [(_GAMES[0], 8)] * (over or not is_filed) + [(_GAMES[1], 0)]
        assert reader.files() == ({1: Path(filing.file)} if is_filed and filing.file else {})
        journal.close()
    assert filed == [False] * 4 + [True]  # the progress, the steps, what is stored of them, their end; one that lived
