from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats import llama_bench
from evalbot.formats.problems import Problems

from .texts import NO_FIGURES, problems_of

DATA = Path(__file__).parents[1] / "data" / "speed"
Bench = Callable[..., list[SpeedRow]]
ENDINGS = ("csv", "json", "jsonl", "md", "sql")


def read(path: Path) -> list[SpeedRow]:
    problems = Problems()
    rows = llama_bench.read_llama_bench(path, problems)
    problems.raise_if_any()
    return rows


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Reads a text as the output of llama-bench, sent to a file of any name."""
    monkeypatch.chdir(tmp_path)

    def read_text(text: str, name: str = "bench.txt") -> list[SpeedRow]:
        Path(name).write_text(text, encoding="utf-8", newline="")
        return read(Path(name))

    return read_text


def result(**changes: object) -> dict[str, object]:
    """One result as `-o json` gives it, cut to a few of its fields."""
    return {
        "build_number": 7480,
        "cpu_info": "Ryzen 7",
        "gpu_info": "RTX 5090",
        "backends": "CUDA",
        "model_filename": "models/x.gguf",
        "model_type": "llama 8B Q4_K - Medium",
        "n_prompt": 512,
        "n_gen": 0,
        "n_depth": 0,
        "avg_ts": 5000.5,
        "stddev_ts": 12.25,
        "samples_ts": [4990.5, 5010.5],
    } | changes


HEADER = "| model | size | backend | ngl | test | t/s |\n| --- | ---: | --- | --: | ---: | ---: |\n"


@pytest.mark.parametrize(
    ("ending", "figures"),
    [
        ("csv", (232.602101, 85.540501, 312.464517, 39.427411)),
        ("json", (201.224723, 75.830196, 239.166498, 36.556237)),
        ("jsonl", (153.352909, 75.146915, 200.476464, 40.446037)),
        ("md", (254.63, 85.65, 271.53, 37.14)),
        ("sql", (153.311792, 79.059716, 273.30076, 38.795771)),
    ],
)
def test_the_five_formats_give_the_same_tests_with_their_own_figures(
    ending: str, figures: tuple[float, ...]
) -> None:
    rows = read(DATA / f"cpu-two-models.{ending}")
    assert [(row.model, row.test, row.context_tokens, row.output_tokens) for row in rows] == [
        ("llama 256M Q4_1", "pp128", 128, 0),
        ("llama 256M Q4_1", "tg32", 0, 32),
        ("gemma3 270M Q4_K - Medium", "pp128", 128, 0),
        ("gemma3 270M Q4_K - Medium", "tg32", 0, 32),
    ]
    assert tuple(row.prefill_tps_p50 or row.decode_tps_p50 for row in rows) == figures
    assert [row.prefill_tps_p50 is None for row in rows] == [False, True, False, True]
    assert [row.decode_tps_p50 is None for row in rows] == [True, False, True, False]
    for row in rows:
        assert row.source is SpeedSource.LLAMA_BENCH
        assert row.status is SpeedStatus.OK
        assert (row.backend, row.concurrency, row.errors) == ("CPU", 1, 0)
        assert row.timing_source == "server"
        assert row.context_label == str(row.context_tokens)
        assert row.n == (3 if ending.startswith("json") else None)
        assert row.hardware == (None if ending == "md" else "Intel(R) Xeon(R) Processor")


def test_the_spread_is_told_as_it_was_written() -> None:
    assert read(DATA / "cpu-two-models.csv")[0].evidence == "stddev 24.023707 tok/s"
    assert read(DATA / "cpu-two-models.md")[3].evidence == "stddev 0.60 tok/s"


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_content_tells_the_format_whatever_the_file_is_called(
    bench: Bench, ending: str
) -> None:
    text = (DATA / f"cpu-two-models.{ending}").read_text(encoding="utf-8")
    expected = read(DATA / f"cpu-two-models.{ending}")
    assert bench(text, "results.log") == expected
    assert bench(text.replace("\n", "\r\n"), "results.md") == expected


@pytest.mark.parametrize(
    ("changes", "test", "context", "output"),
    [
        ({"n_prompt": 512, "n_gen": 0}, "pp512", 512, 0),
        ({"n_prompt": 512, "n_gen": 0, "n_depth": 4096}, "pp512 @ d4096", 4608, 0),
        ({"n_prompt": 0, "n_gen": 128, "n_depth": 4096}, "tg128 @ d4096", 4096, 128),
        ({"n_prompt": 512, "n_gen": 128}, "pp512+tg128", 512, 128),
        ({"n_prompt": "512", "n_gen": "128", "n_depth": "8"}, "pp512+tg128 @ d8", 520, 128),
    ],
)
def test_tests_are_named_as_the_markdown_format_names_them(
    bench: Bench, changes: dict[str, object], test: str, context: int, output: int
) -> None:
    (row,) = bench(json.dumps(result(**changes)))
    assert (row.test, row.context_tokens, row.output_tokens) == (test, context, output)
    (row,) = bench(f"{HEADER}| m | 1 GiB | CUDA | 99 | {test} | 5000.50 ± 12.25 |\n")
    assert (row.test, row.context_tokens, row.output_tokens) == (test, context, output)


def test_prompt_and_generated_tokens_together_are_neither_speed(bench: Bench) -> None:
    (row,) = bench(json.dumps(result(n_gen=128, avg_ts=123.5)))
    assert row.status is SpeedStatus.OK
    assert (row.prefill_tps_p50, row.decode_tps_p50, row.aggregate_tps) == (None, None, None)
    assert row.evidence == (
        "123.5 tok/s over prompt and generated tokens together, stddev 12.25 tok/s"
    )


def test_the_gpu_comes_before_the_cpu_and_blanks_are_nothing(bench: Bench) -> None:
    hardware = [
        bench(json.dumps(result(**changes)))[0].hardware
        for changes in ({}, {"gpu_info": " "}, {"gpu_info": "", "cpu_info": ""})
    ]
    assert hardware == ["RTX 5090", "Ryzen 7", None]


def test_builds_without_depth_or_backends_are_read_too(bench: Bench) -> None:
    """Before 2025 there was no depth, and flags such as `cuda` told the backend."""
    old = result(cuda=True)
    del old["n_depth"], old["backends"], old["stddev_ts"], old["samples_ts"]
    (row,) = bench(json.dumps([old], indent=2))
    assert (row.test, row.context_tokens, row.backend) == ("pp512", 512, None)
    assert (row.n, row.evidence) == (None, None)
    (row,) = bench(f"{HEADER}| llama 7B | 3 GiB | Metal | 99 | pp 512 | 5000.50 ± 1.00 |\n")
    assert row.test == "pp512"


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_json_that_another_tool_wrote_anew_is_read(bench: Bench, indent: int | None) -> None:
    rows = bench(json.dumps([result(), result(n_prompt=0, n_gen=64)], indent=indent))
    assert [row.test for row in rows] == ["pp512", "tg64"]


def test_a_rate_of_zero_is_no_figure(bench: Bench) -> None:
    (row,) = bench(f"{HEADER}| m | 1 GiB | CUDA | 99 | tg64 | 0.00 ± 0.00 |\n")
    assert row.status is SpeedStatus.FAILED
    assert (row.decode_tps_p50, row.evidence) == (None, "0.00 tok/s written")


LOG = """\
ggml_cuda_init: found 1 CUDA devices (Total VRAM: 32109 MiB):
  Device 0: NVIDIA GeForce RTX 5090, compute capability 12.0, VMM: yes, VRAM: 32109 MiB
