"""Whatever a record can hold of reviews is read back from its line."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import Place
from evalbot.domain.cases import Case
from evalbot.domain.json_form import case_to_json, rubric_to_json, suite_to_json
from evalbot.domain.reviewing import (
    Assignment,
    Campaign,
    CampaignPlan,
    Draw,
    Held,
    KnownGrade,
    Layout,
    Policy,
    Purpose,
)
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.problems import Problems
from evalbot.transfer.assignment_lines import AssignmentRecord, assignment_line
from evalbot.transfer.assignment_reading import AssignmentReader
from evalbot.transfer.campaign_lines import (
    CampaignReader,
    CampaignRecord,
    DrawRecord,
    campaign_line,
)
from evalbot.transfer.head import Head
from evalbot.transfer.held_lines import HeldReader, HeldRecord, held_line
from evalbot.transfer.lines import Line
from evalbot.transfer.reading import Whereabouts
from evalbot.transfer.review_texts import rule_of_people, texts_in_files

from .rich_run import START
from .site import WEIGHTS, make_rubric, make_suite

SUITE = make_suite(Case(key="q1", prompt="one"), Case(key=" q2", prompt="two"))
RUBRIC = make_rubric()
RUN = Run(
    "run", SUITE, RUBRIC, {"q1": "f", " q2": "f"}, RunState.FINISHED, 2, START,
    endpoints=(RunEndpoint("m", {}, "f"), RunEndpoint("東 京", {}, "f")),
)  # fmt: skip
HEAD = Head(RUN, names=False)
TEXTS = texts_in_files(SUITE, RUBRIC)
ANSWERS = [
    Whereabouts(Place(case, model, repeat), attempt)
    for case in RUN.questions
    for model in ("m", "東 京")
    for repeat in (1, 2)
    for attempt in (1, 2)
]

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
names = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1)
moments = st.datetimes(START.replace(tzinfo=None), timezones=st.just(UTC))
shares = st.floats(0, 1)
whole = st.integers(1, 2**31 - 1)
seeds = st.integers(-(2**31) + 1, 2**31 - 1)

plans = st.builds(
    CampaignPlan,
    reviewers=st.lists(names, min_size=1, max_size=4, unique=True).map(tuple),
    policy=st.sampled_from(Policy),
    budget=st.none() | whole,
    attention=shares,
    practice=st.integers(0, 9),
    seed=seeds,
    layout=st.sampled_from(Layout),
    reveal_judge=st.booleans(),
)


@st.composite
def campaigns(draw: st.DrawFn) -> CampaignRecord:
    """A campaign of RUN with one to three draws."""
    plan = draw(plans)
    units = ANSWERS if plan.layout is Layout.SINGLE else list(RUN.questions)
    campaign = Campaign(
        id=draw(st.from_regex(r"[0-9a-f]{8}", fullmatch=True)),
        run=RUN.id,
        plan=plan,
        suite_text=fingerprint(suite_to_json(SUITE)),
        rubric_text=fingerprint(rubric_to_json(RUBRIC)),
        rubric_rule=rule_of_people(RUBRIC),
        created_by=draw(names),
        created_at=draw(moments),
        closed_at=draw(st.none() | moments),
    )
    draws = [
        DrawRecord(
            Draw(
                campaign=campaign.id,
                number=number,
                policy=draw(st.sampled_from(Policy)),
                seed=draw(seeds),
                budget=draw(st.none() | whole),
                chances={},
                by=draw(names),
                at=draw(moments),
            ),
            draw(st.dictionaries(st.sampled_from(units), shares)),
        )
        for number in range(1, draw(st.integers(1, 3)) + 1)
    ]
    return CampaignRecord(campaign, tuple(draws))


@st.composite
def known_grades(draw: st.DrawFn) -> KnownGrade:
    """What was said of a known answer."""
    verdict = draw(st.none() | st.sampled_from(sorted(WEIGHTS)))
    return KnownGrade(
        assignment="",
        verdict=verdict,
        unscored_reason=None if verdict else draw(st.sampled_from(["cannot_judge", "not_graded"])),
        comment=draw(st.none() | texts),
        checkpoints=draw(
            st.none()
            | st.lists(st.fixed_dictionaries({"id": texts, "met": st.booleans()}), max_size=2)
        ),
        at=draw(moments),
        token="",
    )


@st.composite
def assignments(draw: st.DrawFn, campaign: CampaignRecord) -> AssignmentRecord:
    """An assignment of this campaign."""
    purpose = draw(st.sampled_from(Purpose))
    is_review = purpose is Purpose.REVIEW
    is_planted = not is_review and draw(st.booleans())
    answer = None if is_planted else draw(st.sampled_from(ANSWERS))
    key = draw(st.sampled_from(list(RUN.questions))) if answer is None else answer.place.case
    case = next(one for one in SUITE.cases if one.key == key)
    item = draw(st.integers(0, 2**31 - 2))
    assignment = Assignment(
        id="",
        campaign=campaign.campaign.id,
        draw=draw(st.integers(1, len(campaign.draws))),
        reviewer=draw(names),
        item=-item - 1 if purpose is Purpose.PRACTICE else item,
        position=draw(st.integers(0, 2**31 - 1)),
        case=key,
        case_text=fingerprint(case_to_json(case)),
        case_rule=SUITE.grading_fingerprint(case),
        purpose=purpose,
        made_at=draw(moments),
        planted=draw(texts) if is_planted else None,
        known=None if is_review else draw(st.sampled_from(sorted(WEIGHTS))),
        draw_probability=draw(st.none() | shares),
        inclusion_probability=draw(st.none() | shares),
        stratum=draw(st.none() | texts),
        volunteer=draw(st.booleans()),
        withdrawn_at=draw(st.none() | moments),
        done_at=draw(st.none() | moments),
    )
    said = () if is_review else draw(st.lists(known_grades(), max_size=2).map(tuple))
    return AssignmentRecord(assignment, answer, said)


def as_text(*lines: Line) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@given(record=campaigns())
def test_any_campaign_is_read_back(record: CampaignRecord) -> None:
    problems = Problems()
    reader = CampaignReader(HEAD, frozenset(ANSWERS), TEXTS, problems)
    line = campaign_line(record) | {"texts": []}
    found = reader.campaigns(as_text(line), "campaigns.jsonl")
    problems.raise_if_any()
    assert found == {record.campaign.id: record}
    assert [as_text(campaign_line(one) | {"texts": []}) for one in found.values()] == [
        as_text(line)
    ]


@given(data=st.data(), campaign=campaigns())
def test_any_assignment_is_read_back(data: st.DataObject, campaign: CampaignRecord) -> None:
    drawn = data.draw(st.lists(assignments(campaign), max_size=4))
    unique = list({record.place: record for record in drawn}.values())
    problems = Problems()
    known = {campaign.campaign.id: campaign}
    reader = AssignmentReader(HEAD, frozenset(ANSWERS), known, TEXTS, problems)
    text = as_text(*(assignment_line(one, campaign) for one in unique))
    found = reader.assignments(text, "assignments.jsonl")
    problems.raise_if_any()
    assert found == unique


@given(
    answer=st.sampled_from(ANSWERS),
    names_found=st.lists(names, min_size=1).map(tuple),
    decision=st.sampled_from([None, "released", "masked"]),
    shown=texts,
    by=names,
    at=moments,
)
def test_any_held_answer_is_read_back(
    answer: Whereabouts,
    names_found: tuple[str, ...],
    decision: str | None,
    shown: str,
    by: str,
    at: datetime,
) -> None:
    held = Held(0, names_found)
    if decision is not None:
        text = shown if decision == "masked" else None
        held = held._replace(decision=decision, shown=text, by=by, at=at)
    problems = Problems()
    record = HeldRecord(held, answer)
    reader = HeldReader(HEAD, frozenset(ANSWERS), problems)
    assert reader.held(as_text(held_line(record)), "held.jsonl") == [record]
    problems.raise_if_any()


@given(junk=st.recursive(st.none() | st.booleans() | st.integers() | texts, st.lists, max_leaves=3))
def test_no_value_in_any_field_breaks_the_reader(junk: object) -> None:
    """What is wrong is told, whatever stands there."""
    case = SUITE.cases[0]
    plan = CampaignPlan(("ann",))
    rubric, suite = fingerprint(rubric_to_json(RUBRIC)), fingerprint(suite_to_json(SUITE))
    campaign = Campaign("c", RUN.id, plan, suite, rubric, rule_of_people(RUBRIC), "lee", START)
    draw = DrawRecord(Draw("c", 1, Policy.ALL, 1, None, {}, "lee", START), {"q1": 1.0})
    record = CampaignRecord(campaign, (draw,))
    text, rule = fingerprint(case_to_json(case)), SUITE.grading_fingerprint(case)
    one = Assignment("", "c", 1, "ann", 0, 0, "q1", text, rule, Purpose.REVIEW, START)
    line = assignment_line(AssignmentRecord(one, ANSWERS[0]), record)
    for name in line:
        reader = AssignmentReader(HEAD, frozenset(ANSWERS), {"c": record}, TEXTS, Problems())
        reader.assignments(as_text(line | {name: junk}), "assignments.jsonl")
    whole_line = campaign_line(record) | {"texts": []}
    for name in whole_line:
        texts_now = replace(TEXTS)
        campaign_reader = CampaignReader(HEAD, frozenset(ANSWERS), texts_now, Problems())
        campaign_reader.campaigns(as_text(whole_line | {name: junk}), "campaigns.jsonl")
