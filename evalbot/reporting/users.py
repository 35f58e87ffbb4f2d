"""Users as a table."""

from __future__ import annotations

from evalbot.formats.tables import Column, Table
from evalbot.store.database import Database
from evalbot.store.people import list_users


def users_table(database: Database) -> Table:
    """Everybody by name: `name, role, state, created_at`."""
    with database.read() as connection:
        users = list_users(connection)
    return Table(
        "Users",
        (
            Column("name", "name"),
            Column("role", "role"),
            Column("state", "state"),
            Column("created_at", "created"),
        ),
        tuple(
            (
                user.name,
                str(user.role),
                "disabled" if user.is_disabled else "active",
                user.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
            for user in users
        ),
    )
