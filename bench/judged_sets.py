"""Made-up judged sets of known worth: what the simulations of corrected rates draw from."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RATES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.98)
SCALES = {"yes or no": (0.0, 1.0), "half credit": (0.0, 0.5, 1.0)}
JUDGES = ("near-perfect", "lenient", "harsh", "random")
DOUBTS = (0.0, 0.5, 1.0)
"""How unsure the judge seems: 0, or the entropy of its votes, scaled."""


class Kind(NamedTuple):
    """One kind of answer: people's credit, the judge's, and how unsure the judge seems."""

    human: float
    judge: float
    doubt: float


def kinds(scale: str) -> list[Kind]:
    grades = SCALES[scale]
    return [Kind(*one) for one in product(grades, grades, DOUBTS)]


def chances(scale: str, rate: float, judge: str) -> NDArray[np.float64]:
    """How likely each kind is where people's mean credit is `rate`.

    A wrong grade is likelier to come with doubt than a right one.
    """
    grades = SCALES[scale]
    people = dict(zip(grades, _people(scale, rate), strict=True))
    found: list[float] = []
    for kind in kinds(scale):
        right = kind.human == kind.judge
        doubt = dict(zip(DOUBTS, (0.7, 0.2, 0.1) if right else (0.3, 0.3, 0.4), strict=True))
        graded = dict(zip(grades, _judge(scale, kind.human, judge), strict=True))
        found.append(people[kind.human] * graded[kind.judge] * doubt[kind.doubt])
    return np.array(found, dtype=np.float64) / sum(found)


def _people(scale: str, rate: float) -> list[float]:
    if scale == "yes or no":
        return [1 - rate, rate]
    half = 0.8 * min(rate, 1 - rate)
    return [1 - rate - half / 2, half, rate - half / 2]


def _judge(scale: str, human: float, judge: str) -> list[float]:
    """How likely each of its grades is for an answer of this worth."""
    binary = scale == "yes or no"
    if judge == "random":
        return [0.5, 0.5] if binary else [1 / 3] * 3
    if judge == "harsh":
        return _judge(scale, 1 - human, "lenient")[::-1]
    if judge == "near-perfect":
        step = {0.0: [0.98, 0.02], 1.0: [0.02, 0.98]} if binary else {
            0.0: [0.98, 0.02, 0.0], 0.5: [0.01, 0.98, 0.01], 1.0: [0.0, 0.02, 0.98]
        }  # fmt: skip
        return step[human]
    if binary:
        return {0.0: [0.7, 0.3], 1.0: [0.02, 0.98]}[human]
    return {0.0: [0.6, 0.3, 0.1], 0.5: [0.02, 0.58, 0.4], 1.0: [0.0, 0.02, 0.98]}[human]
