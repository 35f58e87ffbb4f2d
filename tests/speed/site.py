"""A small project on disk with endpoints and machines, and its sweeps."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.settings import Config
from evalbot.domain.speed import SpeedRow
from evalbot.domain.sweeps import MemoryReading, Round, Sample, Sweep, SweepPlan
from evalbot.formats.config import read_config
from evalbot.running.prepare import choose_endpoints
from evalbot.speed.measured import measured_rows
from evalbot.speed.prepare import PreparedSweep, new_sweep, resume_sweep
from evalbot.speed.results import SpeedQuery, SpeedResults, speed_results
from evalbot.speed.sweeper import Sweeper
from evalbot.store import sweeps
from evalbot.store.database import Database, open_database


class SpeedSite:
    """The project; its file is what evalbot reads."""

    def __init__(self, folder: Path, database_url: str | None = None) -> None:
        self.folder = folder
        self.database_url = database_url or f"sqlite:///{folder}/evalbot.db"
        self.extra: dict[str, Any] = {}
        self._endpoints: list[dict[str, Any]] = []
        self._machines: dict[str, dict[str, Any]] = {}
        self._write_config()

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.write_text(content, encoding="utf-8")
        return path

    def endpoint(self, name: str, base_url: str, **fields: Any) -> None:
        """Add an endpoint, or write it anew."""
        self._endpoints = [one for one in self._endpoints if one["name"] != name]
        self._endpoints.append({"name": name, "base_url": base_url, "timeout_s": 30, **fields})
        self._write_config()

    def machine(self, name: str, **fields: Any) -> None:
        """Add hardware, or write it anew."""
        self._machines[name] = fields
        self._write_config()

    def _write_config(self) -> None:
        config = {
            "database": self.database_url,
            "endpoints": self._endpoints,
            "hardware": self._machines,
            **self.extra,
        }
        self.write("evalbot.yaml", json.dumps(config))

    @property
    def config(self) -> Config:
        return read_config(self.folder / "evalbot.yaml")

    def open(self) -> Database:
        return open_database(self.database_url)

    def new(
        self,
        contexts: tuple[int, ...] = (40,),
        concurrency: tuple[int, ...] = (1, 2),
        *,
        output_tokens: int = 4,
        repeats: int = 1,
        parallel: bool = False,
        label: str | None = None,
    ) -> PreparedSweep:
        """A sweep of all endpoints."""
        plan = SweepPlan(contexts, concurrency, output_tokens, repeats, parallel)
        with self.open() as database:
            return new_sweep(database, self.config, plan, choose_endpoints(self.config, ()), label)

    def resumed(self, sweep: str) -> PreparedSweep:
        with self.open() as database:
            return resume_sweep(database, self.config, sweep)

    def sweeper(self, database: Database, prepared: PreparedSweep) -> Sweeper:
        return Sweeper(
            database, prepared.sweep, prepared.endpoints, prepared.telemetry, self.folder
        )

    def work(self, prepared: PreparedSweep) -> bool:
        """Work on a sweep to its end; whether all of it is recorded."""
        with self.open() as database:
            return asyncio.run(self.sweeper(database, prepared).execute())

    def resume(self, sweep: str) -> bool:
        return self.work(self.resumed(sweep))

    def sweep(self, sweep: str) -> Sweep:
        with self.open() as database, database.read() as connection:
            return sweeps.get_sweep(connection, sweep)

    def samples(self, sweep: str) -> Mapping[Round, list[Sample]]:
        with self.open() as database, database.read() as connection:
            return sweeps.get_samples(connection, sweep)

    def readings(self, sweep: str) -> list[MemoryReading]:
        with self.open() as database, database.read() as connection:
            return sweeps.get_readings(connection, sweep)

    def statuses(self, sweep: str) -> Counter[AnswerStatus]:
        """How the recorded streams ended."""
        return Counter(one.status for samples in self.samples(sweep).values() for one in samples)

    def results(self, *wanted: str, **query: tuple[str, ...]) -> SpeedResults:
        with self.open() as database:
            return speed_results(database, self.config, SpeedQuery(sweeps=wanted, **query))

    def rows(self, *wanted: str, **query: tuple[str, ...]) -> tuple[SpeedRow, ...]:
        return self.results(*wanted, **query).rows

    def unflagged(self, sweep: str) -> list[SpeedRow]:
        """The rows of a sweep by its own streams; how they compare depends on the machine."""
        return measured_rows(self.sweep(sweep), self.samples(sweep), self.readings(sweep))

    def query(self, statement: str) -> list[Any]:
        """Rows straight from the tables."""
        engine = create_engine(self.database_url)
        try:
            with closing(engine.connect()) as connection:
                return [tuple(row) for row in connection.execute(text(statement))]
        finally:
            engine.dispose()

    def change(self, statement: str) -> None:
        """Change the tables behind evalbot's back."""
        engine = create_engine(self.database_url)
        try:
            with engine.begin() as connection:
                connection.execute(text(statement))
        finally:
            engine.dispose()

    def check_whole(self, prepared: PreparedSweep) -> None:
        """Every stream of every round is recorded, each once."""
        plan, sweep = prepared.sweep.plan, prepared.sweep
        assert plan is not None
        expected = {
            round_: list(range(1, round_.concurrency + 1))
            for endpoint in sweep.endpoints
            for round_ in plan.rounds(endpoint.name)
        }
        found = self.samples(sweep.id)
        assert {key: [one.stream for one in samples] for key, samples in found.items()} == expected
