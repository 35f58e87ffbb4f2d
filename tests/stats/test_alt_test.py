"""The alternative annotator test: worked numbers, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from evalbot.stats.alt_test import alt_test

BITS = {
    "h1": "1110111111101111111100100110111000001011",
    "h2": "1110110111000111010000100111111000001110",
    "h3": "0110111101100111111100100101111000101011",
}
JUDGE_BITS = "1110110111100101111100100000111010100010"


def labelled(bits: str) -> dict[str, str]:
    return {f"item {place}": bit for place, bit in enumerate(bits)}


def credited(bits: str) -> dict[str, float]:
    return {f"item {place}": float(bit) for place, bit in enumerate(bits)}


HUMANS = {human: labelled(bits) for human, bits in BITS.items()}
JUDGE = labelled(JUDGE_BITS)


def test_forty_items_three_humans() -> None:
    found = alt_test(HUMANS, JUDGE, epsilon=0.2, score="accuracy")
    assert [one.human for one in found.each] == ["h1", "h2", "h3"]
    assert [one.n for one in found.each] == [40] * 3
    assert [one.difference for one in found.each] == pytest.approx([0.075, -0.025, 0.05])
    assert [one.t for one in found.each] == pytest.approx(
        [-2.2593609809, -2.9663854936, -2.4390884655], abs=6e-11
    )
    assert [one.p for one in found.each] == pytest.approx(
        [0.0147626474, 0.0025617847, 0.0096885717], abs=6e-11
    )
    assert [one.judge_wins for one in found.each] == [0.9] * 3
    assert all(one.rejected for one in found.each)
    assert (found.humans, found.winning_rate, found.passed) == (3, 1.0, True)
    assert found.advantage_probability == pytest.approx(0.9)
    assert (found.applicable, found.reason) == (True, None)


def test_thresholds_over_three_humans() -> None:
    thresholds = [rank * 0.05 / 3 / (1 + 1 / 2 + 1 / 3) for rank in (1, 2, 3)]
    assert thresholds == pytest.approx([0.0090909, 0.0181818, 0.0272727], abs=6e-8)
    p = sorted(one.p for one in alt_test(HUMANS, JUDGE, epsilon=0.2, score="accuracy").each)
    assert all(a <= b for a, b in zip(p, thresholds, strict=True))
    strict = alt_test(HUMANS, JUDGE, epsilon=0.2, score="accuracy", q=0.01)
    assert (strict.winning_rate, strict.passed) == (0.0, False)


def test_two_credits_score_by_rmse_as_two_labels_do_by_accuracy() -> None:
    humans = {human: credited(bits) for human, bits in BITS.items()}
    by_rmse = alt_test(humans, credited(JUDGE_BITS), epsilon=0.2, score="neg_rmse")
    by_accuracy = alt_test(HUMANS, JUDGE, epsilon=0.2, score="accuracy")
    assert replace(by_rmse, score="accuracy") == by_accuracy


def test_rmse_forgives_the_nearer_credit() -> None:
    humans = {
        "far": {f"i{n}": 0.0 for n in range(30)},
        "one": {f"i{n}": 1.0 for n in range(30)},
        "two": {f"i{n}": 0.7 for n in range(30)},
    }
    found = alt_test(humans, {f"i{n}": 0.5 for n in range(30)}, epsilon=0.2, score="neg_rmse")
    # Against 1 and 0.7, 0 and 0.7, 0 and 1: the judge's squares are 0.29, 0.29, 0.5,
    # the humans' 1.49, 1.09, 0.58.
    assert [one.difference for one in found.each] == [-1.0] * 3


def test_t_is_that_of_one_sample() -> None:
    humans = {name: HUMANS[name] for name in ("h1", "h2")}
    found = alt_test(humans, JUDGE, epsilon=0.15, score="accuracy")
    first, second = BITS["h1"], BITS["h2"]
    differences = [
        int((a == b) >= (j == b)) - int((j == b) >= (a == b))
        for a, b, j in zip(first, second, JUDGE_BITS, strict=True)
    ]
    expected = stats.ttest_1samp(differences, 0.15, alternative="less")
    assert found.each[0].t == pytest.approx(expected.statistic)
    assert found.each[0].p == pytest.approx(expected.pvalue)


def test_without_spread_the_difference_is_taken_at_its_word() -> None:
    same = {f"i{n}": "a" for n in range(30)}
    alike = alt_test({"x": same, "y": same}, same, epsilon=0.1, score="accuracy")
    assert [(one.difference, one.t, one.p) for one in alike.each] == [(0.0, None, 0.0)] * 2
    assert (alike.winning_rate, alike.advantage_probability) == (1.0, 1.0)
    no_margin = alt_test({"x": same, "y": same}, same, epsilon=0.0, score="accuracy")
    assert [one.p for one in no_margin.each] == [1.0, 1.0]
    wrong = alt_test(
        {"x": same, "y": same}, dict.fromkeys(same, "b"), epsilon=0.2, score="accuracy"
    )
    assert [(one.difference, one.p) for one in wrong.each] == [(1.0, 1.0)] * 2
    assert wrong.passed is False


def test_a_human_with_few_items_is_left_out_and_still_one_of_the_others() -> None:
    few = {item: verdict for item, verdict in HUMANS["h3"].items() if item < "item 3"}
    assert 0 < len(few) < 30
    found = alt_test({**HUMANS, "h3": few}, JUDGE, epsilon=0.2, score="accuracy")
    assert [one.human for one in found.each] == ["h1", "h2"]
    without = alt_test(
        {name: HUMANS[name] for name in ("h1", "h2")}, JUDGE, epsilon=0.2, score="accuracy"
    )
    assert found.each != without.each


def test_items_of_one_human_or_without_the_judge_do_not_count() -> None:
    alone = {f"alone {n}": "1" for n in range(50)}
    unjudged = {f"unjudged {n}": "1" for n in range(50)}
    humans = {name: {**own, **unjudged} for name, own in HUMANS.items()}
    humans["h1"] = {**humans["h1"], **alone}
    found = alt_test(humans, {**JUDGE, **alone}, epsilon=0.2, score="accuracy")
    assert found == alt_test(HUMANS, JUDGE, epsilon=0.2, score="accuracy")


@pytest.mark.parametrize("humans", [0, 1])
def test_with_fewer_than_two_humans_it_is_not_applicable(humans: int) -> None:
    few = dict(list(HUMANS.items())[:humans])
    found = alt_test(few, JUDGE, epsilon=0.2, score="accuracy")
    assert not found.applicable
    assert found.reason is not None
    assert found.reason.startswith("needs at least 2 reviewers with 30 answers")
    assert (found.winning_rate, found.advantage_probability, found.passed) == (None, None, None)
    assert (found.humans, found.each) == (0, ())


def test_with_fewer_than_thirty_items_it_is_not_applicable() -> None:
    first = {human: labelled(bits[:29]) for human, bits in BITS.items()}
    assert not alt_test(first, JUDGE, epsilon=0.2, score="accuracy").applicable
    first = {human: labelled(bits[:30]) for human, bits in BITS.items()}
    assert alt_test(first, JUDGE, epsilon=0.2, score="accuracy").applicable


def test_another_score_is_refused() -> None:
    with pytest.raises(ValueError):
        alt_test(HUMANS, JUDGE, epsilon=0.2, score="sim")
