"""The words are those of llama.cpp's issues and of its source, the paths invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalbot.domain.speed import SpeedRow, SpeedStatus
from evalbot.formats.llama_bench import read_llama_bench
from evalbot.formats.problems import Problems

from .test_llama_bench import HEADER, Bench, result
from .texts import problems_of

ROW = "| m | 1 GiB | CUDA | 99 | pp512 | 5000.00 ± 1.00 |\n"
NAMED = "main: error: failed to load model '/home/ann/my models/Qwen2.5-72B.Q6_K.gguf'\n"
CUDA_LOAD = """\
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 144817.04 MiB on device 0: cudaMalloc \
failed: out of memory
alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624
llama_model_load: error loading model: unable to allocate CUDA0 buffer
llama_model_load_from_file_impl: failed to load model
"""
VULKAN_LOST = """\
terminate called after throwing an instance of 'vk::DeviceLostError'
  what():  vk::Device::waitForFences: ErrorDeviceLost
"""
STARTED = "ggml_vulkan: Found 1 Vulkan devices:\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    def read_text(text: str) -> list[SpeedRow]:
        path = tmp_path / "bench.txt"
        path.write_text(text, encoding="utf-8")
        problems = Problems()
        rows = read_llama_bench(path, problems)
        problems.raise_if_any()
        return rows

    return read_text


def told(rows: list[SpeedRow]) -> list[tuple[str, SpeedStatus, str | None]]:
    return [(row.model, row.status, row.test) for row in rows]


@pytest.mark.parametrize(
    ("words", "status", "evidence"),
    [
        (
            CUDA_LOAD,
            SpeedStatus.OOM,
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 144817.04 MiB on device 0:"
            " cudaMalloc failed: out of memory",
        ),
        (
            "alloc_tensor_range: failed to allocate CPU buffer of size 437944320\n",
            SpeedStatus.OOM,
            "alloc_tensor_range: failed to allocate CPU buffer of size 437944320",
        ),
        (
            "0.02.396.005 E CUDA error: out of memory\n",
            SpeedStatus.OOM,
            "0.02.396.005 E CUDA error: out of memory",
        ),
        (
            "ROCm error: out of memory\n  current device: 0, in function alloc at "
            "/home/ann/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:461\n",
            SpeedStatus.OOM,
            "ROCm error: out of memory",
        ),
        (
            "ggml_vulkan: Device memory allocation of size 17368219904 failed.\n"
            "ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory\n",
            SpeedStatus.OOM,
            "ggml_vulkan: Device memory allocation of size 17368219904 failed.",
        ),
        (
            "llama_model_load: error loading model: vk::Queue::submit: ErrorOutOfDeviceMemory\n",
            SpeedStatus.OOM,
            "llama_model_load: error loading model: vk::Queue::submit: ErrorOutOfDeviceMemory",
        ),
        (
            "ggml_metal_synchronize: error: command buffer 0 failed with status 5\n"
            "/Users/ann/llama.cpp/ggml/src/ggml-metal/ggml-metal-context.m:235: fatal error\n"
            "error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n",
            SpeedStatus.OOM,
            "error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
        ),
        (
            VULKAN_LOST,
            SpeedStatus.DEVICE_LOST,
            "terminate called after throwing an instance of 'vk::DeviceLostError'",
        ),
        (
            "/home/ann/llama.cpp/ggml/src/ggml-cuda/ggml-cuda.cu:96: CUDA error\n[New LWP 77]\n",
            SpeedStatus.FAILED,
            "ggml-cuda.cu:96: CUDA error",
        ),
        (
            "test_prompt: failed to decode prompt batch, res = -3\n"
            "main: error: failed to run prompt\n",
            SpeedStatus.FAILED,
            "test_prompt: failed to decode prompt batch, res = -3",
        ),
    ],
)
def test_a_failure_is_a_row_with_its_words(
    bench: Bench, words: str, status: SpeedStatus, evidence: str
) -> None:
    (row,) = bench(STARTED + words)
    assert (row.model, row.status, row.evidence) == ("unknown model", status, evidence)
    ok, failed = bench(HEADER + ROW + words)
    assert ok.status is SpeedStatus.OK
    assert failed == row


def test_a_log_without_any_result_is_told_by_llama_cpps_own_words(bench: Bench) -> None:
    for words in (CUDA_LOAD, NAMED, VULKAN_LOST, STARTED + "Segmentation fault\n"):
        assert len(bench(words)) == 1
    # Anybody may say this; beside results it is llama-bench's end.
    assert problems_of(lambda: bench("Segmentation fault\n"))
    assert len(bench(HEADER + ROW + "Segmentation fault\n")) == 2


@pytest.mark.parametrize("verb", ["load model", "create context with model"])
def test_the_line_that_names_the_model_closes_its_failure(bench: Bench, verb: str) -> None:
    named = NAMED.replace("load model", verb)
    (row,) = bench(named)
    assert told([row]) == [("Qwen2.5-72B.Q6_K", SpeedStatus.FAILED, None)]
    assert row.evidence == f"main: error: failed to {verb} 'Qwen2.5-72B.Q6_K.gguf'"
    (row,) = bench(CUDA_LOAD + named)
    assert told([row]) == [("Qwen2.5-72B.Q6_K", SpeedStatus.OOM, None)]
    assert (row.prefill_tps_p50, row.concurrency, row.errors) == (None, None, None)


def test_no_folder_of_the_machine_is_told(bench: Bench) -> None:
    rows = bench(NAMED + "run.sh: line 3: 77 Aborted (core dumped) /opt/me/llama-bench -m x.gguf\n")
    assert [row.evidence for row in rows] == [
        "main: error: failed to load model 'Qwen2.5-72B.Q6_K.gguf'",
        "run.sh: line 3: 77 Aborted (core dumped) llama-bench -m x.gguf",
    ]


def test_with_verbose_logs_a_crash_is_known_by_the_model_loaded_last(bench: Bench) -> None:
    loaded = (
        "llama_model_loader: loaded meta data with 16 key-value pairs and 723 tensors from "
        "/mnt/models/llama2-70b-q6_K.bin (version GGUF V3 (latest))\n"
    )
    rows = bench(HEADER + loaded + ROW + VULKAN_LOST)
    assert told(rows)[1] == ("llama2-70b-q6_K", SpeedStatus.DEVICE_LOST, None)
    rows = bench(HEADER + loaded + ROW + STARTED + VULKAN_LOST)
    assert told(rows)[1] == ("unknown model", SpeedStatus.DEVICE_LOST, None)


def test_each_failing_model_is_one_row(bench: Bench) -> None:
    other = NAMED.replace("Qwen2.5-72B", "GLM")
    rows = bench(NAMED + HEADER + ROW + other + CUDA_LOAD + NAMED + other + VULKAN_LOST)
    assert told(rows) == [
        ("Qwen2.5-72B.Q6_K", SpeedStatus.OOM, None),
        ("m", SpeedStatus.OK, "pp512"),
        ("GLM.Q6_K", SpeedStatus.FAILED, None),
        ("unknown model", SpeedStatus.DEVICE_LOST, None),
    ]


def test_the_header_may_come_after_the_failure_when_output_is_buffered(bench: Bench) -> None:
    assert told(bench(NAMED + HEADER)) == [("Qwen2.5-72B.Q6_K", SpeedStatus.FAILED, None)]
    assert told(bench(NAMED + "[\n")) == [("Qwen2.5-72B.Q6_K", SpeedStatus.FAILED, None)]


PINNED = """\
ggml_vulkan: Failed to allocate pinned memory.
ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory
"""


def test_an_allocation_that_the_run_survived_is_no_failure(bench: Bench) -> None:
    rows = bench(STARTED + PINNED + HEADER + ROW + PINNED + ROW + PINNED + "build: abc (7480)\n")
    assert told(rows) == [("m", SpeedStatus.OK, "pp512")] * 2


def test_a_run_that_ends_with_a_failed_allocation_failed(bench: Bench) -> None:
    rows = bench(HEADER + ROW + CUDA_LOAD.splitlines()[0] + "\n" + STARTED + HEADER + ROW)
    assert told(rows) == [
        ("m", SpeedStatus.OK, "pp512"),
        ("unknown model", SpeedStatus.OOM, None),
        ("m", SpeedStatus.OK, "pp512"),
    ]


WHOLE = json.dumps([result()], indent=2).removesuffix("\n]")


@pytest.mark.parametrize("tail", [",\n", ',\n  {\n    "model_type": "m",\n    "n_pro', "\n"])
def test_what_came_before_a_crash_counts(bench: Bench, tail: str) -> None:
    rows = bench(f"{WHOLE}{tail}{VULKAN_LOST}")
    assert told(rows) == [
        ("llama 8B Q4_K - Medium", SpeedStatus.OK, "pp512"),
        ("unknown model", SpeedStatus.DEVICE_LOST, None),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{WHOLE}\n", 1),
        (f'{WHOLE},\n  {{\n    "model_type": "m",\n', 19),
        (json.dumps(result()) + '\n{"model_type": "m", ', 2),
        (f"{WHOLE}\n{VULKAN_LOST}{WHOLE}\n", 21),
    ],
)
def test_a_cut_that_no_failure_explains_is_a_problem(bench: Bench, text: str, line: int) -> None:
    (found,) = problems_of(lambda: bench(text))
    assert found.endswith(
        f"bench.txt:{line}: found JSON that is cut off; expected its end, or the words of the"
        " failure that ended it"
    )


def test_a_broken_object_is_a_problem_beside_a_failure_too(bench: Bench) -> None:
    broken = WHOLE.replace('"n_gen": 0', '"n_gen" 0')
    (found,) = problems_of(lambda: bench(f"{broken},\n{WHOLE[2:]}\n{VULKAN_LOST}"))
    assert "expected valid JSON (Expecting ':' delimiter)" in found


@pytest.mark.parametrize("words", ["[New LWP 12345]", "[Thread debugging using libthread_db]"])
def test_a_debuggers_brackets_are_no_json(bench: Bench, words: str) -> None:
    rows = bench(f"{WHOLE}\n{words}\n{VULKAN_LOST}")
    assert len(rows) == 2
