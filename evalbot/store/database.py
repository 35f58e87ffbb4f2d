"""Opening the database and its transactions; failures become StoreError sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection as Connection
from sqlalchemy import Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from evalbot.errors import BusyError, EvalbotError, InputError, NeedsUpgradeError, StoreError
from evalbot.fingerprint import canonical_json
from evalbot.store.tables import SCHEMA_REVISION, metadata

BUSY_TIMEOUT_MS = 30_000
CREATE_LOCK = 7_229_119_001
"""Any number, as long as every evalbot uses the same: only one creates the tables."""


class Database:
    """One database. Reads and writes are short transactions; writes queue up, never clash."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"

    @property
    def sqlite_file(self) -> Path | None:
        """The file of a SQLite database; None for other kinds, and in memory."""
        name = self._engine.url.database
        return Path(name) if self.is_sqlite and name and name != ":memory:" else None

    @property
    def address(self) -> str:
        """The URL as it may be shown."""
        return self._engine.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent look at the record."""
        # PostgreSQL's usual level would let each query see another state.
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with (
            _told(self._engine),
            self._engine.connect().execution_options(**level) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All or nothing. On SQLite the write lock is taken at once, not half-way."""
        with (
            _told(self._engine),
            self._engine.connect().execution_options(takes_write_lock=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(url: str, folder: Path | None = None, *, make: bool = True) -> Database:
    """The database of this URL; a relative SQLite path lies in folder.

    make: a new one is made; without it, one that is not there yet is an InputError, so that
    a slip in a name does not look like an empty record. Raises InputError for a URL that is
    none, StoreError where it cannot be opened, and NeedsUpgradeError where another version
    of evalbot made it.
    """
    database = connect(url, folder)
    try:
        if not make:
            require(database)
        _make_or_check(database)
    except EvalbotError:
        database.close()
        raise
    return database


def after_bulk_write(connection: Connection) -> None:
    """Tell PostgreSQL that tables have grown: until it knows, it reads them by slow plans."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("ANALYZE answers, grades, run_cases, texts"))


def connect(url: str, folder: Path | None = None) -> Database:
    """The same without making or checking tables: for upgrades and backups."""
    return Database(_engine(url, folder))


def require(database: Database) -> None:
    """Raises InputError where there is nothing to read yet."""
    file = database.sqlite_file
    if (file is not None and not file.is_file()) or revision_of(database) is None:
        raise InputError(
            f"there is no record in {database.address} yet; `evalbot run SUITE` makes one, "
            "--database or --config names another"
        )


def revision_of(database: Database) -> str | None:
    """The migration the database stands at; None for an empty one.

    Raises StoreError where there are tables, but not evalbot's.
    """
    with database.read() as connection:
        names = set(inspect(connection).get_table_names())
        if "alembic_version" in names:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            if found is not None:
                return str(found)
    if names & set(metadata.tables):
        raise StoreError(
            "the database has tables like evalbot's but no version; "
            "name another database, or restore a backup"
        )
    return None


def _make_or_check(database: Database) -> None:
    found = revision_of(database)
    if found is None:
        _create(database)
    elif found < SCHEMA_REVISION:
        raise NeedsUpgradeError(
            f"the database is at version {found}, this evalbot needs {SCHEMA_REVISION}; "
            "type: evalbot db upgrade"
        )
    elif found > SCHEMA_REVISION:
        raise NeedsUpgradeError(
            f"the database was made by a newer evalbot (version {found}, this one knows "
            f"{SCHEMA_REVISION}); install that one"
        )


def _create(database: Database) -> None:
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": CREATE_LOCK})
        if "alembic_version" in inspect(connection).get_table_names():
            return
        metadata.create_all(connection)
        connection.execute(
            text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        )
        connection.execute(
            text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": SCHEMA_REVISION}
        )


def _engine(url: str, folder: Path | None) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise InputError(
            "database: this is no database URL; expected for example "
            "sqlite:///evalbot.db or postgresql+psycopg://user@host/db"
        ) from error
    if parsed.password:
        raise InputError(
            "database: a password inside the URL is refused, since URLs end up in logs; "
            "put it into PGPASSWORD or ~/.pgpass"
        )
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
        path = (folder or Path()) / str(parsed.database)
        if not path.parent.is_dir():
            raise InputError(f"database: the folder {path.parent} does not exist; make it first")
        parsed = parsed.set(database=str(path))
    options: dict[str, Any] = {"json_serializer": canonical_json}
    try:
        if parsed.get_backend_name() == "sqlite":
            if parsed.database not in (None, "", ":memory:"):
                # Whoever waits for the write lock holds a connection: reads need others.
                options["max_overflow"] = -1
            engine = create_engine(parsed, connect_args={"check_same_thread": False}, **options)
            _prepare_sqlite(engine)
        else:
            engine = create_engine(parsed, pool_pre_ping=True, **options)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(
            f"database: {parsed.drivername!r} is not supported; use sqlite or postgresql+psycopg"
        ) from error
    return engine


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        # We say BEGIN ourselves: the driver would say it too late, and never for reads.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        takes_lock = connection.get_execution_options().get("takes_write_lock")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if takes_lock else "BEGIN")


@contextmanager
def _told(engine: Engine) -> Iterator[None]:
    """Database errors as sentences for the user."""
    try:
        yield
    except PoolTimeoutError as error:
        raise BusyError(
            f"database {engine.url.render_as_string(hide_password=True)}: too many are waiting "
            "for it; nothing of this step was saved"
        ) from error
    except DBAPIError as error:
        kind = BusyError if "locked" in str(error.orig).lower() else StoreError
        raise kind(_sentence(str(error.orig), engine)) from error


def _sentence(words: str, engine: Engine) -> str:
    words = " ".join(words.split())
    place = engine.url.render_as_string(hide_password=True)
    lowered = words.lower()
    advice = "nothing of this step was saved"
    if "locked" in lowered:
        advice = "another program keeps it locked: close it and try again"
    elif "disk is full" in lowered or "no space" in lowered or "disk full" in lowered:
        advice = "free some disk space and try again"
    elif "disk i/o error" in lowered:
        advice = "is the disk full, or failing? Mend that and try again"
    elif "readonly" in lowered or "read-only" in lowered or "unable to open" in lowered:
        advice = "check that the file and its folder can be written"
    elif "not a database" in lowered:
        advice = "this file is no database; name another one"
    elif "connection" in lowered or "connect" in lowered:
        advice = "is the database server running, and may this user connect?"
    return f"database {place}: {words}; {advice}"
