"""The database behind a journal, to look at it and to damage it."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sql

from salvo_game.journal_interface import SavedGame
from salvo_game.transcript import repeat_game, until_forgotten, write_transcript
from salvo_server.storage.journal.database import DatabaseJournal


def connection_of(journal: DatabaseJournal) -> sql.Connection:
    """Return the connection that the journal writes by: nobody else may write beside it."""
    return journal._connection


def freeze(journal: DatabaseJournal) -> None:
    """Let a journal show no more sign of life, as if its process stood still."""
    journal._closing.set()


def lose_connection(journal: DatabaseJournal) -> sql.Connection:
    """Let a journal give up its connection; return it, of which the database knows nothing bad yet."""
    lost = journal._connection
    journal._connection = journal._engine.connect()
    journal._connection.invalidate()
    return lost


def export(game: SavedGame, path: Path) -> None:
    """Write a game of a journal to a transcript."""
    header, steps = repeat_game(game)
    write_transcript(path, header, list(until_forgotten(steps)))
