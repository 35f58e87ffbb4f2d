from __future__ import annotations

import dataclasses
import enum
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats import speed_rows, speed_tables
from evalbot.formats.cells import BOM, Cell, write_csv
from evalbot.formats.problems import Problems

from .texts import NO_FIGURES, problems_of, written

DATA = Path(__file__).parents[1] / "data" / "speed"
Table = Callable[..., list[SpeedRow]]
SINGLE = "round,model,context,prompt_tokens,prefill_tok_s,ttft_ms,decode_tok_s,failure\n"
CONCURRENT = (
    "round,model,context,concurrency,total_decode_tok_s,stream_decode_tok_s,mean_ttft_ms,wall_s,"
    "failure\n"
)
NODES = "node,memory,test,model,tok_s,failure\n"


def read(path: Path) -> list[SpeedRow]:
    problems = Problems()
    rows = speed_tables.read_speed_table(path, problems)
    problems.raise_if_any()
    return rows


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """Reads lines of CSV as a file."""
    monkeypatch.chdir(tmp_path)

    def read_lines(*lines: str) -> list[SpeedRow]:
        Path("t.csv").write_text("".join(lines), encoding="utf-8", newline="")
        return read(Path("t.csv"))

    return read_lines


def statuses(rows: list[SpeedRow]) -> dict[SpeedStatus, int]:
    return dict(Counter(row.status for row in rows))


def test_a_published_comparison_of_machines_is_read() -> None:
    rows = read(DATA / "llama_bench_shootout.csv")
    assert statuses(rows) == {SpeedStatus.OK: 48, SpeedStatus.OOM: 16}
    assert rows[0] == SpeedRow(
        model="Qwen2.5 32B (Q6_K)",
        hardware="RTX 5090",
        memory="32GB VRAM",
        backend="CUDA",
        source=SpeedSource.TABLE,
        test="pp2048",
        prefill_tps_p50=2725.44,
    )
    assert (rows[4].test, rows[4].decode_tps_p50, rows[4].prefill_tps_p50) == ("tg256", 54.58, None)
    assert (rows[2].status, rows[2].evidence, rows[2].prefill_tps_p50) == ("oom", "oom", None)
    machines = {(row.hardware, row.backend) for row in rows}
    assert ("AMD R9700 2x", "Vulkan") in machines
    assert len(machines) == 8


def test_a_published_table_of_single_streams_is_read() -> None:
    rows = read(DATA / "speed_single_stream.csv")
    # 37 lines, three of which name two, three and three contexts.
    assert len(rows) == 42
    overflow = SpeedStatus.CONTEXT_OVERFLOW
    assert statuses(rows) == {SpeedStatus.OK: 28, overflow: 11, SpeedStatus.FAILED: 3}
    assert rows[2] == SpeedRow(
        label="first",
        model="Qwen3.6-35B-A3B Q8_0",
        source=SpeedSource.TABLE,
        test="32K x1",
        context_label="32K",
        context_tokens=35825,
        concurrency=1,
        ttft_ms_p50=33057.0,
        prefill_tps_p50=1085.0,
        decode_tps_p50=69.1,
    )
    assert (rows[3].test, rows[3].status, rows[3].evidence) == ("~128K x1", "failed", "http_400")
    assert [(row.context_label, row.evidence) for row in rows[10:12]] == [
        ("32K", "context_exceeded 32768; written for 32K / ~120K together"),
        ("~120K", "context_exceeded 32768; written for 32K / ~120K together"),
    ]


def test_a_published_table_of_concurrent_streams_is_read() -> None:
    rows = read(DATA / "speed_concurrent.csv")
    assert len(rows) == 86
    assert statuses(rows) == {SpeedStatus.OK: 72, SpeedStatus.FAILED: 14}
    assert rows[2] == SpeedRow(
        label="first",
        model="Qwen3.6-35B-A3B Q8_0",
        source=SpeedSource.TABLE,
        test="short x4",
        context_label="short",
        concurrency=4,
        ttft_ms_mean=1131.0,
        stream_tps_p50=61.4,
        aggregate_tps=249.1,
        wall_s=2.39,
    )
    failed = [row for row in rows if row.status is SpeedStatus.FAILED]
    assert all(row.aggregate_tps is None and row.wall_s is None for row in failed)
    assert [(row.test, row.evidence) for row in failed if row.model.startswith("Llama")] == [
        (
            f"52K x{concurrency}",
            "written for 1/2/4 together: total_decode_tok_s 5.8, stream_decode_tok_s 5.8,"
            " mean_ttft_ms ~413400, wall_s ~417.5",
        )
        for concurrency in (1, 2, 4)
    ]
    assert [row.test for row in failed if row.model.startswith("gpt-oss")] == [
        "32K x4",
        "52K x4",
        "~100K x4",
    ]
    assert [row.evidence for row in failed if row.model.startswith("Qwen3-235B")] == [
        "failed; written for 2/4 together"
    ] * 2


