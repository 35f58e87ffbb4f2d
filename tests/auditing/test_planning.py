"""What further reviews would bring, over runs that are really recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalbot.auditing.planning import ReviewPlan, plan_reviews
from evalbot.domain.reviewing import Policy
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, NotFoundError
from evalbot.reporting.plan_tables import plan_tables, plan_values
from evalbot.store.database import Database
from tests.auditing.site import MODELS, audited_site, give
from tests.auditing.test_corrected import COUNT, lenient, review_all, truth
from tests.reviewing.site import ReviewSite


def planned(site: ReviewSite, budget: int = 60, **more: object) -> ReviewPlan:
    return plan_reviews(site.database, site.run.id, site.folder, budget, **more)  # type: ignore[arg-type]


def test_more_reviews_make_intervals_narrower(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=45)
    review_all(site)
    few, many = planned(site, 15), planned(site, 60)
    for one, other in zip(few.models, many.models, strict=True):
        assert (one.reviewed, one.judged) == (15, COUNT)
        assert one.width is not None
        first, second = one.planned[Policy.RANDOM].width, other.planned[Policy.RANDOM].width
        assert first is not None
        assert second is not None
        assert second < first < one.width
        assert sum(stratum.share for stratum in other.strata) == 20


def test_before_anyone_grades_the_assumption_is_told(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    found = planned(site)
    assert all(plan.width is None and plan.reviewed == 0 for plan in found.models)
    assert "one answer in five differs" in str(found.models[0].planned[Policy.RANDOM].reason)
    [widths, strata, telling] = plan_tables(found)
    assert [row[0] for row in widths.shown_rows()] == list(MODELS)
    assert any("one answer in five" in note for note in widths.notes)
    assert strata.rows
    assert len(telling.rows) == 20


def test_what_volunteers_found_tells_of_errors_and_counts_for_nothing(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    give(site, Layer.HUMAN, "ann", lambda m, n: truth(m, n) if n < 30 else None)
    found = planned(site)
    assert all(plan.reviewed == 0 for plan in found.models)
    assert found.models[0].planned[Policy.RANDOM].reason is None
    assert {one.case for one in found.telling} <= {f"c{n}" for n in range(30, COUNT)}


def test_a_comparison_takes_the_whole_budget(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    found = planned(site, 40, compared=["zebra", "okapi"])
    assert [plan.model for plan in found.models] == ["zebra", "okapi"]
    assert [plan.planned[Policy.RANDOM].budget for plan in found.models] == [20, 20]
    width = found.differences[Policy.RANDOM]
    single = found.models[0].planned[Policy.RANDOM].width
    assert width is not None
    assert single is not None
    assert single < width < 2 * single
    assert plan_values(found)["compared"] == ["zebra", "okapi"]


def test_a_budget_over_what_is_left_is_cut(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.JUDGE, "strong", lenient)
    assert planned(site, 1000).budget == 36


def test_what_cannot_be_planned_is_refused(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 12)
    with pytest.raises(InputError, match="no judge has graded run small-1"):
        planned(site)
    give(site, Layer.JUDGE, "strong", lenient)
    with pytest.raises(InputError, match="--budget 0"):
        planned(site, 0)
    with pytest.raises(InputError, match="expected two models of the run"):
        planned(site, compared=["zebra", "unicorn"])
    with pytest.raises(NotFoundError, match="no judge 'weak'"):
        planned(site, judge="weak")
