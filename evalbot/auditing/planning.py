"""What further reviews would bring: widths to expect for a budget, and where they tell most."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evalbot.auditing.corrected import corrected_models, reviewed_of
from evalbot.auditing.gathering import NOT_GRADED, AuditedAnswer, Gathered, gather
from evalbot.auditing.sampled import sample_of
from evalbot.auditing.scores import judge_meant
from evalbot.domain.reviewing import Policy
from evalbot.errors import InputError, NotFoundError
from evalbot.grading.doubt import doubt
from evalbot.stats.expected import Judged, expect
from evalbot.stats.planning import PlannedWidth, StratumPlan, planned_width, stratum_plans
from evalbot.store.database import Database
from evalbot.store.grades import judge_entropies

POLICIES = (Policy.RANDOM, Policy.STRATIFIED, Policy.UNCERTAIN)
MOST_TELLING = 20


class TellingAnswer(NamedTuple):
    """An open answer; error: how far people are expected to be from the judge (root of the mean
    square, in the rate's weights)."""

    case: str
    model: str
    repeat: int
    verdict: str
    error: float


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One model. width: of its corrected rate today; None where there is no interval yet."""

    model: str
    judged: int
    reviewed: int
    width: float | None
    planned: Mapping[Policy, PlannedWidth]
    strata: tuple[StratumPlan, ...]


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """What a budget of so many more answers in all would bring, spread evenly over the models.

    differences: by policy, the width of the difference of two chosen models; empty without any.
    telling: the open answers on which a review is expected to change most, best first.
    """

    run: str
    suite: str
    judge: str
    rate_title: str
    budget: int
    models: tuple[ModelPlan, ...]
    compared: tuple[str, str] | None
    differences: Mapping[Policy, float | None]
    telling: tuple[TellingAnswer, ...]


def plan_reviews(
    database: Database,
    run_id: str,
    folder: Path,
    budget: int,
    judge: str | None = None,
    compared: Sequence[str] = (),
) -> ReviewPlan:
    """The plan for a run; compared: two models whose difference matters, or none.

    The budget goes to the compared models alone where there are any. Raises InputError where no
    judge has graded the run, for a budget under one, or for other than two known models.
    """
    if budget < 1:
        raise InputError(f"--budget {budget}: expected at least 1")
    with database.read() as connection:
        gathered = gather(connection, [run_id], folder)
        run = gathered.runs[0]
        name = _judge(gathered, judge)
        entropies = judge_entropies(connection, run.id)
        sample = sample_of(connection, run.id, {one.row.id: one.row for one in gathered.answers})
    models = _models(gathered, compared)
    corrected = {one.model: one.corrected for one in corrected_models(gathered, name, sample)}
    answers: dict[str, list[tuple[AuditedAnswer, Judged]]] = {model: [] for model in models}
    for answer in gathered.answers:
        if answer.row.endpoint in answers:
            judged = _judged(gathered, answer, name, entropies.get(answer.row.id))
            if judged is not None:
                answers[answer.row.endpoint].append((answer, judged))
    reviewed = {
        answer.row.id
        for own in answers.values()
        for answer in reviewed_of([answer for answer, _ in own], sample)
    }
    counted = {
        model: [
            judged if answer.row.id in reviewed else judged._replace(human=None)
            for answer, judged in own
        ]
        for model, own in answers.items()
    }
    open_ = {model: sum(one.human is None for one in own) for model, own in counted.items()}
    shares = _even(budget, open_)
    plans = []
    for model in models:
        own, known = counted[model], [judged for _, judged in answers[model]]
        now = corrected[model]
        width = None if now.low is None or now.high is None else now.high - now.low
        plans.append(
            ModelPlan(
                model=model,
                judged=len(own),
                reviewed=sum(one.human is not None for one in own),
                width=width,
                planned={
                    policy: planned_width(own, str(policy), shares[model], known)
                    for policy in POLICIES
                }
                if own
                else {},
                strata=tuple(stratum_plans(own, shares[model], known)) if own else (),
            )
        )
    return ReviewPlan(
        run=run.id,
        suite=run.suite.name,
        judge=name,
        rate_title=gathered.basis.rubric.rate.title,
        budget=sum(shares.values()),
        models=tuple(plans),
        compared=(models[0], models[1]) if compared else None,
        differences=_differences(plans) if compared else {},
        telling=_telling(answers),
    )


def _judge(gathered: Gathered, judge: str | None) -> str:
    if not gathered.judges:
        raise InputError(
            f"no judge has graded run {gathered.runs[0].id}: corrected rates need its grade on "
            "every answer; evalbot judge RUN makes them"
        )
    name = judge_meant(gathered, judge)
    if name not in gathered.judges:
        raise NotFoundError(
            f"no judge {name!r} has graded this run; there are: {', '.join(gathered.judges)}"
        )
    return name


def _models(gathered: Gathered, compared: Sequence[str]) -> tuple[str, ...]:
    if not compared:
        return gathered.models
    unknown = [name for name in compared if name not in gathered.models]
    if len(set(compared)) != 2 or unknown:
        raise InputError(
            f"--compare {','.join(compared)}: expected two models of the run, which has "
            f"{', '.join(gathered.models)}"
        )
    return tuple(compared)


def _judged(
    gathered: Gathered, answer: AuditedAnswer, judge: str, entropy: float | None
) -> Judged | None:
    """An answer as planning sees it; None where the judge has no verdict on it."""
    said = answer.judges.get(judge, NOT_GRADED)
    if said.verdict is None or said.stale:
        return None
    weights = gathered.basis.rubric.rate.weights
    truth = answer.truth
    known = truth.verdict if not truth.stale else None
    auto = answer.auto.verdict if not answer.auto.stale else None
    return Judged(
        verdict=said.verdict,
        weight=weights[said.verdict],
        doubt=min(1.0, doubt(gathered.basis.rubric, auto, said.verdict, entropy)),
        human=None if known is None else weights[known],
        cluster=answer.cluster,
    )


def _even(budget: int, open_: Mapping[str, int]) -> dict[str, int]:
    """So many to each model, as `assign --layout single` draws, and none more than it has."""
    shares = dict.fromkeys(open_, 0)
    left = budget
    while left > 0:
        free = [name for name in open_ if shares[name] < open_[name]]
        if not free:
            break
        for name in free[:left]:
            shares[name] += 1
        left -= min(left, len(free))
    return shares


def _differences(plans: Sequence[ModelPlan]) -> dict[Policy, float | None]:
    """The two intervals are taken as independent: half widths add as squares."""
    found: dict[Policy, float | None] = {}
    for policy in POLICIES:
        widths = [plan.planned[policy].width for plan in plans if policy in plan.planned]
        known = [width for width in widths if width is not None]
        found[policy] = math.hypot(*known) if len(known) == len(plans) else None
    return found


def _telling(
    answers: Mapping[str, Sequence[tuple[AuditedAnswer, Judged]]],
) -> tuple[TellingAnswer, ...]:
    found = []
    for model, own in answers.items():
        if not own:
            continue
        expected = expect([judged for _, judged in own])
        squares: dict[tuple[str, float], float] = defaultdict(float)
        for answer, judged in own:
            if judged.human is not None:
                continue
            key = judged.verdict, judged.doubt
            if key not in squares:
                likely = expected.of(judged)
                squares[key] = math.fsum(share * gap * gap for gap, share in likely.items())
            row = answer.row
            error = math.sqrt(squares[key])
            found.append(TellingAnswer(row.case, model, row.repeat, judged.verdict, error))
    found.sort(key=lambda one: -one.error)
    return tuple(found[:MOST_TELLING])
