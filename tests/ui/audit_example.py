"""A record whose audit has something to show, with invented models, for the pictures."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evalbot.domain.answers import Timing
from evalbot.domain.probes import Probe
from evalbot.domain.reviewing import CampaignPlan, Layout, Policy
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.reviewing.campaigns import make_campaign
from evalbot.reviewing.desk import Desk
from evalbot.store.database import Database
from evalbot.store.probes import add_probes
from tests.building import add_grades, graded, record, said
from tests.people import add_people
from tests.reviewing.site import ReviewSite, user

MODELS = {"alpha-7b": (61.0, 0.55), "beta-14b": (34.0, 0.7), "delta-30b": (22.0, 0.8),
          "gamma-70b": (9.5, 0.9)}  # fmt: skip
FAMILIES = {"alpha-7b": "alpha", "beta-14b": "beta", "delta-30b": "alpha", "gamma-70b": "gamma"}
JUDGES = {"strong": "alpha", "second": "delta"}
RATIONALES = {
    "correct": "The sense is kept and the register fits.",
    "acceptable": "The sense is kept; one word is free.",
    "wrong": "The direction of the request is turned round.",
}


def example_record(database: Database, folder: Path) -> ReviewSite:
    """Two runs of one suite; the newer is judged twice and partly reviewed by a random draw."""
    started = datetime.now(UTC) - timedelta(hours=2)
    add_people(database, ann="reviewer", bob="reviewer", eva="reviewer", lee="lead")
    _one_run(database, folder, "translation-20261128-77c1d0", started - timedelta(days=2), 5)
    site, truth = _one_run(database, folder, "translation-20261130-3f9a1c", started, 6)
    plan = CampaignPlan(("ann", "bob", "eva"), policy=Policy.RANDOM, budget=120, overlap=2,
                        layout=Layout.SINGLE)  # fmt: skip
    make_campaign(database, site.run.id, plan, "lee", folder)
    chance = random.Random(9)
    for name in plan.reviewers:
        while (item := Desk(database).view(user(name)).item) is not None:
            for one in item.answers:
                right = truth[item.case.key, one.text]
                verdict = right if chance.random() < 0.9 else chance.choice(list(RATIONALES))
                site.grade(name, one.id, verdict)
    _probe(database, site, chance)
    return site


def _one_run(
    database: Database, folder: Path, name: str, started: datetime, seed: int
) -> tuple[ReviewSite, Mapping[tuple[str, str], str]]:
    chance = random.Random(seed)
    suite = read_suite(find_suite("translation", folder))
    suite = replace(suite, cases=suite.cases[:60])
    run = Run(
        id=name,
        suite=suite,
        rubric=read_rubric(find_rubric(suite.rubric, folder)),
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=1,
        started_at=started,
        finished_at=started + timedelta(minutes=9),
        endpoints=tuple(
            RunEndpoint(model, {}, fingerprint(model), family=FAMILIES[model]) for model in MODELS
        ),
        version="0.1.0",
    )
    answers, right, truth = [], [], {}
    for case in suite.cases:
        for model, (speed, skill) in MODELS.items():
            verdict = "correct" if chance.random() < skill else chance.choice(
                ["acceptable", "wrong"])  # fmt: skip
            near = case.references[0][:-1] + "吧。" * (verdict == "acceptable")
            text = {"correct": case.references[0], "acceptable": near}.get(
                verdict, case.traps[0] if case.traps else case.references[0][::-1]
            ) + "！" * list(MODELS).index(model)
            timing = Timing(
                ttfot_ms=90 + 900 / speed, total_ms=9000 / speed,
                decode_tps=speed * chance.uniform(0.9, 1.1), source="server",
            )  # fmt: skip
            answers.append(said(case.key, model, text, timing=timing))
            right.append(verdict)
            truth[case.key, text] = verdict
    ids = record(database, run, answers)
    grades = []
    for judge, family in JUDGES.items():
        for answer, one, verdict in zip(ids, answers, right, strict=True):
            lenient = judge == "strong" and FAMILIES[one.place.endpoint] == family
            grades.append((answer, _judged(run, judge, one.place.case, verdict, lenient, chance)))
    add_grades(database, run, grades)
    places = [(one.place.case, one.place.endpoint) for one in answers]
    return ReviewSite(database, folder, run, dict(zip(places, ids, strict=True))), truth


def _judged(
    run: Run, judge: str, case: str, right: str, lenient: bool, chance: random.Random
) -> NewGrade:
    verdict = right
    if chance.random() < 0.12:
        verdict = chance.choice(list(RATIONALES))
    if lenient and chance.random() < 0.4:
        verdict = {"wrong": "acceptable", "acceptable": "correct"}.get(verdict, verdict)
    grade = graded(run, Layer.JUDGE, judge, case, verdict)
    return grade._replace(rationale=RATIONALES[verdict], grader_family=JUDGES[judge])


def _probe(database: Database, site: ReviewSite, chance: random.Random) -> None:
    """The same call again, and the answer lengthened."""
    probes = []
    for number, ((case, _), answer) in enumerate(list(site.answers.items())[:60]):
        for kind, moved in (("repeat", 0.05), ("lengthen", 0.15)):
            before = "acceptable" if number % 3 else "wrong"
            after = "correct" if chance.random() < moved else before
            probes.append(
                Probe(
                    "strong", kind, case, answer, None, before, after, None,
                    site.run.rubric.fingerprint_for(Layer.JUDGE), {}, None, None, None,
                    f"{kind}{number}", site.run.started_at,
                )
            )  # fmt: skip
    with database.write() as connection:
        add_probes(connection, site.run.id, probes)
