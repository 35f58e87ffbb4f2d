"""Judges at work on a run: several at once, until all is recorded or something ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from evalbot.domain.judging import Price
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError, StoreError
from evalbot.judging.budget import Budget
from evalbot.judging.lane import Item, Job, Lane, PricedProvider, Source
from evalbot.judging.totals import Totals
from evalbot.running.progress import EndpointProgress, Progress
from evalbot.running.recorder import Recorder, Save
from evalbot.running.together import finish, in_thread_to_the_end
from evalbot.store import leases
from evalbot.store.database import Connection, Database
from evalbot.store.leases import Lease

ItemIn = TypeVar("ItemIn")


class Plan(Protocol[ItemIn]):
    """One judge's part of a session; total: how many calls; totals: what is counted of them."""

    @property
    def judge(self) -> JudgeSettings:
        """Whose."""

    @property
    def price(self) -> Price | None:
        """USD per million tokens; None where it is not known."""

    @property
    def total(self) -> int:
        """Calls to be made."""

    @property
    def totals(self) -> Totals:
        """Counts of what came back."""

    async def work(
        self,
        budget: Budget,
        progress: EndpointProgress,
        recorder: Recorder[ItemIn],
    ) -> bool:
        """Do it; whether all of it was done."""
        ...


@dataclass(frozen=True, slots=True)
class LanePlan(Generic[Item]):
    """A part that is asked call by call; pages: the jobs."""

    judge: JudgeSettings
    provider: PricedProvider
    pages: Iterator[Sequence[Job[Item]]]
    total: int
    totals: Totals

    @property
    def price(self) -> Price | None:
        """USD per million tokens; None where it is not known."""
        return self.provider.price

    async def work(
        self,
        budget: Budget,
        progress: EndpointProgress,
        recorder: Recorder[Item],
    ) -> bool:
        """All jobs; False where the judge or the money was gone before."""
        lane = Lane(self.judge, self.provider, budget, progress, self.totals)
        return await lane.work(Source(self.pages), recorder.record)


class Session(Generic[Item]):
    """Works on one run; `execute` may be cancelled at any time.

    save: writes what came; prepare: what must be written before. Raises InputError where a
    ceiling of cost cannot be kept.
    """

    def __init__(
        self,
        database: Database,
        run: str,
        plans: Sequence[Plan[Item]],
        save: Save[Item],
        prepare: Callable[[Connection], None],
        progress: Progress,
        budget: Budget,
    ) -> None:
        if budget.limit is not None:
            _refuse_unpriced(plans)
        self._database = database
        self._run = run
        self._plans = plans
        self._save = save
        self._prepare = prepare
        self.budget = budget
        self.progress = progress
        self.totals = [plan.totals for plan in plans]

    async def execute(self) -> bool:
        """Ask what is to be asked; whether all of it is recorded now.

        Raises LeaseHeldError where another process has the run, and StoreError where the
        record cannot be written; what was recorded before stays.
        """
        lease: Lease | None = None
        try:
            lease = await in_thread_to_the_end(self._take)
            async with Recorder(self._database, lease, self._save) as recorder:
                lanes = [asyncio.create_task(self._lane(plan, recorder)) for plan in self._plans]
                done = await recorder.until_failed(asyncio.create_task(finish(lanes)))
            recorder.raise_if_failed(self.progress.unit)
        finally:
            if lease is not None:
                with contextlib.suppress(StoreError):  # what went wrong first is what is told
                    await in_thread_to_the_end(partial(self._leave, lease))
        return done

    def _take(self) -> Lease:
        with self._database.write() as connection:
            lease = leases.acquire(connection, self._run)
            self._prepare(connection)
        for plan in self._plans:
            name = plan.judge.name
            self.progress.endpoints[name] = EndpointProgress(name, plan.total)
        return lease

    def _leave(self, lease: Lease) -> None:
        with self._database.write() as connection:
            leases.release(connection, lease)

    async def _lane(self, plan: Plan[Item], recorder: Recorder[Item]) -> bool:
        progress = self.progress.endpoints[plan.judge.name]
        return await plan.work(self.budget, progress, recorder)


def _refuse_unpriced(plans: Sequence[Plan[Item]]) -> None:
    for plan in plans:
        if plan.price is None:
            raise InputError(
                f"judge {plan.judge.name}: the price of {plan.judge.model} is not known, so "
                "--max-cost cannot be kept; give `price: {input: …, output: …}` in evalbot.yaml"
            )
