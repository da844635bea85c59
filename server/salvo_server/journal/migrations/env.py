"""Runs the migrations on the connection that :func:`salvo_server.journal.database.migrate` brings."""

from alembic import context

from salvo_server.journal.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="schema_version",
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
