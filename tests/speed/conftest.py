from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault_server import FaultServer

from .serving import measured
from .site import SpeedSite


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield measured(server)


@pytest.fixture
def other() -> Iterator[FaultServer]:
    with FaultServer("gemma-test") as server:
        yield measured(server)


@pytest.fixture
def site(tmp_path: Path) -> SpeedSite:
    """A project whose database is SQLite."""
    return SpeedSite(tmp_path)


@pytest.fixture
def any_site(tmp_path: Path, database_url: str) -> SpeedSite:
    """A project on SQLite and another on PostgreSQL."""
    return SpeedSite(tmp_path, database_url)
