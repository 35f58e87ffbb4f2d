"""In what a judge leans: leniency, longer answers, its own family, the place of an answer.

All over answers that people graded too: what people grade higher is no bias (statistics.md, e).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from evalbot.stats.regression import Coefficients, Effect, fit, varies
from evalbot.stats.tails import sign_test, t_quantile

__all__ = ["BiasFit", "Effect", "Leniency", "Position", "fit_bias", "leniency", "position"]

NOISE = 1e-9
"""Credits this close are equal."""


@dataclass(frozen=True, slots=True)
class Leniency:
    """mean of judge − human over n answers, in credits, with a 95 % t interval.

    over, under: how many the judge graded higher and lower, whose cancelling the mean hides;
    p: exact sign test of these. low, high: None without spread, or with one answer or cluster.
    """

    n: int
    mean: float
    low: float | None
    high: float | None
    over: int
    under: int
    p: float
    mean_absolute: float


def leniency(
    human: Sequence[float], judge: Sequence[float], clusters: Sequence[str] | None = None
) -> Leniency | None:
    """Credits of the same answers; None of none. clusters: what several answers belong to.

    The interval is cluster-robust with C/(C − 1) and t of C − 1 degrees of freedom, which is
    the usual one where each answer stands alone.
    """
    differences = [j - h for h, j in zip(human, judge, strict=True)]
    n = len(differences)
    if not n:
        return None
    mean = math.fsum(differences) / n
    sums: dict[str, float] = defaultdict(float)
    for name, one in zip(clusters or map(str, range(n)), differences, strict=True):
        sums[name] += one - mean
    count, low, high = len(sums), None, None
    spread = math.sqrt(math.fsum(one * one for one in sums.values()))
    if count > 1 and spread > NOISE:
        reach = t_quantile(0.975, count - 1) * math.sqrt(count / (count - 1)) * spread / n
        low, high = mean - reach, mean + reach
    over = sum(one > NOISE for one in differences)
    under = sum(one < -NOISE for one in differences)
    absolute = math.fsum(map(abs, differences)) / n
    return Leniency(n, mean, low, high, over, under, sign_test(over, under), absolute)


@dataclass(frozen=True, slots=True)
class BiasFit:
    """verbosity: credits that an answer gains by being twice as long. self_preference: credits
    that one of the judge's own family gains, length being equal. difference: the same without
    regard to length, mean(judge − human) of its own less that of the others.

    None where it cannot be told, with the reason under its name.
    """

    n: int
    verbosity: Effect | None
    self_preference: Effect | None
    difference: float | None
    reasons: Mapping[str, str] = field(default_factory=dict)


def fit_bias(
    human: Sequence[str],
    judge: Sequence[float],
    human_credits: Sequence[float],
    lengths: Sequence[float],
    same: Sequence[bool] | None,
    clusters: Sequence[str] | None,
) -> BiasFit:
    """The judge's credit on the human verdict, ln(length/median) and `same`, all at once.

    human: verdicts; judge, human_credits: credits; lengths: in characters, 0 counts as 1; same:
    whether the answer's model is of the judge's family; clusters: the case of each answer, for
    errors where a case has several answers. A regressor that does not vary is left out.
    """
    n = len(human)
    middle = median(max(1.0, one) for one in lengths) if n else 1.0
    length = [math.log(max(1.0, one) / middle) for one in lengths]
    family = [float(one) for one in same or ()]
    reasons: dict[str, str] = {}
    difference = _difference(judge, human_credits, family)
    if difference is None:
        reasons["difference"] = "needs answers of the judge's family and of others"
    regressors: dict[str, list[float]] = {}
    if varies(length, human):
        regressors["verbosity"] = length
    else:
        reasons["verbosity"] = "answers with the same human verdict are all equally long"
    if difference is None:
        reasons["self_preference"] = reasons["difference"]
    elif varies(family, human):
        regressors["self_preference"] = family
    else:
        reasons["self_preference"] = (
            "no human verdict was given both to the judge's family and to others"
        )
    found: Coefficients | str = "needs answers"
    if regressors:
        found = fit(judge, list(regressors.values()), human, clusters)
    effects: dict[str, Effect] = {}
    for place, name in enumerate(regressors):
        if isinstance(found, str):
            reasons[name] = found
        else:
            effects[name] = found.effect(place, math.log(2) if name == "verbosity" else 1.0)
    return BiasFit(
        n=n,
        verbosity=effects.get("verbosity"),
        self_preference=effects.get("self_preference"),
        difference=difference,
        reasons=reasons,
    )


def _difference(
    judge: Sequence[float], human: Sequence[float], family: Sequence[float]
) -> float | None:
    if len(set(family)) < 2:
        return None
    means = []
    for which in (1.0, 0.0):
        own = [j - h for j, h, one in zip(judge, human, family, strict=True) if one == which]
        means.append(math.fsum(own) / len(own))
    return means[0] - means[1]


@dataclass(frozen=True, slots=True)
class Position:
    """Of n pairs judged in both orders: shares with the same winner, the first, the second.

    bias: first − second; p: exact test of these two being equally likely. None of nothing.
    """

    n: int
    consistency: float | None
    first: float | None
    second: float | None
    bias: float | None
    p: float | None


def position(same: int, first: int, second: int) -> Position:
    """same: pairs with the same winner in both orders; first, second: whatever stood there won."""
    n = same + first + second
    if not n:
        return Position(0, None, None, None, None, None)
    p = sign_test(first, second) if first + second else None
    return Position(n, same / n, first / n, second / n, (first - second) / n, p)
