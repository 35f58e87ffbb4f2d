"""Wins, ties and losses (cases.md J10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.stats.wins import Pair, WinRecord, win_records


@pytest.mark.parametrize(
    ("record", "rate"),
    [
        (WinRecord(9, 0, 11), 0.45),
        (WinRecord(7, 8, 5), 0.55),
        (WinRecord(0, 20, 0), 0.5),
        (WinRecord(0, 0, 3), 0.0),
        (WinRecord(1, 1, 0), 0.75),
        (WinRecord(0, 0, 0), None),
    ],
)
def test_a_tie_counts_half(record: WinRecord, rate: float | None) -> None:
    """J10: by wins alone the first would rank before the second (0.45 and 0.35)."""
    assert record.rate == rate


def test_records_are_kept_of_both_and_ranked() -> None:
    pairs = [Pair("a", "b", "a"), Pair("b", "a", None), Pair("a", "c", "c"), Pair("b", "c", None)]
    assert win_records(pairs) == {
        "c": WinRecord(1, 1, 0),
        "a": WinRecord(1, 1, 1),
        "b": WinRecord(0, 2, 1),
    }
    assert list(win_records(pairs)) == ["c", "a", "b"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([("a", "b"), ("b", "c"), ("c", "a")]), st.sampled_from([0, 1, None])
        )
    )
)
def test_what_one_wins_another_loses(drawn: list[tuple[tuple[str, str], int | None]]) -> None:
    pairs = [Pair(*both, None if won is None else both[won]) for both, won in drawn]
    records = win_records(pairs)
    assert sum(one.wins for one in records.values()) == sum(one.losses for one in records.values())
    assert sum(one.ties for one in records.values()) % 2 == 0
