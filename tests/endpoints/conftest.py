from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fault_server import FaultServer


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server
