"""A run to be judged, on each kind of database."""

from __future__ import annotations

from pathlib import Path

import pytest

from .site import JudgeSite


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> JudgeSite:
    return JudgeSite.make(tmp_path, database_url)
