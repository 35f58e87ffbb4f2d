"""What `evalbot init` writes: a commented config, a small suite and its rubric."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from evalbot.errors import InputError

FILES = (
    "evalbot.yaml",
    "datasets/my-suite/suite.yaml",
    "datasets/my-suite/cases.jsonl",
    "rubrics/my-rubric.yaml",
)


def write_templates(folder: Path) -> list[Path]:
    """Write the files below the folder and return their paths.

    Raises InputError, with nothing written, where one of them is there already or the
    folder cannot be written to.
    """
    targets = [folder / name for name in FILES]
    present = [str(path) for path in targets if path.exists()]
    if present:
        raise InputError(f"nothing was written: {', '.join(present)} would be overwritten")
    try:
        for name, target in zip(FILES, targets, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(template(name))
    except OSError as error:
        raise InputError(f"cannot write {error.filename}: {error.strerror}") from error
    return targets


def template(name: str) -> bytes:
    """The content of one of FILES."""
    return files("evalbot.formats").joinpath("templates", name).read_bytes()