def test_a_streams_rate_rounded_to_zero_beside_a_total_is_kept() -> None:
    rows = [row for row in read(DATA / "speed_concurrent.csv") if row.stream_tps_p50 == 0]
    assert [(row.test, row.aggregate_tps, row.status) for row in rows] == [
        ("32K x2", 0.1, SpeedStatus.OK),
        ("32K x2", 0.1, SpeedStatus.OK),
        ("32K x4", 0.1, SpeedStatus.OK),
    ]


@pytest.mark.parametrize(
    ("line", "evidence"),
    [
        ("a,m,5K,1,0,,,0.06,\n", "total_decode_tok_s 0, wall_s 0.06 written"),
        (
            "a,m,5K,1,0,0.0,12,,\n",
            "total_decode_tok_s 0, stream_decode_tok_s 0.0, mean_ttft_ms 12 written",
        ),
        ("a,m,5K,1,,0,,,\n", "stream_decode_tok_s 0 written"),
        ("a,m,5K,1,,,,,\n", "neither a figure nor a failure written"),
        ("a,m,5K,1/2,,,,,\n", "written for 1/2 together: neither a figure nor a failure written"),
    ],
)
def test_a_line_without_a_figure_failed(table: Table, line: str, evidence: str) -> None:
    row = table(CONCURRENT, line)[0]
    assert (row.status, row.evidence) == (SpeedStatus.FAILED, evidence)
    assert (row.aggregate_tps, row.stream_tps_p50, row.wall_s) == (None, None, None)


def test_a_rate_of_zero_in_any_layout_is_no_figure(table: Table) -> None:
    assert table(NODES, "n,,tg1,m,0,\n")[0].evidence == "tok_s 0 written"
    (row,) = table(SINGLE, "a,m,5K,100,0,12,9.5,\n")
    assert (row.status, row.decode_tps_p50) == (SpeedStatus.FAILED, None)
    assert row.evidence == "prefill_tok_s 0, ttft_ms 12, decode_tok_s 9.5 written"
    assert table("model,decode_tps_p50\n", "m,0.0\n")[0].status is SpeedStatus.FAILED


def test_a_number_that_is_only_about_counts_and_says_so(table: Table) -> None:
    (row,) = table(SINGLE, "a,m,~5K,~8000,,~12,9.5,\n")
    assert (row.context_label, row.context_tokens, row.ttft_ms_p50) == ("~5K", 8000, 12.0)
    assert (row.status, row.evidence) == ("ok", "about: prompt_tokens ~8000, ttft_ms ~12")
    (row,) = table("model,decode_tps_p50,price,evidence\n", "m,~ 5.5,~100,typed\n")
    assert (row.decode_tps_p50, row.price) == (5.5, 100.0)
    assert row.evidence == "typed; about: decode_tps_p50 ~ 5.5, price ~100"


def test_what_is_written_for_several_conditions_is_kept_in_words(table: Table) -> None:
    rows = table(CONCURRENT, "a,m,5K/9K,1/2,7,,,,\n")
    assert [row.test for row in rows] == ["5K x1", "5K x2", "9K x1", "9K x2"]
    assert {row.evidence for row in rows} == {
        "written for 5K/9K, 1/2 together: total_decode_tok_s 7"
    }
    rows = table(SINGLE, "a,m,5K/9K,4000,,,,oom\n")
    assert {(row.evidence, row.context_tokens) for row in rows} == {
        ("oom; written for 5K/9K together; prompt_tokens 4000", None)
    }


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("oom", SpeedStatus.OOM),
        ("OOM at load", SpeedStatus.OOM),
        ("out of memory", SpeedStatus.OOM),
        ("out_of_memory", SpeedStatus.OOM),
        ("device_lost", SpeedStatus.DEVICE_LOST),
        ("Device lost", SpeedStatus.DEVICE_LOST),
        ("context_exceeded 65536", SpeedStatus.CONTEXT_OVERFLOW),
        ("context_overflow", SpeedStatus.CONTEXT_OVERFLOW),
        ("failed", SpeedStatus.FAILED),
        ("http_400", SpeedStatus.FAILED),
        ("room too hot", SpeedStatus.FAILED),
    ],
)
def test_the_words_of_a_failure_tell_its_status(
    table: Table, words: str, status: SpeedStatus
) -> None:
    (row,) = table(NODES, f"RTX 5090,32GB,pp512,m,,{words}\n")
    assert (row.status, row.evidence) == (status, words)


