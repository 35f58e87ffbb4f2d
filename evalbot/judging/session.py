"""Pre-grading a run: several judges at once, until all is recorded or something ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evalbot.domain.cases import grading_text
from evalbot.domain.judging import Price
from evalbot.domain.rubrics import Layer
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError, StoreError
from evalbot.grading.basis import FROM_RECORD
from evalbot.judging.asking import Provider
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Material, Scope
from evalbot.judging.grades import GradeForm
from evalbot.judging.lane import Judged, Lane, Source
from evalbot.judging.totals import Totals
from evalbot.running.progress import EndpointProgress, Progress
from evalbot.running.recorder import Recorder
from evalbot.running.together import finish, to_the_end
from evalbot.store import leases, runs
from evalbot.store.database import Connection, Database
from evalbot.store.grades import GradeWriter
from evalbot.store.judging import judges_said
from evalbot.store.leases import Lease
from evalbot.store.texts import put_texts


class PricedProvider(Provider, Protocol):
    """A judge model with its price, where that is known."""

    @property
    def price(self) -> Price | None:
        """USD per million tokens."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges of a session and how often each is asked; calls: how many each has to make.

    judged: verdicts that are on record already.
    """

    judges: tuple[JudgeSettings, ...]
    votes: Mapping[str, int]
    scope: Scope
    dockets: Mapping[str, Docket]
    calls: Mapping[str, int]
    judged: Mapping[str, int]


class JudgingSession:
    """Works on one run; `execute` may be cancelled at any time.

    Raises InputError where a ceiling of cost cannot be kept.
    """

    def __init__(
        self,
        database: Database,
        material: Material,
        bench: Bench,
        providers: Mapping[str, PricedProvider],
        max_cost: float | None = None,
    ) -> None:
        if max_cost is not None:
            _refuse_unpriced(bench, providers)
        self._database = database
        self._material = material
        self._bench = bench
        self._providers = providers
        self._writer = JudgeWriter(material, [judge.name for judge in bench.judges])
        self._budget = Budget(max_cost)
        self.totals: list[Totals] = []
        self.progress = Progress(f"judging run {material.run.id}", "judgements", of="judge")

    @property
    def is_over_budget(self) -> bool:
        """Whether the ceiling of cost ended it."""
        return self._budget.is_used_up

    @property
    def spent(self) -> float:
        """USD of what came back; what is not known counts with its most under a ceiling."""
        return self._budget.spent

    async def execute(self) -> bool:
        """Ask what is to be asked; whether all of it is recorded now.

        Raises LeaseHeldError where another process has the run, and StoreError where the
        record cannot be written; what was recorded before stays.
        """
        lease: Lease | None = None
        try:
            lease = await to_the_end(asyncio.to_thread(self._take))
            async with Recorder(self._database, lease, self._writer.save) as recorder:
                lanes = [
                    asyncio.create_task(self._lane(judge, recorder))
                    for judge in self._bench.judges
                    if self._bench.calls[judge.name]
                ]
                done = await recorder.until_failed(asyncio.create_task(finish(lanes)))
            recorder.raise_if_failed("judgements")
        finally:
            if lease is not None:
                with contextlib.suppress(StoreError):  # what went wrong first is what is told
                    await to_the_end(asyncio.to_thread(self._leave, lease))
        return done

    def _take(self) -> Lease:
        with self._database.write() as connection:
            lease = leases.acquire(connection, self._material.run.id)
            self._writer.prepare(connection)
        for judge in self._bench.judges:
            calls = self._bench.calls[judge.name]
            progress = EndpointProgress(judge.name, calls)
            progress.state = "waiting" if calls else "nothing to ask"
            self.progress.endpoints[judge.name] = progress
        return lease

    def _leave(self, lease: Lease) -> None:
        with self._database.write() as connection:
            leases.release(connection, lease)

    async def _lane(self, judge: JudgeSettings, recorder: Recorder[Judged]) -> bool:
        provider = self._providers[judge.name]
        several = self._bench.votes[judge.name] > 1
        lane = Lane(
            judge,
            provider,
            self._writer.form,
            self._budget,
            self.progress.endpoints[judge.name],
            price=provider.price,
            seed=self._bench.scope.seed if several else None,
            judged=self._bench.judged[judge.name],
        )
        self.totals.append(lane.totals)
        source = Source(self._bench.dockets[judge.name].pages(self._database))
        return await lane.work(source, recorder.record)


def _refuse_unpriced(bench: Bench, providers: Mapping[str, PricedProvider]) -> None:
    for judge in bench.judges:
        if bench.calls[judge.name] and providers[judge.name].price is None:
            raise InputError(
                f"judge {judge.name}: the price of {judge.model} is not known, so --max-cost "
                "cannot be kept; give `price: {input: …, output: …}` in evalbot.yaml"
            )


@dataclass(slots=True)
class JudgeWriter:
    """Writes judgements, and the panel's majorities where these have come together."""

    material: Material
    judges: Sequence[str]
    form: GradeForm = field(init=False)

    def __post_init__(self) -> None:
        self.form = GradeForm(self.material)

    def prepare(self, connection: Connection) -> None:
        """Store the texts that all grades will name."""
        run, basis = self.material.run, self.material.basis
        suite, rubric = basis.suite, basis.rubric
        if not run.settings.get(FROM_RECORD):
            runs.set_grading(connection, run.id, suite, rubric)
        put_texts(connection, "rubric_rule", [rubric.text_for(Layer.JUDGE)])
        put_texts(connection, "case_rule", [grading_text(suite, case) for case in suite.cases])

    def save(self, connection: Connection, batch: Sequence[Judged]) -> None:
        """Write what has come, within one transaction."""
        sheets = {one.shelved.fingerprint: one.shelved.sheet.text for one in batch}
        put_texts(connection, "prompt", sheets.values())
        writer = GradeWriter(connection)
        writer.add([(one.answer_id, grade) for one in batch for grade in one.grades])
        complete = {one.answer_id: one.case for one in batch if one.is_complete}
        if not complete:
            return
        said = judges_said(connection, complete)
        panels = [
            (answer, self.form.panel(case, self.judges, said.get(answer, {})))
            for answer, case in complete.items()
        ]
        writer.add([(answer, grade) for answer, grade in panels if grade is not None])
