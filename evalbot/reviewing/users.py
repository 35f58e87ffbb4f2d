"""Who may sign in: adding, disabling, passwords."""

from __future__ import annotations

from datetime import UTC, datetime

from evalbot.domain.people import Role, User
from evalbot.errors import InputError, NotFoundError
from evalbot.formats.problems import nearest, shown
from evalbot.store import people
from evalbot.store.database import Connection, Database
from evalbot.store.people import Account

SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1_000
LONGEST_NAME = 100


def add_user(database: Database, name: str, role: Role, password: str) -> User:
    """A new user; InputError where the name is there, or name or password will not do."""
    _check_name(name)
    _check_password(password)
    user = User(name, role, datetime.now(UTC))
    hashed = hash_password(password)
    with database.write() as connection:
        if people.get_account(connection, name, lock=True) is not None:
            raise InputError(f"there is a user {name!r} already; `evalbot users list` shows all")
        people.add_user(connection, user, hashed)
    return user


def change_password(database: Database, name: str, password: str) -> None:
    """Another password; the user is signed out everywhere."""
    _check_password(password)
    hashed = hash_password(password)
    with database.write() as connection:
        people.set_password(connection, _account(connection, name).id, hashed)


def disable_user(database: Database, name: str) -> None:
    """The user cannot sign in any more and is signed out everywhere; their grades stay."""
    with database.write() as connection:
        account = _account(connection, name)
        if not account.user.is_disabled:
            people.set_disabled(connection, account.id, datetime.now(UTC))


def enable_user(database: Database, name: str) -> None:
    """A disabled user may sign in again."""
    with database.write() as connection:
        people.set_disabled(connection, _account(connection, name).id, None)


def hash_password(password: str) -> str:
    """By argon2id, with a salt of its own, at its library's present cost."""
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


def _account(connection: Connection, name: str) -> Account:
    account = people.get_account(connection, name, lock=True)
    if account is None:
        known = [user.name for user in people.list_users(connection)]
        close = nearest(name, known)
        hint = f"; did you mean {close}?" if close else "; `evalbot users list` shows all"
        raise NotFoundError(f"there is no user {name!r}{hint}")
    return account


def _check_name(name: str) -> None:
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(
            f"name: found {shown(name)}; expected at most {LONGEST_NAME} letters, with no white "
            "space around them"
        )
    if "," in name:
        raise InputError("name: lists of names are separated by commas: a name cannot hold one")


def _check_password(password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputError(
            f"password: expected {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters, found "
            f"{len(password)}"
        )
