"""Bringing an older database up to date, and copies of it; the only user of Alembic."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, text

from evalbot.errors import InputError, StoreError
from evalbot.store.database import Database, revision_of
from evalbot.store.tables import SCHEMA_REVISION


def upgrade(database: Database, migrations: Path, target: str = SCHEMA_REVISION) -> Path | None:
    """Run the missing migrations, all or none; where the backup made before them lies.

    None where there was nothing to back up: a new or up-to-date database, or PostgreSQL,
    which has its own tools for it. Raises StoreError where a migration fails.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    found = revision_of(database)
    if found is not None and found >= target:
        return None
    copy = _backup_path(database) if found is not None else None
    if copy is not None:
        backup(database, copy)
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    with _migrating(database) as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, target)
        except CommandError as error:
            raise StoreError(f"the database could not be upgraded: {error}") from error
    return copy


def backup(database: Database, target: Path) -> None:
    """Copy a SQLite database, also while others work on it; InputError for other kinds."""
    source = database.sqlite_file
    if source is None:
        raise InputError(
            "backup: only SQLite databases are copied by evalbot; use pg_dump for PostgreSQL"
        )
    if target.exists():
        raise InputError(f"backup: {target} is there already; name a new file")
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except (sqlite3.Error, OSError) as error:
        target.unlink(missing_ok=True)
        raise StoreError(f"backup: {target} could not be written ({error})") from error


def _backup_path(database: Database) -> Path | None:
    if database.sqlite_file is None:
        return None
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    return database.sqlite_file.with_suffix(f".backup-{stamp}{database.sqlite_file.suffix}")


@contextmanager
def _migrating(database: Database) -> Iterator[Connection]:
    """A write transaction in which tables may be rebuilt, as SQLite's migrations do."""
    with database.write() as connection:
        if database.is_sqlite:
            connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        yield connection
        if database.is_sqlite and connection.execute(text("PRAGMA foreign_key_check")).first():
            raise StoreError("the upgrade would have left rows without their parents; undone")
