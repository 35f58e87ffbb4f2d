"""An export taken into an empty database has the same rates, audit and signatures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.reviewing import Policy
from evalbot.domain.rubrics import Layer
from evalbot.store.database import open_database
from tests.auditing.site import audited_site, give
from tests.auditing.test_corrected import lenient, review_all, truth
from tests.transfer.site import Site

LAYERS = ("auto", "judge", "human", "adjudicated", "corrected")


@pytest.fixture
def audited(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A run that two judges graded, two people reviewed and a lead decided about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALBOT_DATABASE", raising=False)
    with open_database(database_url) as database:
        reviewed = audited_site(database, tmp_path, 24)
        give(reviewed, Layer.JUDGE, "strong", lenient, family="equine")
        give(reviewed, Layer.JUDGE, "weak", truth, family="giraffe")
        reviewed.campaign("ann", "bob", policy=Policy.RANDOM, budget=54, overlap=2)
        reviewed.grade_item("bob", "acceptable")
        for name in ("ann", "bob"):
            review_all(reviewed, name)
        give(reviewed, Layer.ADJUDICATED, "lee", truth)
    return Site(tmp_path, database_url)


def printed(site: Site, database: str, *words: str) -> Any:
    result = site.call(*words, "--format", "json", database=database)
    assert result.exit_code == 0, result.exception or result.output
    return json.loads(result.stdout)


def test_rates_audit_and_signatures_come_back_byte_for_byte(audited: Site) -> None:
    fresh = f"sqlite:///{audited.folder}/fresh.db"
    audited.ids("export", "small-1", "--output", "out")
    [run] = audited.ids("import", "run", "out", database=fresh)
    for layer in LAYERS:
        words = ("rates", run, "--layer", layer, "--judge", "strong")
        command = words if layer in ("judge", "corrected") else words[:4]
        before = printed(audited, audited.database, *command)
        assert len(before) == 3
        assert printed(audited, fresh, *command) == before
    corrected = printed(audited, fresh, "rates", run, "--layer", "corrected")
    assert all(row["low"] is not None for row in corrected)
    audit = printed(audited, audited.database, "audit", run)
    assert [one["name"] for one in audit["judges"]] == ["strong", "weak", "panel"]
    assert audit["disagreements"]
    assert printed(audited, fresh, "audit", run) == audit
    for command in (("compare", run, "--layer", "judge", "--judge", "strong"), ("plan", run)):
        assert printed(audited, fresh, *command) == printed(audited, audited.database, *command)
    audited.ids("export", run, "--output", "again", database=fresh)
    assert audited.files("again") == audited.files("out")
    assert "audit.json" in audited.files("out")