@pytest.mark.parametrize(
    ("node", "hardware", "backend"),
    [
        ("RTX 5090 (CUDA)", "RTX 5090", "CUDA"),
        ("AMD (Strix Halo) 395 (Vulkan)", "AMD (Strix Halo) 395", "Vulkan"),
        ("Mac Studio", "Mac Studio", None),
        ("(CUDA)", "(CUDA)", None),
    ],
)
def test_the_last_parentheses_of_a_node_are_its_backend(
    table: Table, node: str, hardware: str, backend: str | None
) -> None:
    (row,) = table(NODES, f"{node},,pp512,m,5,\n")
    assert (row.hardware, row.backend, row.memory) == (hardware, backend, None)


@pytest.mark.parametrize(
    ("test", "figures"),
    [
        ("pp512", (5.0, None, None)),
        ("tg128 @ d4096", (None, 5.0, None)),
        ("batch 8", (None, None, 5.0)),
        ("ppl", (None, None, 5.0)),
        ("pp512+tg128", (None, None, None)),
    ],
)
def test_the_test_tells_which_speed_it_is(
    table: Table, test: str, figures: tuple[float | None, ...]
) -> None:
    (row,) = table(NODES, f"n,,{test},m,5,\n")
    assert (row.prefill_tps_p50, row.decode_tps_p50, row.aggregate_tps) == figures
    mixed = "tok_s 5 over prompt and generated tokens together"
    assert (row.status, row.evidence) == ("ok", None if any(figures) else mixed)


def test_evalbots_own_columns_need_only_a_model_and_a_figure(table: Table) -> None:
    assert table(f"{BOM}model,decode_tps_p50,sweep\n", "m,12.5,abc123\n") == [
        SpeedRow(model="m", source=SpeedSource.TABLE, decode_tps_p50=12.5, sweep="abc123")
    ]
    (row,) = table("model,decode_tps_p50\n", "m,\n")
    assert (row.status, row.evidence) == ("failed", "neither a figure nor a failure written")


def test_the_columns_are_those_of_a_speed_row() -> None:
    names = {field.name for field in dataclasses.fields(SpeedRow)}
    ours = {*speed_rows.TEXTS, *speed_rows.COUNTS, *speed_rows.FIGURES, *speed_rows.DERIVED}
    assert ours | {"model", "source", "status", "timing_source"} == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t.csv: found an empty file; expected a header line and rows"),
        (NODES, "t.csv: found no rows; expected at least one row"),
        ("a,b\n1,2\n", 't.csv:1: found "a, b"; expected the columns of `speeds` (model and at l'),
        ("model,label\nm,l\n", 't.csv:1: found "model, label"; expected the columns of `speeds`'),
        (f"{NODES}n,,pp1,,5,\n", "t.csv:2: model: found nothing; expected text"),
        (f"{NODES}n,,pp1,m,x,\n", 't.csv:2: tok_s: found "x"; expected 0, or a number'),
        (f"{NODES}n,,pp1,m,-1,\n", 't.csv:2: tok_s: found "-1"; expected 0, or a number'),
        (f"{NODES}n,,pp1,m,~,\n", 't.csv:2: tok_s: found ""; expected 0, or a number'),
        (f"{NODES}n,,pp1,m,inf,\n", 't.csv:2: tok_s: found "inf"; expected 0, or a number'),
        (f"{NODES}n,,pp1,m,5,oom\n", 't.csv:2: failure: found "oom" beside tok_s 5; expected ei'),
        (f"{NODES}n,,pp1,m,5\n", "t.csv:2: found 5 cells; expected 6, one a column"),
        (
            f"{SINGLE}a,m,5K,1.5,1,,,\n",
            't.csv:2: prompt_tokens: found "1.5"; expected a whole number of 0 or more',
        ),
        (f"{SINGLE}a,m,,1,1,,,\n", "t.csv:2: context: found nothing; expected text"),
        (f"{SINGLE}a,m,5K//9K,1,1,,,\n", 't.csv:2: context: found "5K//9K"; expected a name, or'),
        (
            f"{CONCURRENT}a,m,5K,two,1,,,,\n",
            't.csv:2: concurrency: found "two"; expected a whole number of 1 or more, or several',
        ),
        (f"{CONCURRENT}a,m,5K,0/1,1,,,,\n", 't.csv:2: concurrency: found "0/1"; expected a whol'),
        (f"{CONCURRENT}a,m,5K,,1,,,,\n", "t.csv:2: concurrency: found nothing; expected text"),
        ("model,decode_tps_p50,speed\nm,1,2\n", 't.csv:2: found unknown key "speed"; expected a'),
        ("model,decode_tps_p50,failure\nm,,oom\n", 't.csv:2: found unknown key "failure"; expec'),
        ("model,decode_tps_p50,status\nm,1,good\n", 't.csv:2: status: found "good"; expected on'),
        ("model,wall_s,concurrency\nm,1,0\n", 't.csv:2: concurrency: found "0"; expected a whol'),
        ("model,wall_s,timing_source\nm,1,me\n", 't.csv:2: timing_source: found "me"; expected '),
    ],
)
def test_what_is_wrong_is_named_once(table: Table, text: str, expected: str) -> None:
    found = problems_of(lambda: table(text))
    assert found[0].startswith(expected)
    assert len(found) == (2 if text == "" else 1) or text == ""


