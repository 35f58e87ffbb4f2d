"""What a comparison shows, in sentences that a reader can quote."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from evalbot.auditing.comparing import Comparison
from evalbot.auditing.pairs import Pair
from evalbot.formats.tables.table import DASH
from evalbot.formats.words import count
from evalbot.reporting.compare_tables import in_words, p_shown
from evalbot.stats.rounding import percent


def best_first(found: Comparison) -> list[str]:
    """The models of a comparison that have a rate, best first."""
    rated = {name: rate for name, rate in found.rates.items() if rate is not None}
    sign = 1 if found.rubric.rate.direction == "lower" else -1
    return sorted(rated, key=lambda name: sign * rated[name])


def headline(found: Comparison) -> str:
    """How many of the pairs the data can tell apart."""
    tested = [pair for pair in found.pairs if pair.p is not None]
    apart = sum(pair.separable for pair in tested)
    if not tested:
        return "no two models have a verdict on the same case: there is nothing to compare"
    if len(tested) == 1:
        return f"the two models {'can' if apart else 'cannot'} be told apart by these cases"
    if not apart:
        return f"none of the {len(tested)} pairs of models can be told apart by these cases"
    if apart == len(tested):
        return f"all {len(tested)} pairs of models can be told apart by these cases"
    return f"{apart} of {len(tested)} pairs of models can be told apart by these cases"


def steps(found: Comparison) -> Iterator[str]:
    """For each step of the ranking, from the best, whether the data support it."""
    order = best_first(found)
    rates = found.rates
    for better, worse in pairwise(order):
        pair = _pair(found.pairs, better, worse)
        shown = f"{better} ({_percent(rates[better])}) before {worse} ({_percent(rates[worse])})"
        ahead = pair.ahead(found.rubric.rate)
        yield f"{shown}: {_support(pair, worse if ahead == worse else None)}"


def _support(pair: Pair, against: str | None) -> str:
    """against: the worse one by its rate, where it is ahead on the cases that both have."""
    if pair.p_holm is None:
        return "cannot be told, as no case has a verdict on both"
    if against is not None:
        told = "told apart" if pair.separable else "not told apart"
        return (
            f"not supported: on the {count(pair.n, 'case')} that both have a verdict on, "
            f"{against} is ahead ({told}, p {p_shown(pair.p_holm)} after Holm)"
        )
    if pair.separable:
        return f"supported (p {p_shown(pair.p_holm)} after Holm)"
    words = in_words(pair).removeprefix("no: ")
    swap = {None: "", 1: "; a single changed verdict swaps them"}.get(
        pair.swap_after, f"; {pair.swap_after} changed verdicts swap them"
    )
    return f"not supported (p {p_shown(pair.p_holm)} after Holm; {words}{swap})"


def told_apart(found: Comparison) -> list[str]:
    """The pairs that can be told apart, the better one on their shared cases first."""
    place = {name: position for position, name in enumerate(best_first(found))}
    found_pairs = []
    for pair in found.pairs:
        better = pair.ahead(found.rubric.rate)
        if pair.separable and better is not None:
            worse = pair.b if better == pair.a else pair.a
            found_pairs.append((place[better], place[worse], f"{better} before {worse}"))
    return [text for _, _, text in sorted(found_pairs)]


def ahead_of(found: Comparison, models: Collection[str]) -> list[str]:
    """Models that are told apart from one of these, and better on the cases that both have."""
    found_models = []
    for pair in found.pairs:
        better = pair.ahead(found.rubric.rate)
        if pair.separable and better is not None and better not in models:
            found_models += [better] if {pair.a, pair.b} - {better} <= set(models) else []
    return list(dict.fromkeys(found_models))


def _pair(pairs: Sequence[Pair], one: str, other: str) -> Pair:
    return next(pair for pair in pairs if {pair.a, pair.b} == {one, other})


def _percent(rate: float | None) -> str:
    return DASH if rate is None else percent(rate)
