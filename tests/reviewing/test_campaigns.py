"""Drawing and dealing: who gets what, with which chance, and what a lead can change."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from evalbot.domain.reviewing import Assignment, CampaignPlan, Draft, Layout, Policy, Purpose
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, NotFoundError
from evalbot.grading.basis import basis_of
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.rates import rates_of_run
from evalbot.reviewing import campaigns, handing_on
from evalbot.reviewing.overview import campaign_overviews
from evalbot.reviewing.submitting import save_draft
from evalbot.reviewing.users import disable_user
from evalbot.store.assignments import read_assignments
from evalbot.store.campaigns import draws_of
from evalbot.store.places import drafts_of
from tests.building import add_grades, graded
from tests.reviewing.site import MODELS, ReviewSite, judge_all, user


def given(site: ReviewSite, campaign: str) -> list[Assignment]:
    with site.database.read() as connection:
        return list(read_assignments(connection, campaign))


def extend(
    site: ReviewSite, campaign: str, budget: int | None, policy: Policy = Policy.RANDOM
) -> None:
    campaigns.extend_campaign(
        site.database, campaign, "lee", site.folder, policy=policy, budget=budget, seed=7
    )


def test_all_gives_every_answer_once(site: ReviewSite) -> None:
    made = site.campaign("ann", "bob")
    found = given(site, made.campaign.id)
    assert sorted(one.answer_id or 0 for one in found) == sorted(site.answers.values())
    assert Counter(one.reviewer for one in found) == {"ann": 9, "bob": 9}
    assert {(one.draw_probability, one.inclusion_probability) for one in found} == {(1.0, 1.0)}


def test_overlap_gives_each_answer_to_so_many_people(site: ReviewSite) -> None:
    found = given(site, site.campaign("ann", "bob", overlap=2).campaign.id)
    people = defaultdict(set)
    for one in found:
        people[one.answer_id].add(one.reviewer)
    assert all(names == {"ann", "bob"} for names in people.values())
    assert len(found) == 2 * len(site.answers)


def test_together_draws_whole_cases_and_rounds_the_budget_down(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=8)
    found = given(site, made.campaign.id)
    assert made.answers == 6  # two of six cases, three answers each
    assert Counter(Counter(one.case for one in found).values()) == {3: 2}
    assert {one.draw_probability for one in found} == {2 / 6}
    assert all(len({o.item for o in found if o.case == one.case}) == 1 for one in found)


def test_single_draws_the_same_number_within_each_model(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=6, layout=Layout.SINGLE)
    found = given(site, made.campaign.id)
    model_of = {answer: model for (_, model), answer in site.answers.items()}
    assert Counter(model_of[one.answer_id or 0] for one in found) == dict.fromkeys(MODELS, 2)
    assert {one.draw_probability for one in found} == {2 / 6}
    assert len({one.item for one in found}) == 6


def test_a_budget_below_one_case_is_told(site: ReviewSite) -> None:
    with pytest.raises(InputError, match="take a larger budget, or --layout single"):
        site.campaign(policy=Policy.RANDOM, budget=2)
    with pytest.raises(InputError, match="fewer than one answer for each of 3 models"):
        site.campaign(policy=Policy.RANDOM, budget=2, layout=Layout.SINGLE)


def test_stratified_draws_from_every_band(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.STRATIFIED, budget=9, layout=Layout.SINGLE)
    found = given(site, made.campaign.id)
    # zebra is right, okapi undecided, quagga wrong: the strata are the models here.
    assert {one.stratum for one in found} == {"correct", "needs_review", "wrong"}
    assert {one.draw_probability for one in found} == {0.5}


def test_stratified_goes_by_the_judge_where_there_is_one(site: ReviewSite) -> None:
    judge_all(site, "acceptable")
    found = given(site, site.campaign(policy=Policy.STRATIFIED, budget=9).campaign.id)
    assert {one.stratum for one in found} == {"acceptable"}


def test_uncertain_needs_a_judge(site: ReviewSite) -> None:
    with pytest.raises(InputError, match="none has graded this run"):
        site.campaign(policy=Policy.UNCERTAIN, budget=9)


def test_uncertain_stores_the_chance_of_each_unit(site: ReviewSite) -> None:
    judge_all(site, "correct")
    # By model: zebra agrees with the judge, okapi has no band, quagga is as far as can be.
    made = site.campaign(policy=Policy.UNCERTAIN, budget=9, layout=Layout.SINGLE)
    model_of = {str(answer): model for (_, model), answer in site.answers.items()}
    with site.database.read() as connection:
        [draw] = draws_of(connection, made.campaign.id)
    chances = defaultdict(set)
    for unit, chance in draw.chances.items():
        chances[model_of[unit]].add(round(chance, 12))
    # Within a model all are alike, and each model has its own three of six.
    assert chances == {model: {0.5} for model in MODELS}
    for one in given(site, made.campaign.id):
        assert one.draw_probability == draw.chances[str(one.answer_id)]


def test_uncertain_prefers_what_the_judge_is_unsure_of(site: ReviewSite) -> None:
    unsure = [answer for (case, _), answer in site.answers.items() if case in ("c0", "c1")]
    judge_all(site, "correct")
    add_grades(
        site.database,
        site.run,
        [
            (answer, graded(site.run, Layer.JUDGE, "strong", case, "correct")
             ._replace(entropy=1.0, token=f"again-{answer}"))
            for (case, _), answer in site.answers.items()
            if answer in unsure
        ],
    )  # fmt: skip
    made = site.campaign(policy=Policy.UNCERTAIN, budget=9)
    with site.database.read() as connection:
        [draw] = draws_of(connection, made.campaign.id)
    assert draw.chances["c0"] == draw.chances["c1"] > draw.chances["c2"] > 0
    assert sum(draw.chances.values()) == pytest.approx(3)


def test_the_same_seed_draws_the_same(site: ReviewSite) -> None:
    def cases_of(seed: int) -> list[str]:
        made = site.campaign(policy=Policy.RANDOM, budget=9, seed=seed)
        return sorted({one.case for one in given(site, made.campaign.id)})

    assert cases_of(1) == cases_of(1)
    assert any(cases_of(1) != cases_of(seed) for seed in range(2, 8))


def test_each_reviewer_has_an_order_of_their_own(site: ReviewSite) -> None:
    found = given(site, site.campaign("ann", "bob", overlap=2).campaign.id)
    orders = {
        name: [(one.item, one.position, one.answer_id) for one in found if one.reviewer == name]
        for name in ("ann", "bob")
    }
    assert orders["ann"] != orders["bob"]
    # Letters tell nothing of models: no model always stands at the same place.
    model_of = {answer: model for (_, model), answer in site.answers.items()}
    places = defaultdict(set)
    for one in found:
        places[model_of[one.answer_id or 0]].add(one.position)
    assert all(len(seen) > 1 for seen in places.values())


def test_ids_tell_nothing_of_the_order_in_the_record(site: ReviewSite) -> None:
    found = given(site, site.campaign().campaign.id)
    by_answer = [one.id for one in sorted(found, key=lambda one: one.answer_id or 0)]
    assert by_answer != sorted(by_answer)
    assert min(len(one) for one in by_answer) >= 16


def test_an_extension_joins_the_chances(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=6)  # 2 of 6 cases
    extend(site, made.campaign.id, 3)  # 1 of the other 4
    found = given(site, made.campaign.id)
    assert len({one.case for one in found}) == 3
    assert {round(one.inclusion_probability or 0, 12) for one in found} == {0.5}
    assert {one.draw: one.draw_probability for one in found} == {1: 2 / 6, 2: 1 / 4}
    items = [one.item for one in found if one.draw == 2]
    assert min(items) > max(one.item for one in found if one.draw == 1)


def test_an_extension_of_another_policy_joins_its_chances_too(site: ReviewSite) -> None:
    judge_all(site, "correct")
    made = site.campaign(policy=Policy.RANDOM, budget=6)
    extend(site, made.campaign.id, 6, Policy.UNCERTAIN)
    with site.database.read() as connection:
        first, second = draws_of(connection, made.campaign.id)
    for one in given(site, made.campaign.id):
        missed = (1 - first.chances[one.case]) * (1 - second.chances[one.case])
        assert one.inclusion_probability == pytest.approx(1 - missed)


def test_nothing_is_left_to_draw(site: ReviewSite) -> None:
    made = site.campaign()
    with pytest.raises(InputError, match="drawn already"):
        extend(site, made.campaign.id, 3)


def test_a_changed_rubric_ends_extensions(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=6)
    file = site.folder / "rubrics/small.yaml"
    file.write_text(file.read_text("utf-8").replace("tolerable", "just tolerable"), "utf-8")
    with pytest.raises(InputError, match="rubric changed since"):
        extend(site, made.campaign.id, 3)
    [overview] = campaign_overviews(site.database, site.folder)
    assert overview.is_outdated


def test_attention_items_have_known_verdicts_and_never_enter_a_rate(site: ReviewSite) -> None:
    made = site.campaign(attention=0.34)
    planted = [one for one in given(site, made.campaign.id) if one.purpose is Purpose.ATTENTION]
    assert len(planted) == made.attention == 2
    assert {(one.known, (one.planted or "")[:2]) for one in planted} <= {
        ("correct", "答案"), ("wrong", "错误"),
    }  # fmt: skip
    assert all(one.answer_id is None and one.inclusion_probability is None for one in planted)
    while site.item("ann") is not None:
        site.grade_item("ann", "wrong")
    assert len(site.grades()) == len(site.answers)
    with site.database.read() as connection:
        rows = rates_of_run(
            connection, site.run, basis_of(site.run, site.folder), RateQuery(Layer.HUMAN)
        )
    assert {row.rate.n for row in rows} == {6}
    [overview] = campaign_overviews(site.database)
    [line] = overview.reviewers
    right = sum(one.known == "wrong" for one in planted)
    assert (line.attention_right, line.attention_seen) == (right, 2)


def test_what_a_lead_has_decided_serves_as_attention_check(site: ReviewSite) -> None:
    decided = {answer: case for (case, model), answer in site.answers.items() if model == "okapi"}
    add_grades(
        site.database,
        site.run,
        [
            (answer, graded(site.run, Layer.ADJUDICATED, "lee", case, "acceptable"))
            for answer, case in decided.items()
        ],
    )
    made = site.campaign(attention=0.49)
    checks = [one for one in given(site, made.campaign.id) if one.purpose is Purpose.ATTENTION]
    assert checks
    assert {one.answer_id in decided for one in checks} == {True}
    assert {one.known for one in checks} == {"acceptable"}
    # Drawn as any other: its verdict is known, so nothing is lost to a corrected rate.
    assert {one.inclusion_probability for one in checks} == {1.0}


def test_single_layout_mixes_checks_in_as_items_of_their_own(site: ReviewSite) -> None:
    made = site.campaign(layout=Layout.SINGLE, attention=0.25)
    found = given(site, made.campaign.id)
    checks = [one for one in found if one.purpose is Purpose.ATTENTION]
    assert len(checks) == 6  # a quarter of 24
    assert len({one.item for one in found}) == len(found) == 24


def test_practice_comes_first_and_does_not_count(site: ReviewSite) -> None:
    made = site.campaign(practice=2)
    found = given(site, made.campaign.id)
    practice = [one for one in found if one.purpose is Purpose.PRACTICE]
    assert {one.item for one in practice} == {-2, -1}
    item = site.item("ann")
    assert item is not None
    assert item.is_practice
    assert item.counts.total == len(site.answers)


def test_known_answers_are_needed_where_they_are_asked_for(site: ReviewSite) -> None:
    bare = "\n".join(f'{{"key": "c{n}", "prompt": "問題{n}"}}' for n in range(6))
    (site.folder / "datasets/small/cases.jsonl").write_text(bare, "utf-8")
    with pytest.raises(InputError, match="need answers with a known verdict"):
        site.campaign(attention=0.1)


def test_handing_on_moves_what_is_open(site: ReviewSite) -> None:
    made = site.campaign("ann")
    site.grade_item("ann")
    moved = handing_on.reassign(site.database, made.campaign.id, "ann", "bob")
    assert moved == 15
    assert site.item("ann") is None
    item = site.item("bob")
    assert item is not None
    assert item.counts.total == 15
    found = given(site, made.campaign.id)
    assert len([one for one in found if one.withdrawn_at is not None]) == 15
    assert {one.inclusion_probability for one in found} == {1.0}


def test_handing_on_gives_nothing_twice(site: ReviewSite) -> None:
    made = site.campaign("ann", "bob", overlap=2)
    assert handing_on.reassign(site.database, made.campaign.id, "ann", "bob") == 0
    bob = [one for one in given(site, made.campaign.id) if one.reviewer == "bob"]
    assert len(bob) == len({one.answer_id for one in bob}) == len(site.answers)


def test_a_closed_campaign_takes_no_more(site: ReviewSite) -> None:
    made = site.campaign()
    item = site.item("ann")
    assert item is not None
    campaigns.close(site.database, made.campaign.id)
    assert site.item("ann") is None
    with pytest.raises(InputError, match="closed"):
        site.grade("ann", item.answers[0].id, "correct")
    campaigns.reopen(site.database, made.campaign.id)
    site.grade("ann", item.answers[0].id, "correct")
    assert len(site.grades()) == 1


def test_volunteers_get_more_without_a_chance(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=3)
    site.grade_item("ann")
    count = handing_on.volunteer(site.database, made.campaign.id, user("ann"), site.folder)
    assert count == 15
    extra = [one for one in given(site, made.campaign.id) if one.volunteer]
    assert len(extra) == 15
    assert {one.inclusion_probability for one in extra} == {None}
    with pytest.raises(InputError, match="not yours"):
        handing_on.volunteer(site.database, made.campaign.id, user("bob"), site.folder)


def test_asking_twice_at_once_gives_no_more_than_once(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=3)
    assert handing_on.volunteer(site.database, made.campaign.id, user("ann"), site.folder) == 0
    site.grade_item("ann")
    counts = [
        handing_on.volunteer(site.database, made.campaign.id, user("ann"), site.folder)
        for _ in range(2)
    ]
    assert counts == [15, 0]
    for _ in range(5):
        site.grade_item("ann")
    with pytest.raises(InputError, match="all there is"):
        handing_on.volunteer(site.database, made.campaign.id, user("ann"), site.folder)


def test_what_a_volunteer_has_is_not_asked_for_again_when_it_is_drawn(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=3)
    site.grade_item("ann")
    handing_on.volunteer(site.database, made.campaign.id, user("ann"), site.folder)
    for _ in range(2):
        site.grade_item("ann")
    typed = site.item("ann")
    assert typed is not None
    save_draft(site.database, user("ann"), typed.answers[0].id, Draft("half", ()))
    extend(site, made.campaign.id, None, Policy.ALL)
    found = [one for one in given(site, made.campaign.id) if one.withdrawn_at is None]
    assert len({one.answer_id for one in found}) == len(found) == 18
    assert {one.inclusion_probability for one in found} == {1.0}
    assert len([one for one in found if one.done_at is not None]) == 9
    item = site.item("ann")
    assert item is not None
    assert (item.counts.done, item.counts.open) == (9, 9)
    with site.database.read() as connection:
        drafts = drafts_of(connection, [one.id for one in found])
    assert list(drafts.values()) == [Draft("half", ())]
    for _ in range(3):
        site.grade_item("ann")
    assert site.item("ann") is None
    assert len(site.grades()) == 18


def test_an_extension_gives_nothing_to_who_cannot_sign_in_any_more(site: ReviewSite) -> None:
    made = site.campaign("ann", "bob", policy=Policy.RANDOM, budget=6)
    double = site.campaign("ann", "bob", policy=Policy.RANDOM, budget=6, overlap=2)
    disable_user(site.database, "bob")
    extend(site, made.campaign.id, 12)
    assert {one.reviewer for one in given(site, made.campaign.id) if one.draw == 2} == {"ann"}
    with pytest.raises(InputError, match="bob cannot sign in any more"):
        extend(site, double.campaign.id, 12)


def test_an_extension_is_checked_as_a_campaign_is(site: ReviewSite) -> None:
    made = site.campaign(policy=Policy.RANDOM, budget=6)
    with pytest.raises(InputError, match="needs --budget"):
        extend(site, made.campaign.id, None)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"overlap": 2}, "expected 1 to 1, the number of reviewers"),
        ({"attention": 0.5}, "expected a share from 0 to under 0.5"),
        ({"policy": Policy.RANDOM}, "needs --budget"),
        ({"budget": 3}, "--budget goes with"),
        ({"practice": -1}, "expected 0 or more"),
    ],
)
def test_what_cannot_be_meant_is_told(
    site: ReviewSite, plan: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        site.campaign(**plan)
    assert campaign_overviews(site.database) == []


def test_reviewers_must_be_able_to_sign_in(site: ReviewSite) -> None:
    with pytest.raises(InputError, match="no user 'anne'; did you mean ann"):
        site.campaign("anne")
    disable_user(site.database, "bob")
    with pytest.raises(InputError, match="bob is disabled"):
        site.campaign("bob")
    with pytest.raises(InputError, match="twice"):
        site.campaign("ann", "ann")
    with pytest.raises(NotFoundError, match="no run"):
        campaigns.make_campaign(
            site.database, "nothing", CampaignPlan(("ann",)), "lee", site.folder
        )


def test_numbers_that_a_database_cannot_hold_are_refused(site: ReviewSite) -> None:
    with pytest.raises(InputError, match="--seed 2147483648: expected"):
        site.campaign("ann", seed=2**31)
    with pytest.raises(InputError, match="--budget 2147483648: expected"):
        site.campaign("ann", policy=Policy.RANDOM, budget=2**31)


def test_the_order_of_a_queue_does_not_tell_whose_it_is(site: ReviewSite) -> None:
    """With seed and names, an exported order could be held against each name."""
    orders = []
    for reviewers in (("ann", "bob"), ("bob", "ann")):
        found = given(site, site.campaign(*reviewers, overlap=2).campaign.id)
        orders.append(
            [[one.answer_id for one in found if one.reviewer == name] for name in reviewers]
        )
    assert orders[0] == orders[1]
