"""The database behind a journal, to look at it and to damage it."""

from __future__ import annotations

import sqlalchemy as sql

from salvo_server.storage.journal.database import DatabaseJournal


def connection_of(journal: DatabaseJournal) -> sql.Connection:
    """Return the connection that the journal writes by: nobody else may write beside it."""
    return journal._connection
