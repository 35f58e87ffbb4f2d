"""What further reviews would bring, foretold from what is graded so far."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalbot.stats.correction import ENOUGH_LABELS, TOO_FEW_DISAGREEMENTS, TOO_FEW_LABELS
from evalbot.stats.difference import Difference, Stratum, of_random, of_strata, of_weighted
from evalbot.stats.expected import (
    Expected,
    Judged,
    Likely,
    by_verdict,
    differences,
    expect,
    expected_by_verdict,
    expected_effect,
)
from evalbot.stats.mover import Tally
from evalbot.stats.sampling import (
    joined_probability,
    proportional_shares,
    uncertain_probabilities,
)

if TYPE_CHECKING:
    from numpy.random import Generator

DRAWS = 60
"""So many samples that could come are drawn, always the same; their widths are averaged."""

ASSUMED = "assumes that one answer in five differs by the largest step: none is reviewed yet"
ALL_REVIEWED = "every answer would be reviewed"


@dataclass(frozen=True, slots=True)
class PlannedWidth:
    """How wide the corrected rate's interval would be; reason: why none, or what it assumes.

    budget: how many more answers would be reviewed, at most those that are left.
    """

    policy: str
    budget: int
    width: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class StratumPlan:
    """One verdict of the judge. error_spread: standard deviation of human − judge expected there.

    share: how many of the budget's reviews should go there (Neyman allocation).
    """

    stratum: str
    answers: int
    reviewed: int
    error_spread: float
    share: int


def planned_width(
    answers: Sequence[Judged], policy: str, budget: int, known: Sequence[Judged] | None = None
) -> PlannedWidth:
    """Width on average after `budget` more reviews by this policy: random, stratified, uncertain.

    answers: all judged ones of one model; what is reviewed counts as drawn by the same policy.
    known: the same answers with reviews, too, that no draw asked for: they tell of the judge's
    errors, and count for nothing else.
    None where the interval would be refused, or most likely. ValueError for another policy.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r}: one of {', '.join(POLICIES)}")
    reviewed = sum(one.human is not None for one in answers)
    budget = min(budget, len(answers) - reviewed)
    if reviewed + budget < ENOUGH_LABELS:
        return PlannedWidth(policy, budget, None, TOO_FEW_LABELS)
    if reviewed + budget == len(answers):
        return PlannedWidth(policy, budget, 0.0, ALL_REVIEWED)
    from numpy.random import default_rng

    judged = math.fsum(one.weight for one in answers) / len(answers)
    expected = expect(answers if known is None else known)
    effect = expected_effect(answers, budget, answers if known is None else known)
    samples = POLICIES[policy](answers, budget, expected, effect, default_rng(0))
    widths = [_width(judged, found) for found in samples if found.interval]
    if 2 * len(widths) < DRAWS:
        return PlannedWidth(policy, budget, None, TOO_FEW_DISAGREEMENTS)
    width = math.fsum(widths) / len(widths)
    is_known = any(one.human is not None for one in known or answers)
    return PlannedWidth(policy, budget, width, None if is_known else ASSUMED)


def stratum_plans(
    answers: Sequence[Judged], budget: int, known: Sequence[Judged] | None = None
) -> list[StratumPlan]:
    """How `budget` more reviews are best spread over the judge's verdicts; largest share first.

    Takes the arguments of planned_width.
    """
    strata = by_verdict(answers)
    likely = expected_by_verdict(answers if known is None else known)
    spreads = {verdict: _spread(one) for verdict, one in likely.items()}
    sizes = {verdict: len(mine) for verdict, mine in strata.items()}
    reviewed = {verdict: differences(mine).total() for verdict, mine in strata.items()}
    shares = neyman_shares(sizes, spreads, reviewed, budget)
    plans = [
        StratumPlan(
            stratum=verdict,
            answers=sizes[verdict],
            reviewed=reviewed[verdict],
            error_spread=spreads[verdict],
            share=shares[verdict],
        )
        for verdict in strata
    ]
    return sorted(plans, key=lambda plan: (-plan.share, plan.stratum))


