"""Users for tests; all have one password, whose slow hash is made once."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from evalbot.domain.people import Role, User
from evalbot.reviewing.users import hash_password
from evalbot.store import people
from evalbot.store.database import Database

PASSWORD = "a long enough one"


@cache
def hashed() -> str:
    """The hash of the password."""
    return hash_password(PASSWORD)


def add_people(database: Database, **roles: str) -> None:
    """Users by name and role."""
    with database.write() as connection:
        for name, role in roles.items():
            people.add_user(connection, User(name, Role(role), datetime.now(UTC)), hashed())
