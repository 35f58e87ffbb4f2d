"""Two models, or one in two runs, on the same cases: can the data tell them apart?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from evalbot.auditing.scores import Scores, rate_on_own_cases
from evalbot.auditing.speeds import Speeds
from evalbot.domain.rubrics import RateRule
from evalbot.stats.letters import letters
from evalbot.stats.paired import SignFlip, cases_needed, holm, sign_flip
from evalbot.stats.swaps import lead_after_one_change, swap_after

ALPHA = 0.05

NOISE = 1e-9
"""Differences of means of the same credits in another order are no differences."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models on the cases that both have scored, or one model in two runs.

    difference: rate(a) − rate(b). p: of the exact sign-flip test, in words `method`; p_holm:
    adjusted for all pairs. wins: cases on which a is the better one. cases_needed: about how
    many in all would show a difference like this one; None where it shows already, is 0, or all
    cases are of one document.
    swap_after: the least number of changed verdicts that puts the one behind ahead.
    after_one: the lead that is left after the worst single change, in weights; below 0: swapped.
    decode_tps_difference, ttfot_ms_difference: of the medians, a − b; None where unknown.
    """

    a: str
    b: str
    n: int
    difference: float | None
    p: float | None
    p_holm: float | None
    method: str | None
    wins: int
    losses: int
    ties: int
    separable: bool
    cases_needed: int | None
    swap_after: int | None
    after_one: float | None
    run_a: str
    run_b: str
    decode_tps_difference: float | None
    ttfot_ms_difference: float | None

    def ahead(self, rule: RateRule) -> str | None:
        """Which of the two is better on the cases that both have; None where neither is."""
        better = -(self.difference or 0.0) if rule.direction == "lower" else self.difference or 0.0
        if abs(better) <= NOISE:
            return None
        return self.a if better > 0 else self.b


class Side(NamedTuple):
    """One of the two: a model of a run, what it got there, and how fast the run's models were."""

    model: str
    run: str
    scores: Scores
    speeds: Speeds


def make_pair(one: Side, other: Side, rule: RateRule, pairs: int = 1) -> Pair:
    """One pair, its p not yet adjusted; pairs: how many are compared."""
    lower = rule.direction == "lower"
    scale = sorted(set(rule.weights.values()))
    shared = [case for case in one.scores.weights if case in other.scores.weights]
    a = [one.scores.weights[case] for case in shared]
    b = [other.scores.weights[case] for case in shared]
    differences = [fmean(first) - fmean(second) for first, second in zip(a, b, strict=True)]
    apart = by_cluster(differences, [one.scores.clusters[case] for case in shared])
    better = [-difference if lower else difference for difference in differences]
    tested = sign_flip(apart)
    needed = cases_needed(apart, pairs)
    return Pair(
        a=one.model,
        b=other.model,
        n=len(shared),
        difference=fmean(differences) if shared else None,
        p=None if tested is None else tested.p,
        p_holm=None,
        method=None if tested is None else tested.method,
        wins=sum(difference > NOISE for difference in better),
        losses=sum(difference < -NOISE for difference in better),
        ties=sum(abs(difference) <= NOISE for difference in better),
        separable=False,
        # Of documents, and then as many cases as these hold on average.
        cases_needed=None if needed is None else -(-needed * len(shared) // len(apart)),
        swap_after=swap_after(a, b, scale, lower_is_better=lower) if shared else None,
        after_one=lead_after_one_change(a, b, scale, lower_is_better=lower) if shared else None,
        run_a=one.run,
        run_b=other.run,
        decode_tps_difference=_minus(
            one.speeds.decode_tps(one.model), other.speeds.decode_tps(other.model)
        ),
        ttfot_ms_difference=_minus(
            one.speeds.ttfot_ms(one.model), other.speeds.ttfot_ms(other.model)
        ),
    )


def with_holm(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with their p adjusted for all of them together."""
    tested = [pair for pair in pairs if pair.p is not None]
    adjusted = iter(holm([pair.p for pair in tested if pair.p is not None]))
    found = []
    for pair in pairs:
        if pair.p is None:
            found.append(pair)
            continue
        p_holm = next(adjusted)
        apart = p_holm <= ALPHA
        found.append(
            replace(
                pair,
                p_holm=p_holm,
                separable=apart,
                cases_needed=None if apart else pair.cases_needed,
            )
        )
    return found


def letters_by_pairs(scores: Mapping[str, Scores], rule: RateRule) -> dict[str, str]:
    """By model, best first, the letters that it shares with those it cannot be told from."""
    rated = {name: own for name, own in scores.items() if own.weights}
    two = list(combinations(rated, 2))
    tests = [(pair, flipped(rated[pair[0]], rated[pair[1]])) for pair in two]
    tested = [(pair, found.p) for pair, found in tests if found is not None]
    adjusted = holm([p for _, p in tested])
    apart = {frozenset(pair) for (pair, _), p in zip(tested, adjusted, strict=True) if p <= ALPHA}
    return letters(best_first(scores, rule), apart)


def flipped(one: Scores, other: Scores) -> SignFlip | None:
    """The exact test of two models on the cases that both have scored."""
    shared = [case for case in one.weights if case in other.weights]
    return sign_flip(
        by_cluster(
            [one.value(case) - other.value(case) for case in shared],
            [one.clusters[case] for case in shared],
        )
    )


def best_first(scores: Mapping[str, Scores], rule: RateRule) -> list[str]:
    """The models that have a rate, best first."""
    rates = {name: rate_on_own_cases(own) for name, own in scores.items()}
    rated = {name: rate for name, rate in rates.items() if rate is not None}
    sign = 1 if rule.direction == "lower" else -1
    return sorted(rated, key=lambda name: sign * rated[name])


def by_cluster(differences: Sequence[float], clusters: Sequence[str]) -> list[float]:
    """Cases from one document change sides together."""
    sums: dict[str, list[float]] = defaultdict(list)
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[cluster].append(difference)
    return [math.fsum(together) for together in sums.values()]


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
