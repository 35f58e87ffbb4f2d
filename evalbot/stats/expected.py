"""How people can be expected to differ from a judge on answers that nobody has reviewed yet.

Learnt by the judge's verdict, and within one by whether the judge was unsure. What was seen in each
is mixed with a little of what was seen one level up, and that with a little of an assumption, so
that nothing counts as free of errors because nobody has looked.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalbot.stats.wilson import design_effect, names_of_clusters

PRIOR = 2.0
"""How many labels each level counts for in the one below it."""

ASSUMED_SHARE = 0.2
"""How many answers differ from the judge by the largest step, as long as nobody has looked."""

Likely = Mapping[float, float]
"""How likely each difference human − judge is."""


class Judged(NamedTuple):
    """One answer of a model with its judge's verdict, and people's once it is reviewed.

    weight, human: in the rate, in [0, 1]. doubt: how unsure the judge is, 0 to 1: the entropy of
    its votes, or whether it differs from the automatic score. human None: not reviewed. cluster:
    answers that are not independent share it; "" is on its own.
    """

    verdict: str
    weight: float
    doubt: float = 0.0
    human: float | None = None
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """Differences by verdict and by whether an answer is doubted more than the mean one."""

    mean_doubt: float
    by_kind: Mapping[tuple[str, bool], Likely]

    def of(self, answer: Judged) -> Likely:
        return self.by_kind[answer.verdict, answer.doubt > self.mean_doubt]


def by_verdict(answers: Sequence[Judged]) -> dict[str, list[Judged]]:
    strata: dict[str, list[Judged]] = defaultdict(list)
    for one in answers:
        strata[one.verdict].append(one)
    return dict(strata)


def differences(answers: Iterable[Judged]) -> Counter[float]:
    """human − judge of the reviewed ones, counted."""
    # Rounded, since 1 − 0.9 and 0.1 are one difference.
    return Counter(round(one.human - one.weight, 12) for one in answers if one.human is not None)


def expected_by_verdict(answers: Sequence[Judged]) -> dict[str, Likely]:
    sizes: Counter[float] = Counter()
    for difference, count in differences(answers).items():
        sizes[abs(difference)] += count
    steps = _mixed(sizes, {0.0: 1 - ASSUMED_SHARE, 1.0: ASSUMED_SHARE})
    return {
        verdict: _mixed(differences(mine), _in_reach(mine[0].weight, steps))
        for verdict, mine in by_verdict(answers).items()
    }


def expect(answers: Sequence[Judged]) -> Expected:
    """Of all judged answers of one model, at least one."""
    mean = math.fsum(one.doubt for one in answers) / len(answers)
    likely = expected_by_verdict(answers)
    kinds: dict[tuple[str, bool], list[Judged]] = defaultdict(list)
    for one in answers:
        kinds[one.verdict, one.doubt > mean].append(one)
    return Expected(
        mean, {kind: _mixed(differences(mine), likely[kind[0]]) for kind, mine in kinds.items()}
    )


def expected_effect(answers: Sequence[Judged], budget: int, known: Sequence[Judged]) -> float:
    """The design effect after so many more reviews of single answers; 1 or more.

    How alike the differences of one cluster are is taken from those known so far, and the cluster
    sizes from what will be reviewed: 1 + correlation · (size − 1), with size sum m²/sum m. 1 as
    long as no two of one cluster are known.
    """
    seen = [one for one in known if one.human is not None]
    clusters = names_of_clusters([one.cluster for one in seen])
    size = _mean_size(Counter(clusters).values())
    if size <= 1:
        return 1.0
    apart = [round((one.human or 0.0) - one.weight, 12) for one in seen]
    correlation = min(1.0, (design_effect(apart, clusters) - 1) / (size - 1))
    names = names_of_clusters([one.cluster for one in answers])
    reviewed: Counter[str] = Counter()
    open_: Counter[str] = Counter()
    for name, one in zip(names, answers, strict=True):
        (open_ if one.human is None else reviewed)[name] += 1
    share = budget / open_.total() if open_ else 0.0
    means = {name: reviewed[name] + share * open_[name] for name in set(names)}
    squares = math.fsum(mean**2 + open_[name] * share * (1 - share) for name, mean in means.items())
    return 1 + correlation * max(0.0, squares / math.fsum(means.values()) - 1)


def _mean_size(sizes: Iterable[int]) -> float:
    """Of the cluster that an answer is in, not of a cluster."""
    found = list(sizes)
    return sum(one * one for one in found) / sum(found) if found else 0.0


def _mixed(seen: Counter[float], above: Likely) -> Likely:
    weight = seen.total() + PRIOR
    return {
        one: (seen[one] + PRIOR * above.get(one, 0.0)) / weight for one in sorted({*seen, *above})
    }


def _in_reach(weight: float, steps: Likely) -> Likely:
    """Steps of either direction, as far as people's weight stays in [0, 1].

    A step that fits one way only goes that way; one that fits neither way ends at the edges.
    """
    likely: defaultdict[float, float] = defaultdict(float)
    for size, share in steps.items():
        up, down = min(1 - weight, size), min(weight, size)
        ways = [way for way, reach in ((up, up), (-down, down)) if reach == max(up, down)]
        for way in ways:
            likely[round(way, 12) + 0.0] += share / len(ways)
    return likely
