"""A run to be judged, and judges in this process that reply as a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalbot.domain.answers import Usage
from evalbot.domain.judging import JudgeRequest, Price, ProviderError, ProviderReply
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, RecordedAnswer
from evalbot.domain.settings import JudgeSettings
from evalbot.grading.basis import basis_of
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Material, Scope
from evalbot.judging.prepare import prepare, read_material, taken_by_batches
from evalbot.judging.session import Session
from evalbot.judging.voting import Judged, judging_session
from evalbot.reporting.rate_rows import RateQuery, RateRow
from evalbot.reporting.rates import rates_of_run
from evalbot.store import runs
from evalbot.store.database import Database, open_database
from evalbot.store.grades import read_grades
from tests.building import record, said, small_run, write_site

ANSWERS = {"door": "请关门", "light": "把灯关了", "rain": "天晴"}
ALL_UNJUDGED = Scope()


def verdict(word: str, reason: str = "because") -> str:
    """A good reply."""
    return json.dumps({"reason": reason, "checkpoints": [], "verdict": word})


@dataclass
class FakeJudge:
    """A judge that replies by a function of what it is asked.

    A ProviderError that the function returns is raised. holds: calls wait for it, but for the
    first `free`.
    """

    reply: Callable[[JudgeRequest], str | ProviderReply | ProviderError]
    price: Price | None = None
    holds: asyncio.Event | None = None
    free: int = 0
    requests: list[JudgeRequest] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def complete(self, request: JudgeRequest) -> ProviderReply:
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.holds is not None and len(self.requests) > self.free:
                await self.holds.wait()
            else:
                await asyncio.sleep(0)
        finally:
            self.at_once -= 1
        found = self.reply(request)
        if isinstance(found, ProviderError):
            raise found
        if isinstance(found, ProviderReply):
            return found
        cost = None if self.price is None else self.price.of(100, 20)
        return ProviderReply(found, "stop", usage=Usage(100, 40, 20), cost_usd=cost, latency_s=0.1)


def always(word: str, **settings: Any) -> FakeJudge:
    """A judge with one verdict for everything."""
    return FakeJudge(lambda _: verdict(word), **settings)


def answer_in(request: JudgeRequest) -> str:
    """The answer that is to be graded."""
    fence = request.question.splitlines()[-1]
    return request.question.split(f"\n{fence}")[1].removeprefix("\n")


@dataclass
class JudgeSite:
    """A folder with a database and one run of two models."""

    folder: Path
    url: str

    @classmethod
    def make(
        cls, folder: Path, url: str, answers: Sequence[RecordedAnswer] | None = None
    ) -> JudgeSite:
        """answers: by default two models say the same to each of three cases."""
        write_site(folder)
        site = cls(folder, url)
        given = answers or [
            said(case, model, text) for model in "ab" for case, text in ANSWERS.items()
        ]
        repeats = max(one.place.repeat for one in given)
        with site.open() as database:
            record(database, small_run(folder, "a", "b", repeats=repeats), given)
        return site

    @contextmanager
    def open(self) -> Iterator[Database]:
        with open_database(self.url) as database:
            yield database

    def material(self, database: Database) -> Material:
        return read_material(database, "small-1", self.folder)

    def session(
        self,
        database: Database,
        judges: Mapping[str, FakeJudge],
        *,
        votes: int | None = None,
        scope: Scope = ALL_UNJUDGED,
        max_cost: float | None = None,
        **settings: Any,
    ) -> Session[Judged] | None:
        """A session over what is left; None where nothing is."""
        material = self.material(database)
        chosen = [settings_of(name, **settings) for name in judges]
        taken = taken_by_batches(database, material, chosen)
        bench, _ = prepare(database, material, chosen, votes, scope, taken)
        if not bench.busy:
            return None
        return judging_session(database, material, bench, judges, Budget(max_cost))

    def judge(self, judges: Mapping[str, FakeJudge], **how: Any) -> bool | None:
        """Judge what is left; whether all was, None where nothing was left."""
        with self.open() as database:
            session = self.session(database, judges, **how)
            return None if session is None else asyncio.run(session.execute())

    def grades(self, *graders: str) -> list[NewGrade]:
        """The judge layer's grades in the order they were given."""
        with self.open() as database, database.read() as connection:
            found = [
                stored.grade for stored in read_grades(connection, "small-1", [str(Layer.JUDGE)])
            ]
        return [grade for grade in found if not graders or grade.grader in graders]

    def by_case(self, grader: str, model: str = "a") -> dict[str, str | None]:
        """What a judge says of a model's answers in the end."""
        with self.open() as database, database.read() as connection:
            return {
                stored.place.case: stored.grade.verdict or stored.grade.unscored_reason
                for stored in read_grades(connection, "small-1", [str(Layer.JUDGE)])
                if stored.grade.grader == grader and stored.place.endpoint == model
            }

    def rates(self, judge: str | None = None) -> dict[str, RateRow]:
        """The judge layer's rates by model."""
        with self.open() as database, database.read() as connection:
            run = runs.get_run(connection, "small-1")
            query = RateQuery(Layer.JUDGE, judge)
            rows = rates_of_run(connection, run, basis_of(run, self.folder), query)
        return {row.model: row for row in rows}


def settings_of(name: str, **settings: Any) -> JudgeSettings:
    """A judge of this name."""
    return JudgeSettings(name, "openai/judge", **{"concurrency": 4, **settings})