def neyman_shares(
    sizes: Mapping[str, int],
    spreads: Mapping[str, float],
    reviewed: Mapping[str, int],
    budget: int,
) -> dict[str, int]:
    """Neyman allocation in whole reviews, beyond what is reviewed already.

    One after the other goes to the stratum whose part of the variance, (size · spread)²/n, it
    makes smaller by most; one that is not reviewed at all comes first, and none gets more than
    it has.
    """
    taken = dict(reviewed)

    def gain(stratum: str) -> float:
        n = taken[stratum]
        weight = sizes[stratum] * spreads[stratum]
        return weight**2 / (n * (n + 1)) if n else math.inf

    for _ in range(min(budget, sum(sizes.values()) - sum(taken.values()))):
        open_ = [stratum for stratum, size in sizes.items() if taken[stratum] < size]
        taken[max(open_, key=gain)] += 1
    return {stratum: taken[stratum] - reviewed[stratum] for stratum in sizes}


def _random(
    answers: Sequence[Judged], budget: int, expected: Expected, effect: float, random: Generator
) -> Iterator[Difference]:
    for tally in _foretold(answers, budget, expected, random):
        yield of_random(tally, len(answers), effect)


def _stratified(
    answers: Sequence[Judged], budget: int, expected: Expected, effect: float, random: Generator
) -> Iterator[Difference]:
    strata = by_verdict(answers)
    open_ = {v: sum(one.human is None for one in mine) for v, mine in strata.items()}
    shares = proportional_shares({v: count for v, count in open_.items() if count}, budget)
    parts = [_foretold(mine, shares.get(v, 0), expected, random) for v, mine in strata.items()]
    for tallies in zip(*parts, strict=True):
        yield of_strata(
            [
                Stratum(tally, len(mine))
                for tally, mine in zip(tallies, strata.values(), strict=True)
            ],
            effect,
        )


def _uncertain(
    answers: Sequence[Judged], budget: int, expected: Expected, effect: float, random: Generator
) -> Iterator[Difference]:
    n = len(answers)
    scores = {f"{number}": one.doubt for number, one in enumerate(answers)}
    reviewed = differences(answers).total()
    before = uncertain_probabilities(scores, reviewed)
    # Coins for all, so that the wanted number falls on those that are left.
    now = uncertain_probabilities(scores, min(n, round(budget * n / (n - reviewed))))
    known: defaultdict[tuple[float, float], float] = defaultdict(float)
    coins: defaultdict[tuple[float, float], list[float]] = defaultdict(list)
    for unit, one in zip(scores, answers, strict=True):
        joined = joined_probability(before[unit], now[unit])
        for difference in differences([one]):
            known[difference, joined] += 1
        if one.human is None:
            for difference, share in expected.of(one).items():
                coins[difference, joined].append(share * now[unit])
    for _ in range(DRAWS):
        tally = defaultdict(float, known)
        for key, chances in coins.items():
            tally[key] += random.binomial(len(chances), math.fsum(chances) / len(chances))
        yield of_weighted({key: count for key, count in tally.items() if count}, n, effect)


POLICIES: Mapping[
    str, Callable[[Sequence[Judged], int, Expected, float, Generator], Iterator[Difference]]
] = {
    "random": _random,
    "stratified": _stratified,
    "uncertain": _uncertain,
}


def _foretold(
    answers: Sequence[Judged], budget: int, expected: Expected, random: Generator
) -> Iterator[Tally]:
    """What is known of these, with so many more of the open ones as they could turn out."""
    known = differences(answers)
    open_ = [expected.of(one) for one in answers if one.human is None]
    values = sorted({value for likely in open_ for value in likely})
    shares = [math.fsum(one.get(value, 0.0) for one in open_) for value in values]
    total = math.fsum(shares)
    for _ in range(DRAWS):
        tally: Counter[float] = Counter(known)
        if budget:
            drawn = random.multinomial(budget, [share / total for share in shares])
            tally.update(dict(zip(values, drawn.tolist(), strict=True)))
        yield {value: count for value, count in tally.items() if count}


def _width(judged: float, found: Difference) -> float:
    rate = min(1.0, max(0.0, judged + found.reach.mean))
    return min(1.0, rate + found.reach.above) - max(0.0, rate - found.reach.below)


def _spread(likely: Likely) -> float:
    mean = math.fsum(d * share for d, share in likely.items())
    return math.sqrt(math.fsum(share * (d - mean) ** 2 for d, share in likely.items()))
