"""What each model got in a layer, by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from evalbot.auditing.gathering import Gathered
from evalbot.domain.rubrics import Layer
from evalbot.grading.effective import PANEL


class Scores(NamedTuple):
    """What a model got: by case, the weights of its scored repeats; and each case's cluster."""

    weights: Mapping[str, Sequence[float]]
    clusters: Mapping[str, str]

    def value(self, case: str) -> float:
        """The case's value: the mean over its scored repeats."""
        return fmean(self.weights[case])

    def only(self, cases: frozenset[str]) -> Scores:
        """The same of these cases alone."""
        return Scores(
            {key: own for key, own in self.weights.items() if key in cases}, self.clusters
        )


def scores_of(gathered: Gathered, layer: Layer, judge: str | None = None) -> dict[str, Scores]:
    """By model, the weights of its scored cases in this layer."""
    rule = gathered.basis.rubric.rate.weights
    name = judge_meant(gathered, judge)
    weights: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    clusters: dict[str, str] = {}
    for answer in gathered.answers:
        said = answer.word(layer, name)
        if said.verdict is not None and not said.stale:
            weights[answer.row.endpoint][answer.row.case].append(rule[said.verdict])
            clusters[answer.row.case] = answer.cluster
    return {model: Scores(weights[model], clusters) for model in gathered.models}


def judge_meant(gathered: Gathered, judge: str | None) -> str:
    """The judge of the judge layer: the one asked for, else the panel, else the only one."""
    return usual_judge(gathered.judges) if judge is None else judge


def usual_judge(judges: Iterable[str]) -> str:
    """The panel, else the first one."""
    found = list(judges)
    return PANEL if PANEL in found else next(iter(found), PANEL)


def rate_on_own_cases(scores: Scores) -> float | None:
    """The mean over the model's scored cases."""
    return fmean(scores.value(case) for case in scores.weights) if scores.weights else None
