"""Letters that show which models can be told apart: those that share one cannot."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from string import ascii_lowercase


def letters(names: Sequence[str], separable: Collection[frozenset[str]]) -> dict[str, str]:
    """By name, its letters; two names share one if and only if their pair is not separable.

    names: from best to worst; the best carries "a". separable: pairs that a test tells apart.
    With more than 26 groups their names go on with aa, ab, … and are joined by commas, as in
    "z,aa". Insert and absorb (Piepho, J. Comput. Graph. Stat. 13, 2004): one group of all is
    split at every separable pair, and a group within another is dropped.
    """
    groups = [frozenset(names)] if names else []
    for pair in separable:
        split: list[frozenset[str]] = []
        for group in groups:
            if len(pair) == 2 and pair <= group:
                split += (group - {one} for one in pair)
            else:
                split.append(group)
        groups = _without_inner(split)
    place = {name: number for number, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    comma = "," if len(groups) > len(ascii_lowercase) else ""
    return {
        name: comma.join(_label(n) for n, group in enumerate(groups) if name in group)
        for name in names
    }


def _without_inner(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    kept: list[frozenset[str]] = []
    for group in sorted(groups, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def _label(number: int) -> str:
    """a to z, aa, ab, … as columns of a spreadsheet are named."""
    before, last = divmod(number, len(ascii_lowercase))
    return (_label(before - 1) if before else "") + ascii_lowercase[last]
