"""Planted leanings are found, and none where there are none: a part of `bench simulate`.

40 draws each. With 5 % false alarms, more than 7 of 40 come once in a thousand.
"""

from __future__ import annotations

import numpy as np
import pytest

from bench.leanings import WANTED, Planted, alarms, planted_for, realised, some_answers

DRAWS = 40


@pytest.mark.parametrize("name", sorted(WANTED))
def test_a_planted_leaning_is_found_and_no_other(name: str) -> None:
    random = np.random.default_rng(5)
    large = some_answers(random, 10_000)
    planted = planted_for(name, large)
    wanted = getattr(WANTED[name], name)
    assert getattr(realised(planted, large), name) == pytest.approx(wanted, abs=1e-6)
    found = alarms(planted, random, DRAWS)
    by_name = {
        "leniency": min(found.sign, found.interval),
        "verbosity": found.verbosity,
        "self_preference": found.self_preference,
    }
    assert by_name[name] >= 0.9
    if name == "leniency":
        assert max(found.verbosity, found.self_preference) <= 7 / DRAWS
    elif name == "verbosity":
        assert found.self_preference <= 7 / DRAWS
    else:
        assert found.verbosity <= 7 / DRAWS


def test_nothing_planted_is_seldom_found() -> None:
    found = alarms(Planted(), np.random.default_rng(5), DRAWS)
    assert max(found) <= 7 / DRAWS
