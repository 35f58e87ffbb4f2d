"""One judge against people, on the answers that both have graded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from evalbot.auditing.gathering import NOT_GRADED, AuditedAnswer, Gathered
from evalbot.auditing.judged import Judged
from evalbot.auditing.speeds import Speeds
from evalbot.grading.effective import PANEL
from evalbot.stats.agreement import Agreement, Confusion, agreement, confusion
from evalbot.stats.alt_test import AltTest, alt_test
from evalbot.stats.bias import Effect, Leniency, fit_bias, leniency
from evalbot.stats.rates import NOT_GRADED as NOT_GRADED_REASON

V = TypeVar("V", str, float)

ONE_JUDGE = (
    "one judge alone cannot show self-preference: its own models may be graded harder by people "
    "than by anyone; a second judge of another family on the same answers would tell"
)
NO_CREDITS = "the scale has no credits"
NO_FAMILY_OF_PANEL = "a panel is of no family"
NO_FAMILY = "the judge's family is not known (judges: family, in evalbot.yaml)"


@dataclass(frozen=True, slots=True)
class ModelBias:
    """A judge's leniency to one model beside the model's speed.

    n: answers with both verdicts; answers: all of the model's. finishes: how its answers ended.
    Medians are over all its answers; length in characters.
    """

    model: str
    n: int
    leniency: Leniency | None
    answers: int
    decode_tps_p50: float | None
    ttfot_ms_p50: float | None
    median_length: float | None
    finishes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """difference: leniency to its own family minus to others; effect: with length controlled."""

    difference: float | None
    effect: Effect | None
    note: str


@dataclass(frozen=True, slots=True)
class JudgeAudit:
    """What people's grades show of one judge.

    n: answers with both verdicts. unscored: of those people graded, on which it gave none;
    stale: where its grade was made under another text. reasons: of what is None, by its name.
    """

    name: str
    family: str | None
    n: int
    unscored: int
    stale: int
    confusion: Confusion
    agreement: Agreement
    leniency: Leniency | None
    verbosity: Effect | None
    self_preference: SelfPreference
    by_model: tuple[ModelBias, ...]
    alt_test: AltTest
    reasons: Mapping[str, str]


def audit_judge(
    gathered: Gathered,
    name: str,
    pairs: Sequence[Judged],
    speeds: Speeds,
    *,
    epsilon: float,
    score: str,
) -> JudgeAudit:
    """One judge's audit; name: as in gathered.judges; pairs: of `judged_by`."""
    family = gathered.judges[name]
    labels = gathered.basis.rubric.verdicts
    credits_ = gathered.credits
    table = confusion([(one.human, one.judge) for one in pairs], labels)
    reasons: dict[str, str] = {}
    lenient = verbosity = None
    own_family = SelfPreference(None, None, NO_CREDITS)
    if None in credits_.values():
        reasons["leniency"] = reasons["verbosity"] = NO_CREDITS
    elif not pairs:
        reasons["leniency"] = reasons["verbosity"] = "no answer has both verdicts"
        own_family = SelfPreference(None, None, "no answer has both verdicts")
    else:
        known = {verdict: credit or 0.0 for verdict, credit in credits_.items()}
        lenient = _leniency(pairs, known)
        same = _is_own(gathered, family, pairs)
        fit = fit_bias(
            human=[one.human for one in pairs],
            judge=[known[one.judge] for one in pairs],
            human_credits=[known[one.human] for one in pairs],
            lengths=[float(one.answer.row.length) for one in pairs],
            same=same,
            clusters=[one.answer.cluster for one in pairs],
        )
        verbosity = fit.verbosity
        reasons |= fit.reasons
        own_family = SelfPreference(
            fit.difference, fit.self_preference, _note(gathered, name, family, same, fit.reasons)
        )
    return JudgeAudit(
        name=name,
        family=family,
        n=len(pairs),
        unscored=_count_silent(name, gathered.answers),
        stale=sum(answer.judges.get(name, NOT_GRADED).stale for answer in gathered.answers),
        confusion=table,
        agreement=agreement(table, [credits_[label] for label in labels]),
        leniency=lenient,
        verbosity=verbosity,
        self_preference=own_family,
        by_model=tuple(_by_model(gathered, pairs, speeds)),
        alt_test=_alt_test(gathered, name, epsilon, score),
        reasons=reasons,
    )


def default_score(gathered: Gathered) -> str:
    """The alt-test's score for this scale: by credits where it has them."""
    return "accuracy" if None in gathered.credits.values() else "neg_rmse"


