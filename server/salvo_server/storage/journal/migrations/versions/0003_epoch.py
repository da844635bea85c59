"""Which owner of the journal may write: each that takes it over raises the epoch, and earlier ones write nothing."""

import sqlalchemy as sql
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NUMBER = sql.BigInteger().with_variant(sql.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("progress", sql.Column("epoch", _NUMBER, nullable=False, server_default="0"))
