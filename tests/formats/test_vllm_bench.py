from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats import vllm_bench
from evalbot.formats.problems import Problems

from .texts import NO_FIGURES, problems_of

DATA = Path(__file__).parents[1] / "data" / "speed"

# Median TTFT in ms, median TPOT in ms, tokens per second, as they were published.
PUBLISHED = {
    "h100": ("33.1446", "12.7164", "78.6386"),
    "2x-rtx-5090": ("56.963", "12.5764", "79.5138"),
    "rtx-4090": ("58.7202", "23.0338", "43.4144"),
    "2x-rtx-4070-ti-super": ("96.0044", "21.6821", "46.1211"),
}

Bench = Callable[..., list[SpeedRow]]


def read(path: Path) -> list[SpeedRow]:
    problems = Problems()
    rows = vllm_bench.read_vllm_bench(path, problems)
    problems.raise_if_any()
    return rows


def within_a_unit(value: float | None, printed: str) -> bool:
    """Whether a value is the printed one, give or take 1 in its last digit."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    return value is not None and abs(value - float(printed)) <= unit


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Reads a result, its fields changed, from a file."""
    monkeypatch.chdir(tmp_path)

    def read_result(**changes: Any) -> list[SpeedRow]:
        Path("r.json").write_text(json.dumps(saved(**changes)), encoding="utf-8")
        return read(Path("r.json"))

    return read_result


