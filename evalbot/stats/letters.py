"""Letters that show which models can be told apart: those that share one cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from string import ascii_lowercase


def letters(names: Sequence[str], separable: Collection[frozenset[str]]) -> dict[str, str]:
    """By name, its letters; two names share one if and only if their pair is not separable.

    names: from best to worst; the best carries "a". separable: pairs that a test tells apart.
    With more than 26 groups their names go on with aa, ab, … and are joined by commas, as in
    "z,aa". A group is grown, best first, around each pair that shares none yet, so that there are
    no more groups than pairs: all sets of names that go together may be millions.
    """
    near = {
        name: {
            other for other in names if other != name and frozenset((name, other)) not in separable
        }
        for name in names
    }
    groups: list[frozenset[str]] = []
    for number, name in enumerate(names):
        if not near[name]:
            groups.append(frozenset((name,)))
        for other in names[number + 1 :]:
            if other in near[name] and not any({name, other} <= group for group in groups):
                groups.append(_grown((name, other), names, near))
    place = {name: number for number, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    comma = "," if len(groups) > len(ascii_lowercase) else ""
    return {
        name: comma.join(_label(n) for n, group in enumerate(groups) if name in group)
        for name in names
    }


def _grown(
    pair: tuple[str, str], names: Sequence[str], near: Mapping[str, Set[str]]
) -> frozenset[str]:
    """The pair with all others, best first, that can be told from none of the group."""
    group = set(pair)
    for name in names:
        if name not in group and group <= near[name]:
            group.add(name)
    return frozenset(group)


def _label(number: int) -> str:
    """a to z, aa, ab, … as columns of a spreadsheet are named."""
    before, last = divmod(number, len(ascii_lowercase))
    return (_label(before - 1) if before else "") + ascii_lowercase[last]
