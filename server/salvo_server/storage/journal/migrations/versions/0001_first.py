"""The first schema: games, steps, files, results, the teams' sealed secrets, what the broker has acknowledged."""

import sqlalchemy as sql
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sql.BigInteger().with_variant(sql.Integer(), "sqlite")


def upgrade() -> None:
    progress = op.create_table(
        "progress",
        sql.Column("id", sql.Integer, primary_key=True),
        sql.Column("sent_through", _NUMBER, nullable=False),
        sql.Column("ended", sql.Boolean, nullable=False),
        sql.Column("epoch", _NUMBER, nullable=False, server_default="0"),
        sql.Column("relied_on", sql.String(64)),
        sql.Column("evening", sql.Text, nullable=False, server_default=""),
    )
    op.bulk_insert(progress, [{"id": 1, "sent_through": 0, "ended": True}])
    op.create_table(
        "games",
        sql.Column("id", _NUMBER, primary_key=True, autoincrement=False),
        sql.Column("table_name", sql.String(32), nullable=False, index=True),
        sql.Column("number", sql.Integer, nullable=False),
        sql.Column("opened_at", _NUMBER, nullable=False),
        sql.Column("header", sql.Text, nullable=False),
    )
    op.create_table(
        "steps",
        sql.Column("id", _NUMBER, primary_key=True, autoincrement=False),
        sql.Column("game", _NUMBER, sql.ForeignKey("games.id"), nullable=False, index=True),
        sql.Column("at", _NUMBER, nullable=False),
        sql.Column("input", sql.Text, nullable=False),
        sql.Column("check", sql.LargeBinary(16), nullable=False),
        sql.Column("nonce", sql.LargeBinary(16)),
        sql.Column("message", sql.LargeBinary(16)),
    )
    op.create_table(
        "filed",
        sql.Column("game", _NUMBER, sql.ForeignKey("games.id"), primary_key=True, autoincrement=False),
        sql.Column("file", sql.Text),
        sql.Column("steps", sql.Integer, nullable=False),
        sql.Column("last_step", _NUMBER, nullable=False),
        sql.Column("nonces", sql.LargeBinary, nullable=False),
    )
    op.create_table(
        "teams",
        sql.Column("game", _NUMBER, sql.ForeignKey("games.id"), primary_key=True),
        sql.Column("name", sql.String(32), primary_key=True),
        sql.Column("secret", sql.LargeBinary, nullable=False),
    )
    op.create_table(
        "keys",
        sql.Column("game", _NUMBER, sql.ForeignKey("games.id"), primary_key=True),
        sql.Column("name", sql.String(32), primary_key=True),
        sql.Column("salt", sql.LargeBinary(16), primary_key=True),
        sql.Column("key", sql.LargeBinary, nullable=False),
    )
    op.create_table(
        "results",
        sql.Column("game", _NUMBER, sql.ForeignKey("games.id"), primary_key=True, autoincrement=False),
        sql.Column("table_name", sql.String(32), nullable=False),
        sql.Column("number", sql.Integer, nullable=False),
        sql.Column("at", _NUMBER, nullable=False),
        sql.Column("rules", sql.Text, nullable=False),
        sql.Column("players", sql.Text, nullable=False),
        sql.Column("aborted", sql.Boolean, nullable=False),
        sql.Column("annulled_at", _NUMBER),
        sql.Column("annulled_by", sql.String(32)),
    )