@pytest.mark.parametrize("number", NO_FIGURES)
@pytest.mark.parametrize(
    ("header", "line", "name"),
    [
        (NODES, "n,,pp1,m,{},", "tok_s"),
        (SINGLE, "a,m,5K,1,1,{},1,", "ttft_ms"),
        (CONCURRENT, "a,m,5K,1,1,1,1,{},", "wall_s"),
        ("model,decode_tps_p50\n", "m,{}", "decode_tps_p50"),
        ("model,decode_tps_p50,price\n", "m,1,~{}", "price"),
    ],
)
def test_a_figure_that_none_can_be_is_a_problem_with_its_line(
    table: Table, header: str, line: str, name: str, number: str
) -> None:
    expected = f'found "{number}"; expected 0, or a number from 0.000001 to 1000000000000'
    found = problems_of(lambda: table(header, f"{line.format(number)}\n"))
    assert found == [f"t.csv:2: {name}: {expected}"]


@pytest.mark.parametrize("number", [0.000001, 1e12])
def test_figures_at_the_bounds_are_read(table: Table, number: float) -> None:
    (row,) = table("model,decode_tps_p50,wall_s\n", f"m,{number},{number}\n")
    assert (row.decode_tps_p50, row.wall_s) == (number, number)


def test_a_table_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert problems_of(lambda: read(path)) == [
        f"{path}: found no such file; expected a file that can be read"
    ]


def optional(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


def speed_rows_of_any_kind() -> st.SearchStrategy[SpeedRow]:
    numbers = st.floats(min_value=0.000001, max_value=1e12) | st.just(0.0)
    names = st.text("abc XYZ()-_.漢", min_size=1).filter(lambda text: text == text.strip())
    return st.builds(
        SpeedRow,
        model=names,
        source=st.sampled_from(SpeedSource),
        status=st.sampled_from(SpeedStatus),
        timing_source=optional(st.sampled_from(speed_rows.TIMING_SOURCES)),
        **{name: optional(written()) for name in speed_rows.TEXTS},
        **{name: optional(st.integers(1, 10**12)) for name in speed_rows.COUNTS},
        **{name: optional(numbers) for name in (*speed_rows.FIGURES, *speed_rows.DERIVED)},
    )


def cell(value: object) -> Cell:
    if isinstance(value, enum.Enum):
        return str(value.value)
    assert value is None or isinstance(value, (str, int, float))
    return value


@settings(max_examples=60)
@given(st.lists(speed_rows_of_any_kind(), min_size=1, max_size=3))
def test_written_rows_are_read_back_unchanged(rows: list[SpeedRow]) -> None:
    names = [field.name for field in dataclasses.fields(SpeedRow)]
    lines = [[cell(getattr(row, name)) for name in names] for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "speeds.csv")
        path.write_bytes((BOM + write_csv([names, *lines])).encode())
        assert read(path) == rows


PIECES = st.sampled_from([NODES, SINGLE, CONCURRENT, "model,decode_tps_p50,status\n", "\n", ","])


@settings(max_examples=200)
@given(st.lists(PIECES | st.sampled_from(["~", "5", "m,", "/", '"', "\0"]) | st.text(max_size=3)))
def test_any_text_gives_rows_or_problems(pieces: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes("".join(pieces).encode("utf-8", "surrogatepass"))
        problems = Problems()
        rows = speed_tables.read_speed_table(path, problems)
    assert rows or len(problems)
