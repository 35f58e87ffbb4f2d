"""Drawing units for review by a policy, each with its chance, over one or several draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from evalbot.domain.reviewing import Policy
from evalbot.errors import InputError
from evalbot.reviewing.material import Material
from evalbot.stats.sampling import (
    Drawn,
    draw_all,
    draw_random,
    draw_stratified,
    draw_uncertain,
    uncertain_probabilities,
)

WHOLE = ""
"""The part that all cases with all their answers are."""


class Chances(NamedTuple):
    """What was drawn, and the chance that each unit would have had in this draw."""

    drawn: list[Drawn]
    of_all: Mapping[str, float]


def draw_units(
    material: Material, policy: Policy, budget: int | None, seed: int, taken: frozenset[str]
) -> Chances:
    """Draw units that are not taken yet. budget: answers in all; None, or policy all: every one.

    Single answers are drawn within each model, whole cases all together. Raises InputError where
    the policy has nothing to go by, or the budget is under one unit.
    """
    random = Random(f"{seed}:{len(taken)}")
    parts = _parts(material)
    free = {part: [key for key in keys if key not in taken] for part, keys in parts.items()}
    if not any(free.values()):
        raise InputError("every answer of this run has been drawn already")
    if policy is Policy.UNCERTAIN and material.judged == 0:
        raise InputError(
            "--policy uncertain goes by what judges say, and none has graded this run; "
            "`evalbot judge` first, or take another policy"
        )
    if policy is Policy.ALL or budget is None:
        drawn = [one for keys in free.values() for one in draw_all(keys)]
        return Chances(drawn, dict.fromkeys(material.units, 1.0))
    sizes = _sizes(material, free, budget)
    found = [
        _draw_part(material, policy, parts[part], keys, sizes[part], random)
        for part, keys in free.items()
        if keys
    ]
    drawn = [one for part in found for one in part.drawn]
    if not drawn:
        raise InputError("nothing was drawn; a larger --budget, or another --seed, draws more")
    return Chances(drawn, {key: chance for part in found for key, chance in part.of_all.items()})


def _draw_part(
    material: Material,
    policy: Policy,
    keys: Sequence[str],
    free: Sequence[str],
    size: int,
    random: Random,
) -> Chances:
    if policy is Policy.UNCERTAIN:
        # Coins of their own for all units: one that is taken already changes nothing for others.
        scores = {key: material.scores[key] for key in keys}
        wanted = _wanted(size, len(keys), len(free))
        chances = uncertain_probabilities(scores, wanted)
        available = set(free)
        drawn = [one for one in draw_uncertain(scores, wanted, random) if one.unit in available]
        return Chances(drawn, chances)
    if policy is Policy.STRATIFIED:
        drawn = draw_stratified({key: material.strata[key] for key in free}, size, random)
    else:
        drawn = draw_random(free, size, random)
    chances = {one.unit: one.probability for one in drawn}
    by_stratum = {one.stratum: one.probability for one in drawn}
    stratified = policy is Policy.STRATIFIED
    for key in keys:
        # What was taken before would have stood in this draw with the others of its kind.
        stratum = material.strata[key] if stratified else None
        chances.setdefault(key, by_stratum.get(stratum, 0.0))
    return Chances(drawn, chances)


def _wanted(size: int, all_: int, free: int) -> int:
    """So many coins over all units bring the wanted number of those that are free."""
    return min(all_, round(size * all_ / free))


def _parts(material: Material) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = defaultdict(list)
    for key, unit in material.units.items():
        parts[unit.model or WHOLE].append(key)
    return parts


def _sizes(material: Material, free: Mapping[str, Sequence[str]], budget: int) -> dict[str, int]:
    """How many units of each part: whole cases rounded down, single answers evenly by model."""
    if WHOLE in free:
        keys = free[WHOLE]
        answers = sum(len(material.units[key].answers) for key in keys)
        size = budget * len(keys) // answers
        if size == 0:
            raise InputError(
                f"--budget {budget}: a case has {answers / len(keys):.0f} answers, which are "
                "drawn together; take a larger budget, or --layout single"
            )
        return {WHOLE: min(size, len(keys))}
    sizes = dict.fromkeys(free, 0)
    left = budget
    while left > 0:
        open_ = [part for part in sorted(free) if sizes[part] < len(free[part])]
        if not open_:
            break
        for part in open_[:left]:
            sizes[part] += 1
        left -= min(left, len(open_))
    if min(sizes[part] for part in free if free[part]) == 0:
        raise InputError(
            f"--budget {budget}: fewer than one answer for each of {len(free)} models; "
            "take a larger budget"
        )
    return sizes
