"""A clock that is set back: the last word still counts, and an undo takes back the last grade."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from evalbot.domain.people import Role
from evalbot.domain.rubrics import Layer
from evalbot.grading.effective import effective
from evalbot.reviewing import moments, submitting
from evalbot.reviewing.adjudication import decide, disputed_answer
from evalbot.store.glances import glance_at_grades_of
from tests.building import START
from tests.reviewing.site import ReviewSite, user


class Clock(datetime):
    """Set back by an hour whenever it is looked at."""

    hours = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        cls.hours -= 1
        return (START + timedelta(hours=cls.hours)).astimezone(tz)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "datetime", Clock)


def word(site: ReviewSite, answer: int, layer: Layer) -> str | None:
    """What tables say of an answer."""
    with site.database.read() as connection:
        found = glance_at_grades_of(connection, [answer], (str(layer),))
    return effective(layer, found[answer], lambda _: False).verdict


def test_a_changed_grade_counts_and_undo_goes_back_in_order(site: ReviewSite) -> None:
    site.campaign()
    item = site.item("ann")
    assert item is not None
    first, second, _ = item.answers
    site.grade("ann", first.id, "correct")
    site.grade("ann", first.id, "wrong")
    site.grade("ann", second.id, "acceptable")
    said = site.grades()
    assert word(site, said[0][0], Layer.HUMAN) == "wrong"
    for number in range(2):
        submitting.undo(site.database, user("ann"), item.campaign, f"take back {number}")
    taken = [(answer, one.verdict) for answer, one in site.grades()][3:]
    assert taken == [(said[2][0], None), (said[0][0], "correct")]
    assert word(site, said[0][0], Layer.HUMAN) == "correct"


def test_the_later_decision_counts(site: ReviewSite) -> None:
    site.campaign()
    site.grade_item("ann")
    answer = site.grades()[0][0]
    for verdict in ("acceptable", "wrong"):
        last = disputed_answer(site.database, site.run.id, answer, site.folder).last_grade
        lee = user("lee", Role.LEAD)
        decide(site.database, lee, site.run.id, answer, verdict, "looked at it", last, site.folder)
    assert word(site, answer, Layer.ADJUDICATED) == "wrong"


def test_a_clock_that_runs_is_believed() -> None:
    early = datetime(2000, 1, 1, tzinfo=UTC)
    assert moments.now_after([early, None]) == START + timedelta(hours=Clock.hours)
