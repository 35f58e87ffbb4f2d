"""The rate people would give: a judge's rate over all answers, corrected by reviews of some.

Rate of the judge + mean difference (human − judge) of the reviewed answers. The judge's own errors
cancel out, whatever they are, as long as what was reviewed was drawn by known chances. Overwriting
the judge only where a person looked would leave its errors in all the rest (docs/statistics.md).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalbot.stats.difference import Difference, Stratum, of_random, of_strata, of_weighted
from evalbot.stats.wilson import Interval, design_effect, names_of_clusters, wilson

DESIGNS = ("random", "stratified", "uncertain")
ENOUGH_LABELS = 10
TOO_FEW_LABELS = "too few labels"
TOO_FEW_DISAGREEMENTS = "too few disagreements"
NO_LABELS = "no labels"


class Label(NamedTuple):
    """One reviewed answer.

    judge, human: weights in the rate, in [0, 1]. probability: its chance of having been drawn.
    cluster: answers of one cluster are not independent; "" is on its own.
    """

    judge: float
    human: float
    probability: float
    stratum: str | None = None
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected rate beside the rate of the reviewed answers alone.

    rate None: refused, reason says why. low, high None: no interval, reason says why.
    human_rate: of the reviewed answers, each weighed by 1/probability (random, or all of them: the
    plain mean);
    human_low, human_high: its own Wilson interval. interval: how low and high were found:
    mover, t, mover-stratified, t-stratified, ipw or census.
    """

    rate: float | None
    low: float | None
    high: float | None
    human_rate: float | None
    human_low: float | None
    human_high: float | None
    human_n: int
    interval: str | None
    reason: str | None


def corrected_rate(judge: Sequence[float], labels: Sequence[Label], design: str) -> Corrected:
    """The human rate of these answers, with a 95 % interval where one can be trusted.

    judge: the judge's weights of all judged answers of one model. labels: the reviewed ones
    among them. design: how they were drawn. "random": with equal chances, so that the chances
    are not looked at; "stratified": with equal chances inside each stratum; "uncertain": by a
    coin each. Raises ValueError for another design, or more labels than answers.
    """
    if design not in DESIGNS:
        raise ValueError(f"design {design!r}: one of {', '.join(DESIGNS)}")
    n, population = len(labels), len(judge)
    if n > population:
        raise ValueError(f"{n} labels of {population} answers")
    if not labels:
        return Corrected(None, None, None, None, None, None, 0, None, NO_LABELS)
    # Where everything is known, however it was drawn, nothing is left to weigh.
    human_rate, human = _human_rate(labels, "random" if n == population else design)
    if n == population:
        rate, found = math.fsum(label.human for label in labels) / n, None
    else:
        found = _difference(labels, population, design)
        rate = math.fsum(judge) / population + found.reach.mean
    # What no rate can be is moved, with its bounds, to the nearest that one can.
    rate = _clipped(rate)
    low: float | None = None
    high: float | None = None
    interval = reason = None
    if n < ENOUGH_LABELS:
        reason = TOO_FEW_LABELS
    elif found is None:
        low, high, interval = rate, rate, "census"
    elif found.interval is None:
        reason = TOO_FEW_DISAGREEMENTS
    else:
        low, high = _clipped(rate - found.reach.below), _clipped(rate + found.reach.above)
        interval = found.interval
    return Corrected(
        rate=rate,
        low=low,
        high=high,
        human_rate=human_rate,
        human_low=human.low,
        human_high=human.high,
        human_n=n,
        interval=interval,
        reason=reason,
    )


def agrees_less_than_chance(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether Cohen's kappa of (human, judge) verdicts is below 0; False where it is undefined."""
    n = len(pairs)
    humans, judges = Counter(human for human, _ in pairs), Counter(judge for _, judge in pairs)
    agreed = sum(human == judge for human, judge in pairs)
    by_chance = sum(count * judges[verdict] for verdict, count in humans.items())
    return agreed * n < by_chance


def _difference(labels: Sequence[Label], population: int, design: str) -> Difference:
    # Rounded, since 1 − 0.9 and 0.1 are one difference.
    differences = [round(label.human - label.judge, 12) for label in labels]
    clusters = _clusters(labels)
    if design == "random":
        effect = design_effect(differences, clusters)
        return of_random(Counter(differences), population, effect)
    if design == "uncertain":
        chances = [label.probability for label in labels]
        effect = design_effect([d / p for d, p in zip(differences, chances, strict=True)], clusters)
        return of_weighted(Counter(zip(differences, chances, strict=True)), population, effect)
    by_stratum: dict[str | None, list[int]] = defaultdict(list)
    for number, label in enumerate(labels):
        by_stratum[label.stratum].append(number)
    sizes = [math.fsum(1 / labels[n].probability for n in part) for part in by_stratum.values()]
    # Where a campaign was stopped on its way, a stratum's labels stand for less than all of it.
    scale = population / math.fsum(sizes)
    rest = list(differences)
    for part in by_stratum.values():
        mean = math.fsum(differences[number] for number in part) / len(part)
        for number in part:
            rest[number] = differences[number] - mean
    strata = [
        Stratum(Counter(differences[number] for number in part), size * scale)
        for part, size in zip(by_stratum.values(), sizes, strict=True)
    ]
    return of_strata(strata, design_effect(rest, clusters))


def _human_rate(labels: Sequence[Label], design: str) -> tuple[float, Interval]:
    """Wilson at the effective size (sum of weights)²/(sum of squares), less what clusters cost."""
    weights = [1.0 if design == "random" else 1 / label.probability for label in labels]
    total = math.fsum(weights)
    weighed = math.fsum(w * label.human for w, label in zip(weights, labels, strict=True))
    rate = weighed / total
    size = total**2 / math.fsum(weight**2 for weight in weights)
    size /= design_effect([label.human for label in labels], _clusters(labels))
    interval = wilson(rate * size, size)
    assert interval is not None
    return rate, interval


def _clusters(labels: Sequence[Label]) -> list[str]:
    return names_of_clusters([one.cluster for one in labels])


def _clipped(rate: float) -> float:
    return min(1.0, max(0.0, rate))
