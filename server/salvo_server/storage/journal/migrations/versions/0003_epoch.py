"""The epoch, a fencing token: a server that takes over the journal raises it, and earlier ones can no longer write."""

import sqlalchemy as sql
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NUMBER = sql.BigInteger().with_variant(sql.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("progress", sql.Column("epoch", _NUMBER, nullable=False, server_default="0"))
