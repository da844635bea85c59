"""What games came to. Games that ended before have no row: their steps alone do not say it."""

import sqlalchemy as sql
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NUMBER = sql.BigInteger().with_variant(sql.Integer(), "sqlite")


def upgrade() -> None:
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
