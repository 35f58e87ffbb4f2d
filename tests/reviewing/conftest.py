"""A run to be graded, on both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.store.database import open_database
from tests.reviewing.site import ReviewSite, review_site


@pytest.fixture
def site(database_url: str, tmp_path: Path) -> Iterator[ReviewSite]:
    """Six cases, three models; ann and bob grade, lee leads."""
    with open_database(database_url) as database:
        yield review_site(database, tmp_path)
