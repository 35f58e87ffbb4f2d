"""Which models the data can tell apart: every pair on the same cases, and the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from evalbot.auditing.gathering import Gathered, gather, rules_of
from evalbot.auditing.pairs import NOISE, Pair, Side, letters_by_pairs, make_pair, with_holm
from evalbot.auditing.retesting import Changed, changed_answers, other_judges, same_questions
from evalbot.auditing.scores import Scores, rate_on_own_cases, scores_of
from evalbot.auditing.speeds import Speeds
from evalbot.domain.rubrics import Layer, RateRule, Rubric
from evalbot.errors import InputError, NotFoundError
from evalbot.formats.words import count
from evalbot.stats.ranks import rank_probabilities
from evalbot.store.database import Connection, Database

ONE_OR_TWO = "name one run, or two different ones of the same suite and models"
SEED = 1
"""Of the resamples behind the ranks."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs as the models stand in the run; by model, the probability of each rank.

    n: cases that all models have scored, on which the ranks rest. rates: on each one's own cases.
    in_documents: whether several cases are of one.
    """

    suite: str
    rubric: Rubric
    layer: Layer
    judge: str | None
    runs: tuple[str, ...]
    pairs: tuple[Pair, ...]
    changed: tuple[Changed, ...]
    ranks: Mapping[str, Sequence[float]]
    letters: Mapping[str, str]
    rates: Mapping[str, float | None]
    n: int
    in_documents: bool
    notes: tuple[str, ...] = ()


def compare(
    database: Database,
    run_ids: Sequence[str],
    folder: Path,
    layer: Layer = Layer.AUTO,
    judge: str | None = None,
) -> Comparison:
    """Compare the models of a run, or the same models in two runs.

    Raises InputError for other numbers of runs, or where there is nothing to compare.
    """
    if not 1 <= len(run_ids) <= 2:
        raise InputError(ONE_OR_TWO)
    if judge is not None and layer is not Layer.JUDGE:
        raise InputError("--judge goes with --layer judge")
    with database.read() as connection:
        parts = [gather(connection, [run], folder) for run in run_ids]
        if len({part.runs[0].id for part in parts}) != len(parts):
            raise InputError(ONE_OR_TWO)
        for part in parts:
            _refuse_unknown_judge(part, judge)
        if len(parts) == 1:
            return compare_models(parts[0], layer, judge)
        return _retest(connection, parts[0], parts[1], layer, judge)


def compare_models(gathered: Gathered, layer: Layer, judge: str | None = None) -> Comparison:
    """Every pair of models of one run, and the probability of each rank."""
    names, run = gathered.models, gathered.runs[0]
    if len(names) < 2:
        raise InputError(f"run {run.id} has one model; there is nothing to compare it with")
    rule = gathered.basis.rubric.rate
    scores = scores_of(gathered, layer, judge)
    speeds = Speeds(gathered.answers)
    sides = [Side(name, run.id, scores[name], speeds) for name in names]
    tests = len(sides) * (len(sides) - 1) // 2
    pairs = with_holm([make_pair(*two, rule, tests) for two in combinations(sides, 2)])
    cases = [case.key for case in gathered.basis.suite.cases]
    shared = [key for key in cases if all(key in scores[name].weights for name in names)]
    rates = {name: rate_on_own_cases(scores[name]) for name in names}
    lower = rule.direction == "lower"
    return Comparison(
        suite=run.suite.name,
        rubric=gathered.basis.rubric,
        layer=layer,
        judge=judge,
        runs=(run.id,),
        pairs=tuple(pairs),
        changed=(),
        ranks=_ranks(names, scores, shared, lower),
        letters=letters_by_pairs(scores, rule),
        rates=rates,
        n=len(shared),
        in_documents=_in_documents(scores),
        notes=(
            *_notes(gathered, scores, len(shared)),
            *_turned_round(pairs, rates, gathered.basis.rubric.rate),
        ),
    )


def _in_documents(scores: Mapping[str, Scores]) -> bool:
    return any(
        len({own.clusters[case] for case in own.weights}) < len(own.weights)
        for own in scores.values()
    )


def _turned_round(
    pairs: Sequence[Pair], rates: Mapping[str, float | None], rule: RateRule
) -> Iterator[str]:
    """Pairs told apart whose rates, over unlike cases, stand the other way round."""
    for pair in pairs:
        ahead = pair.ahead(rule)
        if not pair.separable or ahead is None:
            continue
        behind = pair.b if ahead == pair.a else pair.a
        own, other = rates[ahead], rates[behind]
        assert own is not None
        assert other is not None
        if (own - other) * (1 if rule.direction == "lower" else -1) > NOISE:
            yield (
                f"{ahead} is better than {behind} on the {count(pair.n, 'case')} that both have a "
                "verdict on, though not by its rate, which is over other cases, too"
            )


def _ranks(
    names: Sequence[str], scores: Mapping[str, Scores], shared: Sequence[str], lower: bool
) -> dict[str, Sequence[float]]:
    """By model, the probability of each rank, over the cases that all have; empty without any."""
    if not shared:
        return {}
    clusters = [scores[names[0]].clusters[case] for case in shared]
    ranks = rank_probabilities(
        [[scores[name].value(case) for case in shared] for name in names],
        lower_is_better=lower,
        seed=SEED,
        clusters=clusters if len(set(clusters)) < len(clusters) else None,
    )
    return dict(zip(names, ranks, strict=True))


def _retest(
    connection: Connection, before: Gathered, after: Gathered, layer: Layer, judge: str | None
) -> Comparison:
    runs = before.runs[0], after.runs[0]
    if runs[0].suite.name != runs[1].suite.name:
        raise InputError(
            f"run {runs[0].id} is of suite {runs[0].suite.name}, run {runs[1].id} of "
            f"{runs[1].suite.name}; a retest asks the same suite"
        )
    both = [name for name in before.models if name in after.models]
    if not both:
        raise InputError(
            f"runs {runs[0].id} and {runs[1].id} have no model in common; a retest is of the "
            "same models"
        )
    if rules_of(before.basis.rubric) != rules_of(after.basis.rubric):
        raise InputError(
            f"runs {runs[0].id} and {runs[1].id} are graded by two rubric texts: their verdicts or "
            "rates are of two kinds"
        )
    same = same_questions(before, after)
    rule = before.basis.rubric.rate
    sides = [
        {
            name: Side(name, part.runs[0].id, own.only(same), speeds)
            for speeds in [Speeds(part.answers)]
            for name, own in scores_of(part, layer, judge).items()
        }
        for part in (before, after)
    ]
    pairs = [make_pair(sides[0][name], sides[1][name], rule, len(both)) for name in both]
    left_out = len({*runs[0].questions, *runs[1].questions}) - len(same)
    notes = list(dict.fromkeys(part.basis.note for part in (before, after) if part.basis.note))
    if left_out:
        notes.append(
            "left out, as not asked and graded by the same texts in both runs: "
            f"{count(left_out, 'case')}"
        )
    if layer is Layer.JUDGE and (told := other_judges(connection, before, after, judge)):
        notes.append(told)
    return Comparison(
        suite=runs[0].suite.name,
        rubric=before.basis.rubric,
        layer=layer,
        judge=judge,
        runs=(runs[0].id, runs[1].id),
        pairs=tuple(with_holm(pairs)),
        changed=tuple(changed_answers(connection, before, after, layer, judge)),
        ranks={},
        letters={},
        rates={},
        n=len(same),
        in_documents=any(_in_documents({one.model: one.scores}) for one in sides[0].values()),
        notes=tuple(notes),
    )


def _refuse_unknown_judge(gathered: Gathered, judge: str | None) -> None:
    if judge is not None and judge not in gathered.judges:
        there = ", ".join(gathered.judges)
        hint = f"there are: {there}" if there else "nothing was judged yet"
        raise NotFoundError(f"no judge {judge!r} has graded run {gathered.runs[0].id}; {hint}")


def _notes(gathered: Gathered, scores: Mapping[str, Scores], shared: int) -> tuple[str, ...]:
    notes = [] if gathered.basis.note is None else [gathered.basis.note]
    total = len(gathered.basis.suite.cases)
    if not shared:
        notes.append("no case has a verdict of every model: there are no ranks")
    elif shared < total:
        fewest = min(scores, key=lambda name: len(scores[name].weights))
        notes.append(
            f"ranks rest on the {shared} of {total} cases that every model has a verdict on "
            f"({fewest} has {len(scores[fewest].weights)}), each pair on those that both have"
        )
    return tuple(notes)
