"""The reviewers among themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from evalbot.auditing.gathering import Gathered
from evalbot.stats.agreement import agreement, alpha, confusion
from evalbot.stats.bias import Leniency, leniency


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two reviewers on the n answers that both graded."""

    a: str
    b: str
    n: int
    raw: float | None
    kappa_quadratic: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Rater:
    """One reviewer against people's word in the end, on answers that others graded, too.

    leniency: mean of the reviewer − that word, which is partly the reviewer's own; None where
    the scale has no credits, or nobody else graded the same.
    """

    name: str
    graded: int
    leniency: Leniency | None


@dataclass(frozen=True, slots=True)
class Raters:
    """Agreement of all reviewers; alphas take answers that some did not grade, too.

    n: answers with at least two of them; reasons: of what is None.
    """

    each: tuple[Rater, ...]
    n: int
    alpha_nominal: float | None
    alpha_interval: float | None
    pairs: tuple[RaterPair, ...]
    reasons: Mapping[str, str]


NO_RATERS = Raters((), 0, None, None, (), {})
"""Where nobody asked about reviewers."""


def audit_raters(gathered: Gathered) -> Raters:
    """The reviewers of these runs; pairs that share no answer are left out."""
    graded = [answer.people for answer in gathered.answers if len(answer.people) > 1]
    reviewers = tuple(sorted({name for answer in gathered.answers for name in answer.people}))
    credits_ = gathered.credits
    has_credits = None not in credits_.values()
    labels = gathered.basis.rubric.verdicts
    words = [[one.get(name) for one in graded] for name in reviewers]
    numbers = [[None if word is None else credits_[word] for word in row] for row in words]
    nominal = alpha(words, "nominal") if graded else None
    interval = alpha(numbers, "interval") if graded and has_credits else None
    reasons: dict[str, str] = {}
    for name, value in (("alpha_nominal", nominal), ("alpha_interval", interval)):
        if value is None:
            reasons[name] = _why(bool(graded), has_credits or name == "alpha_nominal")
    shared: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for people in graded:
        for a, b in combinations(sorted(people), 2):
            shared[a, b].append((people[a], people[b]))
    pairs = []
    for (a, b), verdicts in sorted(shared.items()):
        found = agreement(confusion(verdicts, labels), [credits_[label] for label in labels])
        reason = found.reasons.get("kappa_quadratic")
        pairs.append(RaterPair(a, b, len(verdicts), found.raw, found.kappa_quadratic, reason))
    each = tuple(_rater(gathered, name) for name in reviewers)
    return Raters(each, len(graded), nominal, interval, tuple(pairs), reasons)


def _rater(gathered: Gathered, name: str) -> Rater:
    credits_ = gathered.credits
    own = [answer for answer in gathered.answers if name in answer.people]
    shared = [
        answer
        for answer in own
        if len(answer.people) > 1 and answer.truth.verdict is not None and not answer.truth.stale
    ]
    if None in credits_.values():
        return Rater(name, len(own), None)
    known = {verdict: credit or 0.0 for verdict, credit in credits_.items()}
    found = leniency(
        [known[answer.truth.verdict or ""] for answer in shared],
        [known[answer.people[name]] for answer in shared],
        [answer.cluster for answer in shared],
    )
    return Rater(name, len(own), found)


def _why(has_pairs: bool, has_credits: bool) -> str:
    if not has_pairs:
        return "no answer was graded by two people"
    if not has_credits:
        return "the scale has no credits"
    return "undefined: no variation in the verdicts"