warning: asserts enabled, performance may be affected
llama-bench: benchmark 1/2: starting
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_log_lines_before_between_and_after_are_passed_over(bench: Bench, ending: str) -> None:
    text = (DATA / f"cpu-two-models.{ending}").read_text(encoding="utf-8")
    starts = {"json": "  {", "jsonl": "{", "sql": "INSERT", "csv": '"unknown', "md": "| llama"}
    between = f"\nllama-bench: benchmark 2/2: generation run 1/5\n{starts[ending]}"
    noisy = f"```console\n{LOG}{text}".replace(f"\n{starts[ending]}", between) + f"{LOG}```\n"
    assert bench(noisy) == read(DATA / f"cpu-two-models.{ending}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "bench.txt: found no result of llama-bench; expected what llama-bench writes"),
        ("hello\n", "bench.txt: found no result of llama-bench"),
        (HEADER, "bench.txt: found no result of llama-bench"),
        ("| a | b |\n", "bench.txt:1: found a row without a header; expected the line with the c"),
        (f"{HEADER}| m | 1 GiB | pp512 | 5 |\n", "bench.txt:3: found 4 cells; expected 6, one a"),
        (
            f"{HEADER}| m | 1 | CUDA | 99 | pp512 | nan ± nan |\n",
            'bench.txt:3: t/s: found "nan"; expected 0, or a number from 0.000001 to 1000000000000',
        ),
        (
            f"{HEADER}| m | 1 | CUDA | 99 | sp512 | 5 ± 1 |\n",
            'bench.txt:3: test: found "sp512"; expected a test such as pp512, tg128',
        ),
        ('{"model_type": "m"}\n', "bench.txt:1: n_prompt: found nothing; expected a number"),
        ('{"model_type": nan}\n', 'bench.txt:1: found "{\\"model_type\\": nan}"; expected valid'),
        (
            '[\n{\n"a": 1,\n"b": -inf\n}\n]\n',
            'bench.txt:4: found "\\"b\\": -inf"; expected valid J',
        ),
        ("model_type,n_prompt,n_gen,avg_ts\n", "bench.txt: found no result of llama-bench"),
        (
            'model_type,n_prompt,n_gen,avg_ts\n"m","1","0","nan"\n',
            'bench.txt:2: avg_ts: found "nan"; expected 0, or a number from 0.000001 to',
        ),
        (
            'model_type,n_prompt,n_gen,avg_ts\n"m","1","0"\n',
            "bench.txt:2: found 3 cells; expected 4, one a column",
        ),
        (
            'model_type,n_prompt,n_gen,avg_ts\n"m","1","0","5\n',
            "bench.txt:2: found quotes that are not closed; expected a whole row",
        ),
        (
            "INSERT INTO llama_bench VALUES ('m', '1');\n",
            "bench.txt:1: found \"INSERT INTO llama_bench VALUES ('m', '1');\"; expected INSERT",
        ),
        (
            "INSERT INTO llama_bench (model_type, avg_ts) VALUES ('m');\n",
            "bench.txt:1: found 1 cells; expected 2, one a column",
        ),
    ],
)
def test_what_is_broken_is_named_with_its_line(bench: Bench, text: str, expected: str) -> None:
    found = problems_of(lambda: bench(text))
    assert found[0].startswith(expected)


