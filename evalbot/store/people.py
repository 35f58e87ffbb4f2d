"""Users and sessions in the record."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from evalbot.domain.people import Role, User
from evalbot.store.people_schema import session_table, user_table


class Account(NamedTuple):
    """A user with what signing in goes by; password: its argon2 hash."""

    id: int
    user: User
    password: str
    failures: int
    failed_at: datetime | None


def add_user(connection: Connection, user: User, password: str) -> None:
    """Write a new user; the name must not be there yet."""
    connection.execute(
        insert(user_table).values(
            name=user.name,
            role=str(user.role),
            password=password,
            created_at=user.created_at,
            disabled_at=user.disabled_at,
            failures=0,
            failed_at=None,
        )
    )


def get_account(connection: Connection, name: str, *, lock: bool = False) -> Account | None:
    """The account of this name; lock: nobody else may change it until the transaction ends."""
    query = select(user_table).where(user_table.c.name == name)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        return None
    user = User(row.name, Role(row.role), row.created_at, row.disabled_at)
    return Account(row.id, user, row.password, row.failures, row.failed_at)


def list_users(connection: Connection) -> list[User]:
    """All users by name."""
    rows = connection.execute(select(user_table).order_by(user_table.c.name))
    return [User(row.name, Role(row.role), row.created_at, row.disabled_at) for row in rows]


def set_password(connection: Connection, account: int, password: str) -> None:
    """Write another password's hash, and forget wrong tries; all sessions end."""
    _change(connection, account, password=password, failures=0, failed_at=None)
    end_sessions_of(connection, account)


def set_disabled(connection: Connection, account: int, at: datetime | None) -> None:
    """Disable a user, who is signed out everywhere, or let one in again (None)."""
    _change(connection, account, disabled_at=at)
    end_sessions_of(connection, account)


def set_failures(
    connection: Connection, account: int, failures: int, failed_at: datetime | None
) -> None:
    """Note wrong tries, or that the last one was right."""
    _change(connection, account, failures=failures, failed_at=failed_at)


def add_session(
    connection: Connection, account: int, token: str, at: datetime, until: datetime
) -> None:
    """Write a session under the fingerprint of its token."""
    connection.execute(
        insert(session_table).values(token=token, user_id=account, created_at=at, until=until)
    )


def user_of_session(connection: Connection, token: str, now: datetime) -> User | None:
    """Whose session this is; None where it has ended, or its user is disabled."""
    row = connection.execute(
        select(user_table)
        .join(session_table, session_table.c.user_id == user_table.c.id)
        .where(session_table.c.token == token, session_table.c.until > now)
        .where(user_table.c.disabled_at.is_(None))
    ).one_or_none()
    if row is None:
        return None
    return User(row.name, Role(row.role), row.created_at, row.disabled_at)


def end_session(connection: Connection, token: str) -> None:
    """Sign a browser out."""
    connection.execute(delete(session_table).where(session_table.c.token == token))


def end_sessions_of(connection: Connection, account: int) -> None:
    """Sign a user out of all browsers."""
    connection.execute(delete(session_table).where(session_table.c.user_id == account))


def forget_ended_sessions(connection: Connection, now: datetime) -> None:
    """Remove sessions whose time is over."""
    connection.execute(delete(session_table).where(session_table.c.until <= now))


def _change(connection: Connection, account: int, **values: object) -> None:
    connection.execute(update(user_table).where(user_table.c.id == account).values(**values))
