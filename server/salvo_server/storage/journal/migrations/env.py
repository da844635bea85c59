"""Alembic's environment: runs migrations on the connection of :func:`salvo_server.storage.journal.database.migrate`."""

from alembic import context

from salvo_server.storage.journal.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