def saved(**changes: Any) -> dict[str, Any]:
    """Four requests, the third of them failed; the summary is theirs."""
    result = {
        "date": "20250331-105223",
        "backend": "vllm",
        "model_id": "./models/QwQ-32B-AWQ",
        "num_prompts": 4,
        "request_rate": 0.5,
        "max_concurrency": None,
        "duration": 10.0,
        "completed": 3,
        "output_throughput": 1.4,
        "input_lens": [10, 20, 30, 41],
        "output_lens": [3, 5, 0, 6],
        "ttfts": [0.02, 0.03, 0.0, 0.1],
        "itls": [[0.01, 0.03], [0.01, 0.01, 0.01, 0.01], [], [0.05] * 5],
        "errors": ["", "", "Service Unavailable", ""],
        "mean_ttft_ms": 50.0,
        "median_ttft_ms": 30.0,
        "median_tpot_ms": 20.0,
    }
    return {key: value for key, value in (result | changes).items() if value != "absent"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_figures_are_met(tmp_path: Path, name: str) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(gzip.decompress((DATA / f"vllm-{name}.json.gz").read_bytes()))
    (row,) = read(path)
    ttft, tpot, decode = PUBLISHED[name]
    assert within_a_unit(row.ttft_ms_p50, ttft)
    assert within_a_unit(row.decode_tps_p50, decode)
    assert row.decode_tps_p50 is not None
    assert within_a_unit(1000 / row.decode_tps_p50, tpot)
    assert (row.model, row.backend, row.test) == ("QwQ-32B-AWQ", "vllm", "serve 0.1 req/s")
    assert (row.n, row.errors, row.context_tokens, row.output_tokens) == (200, 0, 65, 171)
    assert (row.status, row.evidence) == (SpeedStatus.OK, None)


def test_figures_come_from_the_requests_that_did_not_fail(bench: Bench) -> None:
    assert bench() == [
        SpeedRow(
            model="QwQ-32B-AWQ",
            backend="vllm",
            source=SpeedSource.VLLM_BENCH,
            test="serve 0.5 req/s",
            context_tokens=20,
            output_tokens=5,
            n=3,
            errors=1,
            ttft_ms_p50=30.0,
            ttft_ms_p90=pytest.approx(86.0),
            ttft_ms_mean=50.0,
            decode_tps_p50=pytest.approx(50.0),  # of TPOTs 20, 10 and 50 ms
            aggregate_tps=1.4,
            wall_s=10.0,
            timing_source="client",
        )
    ]


def test_the_rate_and_the_streams_are_told_as_they_were_asked_for(bench: Bench) -> None:
    (row,) = bench(request_rate="inf", max_concurrency=8)
    assert (row.test, row.concurrency) == ("serve inf req/s", 8)
    assert bench(request_rate=None)[0].test == "serve"


def test_medians_of_lengths_are_rounded_down(bench: Bench) -> None:
    (row,) = bench(output_lens=[3, 5, 2, 6], errors=[""] * 4, itls=[[0.01]] * 4, completed=4)
    assert (row.context_tokens, row.output_tokens) == (25, 4)


def test_a_summary_that_differs_from_the_raw_values_is_told(bench: Bench) -> None:
    (row,) = bench(median_ttft_ms=40.0, p90_ttft_ms=86.3, output_throughput=1.41, completed=4)
    assert row.status is SpeedStatus.OK
    assert (row.ttft_ms_p50, row.ttft_ms_p90) == (30.0, pytest.approx(86.0))
    assert row.evidence == (
        "the file's own median TTFT is 40.0 ms, its raw values give 30.0 ms;"
        " the file's own output throughput is 1.41 tok/s, its raw values give 1.40 tok/s;"
        " the file's own count of completed requests is 4, its raw values give 3"
    )


def test_a_summary_within_the_rounding_of_the_raw_values_is_more_exact(bench: Bench) -> None:
    assert bench(median_ttft_ms=30.0004)[0].ttft_ms_p50 == 30.0004
    assert bench(median_ttft_ms=30.0006)[0].ttft_ms_p50 == 30.0


def test_without_raw_values_the_summary_counts(bench: Bench) -> None:
    lists = dict.fromkeys(("input_lens", "output_lens", "ttfts", "itls", "errors"), "absent")
    (row,) = bench(**lists)
    assert (row.ttft_ms_p50, row.ttft_ms_mean, row.ttft_ms_p90) == (30.0, 50.0, None)
    assert (row.decode_tps_p50, row.aggregate_tps, row.wall_s) == (50.0, 1.4, 10.0)
    assert (row.n, row.errors, row.context_tokens) == (3, 1, None)
    assert row.evidence == "as the file's own summary says: it has no raw values"
    assert bench(**lists, num_prompts="absent", failed=2)[0].errors == 2
    (row,) = bench(**lists, completed=0, median_ttft_ms=0.0)
    assert (row.status, row.ttft_ms_p50, row.wall_s) == (SpeedStatus.FAILED, None, None)


@pytest.mark.parametrize(
    ("errors", "status", "evidence"),
    [
        (["Bad\nGateway", "x", "Bad\nGateway", ""], SpeedStatus.FAILED, "Bad Gateway"),
        (
            ['Traceback (most recent call last):\n  File "x.py", line 1\nOSError: refused\n'] * 4,
            SpeedStatus.FAILED,
            "OSError: refused",
        ),
        (["CUDA out of memory."] * 4, SpeedStatus.OOM, "CUDA out of memory."),
        ([""] * 4, SpeedStatus.FAILED, "no request gave any output"),
    ],
)
def test_when_all_requests_failed_the_most_frequent_words_tell_why(
    bench: Bench, errors: list[str], status: SpeedStatus, evidence: str
) -> None:
    (row,) = bench(errors=errors, output_lens=[0] * 4, ttfts=[0.0] * 4, itls=[[]] * 4)
    assert (row.status, row.evidence, row.n, row.errors) == (status, evidence, 0, 4)
    figures = (row.ttft_ms_p50, row.ttft_ms_mean, row.decode_tps_p50, row.aggregate_tps)
    assert figures == (None,) * 4
    assert (row.context_tokens, row.wall_s) == (None, None)


def test_answers_of_one_token_or_without_gaps_have_no_speed_of_decoding(bench: Bench) -> None:
    (row,) = bench(output_lens=[1, 5, 0, 1], itls=[[], [], [], []])
    assert (row.decode_tps_p50, row.ttft_ms_p50) == (None, 30.0)


def test_appended_results_are_a_row_each(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    lines = [json.dumps(saved()), json.dumps(saved(request_rate=1.0))]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [row.test for row in read(path)] == ["serve 0.5 req/s", "serve 1.0 req/s"]
    path.write_text(json.dumps(saved(), indent=2), encoding="utf-8")
    assert len(read(path)) == 1


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ttfts": [0.1]}, "r.json:1: input_lens: found 4 values beside 1 in ttfts; expected a va"),
        ({"errors": [""]}, "r.json:1: errors: found 1 values beside 4 in ttfts; expected a value"),
        ({"itls": "absent"}, "r.json:1: itls: found no list; expected a list with a value for ea"),
        ({"ttfts": [0.1, -0.1, 0, 0]}, 'r.json:1: ttfts[1]: found "-0.1"; expected a number of s'),
        ({"ttfts": [0.1, None, 0, 0]}, "r.json:1: ttfts[1]: found nothing; expected a number of "),
        ({"output_lens": [1.5, 2, 0, 3]}, 'r.json:1: output_lens[0]: found "1.5"; expected a who'),
        ({"itls": [[0], ["x"], [], []]}, 'r.json:1: itls[1][0]: found "x"; expected a number of '),
        ({"itls": [0, [], [], []]}, "r.json:1: itls[0]: found no list; expected a list of numbers"),
        ({"duration": float("inf")}, "r.json:1: found Infinity, which is no JSON number; expecte"),
        ({"duration": 0}, 'r.json:1: duration: found "0"; expected a number of seconds from'),
        ({"duration": None}, "r.json:1: duration: found nothing; expected seconds"),
        ({"model_id": "/"}, 'r.json:1: model_id: found "/"; expected a name'),
        ({"duration": 1e-9}, 'r.json:1: duration: found "1e-09"; expected a number of seconds fr'),
        ({"itls": [[1e308], [], [], []]}, 'r.json:1: itls[0][0]: found "1e+308"; expected a numb'),
    ],
)
def test_what_is_wrong_is_named(bench: Bench, changes: dict[str, Any], expected: str) -> None:
    assert problems_of(lambda: bench(**changes))[0].startswith(expected)


