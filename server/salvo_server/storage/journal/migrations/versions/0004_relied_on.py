"""What a server relied on that did not wait for the disk: a boot of the machine, or the database's start."""

import sqlalchemy as sql
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("progress", sql.Column("relied_on", sql.String(64)))
