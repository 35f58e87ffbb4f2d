from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chatting.talking import Talk
from tests.fault_server import FaultServer
from tests.running.site import Site


@pytest.fixture
def a() -> Iterator[FaultServer]:
    with FaultServer("qwen-test") as server:
        yield server


@pytest.fixture
def b() -> Iterator[FaultServer]:
    with FaultServer("gemma-test") as server:
        yield server


@pytest.fixture
def talk(tmp_path: Path, database_url: str, a: FaultServer, b: FaultServer) -> Iterator[Talk]:
    """Endpoints `a` and `b`; on SQLite and on PostgreSQL."""
    site = Site(tmp_path, database_url)
    site.endpoint("a", a.base_url)
    site.endpoint("b", b.base_url)
    with site.open() as database:
        yield Talk(site, database)
