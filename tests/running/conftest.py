from __future__ import annotations

import socket
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


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
