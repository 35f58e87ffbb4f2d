"""An empty database for what is audited, on both kinds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalbot.store.database import Database, open_database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Open, and empty."""
    with open_database(database_url) as opened:
        yield opened
