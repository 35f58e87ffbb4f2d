"""Corrected rates of real draws: each policy, unfinished reviews, and every refusal in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalbot.domain.reviewing import Layout, Policy
from evalbot.domain.rubrics import Layer
from evalbot.grading.basis import basis_of
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rate_table import machine_table, people_tables
from evalbot.reporting.rates import rate_rows, rates_of_run
from evalbot.reviewing import campaigns, handing_on
from evalbot.reviewing.campaigns import extend_campaign
from evalbot.store.assignments import read_assignments
from evalbot.store.database import Database
from evalbot.store.runs import get_run
from tests.auditing.site import MODELS, audited_site, give
from tests.building import add_grades, graded, record, said, small_run, write_site
from tests.reviewing.site import ReviewSite, cases, user

SCALE = ("correct", "acceptable", "wrong")
COUNT = 40
TRUE_RATE = sum((0, 0.5, 1)[n % 3] for n in range(COUNT)) / COUNT


def truth(_model: str, number: int) -> str:
    return SCALE[number % 3]


def lenient(_model: str, number: int) -> str:
    """Every fifth answer one step too good; its own rate is too low."""
    return SCALE[max(0, number % 3 - (number % 5 == 0))]


def corrected(site: ReviewSite, judge: str | None = None) -> dict[str, RateRow]:
    query = RateQuery(Layer.JUDGE, judge, corrected=True)
    with site.database.read() as connection:
        run = get_run(connection, site.run.id)
        rows = rates_of_run(connection, run, basis_of(run, site.folder), query)
    return {row.model: row for row in rows}


def case_of(site: ReviewSite, name: str) -> int:
    item = site.item(name)
    assert item is not None
    return int(item.case.key[1:])


def review_all(site: ReviewSite, name: str = "ann", most: int = 10_000) -> int:
    """Grade what this person is given, as it truly is; how many items that were."""
    done = 0
    while done < most and site.item(name) is not None:
        site.grade_item(name, truth("", case_of(site, name)))
        done += 1
    return done


@pytest.mark.parametrize("layout", list(Layout))
def test_a_random_sample_corrects_the_judge(
    database: Database, tmp_path: Path, layout: Layout
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=60, layout=layout)
    review_all(site)
    rows = corrected(site)
    assert set(rows) == set(MODELS)
    for row in rows.values():
        found = row.corrected
        assert found is not None
        assert (found.policy, found.corrected.human_n, found.judged) == ("random", 20, COUNT)
        assert found.judge_rate is not None
        assert row.rate.rate is not None
        assert row.rate.low is not None
        assert row.rate.high is not None
        assert found.judge_rate < TRUE_RATE
        assert row.rate.low <= TRUE_RATE <= row.rate.high
        assert row.rate.rate > found.judge_rate
        assert (row.layer, row.letters) == ("corrected", None)
        assert "|layer:corrected|judge:strong|" in row.signature
        assert re.search(r"\|reviewed:20/40\|drawn:random/[0-9a-f]{8}\|ci:mover\|", row.signature)


def test_another_sample_has_another_signature(database: Database, tmp_path: Path) -> None:
    found = []
    for run, seed in (("small-1", 1), ("small-2", 7)):
        site = audited_site(database, tmp_path, COUNT, run_id=run)
        give(site, Layer.JUDGE, "strong", lenient)
        site.campaign(policy=Policy.RANDOM, budget=60, seed=seed)
        review_all(site)
        found.append(corrected(site)["zebra"].signature)
    assert found[0] != found[1]


def test_all_answers_reviewed_leave_nothing_to_estimate(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign()
    review_all(site)
    for row in corrected(site).values():
        assert row.rate.rate == pytest.approx(TRUE_RATE)
        assert (row.rate.low, row.rate.high) == (row.rate.rate, row.rate.rate)
        assert row.corrected is not None
        assert (row.corrected.policy, row.corrected.corrected.interval) == ("all", "census")


def test_a_stratified_sample_is_weighted_by_its_strata(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.STRATIFIED, budget=60, layout=Layout.SINGLE)
    review_all(site)
    for row in corrected(site).values():
        assert row.corrected is not None
        assert row.corrected.policy == "stratified"
        assert row.corrected.corrected.interval in ("mover-stratified", "t-stratified")
        assert row.rate.low is not None
        assert row.rate.high is not None
        assert row.rate.low <= TRUE_RATE <= row.rate.high


def test_an_uncertain_sample_corrects_only_when_all_of_it_is_graded(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.UNCERTAIN, budget=75, layout=Layout.SINGLE)
    review_all(site, most=10)
    for model, row in corrected(site).items():
        assert row.corrected is not None
        reason = row.corrected.corrected.reason
        # Nothing tells okapi's answers apart, so that their chances are equal.
        assert (row.rate.rate is None) == (model != "okapi")
        assert model == "okapi" or "an uncertain draw corrects when all" in str(reason)
    review_all(site)
    for model, row in corrected(site).items():
        assert row.corrected is not None
        assert row.corrected.policy == "uncertain"
        assert row.rate.rate is not None
        if model != "okapi":
            # Few disagreements: the estimate stands without an interval.
            assert row.corrected.corrected.reason == "too few disagreements"
            assert row.rate.low is None


def test_a_review_that_stopped_is_a_smaller_sample(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=90)
    review_all(site, most=15)
    rows = corrected(site)
    for row in rows.values():
        assert row.corrected is not None
        assert row.corrected.corrected.human_n == 15
        assert row.rate.low is not None
    assert f"15 drawn answers of {MODELS[0]} wait to be graded" in rows[MODELS[0]].notes


def test_an_extension_joins_the_chances(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    made = site.campaign(policy=Policy.RANDOM, budget=30)
    extend_campaign(
        database, made.campaign.id, "lee", tmp_path, policy=Policy.RANDOM, budget=30, seed=2
    )
    review_all(site)
    for row in corrected(site).values():
        assert row.corrected is not None
        assert (row.corrected.policy, row.corrected.corrected.human_n) == ("random", 20)


def test_few_labels_give_a_rate_without_an_interval(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=15)
    review_all(site)
    for row in corrected(site).values():
        assert row.rate.rate is not None
        assert row.rate.low is None
        assert row.corrected is not None
        assert row.corrected.corrected.reason == "too few labels"


def test_volunteers_alone_correct_nothing(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    give(site, Layer.HUMAN, "ann", truth)
    [reason] = {str(row.corrected.corrected.reason) for row in corrected(site).values()
                if row.corrected is not None}  # fmt: skip
    assert "picked freely or imported" in reason
    made = site.campaign("ann", "bob", policy=Policy.RANDOM, budget=3)
    campaigns.close(database, made.campaign.id)


def test_what_a_volunteer_grades_enters_no_corrected_rate(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    made = site.campaign(policy=Policy.RANDOM, budget=45)
    review_all(site)
    assert handing_on.volunteer(database, made.campaign.id, user("ann"), tmp_path) > 0
    review_all(site, most=5)
    for row in corrected(site).values():
        assert row.corrected is not None
        assert row.corrected.corrected.human_n == 15


def test_a_tie_or_what_cannot_be_judged_waits_for_a_lead(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign("ann", "bob", policy=Policy.RANDOM, budget=45, overlap=2)
    review_all(site, "ann")
    first = case_of(site, "bob")
    site.grade_item("bob", SCALE[(first + 1) % 3])
    review_all(site, "bob")
    for row in corrected(site).values():
        assert row.rate.rate is None
        assert row.corrected is not None
        assert (row.corrected.policy, row.corrected.corrected.human_n) == ("random", 14)
        assert "1 are tied among reviewers and 0 could not be judged" in str(
            row.corrected.corrected.reason
        )
    give(site, Layer.ADJUDICATED, "lee", lambda m, n: truth(m, n) if n == first else None)
    assert all(row.rate.low is not None for row in corrected(site).values())


def test_without_a_judge_on_every_answer_there_is_nothing_to_correct(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    give(site, Layer.JUDGE, "strong", lambda m, n: lenient(m, n) if n or m != "zebra" else None)
    rows = corrected(site)
    assert rows["okapi"].rate.rate is not None
    found = rows["zebra"].corrected
    assert found is not None
    assert "has not graded 1 of the 40 answers" in str(found.corrected.reason)


def test_a_judge_worse_than_chance_is_no_base(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lambda _, n: SCALE[(n + 1) % 3])
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    for row in corrected(site).values():
        assert row.rate.rate is None
        assert row.corrected is not None
        assert "agrees with people less than chance does" in str(row.corrected.corrected.reason)


def test_tables_show_all_three_rates(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    rows = list(corrected(site).values())
    columns = [column.name for column in machine_table(rows).columns]
    assert columns[-9:] == [
        "judge_rate", "human_rate", "human_n", "policy", "interval", "judge_low", "judge_high",
        "human_low", "human_high",
    ]  # fmt: skip
    [table] = people_tables(rows)
    titles = [column.title for column in table.columns]
    assert {"judge alone", "people alone", "reviewed", "drawn", "interval by"} <= set(titles)
    assert not set(SCALE) & set(titles)


def test_judges_that_graded_apart_are_corrected_by_their_majority(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "harsh", lambda _, n: "wrong" if n % 2 else truth("", n))
    for name in ("mild", "soft"):
        give(site, Layer.JUDGE, name, lenient)
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    rows, alone = corrected(site), corrected(site, "mild")
    for model, row in rows.items():
        assert row.corrected is not None
        assert "|judge:panel|" in row.signature
        # Two of three say the same, so that theirs is the majority.
        assert (row.rate.rate, row.rate.low) == (alone[model].rate.rate, alone[model].rate.low)
        assert row.corrected.judged == row.rate.n == COUNT


def test_what_others_pick_of_a_draw_that_waits_is_no_part_of_its_sample(
    database: Database, tmp_path: Path
) -> None:
    """Who picks the wrong ones among the drawn would make every model look worse."""
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    site.campaign(policy=Policy.RANDOM, budget=90)
    review_all(site, most=12)
    before = {model: (row.rate, row.signature) for model, row in corrected(site).items()}
    give(site, Layer.HUMAN, "eva", lambda m, n: "wrong" if truth(m, n) == "wrong" else None)
    give(site, Layer.ADJUDICATED, "lee", lambda m, n: "wrong" if truth(m, n) == "wrong" else None)
    after = corrected(site)
    assert {model: (row.rate, row.signature) for model, row in after.items()} == before
    assert f"18 drawn answers of {MODELS[0]} wait to be graded" in after[MODELS[0]].notes
    # With a verdict on every drawn answer nothing was picked among them.
    give(site, Layer.HUMAN, "eva", lambda m, n: None if truth(m, n) == "wrong" else truth(m, n))
    for row in corrected(site).values():
        assert row.corrected is not None
        assert row.corrected.corrected.human_n == 30


def test_the_judges_rate_beside_it_is_that_of_the_judge_layer(
    database: Database, tmp_path: Path
) -> None:
    """Also where a case has repeats, of which the judge has no verdict on some."""
    write_site(tmp_path, cases=cases(20))
    run = small_run(tmp_path, "zebra", repeats=3)
    answers = [said(f"c{n}", "zebra", "別", repeat=r) for n in range(20) for r in (1, 2, 3)]
    ids = record(database, run, answers)
    grades = [
        graded(run, Layer.JUDGE, "strong", f"c{n // 3}", None, "judge_error")
        if n % 7 == 0
        else graded(run, Layer.JUDGE, "strong", f"c{n // 3}", SCALE[n % 11 % 3])
        for n in range(60)
    ]
    add_grades(database, run, list(zip(ids, grades, strict=True)))
    site = ReviewSite(database, tmp_path, run, {})
    [alone] = rate_rows(database, [run.id], tmp_path, RateQuery(Layer.JUDGE))
    [row] = corrected(site).values()
    assert row.corrected is not None
    assert row.corrected.judge_interval is not None
    assert row.corrected.judge_rate == alone.rate.rate
    assert tuple(row.corrected.judge_interval) == (alone.rate.low, alone.rate.high)


def test_an_extended_stratified_draw_is_read_by_its_strata(
    database: Database, tmp_path: Path
) -> None:
    """It draws from what is left of each stratum, so that the two together are one larger draw."""
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    made = site.campaign(layout=Layout.SINGLE, policy=Policy.STRATIFIED, budget=36)
    extend_campaign(
        database, made.campaign.id, "lee", tmp_path, policy=Policy.STRATIFIED, budget=36, seed=2
    )
    review_all(site)
    weight = {"correct": 0.0, "acceptable": 0.5, "wrong": 1.0}
    with database.read() as connection:
        drawn = {one.answer_id for one in read_assignments(connection, made.campaign.id)}
    for model, row in corrected(site).items():
        assert row.corrected is not None
        assert row.corrected.corrected.interval in ("mover-stratified", "t-stratified")
        numbers = [n for n in range(COUNT) if site.answers[f"c{n}", model] in drawn]
        assert len(numbers) == row.corrected.corrected.human_n == 24
        expected = 0.0
        for verdict in SCALE:
            all_ = [n for n in range(COUNT) if lenient(model, n) == verdict]
            seen = [weight[truth(model, n)] for n in numbers if lenient(model, n) == verdict]
            expected += len(all_) / COUNT * sum(seen) / len(seen)
        assert row.rate.rate == pytest.approx(expected)


def test_what_the_judge_is_silent_on_is_told_beside_the_rate(
    database: Database, tmp_path: Path
) -> None:
    """Two judges that disagree are a tie: their panel has no verdict on the hard answers."""
    site = audited_site(database, tmp_path, COUNT)
    give(site, Layer.JUDGE, "strong", lenient)
    give(site, Layer.JUDGE, "weak", truth)
    site.campaign(policy=Policy.RANDOM, budget=60)
    review_all(site)
    silent = sum(lenient("", n) != truth("", n) for n in range(COUNT))
    for model, row in corrected(site).items():
        assert row.rate.rate is not None
        assert (row.rate.n, row.rate.unscored) == (COUNT - silent, silent)
        assert (
            f"panel has no verdict on {silent} of {COUNT} answers of {model}: its corrected rate "
            "is of the others, which may be the easier ones"
        ) in row.notes
    assert not any("no verdict" in note for note in corrected(site, "strong")["zebra"].notes)
