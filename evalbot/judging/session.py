"""Pre-grading a run: several judges at once, until all is recorded or something ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError, StoreError
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Material, Scope
from evalbot.judging.grades import GradeForm
from evalbot.judging.lane import Lane, PricedProvider, Source
from evalbot.judging.totals import Totals
from evalbot.judging.voting import Judged, JudgeWriter, VoteForm, vote_jobs
from evalbot.running.progress import EndpointProgress, Progress
from evalbot.running.recorder import Recorder
from evalbot.running.together import finish, to_the_end
from evalbot.store import leases
from evalbot.store.database import Database
from evalbot.store.leases import Lease


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

    @property
    def busy(self) -> tuple[JudgeSettings, ...]:
        """The judges that have something to do."""
        return tuple(judge for judge in self.judges if self.calls[judge.name])


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
        self._database = database
        self._material = material
        self._bench = bench
        self._providers = providers
        if max_cost is not None:
            refuse_unpriced(bench, providers)
        self._writer = JudgeWriter(material, [judge.name for judge in bench.judges])
        self.budget = Budget(max_cost)
        self.totals = [Totals(one.name, before=bench.judged[one.name]) for one in bench.busy]
        self.progress = Progress(f"judging run {material.run.id}", "judgements", of="judge")

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
                    asyncio.create_task(self._lane(judge, totals, recorder))
                    for judge, totals in zip(self._bench.busy, self.totals, strict=True)
                ]
                done = await recorder.until_failed(asyncio.create_task(finish(lanes)))
            recorder.raise_if_failed("judgements")
        finally:
            if lease is not None:
                with contextlib.suppress(StoreError):  # what went wrong first is what is told
                    await to_the_end(asyncio.to_thread(give_back, self._database, lease))
        return done

    def _take(self) -> Lease:
        with self._database.write() as connection:
            lease = leases.acquire(connection, self._material.run.id)
            self._writer.prepare(connection)
        for judge in self._bench.busy:
            progress = EndpointProgress(judge.name, self._bench.calls[judge.name])
            self.progress.endpoints[judge.name] = progress
        return lease

    async def _lane(self, judge: JudgeSettings, totals: Totals, recorder: Recorder[Judged]) -> bool:
        lane = Lane(
            judge,
            self._providers[judge.name],
            self.budget,
            self.progress.endpoints[judge.name],
            totals,
        )
        several = self._bench.votes[judge.name] > 1
        seed = self._bench.scope.seed if several else None
        by = VoteForm(GradeForm(self._material), judge, seed)
        jobs = vote_jobs(self._bench.dockets[judge.name], self._database, by)
        return await lane.work(Source(jobs), recorder.record)


def give_back(database: Database, lease: Lease) -> None:
    """Let go of a run."""
    with database.write() as connection:
        leases.release(connection, lease)


def refuse_unpriced(bench: Bench, providers: Mapping[str, PricedProvider]) -> None:
    """Raises InputError where a ceiling of cost could not be kept."""
    for judge in bench.busy:
        if providers[judge.name].price is None:
            raise InputError(
                f"judge {judge.name}: the price of {judge.model} is not known, so --max-cost "
                "cannot be kept; give `price: {input: …, output: …}` in evalbot.yaml"
            )
