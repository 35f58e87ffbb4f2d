from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault_server import FaultServer

from .site import Site


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture
def other() -> Iterator[FaultServer]:
    with FaultServer("gemma-test") as server:
        yield server


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A project whose database is SQLite."""
    return Site(tmp_path)


@pytest.fixture
def any_site(tmp_path: Path, database_url: str) -> Site:
    """A project on SQLite and another on PostgreSQL."""
    return Site(tmp_path, database_url)
