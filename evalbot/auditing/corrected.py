"""The rate that people would give to all answers: the judge's, corrected by a drawn sample."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalbot.auditing.gathering import NOT_GRADED, AuditedAnswer, Gathered
from evalbot.auditing.judged import judged_by
from evalbot.auditing.sampled import Sample
from evalbot.domain.reviewing import Policy
from evalbot.fingerprint import fingerprint
from evalbot.stats.correction import Corrected, Label, agrees_less_than_chance, corrected_rate
from evalbot.stats.rates import NOT_GRADED as NOT_GRADED_REASON
from evalbot.stats.wilson import Interval, wilson_of

TIE, CANNOT = "tie", "cannot_judge"
REVIEW = "evalbot assign RUN --policy random --budget N draws a review whose chances are known"


@dataclass(frozen=True, slots=True)
class CorrectedModel:
    """One model's rates side by side. judged: answers the judge has a verdict on.

    judge_interval: of its rate alone, as if its verdicts were the truth. sample: a fingerprint of
    which answers were reviewed.

    policy: how the reviewed ones were drawn, `+` between several; None where they were not.
    """

    model: str
    judged: int
    judge_rate: float | None
    judge_interval: Interval | None
    corrected: Corrected
    policy: str | None
    sample: str | None = None
    notes: tuple[str, ...] = ()


def corrected_models(gathered: Gathered, judge: str, sample: Sample) -> list[CorrectedModel]:
    """Each model's corrected rate, or in words why there is none; judge: as in gathered.judges."""
    refusal = _refusal(gathered, judge, sample)
    of_model: dict[str, list[AuditedAnswer]] = defaultdict(list)
    for answer in gathered.answers:
        of_model[answer.row.endpoint].append(answer)
    return [
        _model(gathered, judge, model, of_model[model], sample, refusal)
        for model in gathered.models
    ]


def _refusal(gathered: Gathered, judge: str, sample: Sample) -> str | None:
    """Why no model of the run can be corrected."""
    if judge not in gathered.judges:
        return "no judge has graded this run: there is nothing to correct; evalbot judge RUN does"
    if not any(answer.people for answer in gathered.answers):
        return f"nobody has graded this run; {REVIEW}"
    if not sample.drawn:
        return (
            "the reviewed answers were picked freely or imported, so that no chances are stored; "
            f"{REVIEW}"
        )
    pairs = [(one.human, one.judge) for one in judged_by(judge, gathered.answers)]
    if pairs and agrees_less_than_chance(pairs):
        return f"judge {judge} agrees with people less than chance does: it is no base to correct"
    return None


def _model(
    gathered: Gathered,
    judge: str,
    model: str,
    answers: Sequence[AuditedAnswer],
    sample: Sample,
    refusal: str | None,
) -> CorrectedModel:
    weights = gathered.basis.rubric.rate.weights
    judged = [answer for answer in answers if _word(answer, judge) is not None]
    values = [weights[_word(answer, judge) or ""] for answer in judged]
    base, around = _by_case(judged, values)
    policy = "+".join(sample.policies) or None
    refusal = refusal or _refusal_of(judge, answers, sample)
    if refusal is not None or base is None:
        reason = refusal or f"the judge has no verdict on any answer of {model}"
        refused = _refused(reason, len(reviewed_of(judged, sample)))
        return CorrectedModel(model, len(judged), base, around, refused, policy)
    drawn = [answer for answer in judged if answer.row.id in sample.drawn]
    reviewed = reviewed_of(drawn, sample)
    waiting = len(drawn) - len(reviewed)
    design = _design(judged, sample)
    if design == Policy.UNCERTAIN and waiting:
        reason = (
            f"{waiting} of {len(drawn)} drawn answers wait to be graded; an uncertain draw "
            "corrects when all of them are"
        )
        return CorrectedModel(
            model,
            len(judged),
            base,
            around,
            _refused(reason, len(reviewed)),
            "+".join(sample.policies),
        )
    labels = list(_labels(judge, weights, judged, drawn, reviewed, design, sample))
    return CorrectedModel(
        model=model,
        judged=len(judged),
        judge_rate=base,
        judge_interval=around,
        corrected=corrected_rate(values, labels, design),
        policy=policy,
        sample=fingerprint([[one.row.case, one.row.repeat] for one in reviewed]),
        notes=tuple(_notes(judge, model, answers, waiting)),
    )


def _notes(judge: str, model: str, answers: Sequence[AuditedAnswer], waiting: int) -> Iterator[str]:
    if waiting:
        yield f"{waiting} drawn answers of {model} wait to be graded"
    silent = sum(_word(one, judge) is None and one.row.status == "ok" for one in answers)
    if silent:
        yield (
            f"{judge} has no verdict on {silent} of {len(answers)} answers of {model}: its "
            "corrected rate is of the others, which may be the easier ones"
        )