def test_the_ending_tells_what_was_expected_of_an_empty_file(bench: Bench) -> None:
    found = problems_of(lambda: bench("", "bench.csv"))
    assert found == [
        "bench.csv: found no result of llama-bench; expected a header with model_type and avg_ts,"
        " as `-o csv` writes it"
    ]


def test_results_in_two_formats_would_count_twice(bench: Bench) -> None:
    text = json.dumps(result()) + f"\n{HEADER}| m | 1 | CUDA | 99 | pp512 | 5 ± 1 |\n"
    assert problems_of(lambda: bench(text)) == [
        "bench.txt:2: found json from line 1 and md from line 2; expected one format a file,"
        " each result once"
    ]


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    assert problems_of(lambda: read(path)) == [
        f"{path}: found no such file; expected a file that can be read"
    ]


@pytest.mark.parametrize("written", NO_FIGURES)
def test_a_rate_that_none_can_be_is_a_problem_with_its_line(bench: Bench, written: str) -> None:
    expected = f'found "{written}"; expected 0, or a number from 0.000001 to 1000000000000'
    row = f"| m | 1 | CUDA | 99 | pp512 | {written} ± 1.00 |\n"
    assert problems_of(lambda: bench(HEADER + row)) == [f"bench.txt:3: t/s: {expected}"]
    lines = f'model_type,n_prompt,n_gen,avg_ts\n"m","1","0","{written}"\n'
    assert problems_of(lambda: bench(lines)) == [f"bench.txt:2: avg_ts: {expected}"]
    if written not in ("inf", "nan"):  # which are no JSON
        found = json.dumps(result()).replace("5000.5", written)
        assert problems_of(lambda: bench(found)) == [f"bench.txt:1: avg_ts: {expected}"]


def test_a_table_of_another_kind_that_speaks_of_memory_is_no_log(bench: Bench) -> None:
    """Read with the wrong --kind it is a problem, and no row of an unknown model."""
    text = (DATA / "llama_bench_shootout.csv").read_text(encoding="utf-8")
    assert problems_of(lambda: bench(text, "shootout.csv")) == [
        "shootout.csv: found no result of llama-bench; expected a header with model_type and"
        " avg_ts, as `-o csv` writes it"
    ]
    assert problems_of(lambda: bench("The 70B model was killed: out of memory.\n"))


PIECES = st.sampled_from(
    [*'[]{}|,:"\'±\n\r\0', '{"model_type": "m", ', '"avg_ts": 1}', HEADER, "pp512", "\n| m | ",
     "INSERT INTO llama_bench (", ") VALUES ('", "');\n", "model_type,avg_ts\n", "out of memory\n",
     "error: failed to load model 'x.gguf'\n", "build: a (1)\n", "{\n", "}\n", "[\n", "]\n"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.text() | st.lists(PIECES | st.text(max_size=3)).map("".join))
@example("[[[[{")
@example('{"a":' * 2000)
def test_any_text_gives_rows_or_problems(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.txt")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        problems = Problems()
        rows = llama_bench.read_llama_bench(path, problems)
    assert rows or len(problems)
