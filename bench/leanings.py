"""Are a judge's leanings found where they are, and not where there are none?

100 cases × 6 models, two of the judge's family. People's credit is 0, 0.5 or 1 (shares 0.3, 0.4,
0.3). A judge's grade is people's credit + what is planted + normal noise, rounded to the scale and
kept on it. Lengths are log-normal; the judge's family writes longer. Rounding and the ends of the
scale eat part of what is planted, so that more is planted, until the effect in the grades is the
one that is stated: `realised`, worked out over 200,000 answers with the noise integrated out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from evalbot.stats.bias import fit_bias, leniency

CASES, MODELS, FAMILY = 100, 6, 2
SHARES = (0.3, 0.4, 0.3)
NOISE = 0.3
LENGTH_SPREAD = 0.6
"""Standard deviation of ln(length)."""
FAMILY_LENGTH = 0.2
"""How much longer the judge's family writes, in ln(length)."""
CASES_ALIKE = 0.15
"""In the last row: standard deviation of the noise that a case's answers share."""
DRAWS = 1_000
ALPHA = 0.05
LARGE = 200_000

Numbers = NDArray[np.float64]


class Planted(NamedTuple):
    """Latent effects in credits: on all, per doubling of length, on the judge's family."""

    leniency: float = 0.0
    verbosity: float = 0.0
    self_preference: float = 0.0


class Answers(NamedTuple):
    human: Numbers
    length: Numbers
    same: NDArray[np.bool_]
    case: NDArray[np.int64]

    def leanings(self, planted: Planted) -> Numbers:
        doublings = np.log2(self.length / np.median(self.length))
        return (
            self.human
            + planted.leniency
            + planted.verbosity * doublings
            + planted.self_preference * self.same
        )


class Alarms(NamedTuple):
    """Share of the draws in which each detector found something at 5 %."""

    sign: float
    interval: float
    verbosity: float
    self_preference: float


WANTED = {
    "leniency": Planted(leniency=0.1),
    "verbosity": Planted(verbosity=0.1),
    "self_preference": Planted(self_preference=0.15),
}


def tables(seed: int) -> Iterator[str]:
    yield "\n### Planted leanings of a judge\n"
    yield (
        f"{CASES * MODELS} graded answers, {DRAWS} draws a row; how often each detector finds "
        "something at 5 %. In brackets the realised effects: leniency, verbosity per doubling, "
        "self-preference.\n"
    )
    yield (
        "| planted (realised) | leniency: sign test | its interval | verbosity | self-preference |"
    )
    yield "|---|---|---|---|---|"
    random = np.random.default_rng(seed)
    large = some_answers(random, LARGE // MODELS)
    plan = {"nothing": Planted()} | {name: planted_for(name, large) for name in WANTED}
    plan["all three"] = Planted(*(getattr(plan[name], name) for name in WANTED))
    for name, planted in plan.items():
        yield _row(name, planted, large, alarms(planted, random))
    alike = alarms(Planted(), random, alike=CASES_ALIKE)
    yield _row("nothing, answers of a case misjudged alike", Planted(), large, alike)
    latent = ", ".join(f"{name} {getattr(plan[name], name):.3f}" for name in WANTED)
    yield f"\nPlanted before rounding: {latent}."


def _row(name: str, planted: Planted, large: Answers, found: Alarms) -> str:
    real = ", ".join(f"{round(one, 3) + 0.0:.3f}" for one in realised(planted, large))
    return f"| {name.replace('_', '-')} ({real}) | {' | '.join(f'{one:.3f}' for one in found)} |"


def some_answers(random: np.random.Generator, cases: int = CASES) -> Answers:
    n = cases * MODELS
    same = np.tile(np.arange(MODELS) < FAMILY, cases)
    length = np.exp(random.normal(np.log(200) + FAMILY_LENGTH * same, LENGTH_SPREAD)).round()
    human = random.choice([0.0, 0.5, 1.0], n, p=SHARES)
    return Answers(human, np.maximum(length, 1), same, np.repeat(np.arange(cases), MODELS))


def alarms(
    planted: Planted, random: np.random.Generator, draws: int = DRAWS, alike: float = 0.0
) -> Alarms:
    """alike: standard deviation of the noise that the answers of a case have in common."""
    found = np.zeros(4)
    for _ in range(draws):
        answers = some_answers(random)
        noise = random.normal(0, NOISE, len(answers.human))
        noise += random.normal(0, alike, CASES)[answers.case]
        judge = np.clip(np.round(2 * (answers.leanings(planted) + noise)) / 2, 0, 1).tolist()
        human, cases = answers.human.tolist(), list(map(str, answers.case.tolist()))
        lenient = leniency(human, judge, cases)
        fitted = fit_bias(
            list(map(str, human)),
            judge,
            human,
            answers.length.tolist(),
            answers.same.tolist(),
            cases,
        )
        assert lenient is not None
        assert lenient.low is not None
        assert lenient.high is not None
        assert fitted.verbosity is not None
        assert fitted.self_preference is not None
        found += [
            lenient.p < ALPHA,
            not lenient.low <= 0 <= lenient.high,
            fitted.verbosity.p < ALPHA,
            fitted.self_preference.p < ALPHA,
        ]
    return Alarms(*(found / draws).tolist())


def realised(planted: Planted, large: Answers) -> Planted:
    """Effects in the grades themselves: mean of judge − human, and the fit's two coefficients."""
    latent = large.leanings(planted)
    grade = 0.5 * ndtr((latent - 0.25) / NOISE) + 0.5 * ndtr((latent - 0.75) / NOISE)
    columns = [np.log2(large.length), large.same.astype(float)]
    columns += [(large.human == one).astype(float) for one in (0.0, 0.5, 1.0)]
    verbosity, own, *_ = np.linalg.lstsq(np.stack(columns, axis=1), grade)[0]
    return Planted(float(np.mean(grade - large.human)), float(verbosity), float(own))


def planted_for(name: str, large: Answers) -> Planted:
    """What has to be planted for the wanted effect to be realised, by bisection."""
    wanted = getattr(WANTED[name], name)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        found = getattr(realised(Planted()._replace(**{name: middle}), large), name)
        low, high = (middle, high) if found < wanted else (low, middle)
    return Planted()._replace(**{name: low})
