"""Answers whose verdict is known beforehand: to practise on, and to see who reads.

Those that a lead decided under today's rules; where a case has none, its references as the best
verdict and its traps as the lowest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from evalbot.domain.cases import Suite
from evalbot.domain.rubrics import Rubric
from evalbot.reviewing.material import Material


class Known(NamedTuple):
    """One of them: a recorded answer, or a text that is planted among answers."""

    case: str
    verdict: str
    answer_id: int | None = None
    text: str | None = None


def known_answers(material: Material, suite: Suite, rubric: Rubric) -> dict[str, list[Known]]:
    """By case, what is known; cases without anything are left out."""
    decided: Mapping[str, list[Known]] = defaultdict(list)
    for unit in material.units.values():
        for answer in unit.answers:
            if answer.id in material.decided:
                found = Known(answer.case, material.decided[answer.id], answer_id=answer.id)
                decided[answer.case].append(found)
    known = {
        case.key: decided[case.key]
        or [
            *(Known(case.key, rubric.verdicts[0], text=text) for text in case.references),
            *(Known(case.key, rubric.verdicts[-1], text=text) for text in case.traps),
        ]
        for case in suite.cases
    }
    return {key: found for key, found in known.items() if found}
