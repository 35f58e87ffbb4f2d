"""A small project on disk: a suite, a rubric, endpoints, a database."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.domain.runs import RecordedAnswer, Run
from evalbot.domain.settings import Config
from evalbot.formats.config import read_config
from evalbot.running.prepare import (
    Extension,
    PreparedRun,
    Selection,
    new_run,
    read_questions,
    resume_run,
)
from evalbot.running.runner import Runner, RunOptions
from evalbot.store.answers import read_answers
from evalbot.store.database import Database, open_database
from evalbot.store.grades import read_grades
from evalbot.store.runs import get_run
from tests.fault_server import default_answer

SUITE = "name: s\ntitle: S\ntask: chat\nrubric: r\n"
RUBRIC = {
    "name": "r",
    "version": "1",
    "title": "R",
    "scale": [
        {"verdict": "right", "credit": 1, "means": "yes"},
        {"verdict": "wrong", "credit": 0, "means": "no"},
    ],
    "rate": {
        "name": "error_rate",
        "title": "Errors",
        "direction": "lower",
        "weights": {"right": 0, "wrong": 1},
    },
    "auto": {"scorer": "exact"},
}


class Site:
    """The project; its files are what evalbot reads."""

    def __init__(self, folder: Path, database_url: str | None = None, cases: int = 4) -> None:
        self.folder = folder
        self.database_url = database_url or f"sqlite:///{folder}/evalbot.db"
        self._endpoints: list[dict[str, Any]] = []
        self.write("rubrics/r.yaml", json.dumps(RUBRIC))
        self.write("datasets/s/suite.yaml", SUITE)
        self.write_cases([f"p{i}" for i in range(cases)])

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def write_cases(self, prompts: list[str]) -> None:
        """Cases called c0, c1, … whose right answers are the fault server's own."""
        lines = [
            json.dumps({"key": f"c{i}", "prompt": prompt, "references": [default_answer(prompt)]})
            for i, prompt in enumerate(prompts)
        ]
        self.write("datasets/s/cases.jsonl", "\n".join(lines))

    def endpoint(self, name: str, base_url: str, **fields: Any) -> None:
        """Add an endpoint, or write it anew; patient as a busy machine is slow, asked once only."""
        self._endpoints = [one for one in self._endpoints if one["name"] != name]
        usual = {"timeout_s": 60, "retries": 0, "sampling": {"max_tokens": 8}}
        self._endpoints.append({"name": name, "base_url": base_url, **usual, **fields})
        config = {"database": self.database_url, "endpoints": self._endpoints}
        self.write("evalbot.yaml", json.dumps(config))

    @property
    def config(self) -> Config:
        return read_config(self.folder / "evalbot.yaml")

    def open(self) -> Database:
        return open_database(self.database_url)

    def new(self, **selection: Any) -> PreparedRun:
        with self.open() as database:
            chosen = Selection(**selection)
            questions = read_questions(self.config, "s", chosen)
            return new_run(database, self.config, questions, chosen)

    def resumed(self, run_id: str, **extension: Any) -> PreparedRun:
        with self.open() as database:
            return resume_run(database, self.config, run_id, Extension(**extension))

    def runner(self, database: Database, prepared: PreparedRun, **options: Any) -> Runner:
        chosen = RunOptions(self.folder, **options)
        return Runner(database, prepared.run, prepared.endpoints, chosen)

    def work(self, prepared: PreparedRun, **options: Any) -> bool:
        """Work on a run to its end; whether all of it is recorded."""
        with self.open() as database:
            return asyncio.run(self.runner(database, prepared, **options).execute())

    def resume(self, run_id: str, retry_failed: bool = False, **extension: Any) -> bool:
        return self.work(self.resumed(run_id, **extension), retry_failed=retry_failed)

    def run(self, run_id: str) -> Run:
        with self.open() as database, database.read() as connection:
            return get_run(connection, run_id)

    def answers(self, run_id: str, *, all_attempts: bool = False) -> list[RecordedAnswer]:
        with self.open() as database, database.read() as connection:
            found = read_answers(connection, run_id, all_attempts=all_attempts)
            return [answer for _, answer in found]

    def statuses(self, run_id: str, endpoint: str | None = None) -> Counter[AnswerStatus]:
        """How the counting answers ended."""
        return Counter(
            one.answer.status
            for one in self.answers(run_id)
            if endpoint in (None, one.place.endpoint)
        )

    def texts(self, run_id: str) -> dict[Place, str]:
        """What was answered, place by place."""
        return {one.place: one.answer.text for one in self.answers(run_id)}

    def verdicts(self, run_id: str) -> Counter[str | None]:
        """The automatic verdicts of the counting answers, or why there is none."""
        with self.open() as database, database.read() as connection:
            grades = [stored.grade for stored in read_grades(connection, run_id)]
        return Counter(grade.verdict or grade.unscored_reason for grade in grades)

    def query(self, statement: str) -> list[Any]:
        """Rows straight from the tables."""
        engine = create_engine(self.database_url)
        try:
            with closing(engine.connect()) as connection:
                return [tuple(row) for row in connection.execute(text(statement))]
        finally:
            engine.dispose()

    def check_record(self, run_id: str) -> None:
        """No attempt twice, none left out, and exactly one automatic grade for each answer."""
        attempts: dict[Place, list[int]] = {}
        for one in self.answers(run_id, all_attempts=True):
            attempts.setdefault(one.place, []).append(one.attempt)
        for place, numbers in attempts.items():
            assert numbers == list(range(1, len(numbers) + 1)), place
        grades = dict(
            self.query(
                "SELECT answers.id, count(grades.id) FROM answers LEFT JOIN grades"
                " ON grades.answer_id = answers.id AND grades.layer = 'auto'"
                f" WHERE answers.run = '{run_id}' GROUP BY answers.id"
            )
        )
        assert set(grades.values()) <= {1}

    def change(self, statement: str) -> None:
        """Change the tables behind evalbot's back."""
        engine = create_engine(self.database_url)
        try:
            with engine.begin() as connection:
                connection.execute(text(statement))
        finally:
            engine.dispose()

    def let_lease_run_out(self) -> None:
        """As if nobody had been heard of for long."""
        self.change("UPDATE runs SET lease_until = '2020-01-01T00:00:00.000000Z'")
