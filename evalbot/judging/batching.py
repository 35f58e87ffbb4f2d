"""Judging by batches: written down, sent, waited for and fetched, left at whatever moment.

The intent, with our own ids, is on record before anything is sent. A batch whose provider's id
was lost on the way is looked for in the provider's list, and known by our ids in its results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from evalbot.domain.batches import Batch, BatchGoneError, BatchResult
from evalbot.domain.judging import Price
from evalbot.domain.settings import JudgeSettings
from evalbot.judging.batch_items import NO_RESULT, Intended, judged_of
from evalbot.judging.batch_sending import FIRST_POLL_S, BatchProvider, Sender
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Material
from evalbot.judging.grades import GradeForm
from evalbot.judging.session import Session
from evalbot.judging.totals import Totals
from evalbot.judging.voting import Bench, Judged, session_of
from evalbot.running.progress import EndpointProgress
from evalbot.running.recorder import Recorder
from evalbot.store import batches
from evalbot.store.database import Database


@dataclass(slots=True)
class BatchPlan:
    """One judge's batches on a run; taken: what its docket leaves out, since a batch has it."""

    database: Database
    material: Material
    judge: JudgeSettings
    provider: BatchProvider
    docket: Docket
    taken: set[str]
    total: int
    totals: Totals
    first_poll_s: float = FIRST_POLL_S

    @property
    def price(self) -> Price | None:
        """USD per million tokens; None where it is not known."""
        return self.provider.price

    async def work(
        self, budget: Budget, progress: EndpointProgress, recorder: Recorder[Judged]
    ) -> bool:
        """Send what is not sent, wait for all, write it down; False where money was short."""
        sender = Sender(
            self.database,
            self.material.run.id,
            self.material.basis.rubric.version,
            self.judge,
            self.provider,
            self.docket,
            self.taken,
            progress,
            budget,
            self.first_poll_s,
        )
        try:
            return await _BatchLane(self, sender, recorder).work()
        finally:
            await self.provider.close()


def batch_session(
    database: Database,
    material: Material,
    bench: Bench,
    providers: Mapping[str, BatchProvider],
    taken: Mapping[str, set[str]],
    budget: Budget,
    first_poll_s: float = FIRST_POLL_S,
) -> Session[Judged]:
    """Everything on the bench's dockets, and what is in batches already; taken: the latter.

    providers: of the judges that have something to do or to fetch.
    """
    plans = [
        BatchPlan(
            database,
            material,
            judge,
            providers[judge.name],
            bench.dockets[judge.name],
            taken[judge.name],
            bench.calls[judge.name] + len(taken[judge.name]),
            Totals(judge.name, before=bench.judged[judge.name]),
            first_poll_s,
        )
        for judge in bench.judges
        if judge.name in providers
    ]
    return session_of(database, material, bench, plans, budget)


class _BatchLane:
    def __init__(self, plan: BatchPlan, sender: Sender, recorder: Recorder[Judged]) -> None:
        self._plan = plan
        self._sender = sender
        self._recorder = recorder
        self._form = GradeForm(plan.material)
        self._refused: set[str] = set()

    async def work(self) -> bool:
        sender = self._sender
        self._refused |= await asyncio.to_thread(self._refused_before)
        for batch in await asyncio.to_thread(self._open):
            sender.budget.reserve_anyway(_most(batch))
            if batch.provider_id is None:
                await sender.find_or_send(batch)
        # Again where a parameter was refused, or where what came back cost less than feared.
        while True:
            while await self._send_next():
                pass
            known = len(self._refused)
            out = await asyncio.to_thread(self._open)
            for batch in out:
                await self._fetch(batch)
            if not out or (len(self._refused) == known and not sender.is_short):
                break
        sender.budget.is_used_up |= sender.is_short
        sender.progress.state = "stopped at --max-cost" if sender.is_short else "done"
        return not sender.is_short

    async def _send_next(self) -> bool:
        """Whether there was something to send."""
        batch: Batch | None = await asyncio.to_thread(self._sender.write_next, self._refused)
        if batch is None:
            return False
        await self._sender.send(batch)
        return True

    def _open(self) -> list[Batch]:
        with self._plan.database.read() as connection:
            run = self._plan.material.run.id
            return batches.open_batches(connection, run, self._plan.judge.name)

    def _refused_before(self) -> set[str]:
        with self._plan.database.read() as connection:
            return batches.refused_parameters(connection, self._plan.judge.model)

    async def _fetch(self, batch: Batch) -> None:
        """Wait for a batch, and write down all that came of it, and what that decides."""
        assert batch.provider_id is not None
        left = await asyncio.to_thread(self._sender.intended, batch)
        again: set[str] = set()
        price = batch.params["price"]
        missing = NO_RESULT
        results: list[BatchResult] = []
        try:
            await self._sender.until_ended(batch.provider_id, "waiting for a batch")
            self._sender.progress.state = "fetching results"
            results = await self._plan.provider.results(
                batch.provider_id, None if price is None else Price(*price)
            )
        except BatchGoneError as error:
            missing = f"the provider has the batch no more ({error})"
        for result in results:
            meant = left.pop(result.custom_id, None)
            if meant is None:  # somebody else's, or there twice
                continue
            if self._is_refused(batch, result):
                again.add(meant.item.identity)
            else:
                await self._keep(batch, meant, result)
        for name, meant in left.items():
            await self._keep(batch, meant, BatchResult(name, None, missing))
        # After the costs were counted: nobody may spend in between what is not left.
        self._sender.budget.settle(_most(batch), 0.0)
        await self._recorder.flush()
        await self._settle()
        await self._recorder.flush()
        # Only now: whoever is killed before this fetches the same again, and loses nothing.
        await asyncio.to_thread(self._note_fetched, batch)
        self._plan.taken.difference_update(again)

    def _is_refused(self, batch: Batch, result: BatchResult) -> bool:
        """Whether it failed for a parameter, and is asked again without it."""
        name = None if result.error is None else self._plan.provider.refused_in(result.error)
        if name is None or name not in batch.params["sent"]:
            return False
        self._refused.add(name)
        return True

    async def _keep(self, batch: Batch, meant: Intended, result: BatchResult) -> None:
        judged, judgement = judged_of(self._form, self._plan.judge, batch, meant, result)
        self._plan.totals.add(judgement)
        self._sender.budget.spent += judgement.cost_usd or 0.0
        self._sender.progress.answered(judgement.reading.unscored_reason or "ok")
        await self._recorder.record(judged)

    def _note_fetched(self, batch: Batch) -> None:
        with self._plan.database.write() as connection:
            batches.set_fetched(connection, batch, self._refused)

    async def _settle(self) -> None:
        """The judge's grade of every answer whose votes are all in now."""
        plan = self._plan
        unsettled = await asyncio.to_thread(lambda: list(plan.docket.unsettled(plan.database)))
        for answer, vote, ballot in unsettled:
            shelved = plan.docket.vote(answer, 1)[1]
            grade = self._form.majority(plan.judge, vote, ballot)
            await self._recorder.record(Judged(answer.id, vote.case, shelved, [grade], True))


def _most(batch: Batch) -> float:
    """What a batch may cost at most, as it was reckoned when it was written down."""
    return float(batch.params["most_usd"])