SUMMARY = ("median_ttft_ms", "p90_ttft_ms", "mean_ttft_ms", "median_tpot_ms", "output_throughput")
NO_RAW = dict.fromkeys(("input_lens", "output_lens", "ttfts", "itls", "errors"), "absent")


@pytest.mark.parametrize("lists", [NO_RAW, {}], ids=["without raw values", "beside them"])
@pytest.mark.parametrize("name", SUMMARY)
@pytest.mark.parametrize("number", [float(one) for one in NO_FIGURES[:-2]])
def test_a_summary_of_figures_that_none_can_be_is_a_problem(
    bench: Bench, name: str, number: float, lists: dict[str, Any]
) -> None:
    found = problems_of(lambda: bench(**lists, **{name: number}))
    expected = "expected 0, or a number from 0.000001 to 1000000000000"
    assert found == [f'r.json:1: {name}: found "{number}"; {expected}']


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_infinity_and_no_number_are_a_problem(bench: Bench, number: float) -> None:
    (found,) = problems_of(lambda: bench(**NO_RAW, median_ttft_ms=number))
    assert found.startswith("r.json:1: found ")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ttfts": [1e-320] * 4}, "r.json:1: ttfts: found a list that gives 9.99989e-318; exp"),
        ({"ttfts": [1e-12] * 4}, "r.json:1: ttfts: found a list that gives 1e-09; expected 0, "),
        ({"duration": 1e9}, "r.json:1: output_lens: found a list that gives 1.4e-08; expected 0"),
        ({"duration": 1e300}, 'r.json:1: duration: found "1e+300"; expected a number of seconds'),
        (
            {"output_lens": [10**17] * 4, "duration": 1e-6},
            "r.json:1: output_lens: found a list that gives 3e+23; expected 0, or a number from",
        ),
    ],
)
def test_raw_values_that_give_no_figure_are_a_problem(
    bench: Bench, changes: dict[str, Any], expected: str
) -> None:
    assert problems_of(lambda: bench(**changes))[0].startswith(expected)


def test_a_rate_of_decoding_that_none_can_be_is_left_out(bench: Bench) -> None:
    for gap in (1e-300, 1e9):
        assert bench(itls=[[gap], [gap], [], [gap]])[0].decode_tps_p50 is None


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "{}\n{", '{"ttfts": []}'])
def test_what_is_no_result_is_a_problem(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    assert problems_of(lambda: read(path))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.text() | st.dictionaries(st.sampled_from(sorted(saved())), VALUES).map(
    lambda changes: json.dumps(saved() | changes)
))  # fmt: skip
def test_any_text_gives_rows_or_problems(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.json")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        problems = Problems()
        rows = vllm_bench.read_vllm_bench(path, problems)
    assert rows or len(problems)