def _leniency(pairs: Sequence[Judged], known: Mapping[str, float]) -> Leniency | None:
    return leniency(
        [known[one.human] for one in pairs],
        [known[one.judge] for one in pairs],
        [one.answer.cluster for one in pairs],
    )


def _count_silent(name: str, answers: Iterable[AuditedAnswer]) -> int:
    """Answers that people graded and on which the judge was asked, and gave no verdict."""
    count = 0
    for answer in answers:
        said = answer.judges.get(name, NOT_GRADED)
        asked = said.verdict is None and said.reason != NOT_GRADED_REASON and not said.stale
        count += asked and answer.truth.verdict is not None and not answer.truth.stale
    return count


def _is_own(gathered: Gathered, family: str | None, pairs: Sequence[Judged]) -> list[bool] | None:
    """Whether each answer is of the judge's family; None where that is not known of all."""
    families = _families(gathered)
    if family is None or any(families.get(one.answer.row.endpoint) is None for one in pairs):
        return None
    return [families[one.answer.row.endpoint] == family for one in pairs]


def _families(gathered: Gathered) -> dict[str, str | None]:
    return {one.name: one.family for run in gathered.runs for one in run.endpoints}


def _note(
    gathered: Gathered,
    name: str,
    family: str | None,
    same: Sequence[bool] | None,
    reasons: Mapping[str, str],
) -> str:
    if family is None:
        return NO_FAMILY_OF_PANEL if name == PANEL else NO_FAMILY
    if same is None:
        unknown = [name for name, own in _families(gathered).items() if own is None]
        return f"the family of {', '.join(unknown)} is not known (endpoints: family)"
    if all(same) or not any(same):
        which = "every" if all(same) else "no"
        return (
            f"{which} graded answer is of the judge's family ({family}); its own and others "
            "are needed"
        )
    others = {own for name, own in gathered.judges.items() if own is not None} - {family}
    note = reasons.get("self_preference", "")
    return note or ("" if others else ONE_JUDGE)


def _by_model(gathered: Gathered, pairs: Sequence[Judged], speeds: Speeds) -> Iterable[ModelBias]:
    credits_ = gathered.credits
    of_model: dict[str, list[Judged]] = defaultdict(list)
    for one in pairs:
        of_model[one.answer.row.endpoint].append(one)
    lengths: dict[str, list[int]] = defaultdict(list)
    finishes: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in gathered.answers:
        row = answer.row
        finishes[row.endpoint][row.finish_reason or row.status] += 1
        if row.length:
            lengths[row.endpoint].append(row.length)
    known = None
    if None not in credits_.values():
        known = {verdict: credit or 0.0 for verdict, credit in credits_.items()}
    for model in gathered.models:
        own = of_model[model]
        yield ModelBias(
            model=model,
            n=len(own),
            leniency=_leniency(own, known) if own and known is not None else None,
            answers=sum(finishes[model].values()),
            decode_tps_p50=speeds.decode_tps(model),
            ttfot_ms_p50=speeds.ttfot_ms(model),
            median_length=median(lengths[model]) if lengths[model] else None,
            finishes=dict(sorted(finishes[model].items())),
        )


def _alt_test(gathered: Gathered, name: str, epsilon: float, score: str) -> AltTest:
    """By single reviewers, not by their majority."""
    if score == "accuracy":
        words, word = _by_item(gathered, name, {one: one for one in gathered.credits})
        return alt_test(words, word, epsilon=epsilon, score=score)
    known = {verdict: _known(credit) for verdict, credit in gathered.credits.items()}
    credits_, credit = _by_item(gathered, name, known)
    return alt_test(credits_, credit, epsilon=epsilon, score=score)


def _by_item(
    gathered: Gathered, name: str, values: Mapping[str, V]
) -> tuple[dict[str, dict[str, V]], dict[str, V]]:
    """By reviewer and by answer, what each verdict stands for; the same of the judge."""
    humans: dict[str, dict[str, V]] = defaultdict(dict)
    judge: dict[str, V] = {}
    for answer in gathered.answers:
        said = answer.judges.get(name, NOT_GRADED)
        if said.verdict is None or said.stale:
            continue
        item = f"{answer.run}/{answer.row.id}"
        judge[item] = values[said.verdict]
        for person, verdict in answer.people.items():
            humans[person][item] = values[verdict]
    return humans, judge


def _known(credit: float | None) -> float:
    assert credit is not None, "a score by credits is refused for scales without"
    return credit
