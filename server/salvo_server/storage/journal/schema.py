"""The journal's tables. Every change here needs a migration in ``migrations/versions``.

The times ``at``, ``opened_at`` and ``annulled_at`` are epoch milliseconds;
:mod:`salvo_game.journal_interface` describes the rows.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

#: The latest migration, and the table that records which one a journal is at.
HEAD: Final = "0001"
VERSION_TABLE: Final = "schema_version"
#: Where Alembic finds them.
MIGRATIONS: Final = "salvo_server.storage.journal:migrations"

#: In SQLite, only a primary key of type INTEGER is the row's own id; a BIGINT one needs another index.
_Number = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()

#: One row: the last step that the broker has acknowledged in full, whether the last server shut down cleanly, the
#: owner's epoch, which each takeover raises, what must not have ended since for nothing to be lost (``losses``), and
#: what is on, as JSON.
progress = Table(
    "progress",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sent_through", _Number, nullable=False),
    Column("ended", Boolean, nullable=False),
    Column("epoch", _Number, nullable=False, server_default="0"),
    Column("relied_on", String(64)),
    Column("evening", Text, nullable=False, server_default=""),
)

#: ``id`` runs over all games of the journal, ``number`` over those of a table.
games = Table(
    "games",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column("table_name", String(32), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("opened_at", _Number, nullable=False),
    Column("header", Text, nullable=False),
)

#: Inputs as JSON; ``check`` is the hash chain's value; the digests ``nonce`` and ``message`` are never accepted again.
steps = Table(
    "steps",
    metadata,
    Column("id", _Number, primary_key=True, autoincrement=False),
    Column("game", _Number, ForeignKey("games.id"), nullable=False, index=True),
    Column("at", _Number, nullable=False),
    Column("input", Text, nullable=False),
    Column("check", LargeBinary(16), nullable=False),
    Column("nonce", LargeBinary(16)),
    Column("message", LargeBinary(16)),
)

#: Games whose steps are deleted, since ``file`` has them or, without one, no game began: how many they were, the last
#: one, and their nonces' digests.
filed = Table(
    "filed",
    metadata,
    Column("game", _Number, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("file", Text),
    Column("steps", Integer, nullable=False),
    Column("last_step", _Number, nullable=False),
    Column("nonces", LargeBinary, nullable=False),
)

#: The teams' secrets, encrypted.
teams = Table(
    "teams",
    metadata,
    Column("game", _Number, ForeignKey("games.id"), primary_key=True),
    Column("name", String(32), primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)

#: The keys derived from those secrets, encrypted.
keys = Table(
    "keys",
    metadata,
    Column("game", _Number, ForeignKey("games.id"), primary_key=True),
    Column("name", String(32), primary_key=True),
    Column("salt", LargeBinary(16), primary_key=True),
    Column("key", LargeBinary, nullable=False),
)

#: One row for each game that is over.
results = Table(
    "results",
    metadata,
    Column("game", _Number, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("table_name", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("at", _Number, nullable=False),
    Column("rules", Text, nullable=False),
    Column("players", Text, nullable=False),
    Column("aborted", Boolean, nullable=False),
    Column("annulled_at", _Number),
    Column("annulled_by", String(32)),
)
