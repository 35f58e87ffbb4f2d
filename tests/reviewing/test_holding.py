"""Answers that name a model are held back until a lead masks or releases them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.errors import InputError, NotFoundError
from evalbot.reviewing import holding
from evalbot.reviewing.overview import campaign_overviews
from evalbot.scoring.self_naming import COVER
from evalbot.store.database import open_database
from tests.reviewing.site import ReviewSite, review_site

TELLING = "我是Qwen，okapi 说：答案{n}"


@pytest.fixture
def telling(database_url: str, tmp_path: Path) -> Iterator[ReviewSite]:
    """One model of three names itself, in each of two cases."""
    with open_database(database_url) as database:
        yield review_site(database, tmp_path, 2, {"quagga": TELLING})


def texts(site: ReviewSite) -> list[str]:
    item = site.item("ann")
    return [] if item is None else [one.text for one in item.answers]


def held(site: ReviewSite, case: str) -> int:
    return site.answers[case, "quagga"]


def test_they_are_found_beforehand_and_not_shown(telling: ReviewSite) -> None:
    made = telling.campaign()
    assert made.held == 2
    assert len(texts(telling)) == 2
    item = telling.item("ann")
    assert item is not None
    assert (item.counts.total, item.counts.held) == (4, 2)
    [overview] = campaign_overviews(telling.database)
    assert overview.held_counts == (2, 2)
    assert {one.held.names for one in overview.held} == {("Qwen", "okapi")}


def test_when_the_rest_is_graded_they_still_wait(telling: ReviewSite) -> None:
    telling.campaign()
    telling.grade_item("ann")
    telling.grade_item("ann")
    assert telling.item("ann") is None
    holding.decide(telling.database, held(telling, "c1"), "released", "lee", None)
    item = telling.item("ann")
    assert item is not None
    assert item.case.key == "c1"
    assert [one.is_graded for one in item.answers].count(False) == 1


def test_masked_answers_are_shown_with_their_names_covered(telling: ReviewSite) -> None:
    telling.campaign()
    for case in ("c0", "c1"):
        holding.decide(telling.database, held(telling, case), "masked", "lee", None)
    item = telling.item("ann")
    assert item is not None
    [masked] = [one for one in item.answers if one.is_masked]
    assert masked.text == f"我是{COVER}，{COVER} 说：答案{item.case.key[1:]}"
    telling.grade_item("ann")
    seen = [one.seen or () for answer, one in telling.grades() if "masked" in (one.seen or ())]
    assert len(seen) == 1


def test_all_that_wait_can_be_masked_at_once(telling: ReviewSite) -> None:
    made = telling.campaign()
    holding.decide(telling.database, held(telling, "c0"), "released", "lee", None)
    assert holding.mask_all(telling.database, made.campaign.id, "kim") == 1
    assert holding.mask_all(telling.database, made.campaign.id, "kim") == 0
    [overview] = campaign_overviews(telling.database)
    assert overview.held_counts == (2, 0)
    assert {one.held.decision for one in overview.held} == {"released", "masked"}


def test_released_answers_are_shown_as_they_are(telling: ReviewSite) -> None:
    telling.campaign()
    for case in ("c0", "c1"):
        holding.decide(telling.database, held(telling, case), "released", "lee", None)
    assert any(text.startswith("我是Qwen") for text in texts(telling))


def test_of_two_leads_at_once_the_second_is_told(telling: ReviewSite) -> None:
    telling.campaign()
    answer = held(telling, "c0")
    holding.decide(telling.database, answer, "masked", "lee", None)
    with pytest.raises(InputError, match=r"lee has decided this one meanwhile \(masked\)"):
        holding.decide(telling.database, answer, "released", "kim", None)
    holding.decide(telling.database, answer, "released", "kim", "masked")


def test_what_is_not_held_cannot_be_decided(telling: ReviewSite) -> None:
    telling.campaign()
    with pytest.raises(NotFoundError, match="not held back"):
        holding.decide(telling.database, telling.answers["c0", "zebra"], "masked", "lee", None)
    with pytest.raises(InputError, match="expected released or masked"):
        holding.decide(telling.database, held(telling, "c0"), "shown", "lee", None)


def test_a_held_answer_cannot_be_graded_by_its_id(telling: ReviewSite) -> None:
    telling.campaign()
    from evalbot.store.assignments import read_assignments

    with telling.database.read() as connection:
        [campaign] = {one.campaign.id for one in campaign_overviews(telling.database)}
        given = list(read_assignments(connection, campaign))
    [one] = [one for one in given if one.answer_id == held(telling, "c0")]
    with pytest.raises(NotFoundError, match="not yours to grade"):
        telling.grade("ann", one.id, "correct")


def test_an_answer_keeps_its_letter_when_another_is_released(telling: ReviewSite) -> None:
    telling.campaign()
    before = telling.item("ann")
    assert before is not None
    letters = {one.id: one.label for one in before.answers}
    holding.decide(telling.database, held(telling, before.case.key), "released", "lee", None)
    after = telling.item("ann")
    assert after is not None
    assert [one.label for one in after.answers] == ["A", "B", "C"]
    assert letters.items() <= {one.id: one.label for one in after.answers}.items()
