"""Collapse told from slowdown: the published tables row by row, and each rule at its edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.problems import Problems
from evalbot.formats.speed_tables import read_speed_table
from evalbot.speed.flags import flagged

from .made import a_row

DATA = Path(__file__).parents[1] / "data" / "speed"
QWEN, LLAMA, QWEN72 = "Qwen3.6-35B-A3B Q8_0", "Llama-3.3-70B Q6_K", "Qwen2.5-72B Q6_K"
GLM, QWEN235 = "GLM-4.5-Air Q4_K_M", "Qwen3-235B-A22B-2507 Q2_K_XL"
OSS = "gpt-oss-120b MXFP4"

CONCURRENT = [
    ("first", QWEN, "short x2", "suspect", "first token after 570 ms, with one stream 998 ms"),
    ("first", QWEN, "5K x2", "suspect", "first token after 2422 ms, with one stream 4409 ms"),
    ("first", QWEN, "32K x2", "cached", "first token after 755 ms, with one stream 34822 ms"),
    ("first", QWEN, "32K x4", "collapsed", "gave 0.2 tok/s, one stream gave 62.6"),
    ("first", LLAMA, "5K x2", "suspect", "first token after 12152 ms, with one stream 22239 ms"),
    ("first", LLAMA, "32K x2", "collapsed", "gave 0.1 tok/s, one stream gave 6.6"),
    ("first", LLAMA, "32K x4", "collapsed", "gave 0.3 tok/s, one stream gave 6.6"),
    ("first", QWEN72, "short x2", "suspect", "first token after 255 ms, with one stream 1871 ms"),
    ("first", GLM, "32K x2", "collapsed", "gave 0.1 tok/s, one stream gave 18.7"),
    ("first", GLM, "32K x4", "collapsed", "gave 0.1 tok/s, one stream gave 18.7"),
    ("first", QWEN235, "short x2", "suspect", "first token after 739 ms, with one stream 1783 ms"),
    ("first", OSS, "32K x2", "suspect", "took 181.9 s, 1.7 times as long as its streams one after"),
    ("retest", QWEN, "short x2", "suspect", "first token after 418 ms, with one stream 1864 ms"),
    ("retest", QWEN, "short x4", "suspect", "first token after 929 ms, with one stream 1864 ms"),
    ("retest", QWEN, "32K x4", "collapsed", "each stream got 0.2 tok/s, an even share of one "
     "stream's rate is 17.8, and the round took 1.8 times as long"),
    ("retest", QWEN, "52K x4", "collapsed", "gave 0.2 tok/s, one stream gave 53.7"),
    ("retest", LLAMA, "32K x2", "collapsed", "gave 0.1 tok/s, one stream gave 7.0"),
    ("retest", LLAMA, "32K x4", "collapsed", "gave 0.1 tok/s, one stream gave 7.0"),
    ("retest", QWEN72, "short x2", "suspect", "first token after 262 ms, with one stream 1704 ms"),
]  # fmt: skip
"""Rows of the published table of concurrent streams that are out of line, with the figures."""


def published(name: str) -> list[SpeedRow]:
    problems = Problems()
    rows = read_speed_table(DATA / name, problems)
    problems.raise_if_any()
    return rows


def statuses(*rows: SpeedRow) -> list[str]:
    return [str(row.status) for row in flagged(rows)]


def evidence(*rows: SpeedRow) -> str:
    """That of the last row."""
    return flagged(rows)[-1].evidence or ""


def test_the_published_table_of_concurrent_streams() -> None:
    rows = published("speed_concurrent.csv")
    after = flagged(rows)
    changed = [new for old, new in zip(rows, after, strict=True) if new != old]
    found = [(row.label, row.model, row.test, str(row.status)) for row in changed]
    assert found == [line[:4] for line in CONCURRENT]
    for row, (*_, words) in zip(changed, CONCURRENT, strict=True):
        assert words in (row.evidence or "")


def test_slowdown_that_is_shared_fairly_is_left_alone() -> None:
    """From the published table: half or a third of the rate, and later tokens, are no collapse."""
    after = {(row.label, row.model, row.test): row.status
             for row in flagged(published("speed_concurrent.csv"))}  # fmt: skip
    for graceful in (
        ("first", QWEN, "5K x4"),
        ("first", LLAMA, "5K x4"),
        ("first", GLM, "5K x4"),
        ("retest", QWEN, "5K x4"),
        ("retest", QWEN, "52K x2"),
        ("retest", LLAMA, "5K x4"),
        ("retest", QWEN72, "5K x4"),
    ):
        assert after[graceful] is SpeedStatus.OK


def test_the_published_table_of_single_streams() -> None:
    """A chat of four tokens came from a cache; prefill of a few tokens is no rate."""
    rows = published("speed_single_stream.csv")
    changed = [new for old, new in zip(rows, flagged(rows), strict=True) if new != old]
    small = "tokens are too few for a rate"
    left_out = {
        ("first", QWEN): (4, "20.5"),
        ("first", LLAMA): (21, "143.8"),
        ("first", QWEN72): (45, "168.7"),
        ("first", GLM): (36, "87.0"),
        ("first", QWEN235): (44, "39.7"),
        ("first", OSS): (36, "182.6"),
        ("retest", QWEN): (33, "65.7"),
    }
    assert {(row.label, row.model) for row in changed} == set(left_out)
    assert len(changed) == len(left_out)
    for row in changed:
        tokens, rate = left_out[row.label or "", row.model]
        assert row.test == "short x1"
        assert row.prefill_tps_p50 is None
        told = f"prefill of {rate} tok/s left out: {tokens} {small}"
        if tokens == 4:
            told += (
                "; a chat of 4 tokens is shorter than its own template: the rest came from a "
                "prompt cache"
            )
        assert row.evidence == told
        assert row.status == ("cached" if tokens == 4 else "ok")
        assert row.decode_tps_p50 is not None


@pytest.mark.parametrize("name", ["speed_concurrent.csv", "speed_single_stream.csv",
                                  "llama_bench_shootout.csv"])  # fmt: skip
def test_order_is_kept_and_flagging_twice_is_flagging_once(name: str) -> None:
    rows = published(name)
    once = flagged(rows)
    assert [(row.label, row.model, row.test) for row in once] == [
        (row.label, row.model, row.test) for row in rows
    ]
    assert flagged(once) == once


def test_a_comparison_of_machines_has_nothing_out_of_line() -> None:
    rows = published("llama_bench_shootout.csv")
    assert flagged(rows) == rows


@pytest.mark.parametrize(("together", "status"), [(25.0, "ok"), (24.9, "collapsed")])
def test_all_streams_together_keep_a_quarter_of_what_fewer_gave(
    together: float, status: str
) -> None:
    base, row = a_row(1, aggregate_tps=100.0), a_row(4, aggregate_tps=together)
    assert statuses(base, row) == ["ok", status]
    if status != "ok":
        assert evidence(base, row) == (
            "all streams together gave 24.9 tok/s, one stream gave 100.0: slowdown keeps at "
            "least 25 % of that"
        )


@pytest.mark.parametrize(
    ("stream", "wall", "status"),
    [
        (2.5, 61.0, "suspect"),  # a tenth of an even share: the wall alone is out of line
        (2.4, 61.0, "collapsed"),
        (2.4, 60.0, "ok"),  # waiting for the others' prompts, as each of them would in turns
        (2.4, None, "suspect"),
        (2.5, None, "ok"),
    ],
)
def test_starved_streams(stream: float, wall: float | None, status: str) -> None:
    """Four streams share 100 tok/s: 25 each; in turns they take 40 s."""
    base = a_row(1, decode_tps_p50=100.0, wall_s=10.0)
    row = a_row(4, stream_tps_p50=stream, wall_s=wall)
    assert statuses(base, row) == ["ok", status]


def test_a_starved_stream_is_told_with_its_even_share() -> None:
    base = a_row(1, stream_tps_p50=100.0, decode_tps_p50=7.0, wall_s=10.0)
    assert evidence(base, a_row(4, stream_tps_p50=2.4, wall_s=80.0)) == (
        "each stream got 2.4 tok/s, an even share of one stream's rate is 25.0, and the round "
        "took 2.0 times as long as its streams one after another"
    )
    assert evidence(base, a_row(4, stream_tps_p50=2.4)).endswith(
        "how long the round took is not known"
    )


@pytest.mark.parametrize(("wall", "status"), [(60.0, "ok"), (60.1, "suspect")])
def test_a_round_takes_no_longer_than_its_streams_one_after_another(
    wall: float, status: str
) -> None:
    base = a_row(1, wall_s=10.0)
    assert statuses(base, a_row(4, wall_s=wall)) == ["ok", status]
    assert statuses(a_row(2, wall_s=20.0), a_row(4, wall_s=wall)) == ["ok", status]


@pytest.mark.parametrize(
    ("first", "alone", "status"),
    [
        (8000.0, 10_000.0, "ok"),
        (7999.0, 10_000.0, "suspect"),
        (5000.0, 10_000.0, "suspect"),
        (4999.0, 10_000.0, "cached"),
        (2499.0, 5000.0, "cached"),
        (2499.0, 4999.0, "suspect"),  # perhaps only a slow first request
        (301.0, 400.0, "ok"),  # less than 100 ms sooner
        (300.0, 400.0, "suspect"),
    ],
)
def test_more_streams_do_not_get_their_first_token_sooner(
    first: float, alone: float, status: str
) -> None:
    base, row = a_row(1, ttft_ms_p50=alone), a_row(2, ttft_ms_p50=first)
    assert statuses(base, row) == ["ok", status]
    # A mean says more about several streams than a median, where there is one.
    misled = (replace(base, ttft_ms_mean=alone, ttft_ms_p50=1.0),
              replace(row, ttft_ms_mean=first, ttft_ms_p50=1.0))  # fmt: skip
    assert statuses(*misled) == ["ok", status]


def test_what_a_server_told_of_its_cache_is_believed_and_what_it_did_not_tell_is_not() -> None:
    def own(concurrency: int, first: float, source: str) -> SpeedRow:
        return a_row(concurrency, source=SpeedSource.EVALBOT, ttft_ms_p50=first,
                     timing_source=source)  # fmt: skip

    assert statuses(own(1, 10_000, "server"), own(2, 100, "server")) == ["ok", "ok"]
    assert statuses(own(1, 10_000, "client"), own(2, 100, "client")) == ["ok", "cached"]


@pytest.mark.parametrize(("first", "status"), [(60_000.0, "ok"), (60_001.0, "suspect")])
def test_a_first_token_comes_once_all_prompts_were_read(first: float, status: str) -> None:
    """Four prompts of 5 s: after 20 s at the latest; three times that is out of line."""
    base, row = a_row(1, ttft_ms_p50=5000.0), a_row(4, ttft_ms_p50=first)
    assert statuses(base, row) == ["ok", status]
    assert statuses(a_row(1, ttft_ms_p50=3.0), a_row(4, ttft_ms_p50=99.0)) == ["ok", "ok"]


@pytest.mark.parametrize(
    ("slots", "first", "status"),
    [
        (4, 16_000.0, "ok"),
        (4, 16_001.0, "suspect"),
        (None, 16_000.0, "ok"),
        (8, 16_000.0, "suspect"),
        (8, 720.0, "ok"),
    ],
)
def test_a_first_token_waits_for_a_slot_until_others_have_written_theirs(
    slots: int | None, first: float, status: str
) -> None:
    """Eight streams of 2 s for four slots: the last one begins when seven are through."""
    base = a_row(1, slots=slots, ttft_ms_p50=30.0, wall_s=2.0)
    assert statuses(base, a_row(8, slots=slots, ttft_ms_p50=first, wall_s=20.0)) == ["ok", status]


@pytest.mark.parametrize(
    ("alone", "first", "status"),
    [
        (299_999.0, 300_000.0, "suspect"),
        (299_999.0, 299_999.0, "ok"),
        (300_000.0, 600_000.0, "ok"),
    ],
)
def test_a_first_token_beyond_what_clients_wait_for(
    alone: float, first: float, status: str
) -> None:
    base, row = a_row(1, ttft_ms_p50=alone), a_row(2, ttft_ms_p50=first)
    assert statuses(base, row) == ["ok", status]


@pytest.mark.parametrize(("tokens", "status"), [(7, "cached"), (8, "ok"), (None, "ok")])
def test_a_chat_shorter_than_a_template_was_cached(tokens: int | None, status: str) -> None:
    row = a_row(1, context_tokens=tokens, ttft_ms_p50=50.0)
    assert statuses(row) == [status]
    # Other tools count prompts without a template, and a row without a first token is no chat.
    assert statuses(replace(row, source=SpeedSource.VLLM_BENCH)) == ["ok"]
    assert statuses(replace(row, ttft_ms_p50=None)) == ["ok"]


@pytest.mark.parametrize(("tokens", "is_kept"), [(63, False), (64, True), (None, True)])
def test_prefill_of_a_few_tokens_is_left_out(tokens: int | None, is_kept: bool) -> None:
    row = a_row(1, context_tokens=tokens, ttft_ms_p50=50.0, prefill_tps_p50=100.0)
    [after] = flagged([row])
    assert (after.prefill_tps_p50 is not None) is is_kept
    assert after.status == "ok"
    # llama-bench's pp32 is what it says.
    bench = replace(row, source=SpeedSource.LLAMA_BENCH)
    assert flagged([bench]) == [bench]


@pytest.mark.parametrize(("rate", "status"), [(5.0, "ok"), (4.9, "suspect")])
def test_a_rate_lost_with_a_longer_prompt(rate: float, status: str) -> None:
    short = a_row(1, context_label="5K", context_tokens=5000, decode_tps_p50=100.0)
    long = a_row(1, context_label="32K", context_tokens=32_000, decode_tps_p50=rate)
    assert statuses(short, long) == ["ok", status]
    assert statuses(long, short) == [status, "ok"]
    if status != "ok":
        assert evidence(short, long) == (
            "4.9 tok/s, with 5000 tokens of context 100.0: memory overflow, or a timing that failed"
        )
    # A shorter prompt that is slow was not made slow by its length.
    assert statuses(replace(short, decode_tps_p50=rate), replace(long, decode_tps_p50=100.0)) == [
        "ok", "ok"
    ]  # fmt: skip


def test_a_sweeps_own_rows_lose_their_rate_with_context_too() -> None:
    def own(context: int, rate: float) -> SpeedRow:
        return a_row(1, source=SpeedSource.EVALBOT, context_label=str(context), decode_tps_p50=rate,
                     context_tokens=context, test=f"pp{context}+tg128 x1")  # fmt: skip

    assert statuses(own(512, 100), own(32_768, 1)) == ["ok", "suspect"]


def test_a_server_that_breaks_down_and_writes_less_is_still_held_against_itself() -> None:
    """The slot was full at once: three tokens instead of 128, in fair time."""

    def own(concurrency: int, written: int, together: float) -> SpeedRow:
        test = f"pp512+tg128 x{concurrency}"
        return a_row(concurrency, source=SpeedSource.EVALBOT, test=test, context_label="512",
                     output_tokens=written, aggregate_tps=together)  # fmt: skip

    assert statuses(own(1, 128, 100.0), own(4, 3, 1.0)) == ["ok", "collapsed"]
    other = replace(own(4, 3, 1.0), test="pp512+tg16 x4")
    assert statuses(own(1, 128, 100.0), other) == ["ok", "ok"]


BASE: dict[str, Any] = {"label": "x", "model": "m", "hardware": "pc", "memory": "32GB",
                        "backend": "CUDA", "context_label": "5K", "output_tokens": 128}  # fmt: skip


@pytest.mark.parametrize("name", list(BASE))
@pytest.mark.parametrize("other", ["another", None])
def test_rows_of_other_conditions_are_never_held_against_one_another(
    name: str, other: str | None
) -> None:
    value = 64 if name == "output_tokens" and other else other
    if name == "model" and other is None:
        value = "n"
    base, row = a_row(1, **BASE, aggregate_tps=100.0), a_row(4, **BASE, aggregate_tps=1.0)
    assert statuses(base, row) == ["ok", "collapsed"]
    assert statuses(base, replace(row, **{name: value})) == ["ok", "ok"]


def test_prompts_whose_length_is_not_known_are_told_apart_by_the_test() -> None:
    unknown = {"context_label": None, "ttft_ms_p50": None}
    short = a_row(1, **{**unknown, "test": "short", "ttft_ms_p50": 100.0})
    long = a_row(2, **{**unknown, "test": "a whole book", "ttft_ms_p50": 90_000.0})
    assert statuses(short, long) == ["ok", "ok"]
    assert statuses(short, replace(long, test="short")) == ["ok", "suspect"]


def test_paced_benchmarks_are_not_held_against_unpaced_ones() -> None:
    def served(rate: str, together: float) -> SpeedRow:
        return a_row(8, source=SpeedSource.VLLM_BENCH, test=f"serve {rate} req/s",
                     context_label=None, context_tokens=1024, aggregate_tps=together)  # fmt: skip

    assert statuses(served("inf", 2000.0), served("0.1", 60.0)) == ["ok", "ok"]


def test_nothing_is_said_of_rows_whose_number_of_streams_is_not_known() -> None:
    one = a_row(1, aggregate_tps=100.0, ttft_ms_p50=100.0)
    unknown = a_row(None, aggregate_tps=1.0, ttft_ms_p50=90_000.0)
    assert statuses(one, unknown) == ["ok", "ok"]
    assert statuses(unknown, one) == ["ok", "ok"]
    assert statuses(unknown, replace(unknown, aggregate_tps=100.0, ttft_ms_p50=1.0)) == ["ok", "ok"]


def test_in_rounds_of_a_blink_a_hiccup_is_no_collapse() -> None:
    """Eight tokens of a tiny model: 20 ms alone, 400 ms when the machine was busy elsewhere."""
    base = a_row(1, aggregate_tps=400.0, ttft_ms_p50=5.0, wall_s=0.02)
    busy = a_row(2, aggregate_tps=40.0, ttft_ms_p50=390.0, wall_s=0.4)
    assert statuses(base, busy) == ["ok", "ok"]
    assert statuses(base, replace(busy, wall_s=0.6)) == ["ok", "collapsed"]


@pytest.mark.parametrize("status", [s for s in SpeedStatus if s is not SpeedStatus.OK])
def test_rows_that_are_not_ok_stay_as_they_are_and_are_no_base(status: SpeedStatus) -> None:
    wrong = a_row(1, status=status, evidence="told before", aggregate_tps=100.0)
    row = a_row(4, aggregate_tps=1.0)
    assert flagged([wrong, row]) == [wrong, row]
    # The next one is the base then.
    two = a_row(2, aggregate_tps=80.0)
    assert statuses(wrong, two, row) == [str(status), "ok", "collapsed"]
    assert "2 streams gave 80.0" in evidence(wrong, two, row)


def test_a_row_that_is_flagged_by_itself_is_no_base_either() -> None:
    """One stream from a cache: what two and four streams took is not held against that."""
    one = a_row(1, context_tokens=4, ttft_ms_p50=100.0)
    two, four = a_row(2, ttft_ms_p50=2000.0), a_row(4, ttft_ms_p50=4000.0)
    after = flagged([one, two, four])
    assert [row.status for row in after] == ["cached", "ok", "ok"]
    assert flagged(after) == after


def test_evidence_is_added_to_what_was_told_before() -> None:
    base, row = a_row(1, aggregate_tps=100.0), a_row(4, aggregate_tps=1.0, evidence="about: ~1")
    assert evidence(base, row).startswith("about: ~1; all streams together gave 1.0")


figures = st.one_of(st.none(), st.floats(0.01, 1e6))
speed_rows = st.lists(
    st.builds(
        a_row,
        st.sampled_from([None, 1, 2, 4, 8]),
        source=st.sampled_from(SpeedSource),
        model=st.sampled_from("mn"),
        test=st.sampled_from([None, "pp5K+tg9 x1", "t"]),
        context_label=st.sampled_from([None, "5K", "32K"]),
        context_tokens=st.one_of(st.none(), st.integers(0, 40_000)),
        output_tokens=st.sampled_from([None, 128]),
        status=st.sampled_from([SpeedStatus.OK, SpeedStatus.OK, SpeedStatus.FAILED]),
        timing_source=st.sampled_from([None, "server", "client"]),
        ttft_ms_p50=figures,
        ttft_ms_mean=figures,
        decode_tps_p50=figures,
        prefill_tps_p50=figures,
        stream_tps_p50=figures,
        aggregate_tps=figures,
        wall_s=figures,
    ),
    max_size=12,
)


@given(speed_rows)
def test_whatever_the_rows_flagging_changes_status_and_evidence_alone_and_only_once(
    rows: Sequence[SpeedRow],
) -> None:
    once = flagged(rows)
    assert flagged(once) == once
    for before, after in zip(rows, once, strict=True):
        same = {"status": before.status, "evidence": before.evidence,
                "prefill_tps_p50": before.prefill_tps_p50}  # fmt: skip
        assert replace(after, **same) == before
        if before.status is not SpeedStatus.OK:
            assert after.status is before.status
        if after.status is not before.status:
            assert after.evidence


def test_rows_with_as_many_streams_are_not_held_against_each_other() -> None:
    rows = [a_row(1, ttft_ms_p50=12_000.0), a_row(1, ttft_ms_p50=5000.0)]
    assert [row.status for row in flagged(rows)] == ["ok", "ok"]
    assert [row.status for row in flagged(rows[::-1])] == ["ok", "ok"]


def test_rows_of_several_sweeps_in_one_table_are_told_apart() -> None:
    one, four = a_row(1, aggregate_tps=100.0), a_row(4, aggregate_tps=5.0)
    assert [row.status for row in flagged([one, four])] == ["ok", "collapsed"]
    apart = [replace(one, sweep="a"), replace(four, sweep="b")]
    assert [row.status for row in flagged(apart)] == ["ok", "ok"]
