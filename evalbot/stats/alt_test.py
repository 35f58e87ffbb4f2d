"""May a judge stand in for the reviewers? The alternative annotator test.

Calderon, Reichart and Dror, "The alternative annotator test for LLM-as-a-judge", ACL 2025,
arXiv 2501.10970. Each human is left out in turn, and both the judge and that human are compared
with the remaining ones.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evalbot.stats.paired import benjamini_yekutieli

LEAST_HUMANS = 2
"""Of an item, and in all."""

LEAST_ITEMS = 30
"""Of a human, that others annotated too."""

NOISE = 1e-9
"""Scores this close are equal."""

V = TypeVar("V", str, float)


@dataclass(frozen=True, slots=True)
class HumanTest:
    """The judge against one human, over n items.

    difference: mean of (human at least as close to the others) − (judge at least as close),
    each 0 or 1; t, p: one-sided t test of it being below epsilon. t is None where it has no
    spread. judge_wins: share of items where the judge is at least as close.
    """

    human: str
    n: int
    difference: float
    t: float | None
    p: float
    judge_wins: float
    rejected: bool


@dataclass(frozen=True, slots=True)
class AltTest:
    """Whether it can be done, and what came out; passed: winning_rate is 0.5 or more.

    humans: how many were compared. winning_rate: share of them the judge may replace.
    advantage_probability: mean of their judge_wins. None, with a reason, where not applicable.
    """

    applicable: bool
    reason: str | None
    epsilon: float
    score: str
    humans: int
    winning_rate: float | None
    advantage_probability: float | None
    passed: bool | None
    each: tuple[HumanTest, ...]


def alt_test(
    humans: Mapping[str, Mapping[str, V]],
    judge: Mapping[str, V],
    *,
    epsilon: float,
    score: str,
    q: float = 0.05,
) -> AltTest:
    """humans: by name, by item, the verdict; judge: by item.

    epsilon: how much better a human may be for the cost of one; 0.2 for experts, 0.15 for
    trained people, 0.1 for the crowd. score: "accuracy" (share of the others who gave the same
    label) or "neg_rmse" (of credits). q: false discovery rate of Benjamini and Yekutieli over
    the humans. Only items of the judge with at least two humans count, and humans with at
    least 30 of them; humans with fewer are still among the others.
    """
    if score not in ("accuracy", "neg_rmse"):
        raise ValueError(f"no score of the alternative annotator test: {score}")
    by_item: dict[str, dict[str, V]] = defaultdict(dict)
    for human, verdicts in humans.items():
        for item, verdict in verdicts.items():
            if item in judge:
                by_item[item][human] = verdict
    found = []
    # A scale has few verdicts, so that the same ones meet again and again.
    known: dict[tuple[V, V, tuple[V, ...]], tuple[bool, bool]] = {}
    for human, verdicts in humans.items():
        outcomes = []
        for item, verdict in verdicts.items():
            others = tuple([one for name, one in by_item.get(item, {}).items() if name != human])
            if len(others) + 1 >= LEAST_HUMANS:
                met = verdict, judge[item], others
                outcome = known.get(met)
                if outcome is None:
                    outcome = known[met] = _outcome(*met, score)
                outcomes.append(outcome)
        if len(outcomes) >= LEAST_ITEMS:
            found.append((human, outcomes))
    if len(found) < LEAST_HUMANS:
        reason = (
            f"needs at least {LEAST_HUMANS} reviewers with {LEAST_ITEMS} answers each that the "
            f"judge and another reviewer graded too; there are {len(found)}"
        )
        return AltTest(False, reason, epsilon, score, len(found), None, None, None, ())
    tests = [_t_test([wins - judges for wins, judges in one], epsilon) for _, one in found]
    rejected = benjamini_yekutieli([p for _, _, p in tests], q)
    each = tuple(
        HumanTest(
            human=human,
            n=len(outcomes),
            difference=difference,
            t=t,
            p=p,
            judge_wins=sum(judges for _, judges in outcomes) / len(outcomes),
            rejected=hit,
        )
        for (human, outcomes), (difference, t, p), hit in zip(found, tests, rejected, strict=True)
    )
    winning = sum(rejected) / len(each)
    return AltTest(
        applicable=True,
        reason=None,
        epsilon=epsilon,
        score=score,
        humans=len(each),
        winning_rate=winning,
        advantage_probability=math.fsum(one.judge_wins for one in each) / len(each),
        passed=winning >= 0.5,
        each=each,
    )


def _outcome(human: V, judge: V, others: Sequence[V], score: str) -> tuple[bool, bool]:
    """Whether the human, and whether the judge, is at least as close to the others."""
    if score == "accuracy":
        ahead = float(others.count(human) - others.count(judge))
    else:
        ahead = _squares(judge, others) - _squares(human, others)
    return ahead >= -NOISE, ahead <= NOISE


def _squares(credit: V, others: Sequence[V]) -> float:
    """Orders as the root of the mean does, without its rounding."""
    return math.fsum((float(credit) - float(other)) ** 2 for other in others)


def _t_test(differences: Sequence[int], epsilon: float) -> tuple[float, float | None, float]:
    """The mean, t and p of the mean being below epsilon.

    Without spread t has no value; the mean is taken at its word then, which is the limit of
    less and less spread: p = 0 below epsilon, else 1.
    """
    from scipy.special import stdtr

    n = len(differences)
    mean = sum(differences) / n
    squares = math.fsum((one - mean) ** 2 for one in differences)
    if squares == 0:
        return mean, None, 0.0 if mean < epsilon else 1.0
    t = (mean - epsilon) / math.sqrt(squares / (n - 1) / n)
    return mean, t, float(stdtr(n - 1, t))