def _by_case(
    judged: Sequence[AuditedAnswer], values: Sequence[float]
) -> tuple[float | None, Interval | None]:
    """The judge's rate as the judge layer has it: a case counts with the mean of its repeats."""
    cases: dict[str, list[float]] = defaultdict(list)
    clusters: dict[str, str] = {}
    for answer, value in zip(judged, values, strict=True):
        cases[answer.row.case].append(value)
        clusters[answer.row.case] = answer.cluster
    means = [math.fsum(own) / len(own) for own in cases.values()]
    rate = math.fsum(means) / len(means) if means else None
    return rate, wilson_of(means, list(clusters.values()))


def reviewed_of(answers: Sequence[AuditedAnswer], sample: Sample) -> list[AuditedAnswer]:
    """The drawn ones among these that people's verdict counts of.

    While some wait, only what the people it was drawn for have graded, which comes in random
    order: a volunteer, an import or a lead may have picked what seemed wrong.
    """
    drawn = [answer for answer in answers if answer.row.id in sample.drawn]
    known = [answer for answer in drawn if _truth(answer) is not None]
    if len(known) == len(drawn):
        return known
    return [answer for answer in known if answer.row.id in sample.graded]


def _refusal_of(judge: str, answers: Sequence[AuditedAnswer], sample: Sample) -> str | None:
    """Why this model cannot be corrected."""
    missing = sum(
        _word(answer, judge) is None
        and answer.judges.get(judge, NOT_GRADED).reason == NOT_GRADED_REASON
        and answer.row.status == "ok"
        for answer in answers
    )
    if missing:
        return (
            f"the judge has not graded {missing} of the {len(answers)} answers; corrected rates "
            "need its grade on every one (evalbot judge RUN)"
        )
    late = sum(
        _word(answer, judge) is not None and sample.chances[answer.row.id] == 0
        for answer in answers
    )
    if late:
        return (
            f"{late} answers could not have been drawn when the review was: they came later, or "
            "were of no use then; extend the campaign, so that they have a chance, too"
        )
    open_ = Counter(answer.truth.reason for answer in answers if answer.row.id in sample.graded)
    if open_[TIE] or open_[CANNOT]:
        return (
            f"of the drawn answers, {open_[TIE]} are tied among reviewers and {open_[CANNOT]} "
            "could not be judged; a lead decides these first (evalbot serve, Decide)"
        )
    return None


def _design(judged: Sequence[AuditedAnswer], sample: Sample) -> str:
    """How the sample is read: as it was drawn, or by its chances where there were several draws.

    Of equal chances, every sample of one size is as likely as another: a random one. So it is in a
    stratum whose answers have all the same chance, after an extension, too: that draws from what
    is left of the strata, unless the judge has moved answers between them since.
    """
    chances = {round(sample.chances[answer.row.id], 12) for answer in judged}
    if sample.policies == (Policy.STRATIFIED,) and sample.campaigns == 1:
        of_strata: dict[str | None, set[float]] = defaultdict(set)
        for answer in judged:
            if answer.row.id in sample.drawn:
                stratum = sample.drawn[answer.row.id]
                of_strata[stratum].add(round(sample.chances[answer.row.id], 12))
        known = {chance for own in of_strata.values() for chance in own}
        if chances <= known and all(len(own) == 1 for own in of_strata.values()):
            return str(Policy.STRATIFIED)
    return str(Policy.RANDOM if len(chances) == 1 else Policy.UNCERTAIN)


def _labels(
    judge: str,
    weights: Mapping[str, float],
    judged: Sequence[AuditedAnswer],
    drawn: Sequence[AuditedAnswer],
    reviewed: Sequence[AuditedAnswer],
    design: str,
    sample: Sample,
) -> Iterator[Label]:
    """What was graded, with its chance; a draw that stopped is a smaller one.

    Items come in random order, so that what is graded of a random draw, or of a stratum, is a
    random part of it.
    """
    drawn_in = Counter(sample.drawn[answer.row.id] for answer in drawn)
    graded_in = Counter(sample.drawn[answer.row.id] for answer in reviewed)
    for answer in reviewed:
        stratum = sample.drawn[answer.row.id]
        chance = sample.chances[answer.row.id]
        if design == Policy.RANDOM:
            chance = len(reviewed) / len(judged)
        elif design == Policy.STRATIFIED:
            chance *= graded_in[stratum] / drawn_in[stratum]
        yield Label(
            judge=weights[_word(answer, judge) or ""],
            human=weights[_truth(answer) or ""],
            probability=chance,
            stratum=stratum if design == Policy.STRATIFIED else None,
            cluster=answer.cluster,
        )


def _word(answer: AuditedAnswer, judge: str) -> str | None:
    said = answer.judges.get(judge, NOT_GRADED)
    return None if said.stale else said.verdict


def _truth(answer: AuditedAnswer) -> str | None:
    return None if answer.truth.stale else answer.truth.verdict


def _refused(reason: str, reviewed: int) -> Corrected:
    return Corrected(None, None, None, None, None, None, reviewed, None, reason)
