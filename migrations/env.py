"""Alembic's entry: evalbot hands over an open connection; there is no ini file."""

from alembic import context

from evalbot.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
