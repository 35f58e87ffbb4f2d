"""Rows from streams, against the worked numbers of the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunEndpoint
from evalbot.domain.speed import DeviceMemory, SpeedRow
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample
from evalbot.speed.measured import measured_rows
from evalbot.speed.samples import aggregate_tps, is_cached, wall_s
from tests.building import START

from .made import PLAN, a_stream, a_sweep, rounds_of

FOUR = [
    a_stream(0, 4, 80),
    a_stream(0, 5, 100, stream=2),
    a_stream(1, 6, 90, stream=3),
    a_stream(5, 7, 30, stream=4),
]
"""Four requests: (start, end, tokens)."""


def row_of(*repeats: Sequence[Sample]) -> SpeedRow:
    [row] = measured_rows(a_sweep("m"), rounds_of(*repeats))
    return row


def failed(status: S, detail: str | None = None, end: float = 1.0, stream: int = 1) -> Sample:
    return a_stream(
        0, end, None, prompt=None, cached=None, stream=stream, status=status, detail=detail
    )


def test_aggregate_is_all_tokens_over_the_wall_time() -> None:
    assert aggregate_tps([FOUR]) == pytest.approx(42.8571429)
    row = row_of(FOUR)
    assert row.aggregate_tps == pytest.approx(300 / 7)
    assert row.wall_s == 7
    # Identity: what all give together is what each gives while it runs, times how many run.
    pooled = 300 / sum(one.timing.total_ms or 0 for one in FOUR) * 1000
    at_once = sum(one.timing.total_ms or 0 for one in FOUR) / 1000 / 7
    assert row.aggregate_tps == pytest.approx(pooled * at_once)


def test_one_stream_by_the_clients_clock() -> None:
    """Tokens at 0.25, 0.30, 0.35, 0.40, 0.45 s, the end at 0.46 s."""
    by_client = a_stream(0, 0.46, 5, ttft=0.25, tps=20.0, decode_tps=20.0, source="client")
    row = row_of([by_client])
    assert (row.ttft_ms_p50, row.ttft_ms_mean, row.decode_tps_p50) == (250, 250, 20)
    assert row.stream_tps_p50 == 20
    assert row.aggregate_tps == pytest.approx(10.8695652)
    assert row.timing_source == "client"


def test_percentiles_are_interpolated_linearly() -> None:
    times = (0.2, 0.25, 0.3, 0.9)
    row = row_of([a_stream(ttft=time, stream=n) for n, time in enumerate(times, 1)])
    assert row.ttft_ms_p50 == pytest.approx(275)
    assert row.ttft_ms_p90 == pytest.approx(720)
    assert row.ttft_ms_mean == pytest.approx(412.5)


def test_first_reply_first_token_and_first_text_are_three_numbers() -> None:
    one = a_stream(ttfr_ms=10.0, ttft_ms=400.0, ttfot_ms=7200.0)
    only_reasoning = a_stream(ttfr_ms=20.0, ttft_ms=600.0, ttfot_ms=None)
    row = row_of([one], [only_reasoning])
    assert (row.ttfr_ms_p50, row.ttft_ms_p50, row.ttfot_ms_p50, row.ttfot_ms_p90) == (
        15, 500, 7200, 7200
    )  # fmt: skip


def test_repeats_are_a_ratio_of_sums_not_a_mean_of_ratios() -> None:
    """100 tokens in 1 s and 100 tokens in 9 s are 20 a second, not 55.6."""
    row = row_of([a_stream(0, 1, 100)], [a_stream(0, 9, 100)])
    assert row.aggregate_tps == 20
    assert (row.wall_s, row.n) == (5, 2)


@given(
    st.lists(
        st.lists(
            st.tuples(st.floats(0, 5), st.floats(0.1, 9), st.integers(1, 500)),
            min_size=3, max_size=3,
        ),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_aggregate_lies_between_the_repeats_and_below_the_sum_of_the_streams(
    repeats: list[list[tuple[float, float, int]]],
) -> None:
    rounds = [
        [a_stream(start, start + length, tokens) for start, length, tokens in streams]
        for streams in repeats
    ]
    together = aggregate_tps(rounds)
    each = [aggregate_tps([one]) or 0 for one in rounds]
    assert together is not None
    assert min(each) - 1e-6 <= together <= max(each) + 1e-6
    for one, alone in zip(rounds, each, strict=True):
        rates = [(s.usage.completion_tokens or 0) / ((s.timing.total_ms or 0) / 1000) for s in one]
        assert alone <= sum(rates) + 1e-6


def test_a_round_begins_with_its_first_request_and_ends_with_its_last_stream() -> None:
    assert wall_s([a_stream(0.5, 2), a_stream(1, 1.5)]) == 1.5
    assert wall_s([]) is None


def test_rows_stand_by_endpoint_prompt_length_and_streams() -> None:
    rounds = {
        Round(endpoint, context, concurrency, repeat): [a_stream()] * concurrency
        for repeat in (2, 1)
        for concurrency in (4, 1, 2)
        for context in (4096, 512)
        for endpoint in ("z", "a")
    }
    rows = measured_rows(a_sweep("z", "a", label="night"), rounds)
    assert [(row.model, row.context_label, row.concurrency) for row in rows] == [
        (model, context, concurrency)
        for model in ("z", "a")
        for context in ("512", "4096")
        for concurrency in (1, 2, 4)
    ]
    assert rows[1].test == "pp512+tg128 x2"
    assert {row.label for row in rows} == {"night"}
    assert {(row.hardware, row.slots, row.slot_context) for row in rows} == {("pc", 4, 8192)}
    assert [row.n for row in rows[:3]] == [2, 4, 8]


def test_a_sweep_without_a_label_goes_by_its_id() -> None:
    assert row_of([a_stream()]).label == "speed-1"


@pytest.mark.parametrize(
    ("cached", "prompt", "is_one"),
    [(None, 4000, False), (0, 4000, False), (200, 4000, False), (201, 4000, True),
     (3988, 4000, True), (1, None, True), (None, None, False)],
)  # fmt: skip
def test_a_prompt_is_cached_when_more_than_a_template_is(
    cached: int | None, prompt: int | None, is_one: bool
) -> None:
    """cases.md, T5."""
    assert is_cached(a_stream(cached=cached, prompt=prompt)) is is_one


def test_cached_repeats_are_left_out_of_what_they_would_spoil() -> None:
    fresh = a_stream(0, 10, 100, ttft=5.0, prefill_tps=100.0, decode_tps=20.0, tps=21.0)
    cached = a_stream(0, 5, 100, cached=500, ttft=0.01, decode_tps=22.0, tps=23.0)
    row = row_of([fresh], [cached], [fresh])
    assert row.status == "ok"
    assert (row.ttfr_ms_p50, row.ttft_ms_p50, row.ttft_ms_p90, row.ttft_ms_mean) == (5000,) * 4
    assert (row.ttfot_ms_p50, row.prefill_tps_p50) == (5000, 100)
    assert (row.aggregate_tps, row.wall_s) == (10, 10)
    # How fast tokens are written does not depend on where the prompt came from.
    assert (row.decode_tps_p50, row.stream_tps_p50, row.n) == (20, 21, 3)
    assert (row.evidence or "").startswith("1 of 3 prompts came from the prompt cache")


def test_a_round_with_one_cached_stream_is_no_measure_of_the_whole() -> None:
    fresh, cached = a_stream(0, 10, 100, ttft=5.0), a_stream(0, 5, 100, cached=500, ttft=0.01)
    row = row_of([fresh, cached])
    assert (row.ttft_ms_p50, row.aggregate_tps, row.wall_s) == (5000, None, None)
    row = row_of([fresh, cached], [fresh, fresh])
    assert (row.ttft_ms_p50, row.aggregate_tps, row.wall_s) == (5000, 20, 10)


def test_when_all_came_from_a_cache_the_row_says_so() -> None:
    row = row_of(*[[a_stream(cached=500, ttft=0.01)]] * 3)
    assert (row.status, row.prefill_tps_p50) == ("cached", None)
    assert row.evidence == "all 3 prompts came from the server's prompt cache"


def test_nothing_counted_is_unknown_and_not_zero() -> None:
    """cases.md, T6: a server that never sends usage."""
    silent = a_stream(0, 2, None, prompt=None, cached=None, ttft=0.5, source="none")
    row = row_of([silent, replace(silent, stream=2)])
    assert (row.aggregate_tps, row.decode_tps_p50, row.stream_tps_p50) == (None, None, None)
    assert (row.output_tokens, row.prefill_tps_p50, row.timing_source) == (None, None, None)
    assert (row.status, row.ttft_ms_p50, row.wall_s, row.n) == ("ok", 500, 2, 2)
    assert (row.context_label, row.context_tokens) == ("512", None)
    assert row.evidence == "the server does not say how many tokens the prompts had"


def test_one_stream_that_was_not_counted_leaves_the_sum_unknown() -> None:
    assert aggregate_tps([[a_stream(tokens=100), a_stream(tokens=None)]]) is None


def test_nothing_written_is_zero_tokens_and_no_rate() -> None:
    row = row_of([a_stream(0, 2, 0, status=S.EMPTY)])
    assert (row.output_tokens, row.aggregate_tps, row.stream_tps_p50) == (0, None, None)
    assert row.evidence == "1 of 1 stream ended early, after 0 of 128 tokens"


def test_tokens_are_as_the_server_counted_them() -> None:
    row = row_of([a_stream(tokens=100, prompt=509)])
    assert (row.context_label, row.context_tokens, row.output_tokens) == ("512", 509, 100)
    assert row.evidence == (
        "prompts had 509 tokens: 512 could not be met exactly; "
        "1 of 1 stream ended early, after 100 of 128 tokens"
    )


def test_streams_that_end_early_are_counted_whatever_the_median_is() -> None:
    one = row_of([a_stream(0, 2, 128), a_stream(0, 2, 128, stream=2), a_stream(0, 2, 3, stream=3)])
    assert (one.status, one.output_tokens) == ("ok", 128)
    assert one.evidence == "1 of 3 streams ended early, after 3 of 128 tokens"
    two = row_of([a_stream(0, 2, 128), a_stream(0, 2, 9, stream=2), a_stream(0, 2, 3, stream=3)])
    assert two.evidence == "2 of 3 streams ended early, after 3 to 9 of 128 tokens"


def test_more_tokens_than_asked_for_are_doubtful() -> None:
    row = row_of([a_stream(0, 2, 129)])
    assert (row.status, row.evidence) == (
        "suspect", "the server counts 129 tokens where 128 were asked for",
    )  # fmt: skip


@pytest.mark.parametrize(("server", "status"), [(290, "ok"), (301, "suspect"), (33, "suspect")])
def test_a_server_whose_rate_is_not_what_came_is_doubtful(server: float, status: str) -> None:
    one = a_stream(0, 2, 128)
    said = replace(one, stream_tps=100.0, timing=replace(one.timing, decode_tps=server))
    row = row_of([said])
    assert row.status == status
    if status == "suspect":
        assert row.evidence == (
            f"the server says that it wrote {server}.0 tok/s, by our clock it was 100.0"
        )


def test_repeats_that_are_not_of_one_thing_are_doubtful() -> None:
    steady = row_of([a_stream(0, 2, 128)], [a_stream(0, 4, 128)])
    assert (steady.status, steady.evidence) == ("ok", None)
    row = row_of([a_stream(0, 2, 128)], [a_stream(0, 4.1, 128)])
    assert (row.status, row.evidence) == (
        "suspect", "the repeats differ: 31.2 to 64.0 tok/s of all streams together",
    )  # fmt: skip
    # In rounds of milliseconds a hiccup decides.
    assert row_of([a_stream(0, 0.02, 128)], [a_stream(0, 0.2, 128)]).status == "ok"


def test_more_streams_than_slots_are_told_with_both_numbers() -> None:
    eight = [a_stream(0, n, 128, stream=n) for n in range(1, 9)]
    assert row_of(eight[:4]).evidence is None
    row = row_of(eight)
    assert (row.status, row.concurrency, row.slots) == ("ok", 8, 4)
    assert row.evidence == "8 streams for 4 slots: the rest queued"


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (S.TIMEOUT, "nothing came for 300 s (timeout_s)", "failed"),
        (S.HTTP, "HTTP 500: CUDA error: out of memory", "oom"),
        (S.SERVER_ERROR, "ggml_backend_cuda_buffer_type_alloc_buffer: failed to allocate", "oom"),
        (S.STREAM_BROKEN, "vk::DeviceLostError: device lost", "device_lost"),
        (S.CONTEXT_OVERFLOW, "the request exceeds the available context size", "context_overflow"),
        (S.CONNECTION, "connection refused", "failed"),
        (S.MALFORMED, None, "failed"),
    ],
)
def test_a_row_of_which_nothing_came_says_what_failed(
    status: S, detail: str | None, expected: str
) -> None:
    row = row_of([failed(status, detail, stream=n) for n in (1, 2)])
    assert (row.status, row.n, row.errors) == (expected, 0, 2)
    words = f"{status}: {detail or 'no reason given'}"
    assert row.evidence == f"2 of 2 requests failed ({words})"
    figures = (row.ttft_ms_p50, row.prefill_tps_p50, row.decode_tps_p50, row.stream_tps_p50,
               row.aggregate_tps, row.wall_s, row.timing_source)  # fmt: skip
    assert figures == (None,) * 7
    # What was asked for tells which test it was; what the prompts had nobody counted.
    assert (row.context_label, row.output_tokens, row.concurrency) == ("512", 128, 2)
    assert row.context_tokens is None


def test_a_single_failure_is_told_in_its_own_words() -> None:
    assert row_of([failed(S.HTTP, "HTTP 500: no")]).evidence == "http: HTTP 500: no"


def test_some_failures_of_many_streams_are_a_collapse_and_of_one_are_suspect() -> None:
    fine = a_stream(0, 1, 128)
    broken = failed(S.TIMEOUT, "nothing came", 5.0, 2)
    row = row_of([fine, broken])
    assert (row.status, row.n, row.errors) == ("collapsed", 1, 1)
    assert row.evidence == "1 of 2 requests failed (timeout: nothing came)"
    row = row_of([fine], [failed(S.TIMEOUT, "nothing came")], [fine])
    assert (row.status, row.n, row.errors) == ("suspect", 2, 1)


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (S.HTTP, "HTTP 500: out of memory", "oom"),
        (S.HTTP, "HTTP 500: device lost", "device_lost"),
        (S.CONTEXT_OVERFLOW, "Context size has been exceeded.", "context_overflow"),
    ],
)
def test_a_cause_that_is_known_is_the_status_even_where_some_streams_came(
    status: S, detail: str, expected: str
) -> None:
    row = row_of([a_stream(), failed(status, detail, stream=2)])
    assert (row.status, row.n, row.errors) == (expected, 1, 1)


def test_a_shared_context_is_told_and_not_blamed_on_the_model() -> None:
    """cases.md, C3: four streams of 3000 tokens, one cache of 8192 for four slots."""
    words = "Context size has been exceeded. (4 slots share the server's context)"
    lost = [failed(S.CONTEXT_OVERFLOW, words, stream=n) for n in (3, 4)]
    row = row_of([a_stream(), a_stream(stream=2), *lost])
    assert row.status == "context_overflow"
    assert row.evidence == f"2 of 4 requests failed (context_overflow: {words})"


def test_the_most_frequent_failure_is_the_one_told() -> None:
    streams = [failed(S.HTTP, "HTTP 500: a"), failed(S.TIMEOUT, "b"), failed(S.TIMEOUT, "b")]
    assert row_of(streams).evidence == "3 of 3 requests failed (timeout: b)"


def test_what_was_never_sent_is_no_error() -> None:
    detail = "not sent: a prompt of 9000 tokens and 128 to write need 9128"
    never = Sample(1, S.CONTEXT_OVERFLOW, START, error_detail=detail)
    row = row_of([never, replace(never, stream=2)])
    assert (row.status, row.n, row.errors, row.evidence) == ("context_overflow", 0, 0, detail)


def test_the_clocks_are_told() -> None:
    """cases.md, T7."""
    both = [a_stream(), a_stream(source="client", stream=2), a_stream(source="none", stream=3)]
    assert row_of(both).timing_source == "client+server"


def test_an_endpoint_given_up_has_a_row_that_says_why_besides_what_it_has() -> None:
    stopped = RunEndpoint("m", {}, "f", stopped_reason="the server does not answer any more")
    measured, given_up = measured_rows(a_sweep(stopped), rounds_of([a_stream()]))
    assert (measured.status, given_up.status) == ("ok", "failed")
    assert given_up.evidence == "given up: the server does not answer any more"
    assert (given_up.n, given_up.context_tokens, given_up.concurrency) == (None, None, None)


def reading(
    *used: float | None, moment: Moment = Moment.DURING, round_: Round | None = None
) -> MemoryReading:
    devices = tuple(DeviceMemory(str(n), None, mib, 32_768) for n, mib in enumerate(used))
    return MemoryReading("m", moment, START, devices, None, round_)


def test_memory_is_the_most_of_all_devices_together_during_the_rounds() -> None:
    here = [Round("m", 512, 1, repeat) for repeat in (1, 2)]
    elsewhere = (Round("m", 512, 2, 1), Round("n", 512, 1, 1), Round("m", 4096, 1, 1))
    readings = [
        reading(10_000, 500, round_=here[0]),
        reading(9_000, 2_000, round_=here[1]),
        reading(None, 10_999, round_=here[1]),
        reading(99_999, moment=Moment.BEFORE),
        reading(99_999, moment=Moment.UNLOADED),
        *(replace(reading(99_999, round_=one), endpoint=one.endpoint) for one in elsewhere),
    ]
    [row] = measured_rows(a_sweep("m"), rounds_of([a_stream()], [a_stream()]), readings)
    assert row.memory_used_mib == 11_000


def test_memory_nobody_could_read_is_unknown() -> None:
    readings = [reading(None, None, round_=Round("m", 512, 1, 1)), reading()]
    [row] = measured_rows(a_sweep("m"), rounds_of([a_stream()]), readings)
    assert row.memory_used_mib is None


def test_only_what_was_measured_has_a_row() -> None:
    assert measured_rows(a_sweep("m", "n"), {}) == []
    assert len(list(PLAN.rounds("m"))) == 9
    [row] = measured_rows(a_sweep("m", "n"), rounds_of([a_stream()], endpoint="n"))
    assert row.model == "n"


def test_medians_are_over_all_streams_of_all_repeats() -> None:
    times = [1, 2, 3, 4, 5, 9]
    one, two = ([a_stream(ttft=t, tps=t) for t in part] for part in (times[:3], times[3:]))
    row = row_of(one, two)
    assert (row.ttft_ms_p50, row.stream_tps_p50) == (3500, 3.5)
    assert row.ttft_ms_mean == pytest.approx(1000 * mean(times))
