"""Alembic's entry: evalbot hands over an open connection; there is no ini file."""

from alembic import context

from evalbot.store.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
