"""Checks of the speed readers over the folder that EVALBOT_REFERENCE names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from evalbot.formats.problems import Problems
from evalbot.formats.vllm_bench import read_vllm_bench
from tests.formats.test_vllm_bench import PUBLISHED, within_a_unit

pytestmark = pytest.mark.reference

DATA = Path(__file__).parents[1] / "data" / "speed"
FILES = {
    "h100": "1x H100 80GB HBM3",
    "2x-rtx-5090": "2x RTX 5090",
    "rtx-4090": "1x RTX 4090",
    "2x-rtx-4070-ti-super": "2x RTX 4070 TI SUPER",
}


@pytest.fixture
def reference() -> Path:
    return Path(os.environ["EVALBOT_REFERENCE"])


@pytest.mark.parametrize("name", FILES)
def test_the_published_serving_figures_are_met(reference: Path, name: str) -> None:
    path = reference / "vllm-bench" / f"QwQ-32B-AWQ {FILES[name]} rr0_1.json"
    problems = Problems()
    (row,) = read_vllm_bench(path, problems)
    problems.raise_if_any()
    ttft, tpot, decode = PUBLISHED[name]
    assert row.decode_tps_p50 is not None
    assert within_a_unit(row.ttft_ms_p50, ttft)
    assert within_a_unit(row.decode_tps_p50, decode)
    assert within_a_unit(1000 / row.decode_tps_p50, tpot)
    ours = gzip.decompress((DATA / f"vllm-{name}.json.gz").read_bytes())
    assert ours == path.read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "llama-bench/cpu-two-models." + ending
            for ending in ("csv", "json", "jsonl", "md", "sql")
        ),
        *("published/" + name for name in ("llama_bench_shootout.csv", "speed_concurrent.csv")),
        "published/speed_single_stream.csv",
    ],
)
def test_our_copies_are_the_published_files(reference: Path, name: str) -> None:
    assert (DATA / Path(name).name).read_bytes() == (reference / name).read_bytes()
