"""Speed results from elsewhere into the record."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from evalbot import __version__
from evalbot.domain.runs import RunState
from evalbot.domain.speed import SpeedRow
from evalbot.domain.sweeps import Sweep
from evalbot.fingerprint import fingerprint
from evalbot.formats.llama_bench import read_llama_bench
from evalbot.formats.problems import Problems
from evalbot.formats.speed_tables import read_speed_table
from evalbot.formats.vllm_bench import read_vllm_bench
from evalbot.store import sweeps
from evalbot.store.database import Connection, Database


class ImportKind(StrEnum):
    """What wrote the files."""

    LLAMA_BENCH = "llama-bench"
    VLLM_BENCH = "vllm-bench"
    TABLE = "table"


READERS: Mapping[ImportKind, Callable[[Path, Problems], list[SpeedRow]]] = MappingProxyType(
    {
        ImportKind.LLAMA_BENCH: read_llama_bench,
        ImportKind.VLLM_BENCH: read_vllm_bench,
        ImportKind.TABLE: read_speed_table,
    }
)


@dataclass(frozen=True, slots=True)
class Named:
    """What the files do not say, or not in our words; it stands for all their rows."""

    hardware: str | None = None
    model: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedSpeed:
    """What became of a file: its import, and how many of its rows are new to the record."""

    sweep: str
    file: Path
    rows: tuple[SpeedRow, ...]
    new: int


def import_speed(
    database: Database, files: Sequence[Path], kind: ImportKind, named: Named
) -> list[ImportedSpeed]:
    """One import a file; the same file again adds nothing.

    Raises ProblemsError with everything wrong in any of the files, and then adds nothing.
    """
    problems = Problems()
    read = [READERS[kind](path, problems) for path in files]
    problems.raise_if_any()
    with database.write() as connection:
        return [
            _write(connection, path, [_as_named(row, named) for row in rows])
            for path, rows in zip(files, read, strict=True)
        ]


def _as_named(row: SpeedRow, named: Named) -> SpeedRow:
    return replace(
        row,
        label=named.label or row.label,
        hardware=named.hardware or row.hardware,
        model=named.model or row.model,
    )


def _write(connection: Connection, path: Path, rows: Sequence[SpeedRow]) -> ImportedSpeed:
    key = fingerprint([asdict(row) for row in rows])
    before = sweeps.sweep_imported_as(connection, key)
    if before is not None:
        return ImportedSpeed(before, path, tuple(rows), new=0)
    # Called by its file only now: the same rows are the same import, whatever the file's name.
    rows = [replace(row, label=row.label or path.stem) for row in rows]
    now = datetime.now(UTC)
    labels = {row.label for row in rows}
    sweep = Sweep(
        id=f"import-{now:%Y%m%d}-{secrets.token_hex(3)}",
        state=RunState.IMPORTED,
        started_at=now,
        label=labels.pop() if len(labels) == 1 else None,
        finished_at=now,
        rows=tuple(rows),
        version=__version__,
        import_key=key,
    )
    sweeps.create_sweep(connection, sweep)
    return ImportedSpeed(sweep.id, path, tuple(rows), new=len(rows))
