"""Which rankings of a published comparison its own figures support, through `compare`.

Only the counts of verdicts were published, not which case got which. The exact paired test
depends on that, so each pair is looked at in the two extremes: the same cases right for both
(the fewest cases differ: the smallest p that these counts allow), and as different ones as the
counts allow (which hides a difference nearly as well as can be).
"""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import Any

import pytest

from evalbot.stats.paired import holm, sign_flip

from .site import Site
from .test_published_rates import RATES, Published, imported, published

__all__ = ["imported"]

QWEN3_6, QWEN3 = "Qwen3.6-35B-A3B Q8_0", "Qwen3-235B-A22B-2507 Q2_K_XL"
QWEN2_5, GLM = "Qwen2.5-72B Q6_K", "GLM-4.5-Air Q4_K_M"
GPT_OSS, LLAMA = "gpt-oss-120b MXFP4", "Llama-3.3-70B Q6_K"

POSSIBLE = {
    "translation": {
        (QWEN3_6, GPT_OSS), (QWEN3_6, LLAMA), (QWEN3, GPT_OSS), (QWEN3, LLAMA), (GLM, LLAMA),
        (QWEN2_5, LLAMA), (GPT_OSS, LLAMA),
    },
    "code": set(),
    "hallucination": {
        (QWEN3_6, QWEN2_5), (QWEN3_6, GPT_OSS), (QWEN3_6, GLM), (QWEN3_6, LLAMA),
        (QWEN3, GLM), (QWEN3, LLAMA),
    },
    "proofreading": set(),
}  # fmt: skip
"""By suite, the pairs (better, worse) that some pairing of the published counts supports."""


def weights_of(line: Published) -> list[float]:
    """The weights of a model's verdicts, best to worst."""
    _, weights = RATES[line.rate_name]
    return [weight for weight, n in zip(weights, line.counts, strict=True) for _ in range(n)]


def compared(site: Site, suite: str) -> dict[str, Any]:
    """The comparison of a suite where the same cases are right for all."""
    result = site.call("compare", suite, "--layer", "human", "--format", "json")
    assert result.exit_code == 0, result.exception or result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def least_favourable(suite: str) -> list[float]:
    """p of every pair, after Holm, where each model is right on other cases than its rival."""
    lines = [line for line in published() if line.suite == suite]
    tests = [
        sign_flip([a - b for a, b in zip(weights_of(one), weights_of(other)[::-1], strict=True)])
        for one, other in combinations(lines, 2)
    ]
    return holm([test.p for test in tests if test is not None])


@pytest.mark.parametrize("suite", sorted(POSSIBLE))
def test_what_the_counts_can_support_at_most(imported: Site, suite: str) -> None:
    pairs = compared(imported, suite)["pairs"]
    assert len(pairs) == 15
    supported = {(pair["a"], pair["b"]) for pair in pairs if pair["separable"]}
    assert {frozenset(pair) for pair in supported} == set(map(frozenset, POSSIBLE[suite]))
    rates = {row["model"]: row["rate"] for row in imported.rates(suite, "--layer", "human")}
    higher_is_better = suite in ("code", "proofreading")
    for better, worse in POSSIBLE[suite]:
        assert (rates[better] > rates[worse]) is higher_is_better


@pytest.mark.parametrize("suite", sorted(POSSIBLE))
def test_no_ranking_is_supported_in_both_extremes(suite: str) -> None:
    assert min(least_favourable(suite)) > 0.05


@pytest.mark.parametrize("suite", sorted(POSSIBLE))
def test_no_pairing_shows_a_difference_more_easily(suite: str) -> None:
    random = Random(1)
    for one, other in combinations([line for line in published() if line.suite == suite], 2):
        a, b = weights_of(one), weights_of(other)
        easiest = sign_flip([x - y for x, y in zip(a, b, strict=True)])
        for _ in range(50):
            random.shuffle(b)
            found = sign_flip([x - y for x, y in zip(a, b, strict=True)])
            assert found is not None
            assert easiest is not None
            assert found.p >= easiest.p - 1e-12


def test_one_verdict_decides_where_the_rates_are_nearly_equal(imported: Site) -> None:
    pairs = compared(imported, "code")["pairs"]
    swaps = {frozenset((pair["a"], pair["b"])): pair["swap_after"] for pair in pairs}
    assert swaps[frozenset((QWEN3_6, GPT_OSS))] == 1
    assert swaps[frozenset((GPT_OSS, LLAMA))] == 1
    assert swaps[frozenset((GLM, QWEN3))] == 3
