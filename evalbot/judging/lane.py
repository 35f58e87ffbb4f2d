"""One judge's lane: jobs worked off, as many calls at once as the judge allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from evalbot.domain.judging import JudgeRequest, OutOfBudgetError, Price, ProviderReply
from evalbot.domain.settings import JudgeSettings
from evalbot.judging.asking import Judgement, Provider, judge_answer
from evalbot.judging.budget import Budget
from evalbot.judging.prompt import JudgePrompt
from evalbot.judging.totals import Totals
from evalbot.running.estimate import most_tokens
from evalbot.running.progress import EndpointProgress
from evalbot.running.together import finish, within_grace

GONE_AFTER = 8
"""Errors in a row, none of them about the answer, after which a judge is taken to be gone."""

GRACE_S = 20.0
"""How long calls in flight may still take when we are stopped: they are paid for."""

Item = TypeVar("Item")
ItemOut = TypeVar("ItemOut", covariant=True)


class Priced(Protocol):
    """What has a price, where that is known."""

    @property
    def price(self) -> Price | None:
        """USD per million tokens."""


class PricedProvider(Provider, Priced, Protocol):
    """A judge model with its price."""


class GoneError(Exception):
    """The judge gives no replies any more."""


class PaidProvider:
    """A judge model that is asked only what can be afforded, each call by itself."""

    def __init__(self, provider: PricedProvider, budget: Budget) -> None:
        self._provider = provider
        self._price = provider.price
        self._budget = budget

    async def complete(self, request: JudgeRequest) -> ProviderReply:
        """One reply; OutOfBudgetError where it could cost more than is left."""
        most = self._most(request)
        if not await self._budget.reserve(most):
            raise OutOfBudgetError
        cost: float | None = 0.0
        try:
            reply = await self._provider.complete(request)
            cost = reply.cost_usd
        finally:
            self._budget.settle(most, cost)
        return reply

    def _most(self, request: JudgeRequest) -> float:
        if self._budget.limit is None or self._price is None:
            return 0.0
        read = most_tokens(request.rules) + most_tokens(request.question)
        return self._price.of(read, int(request.sampling["max_tokens"]))


Ask: TypeAlias = Callable[[JudgePrompt, str, Mapping[str, Any]], Awaitable[Judgement]]


class Job(Protocol[ItemOut]):
    """One thing to find out, by a call or two."""

    async def run(self, ask: Ask) -> ItemOut:
        """What is to be recorded; ask raises where no call may be made any more."""
        ...


class Source(Generic[Item]):
    """Jobs page by page, for several workers; reading never holds up the calls in flight."""

    def __init__(self, pages: Iterator[Sequence[Job[Item]]]) -> None:
        self._pages = pages
        self._page: list[Job[Item]] = []
        self._turn = asyncio.Lock()

    async def next(self) -> Job[Item] | None:
        """The next job; None at the end."""
        async with self._turn:
            while not self._page:
                page = await asyncio.to_thread(next, self._pages, None)
                if page is None:
                    return None
                self._page = list(page)[::-1]
            return self._page.pop()


class Lane:
    """Asks one judge. What came back is recorded; what did not is left for another time."""

    def __init__(
        self,
        judge: JudgeSettings,
        provider: PricedProvider,
        budget: Budget,
        progress: EndpointProgress,
        totals: Totals,
    ) -> None:
        self._judge = judge
        self._provider = PaidProvider(provider, budget)
        self._budget = budget
        self._progress = progress
        self._totals = totals
        self._errors_in_a_row = 0
        self._gone: str | None = None
        self._refused: set[str] = set()

    async def work(self, source: Source[Item], record: Callable[[Item], Awaitable[None]]) -> bool:
        """Everything the source gives; False where the judge or the money was gone before."""
        self._progress.state = "asking"
        # The first alone: it tells which parameters are refused, and fills the prompt cache.
        if await self._one(source, record):
            workers = [
                asyncio.create_task(self._worker(source, record))
                for _ in range(self._judge.concurrency)
            ]
            await finish(workers)
        if self._gone is not None:
            self._progress.state = self._gone
            return False
        if self._budget.is_used_up:
            self._progress.state = "stopped at --max-cost"
            return False
        self._progress.state = "done"
        return True

    async def _worker(
        self, source: Source[Item], record: Callable[[Item], Awaitable[None]]
    ) -> None:
        while await self._one(source, record):
            pass

    async def _one(self, source: Source[Item], record: Callable[[Item], Awaitable[None]]) -> bool:
        """The next job; False where there is none, or none may be done any more."""
        if self._gone is not None or self._budget.is_used_up:
            return False
        job = await source.next()
        if job is None:
            return False
        return await within_grace(self._do(job, record), GRACE_S)

    async def _do(self, job: Job[Item], record: Callable[[Item], Awaitable[None]]) -> bool:
        try:
            item = await job.run(self._ask)
        except (GoneError, OutOfBudgetError):
            return False
        await record(item)
        return True

    async def _ask(
        self, prompt: JudgePrompt, answer: str, sampling: Mapping[str, Any]
    ) -> Judgement:
        said = await judge_answer(self._provider, prompt, answer, sampling, self._refused)
        self._count(said)
        if self._gone is not None:
            raise GoneError
        return said

    def _count(self, judgement: Judgement) -> None:
        self._totals.add(judgement)
        self._progress.answered(judgement.reading.unscored_reason or "ok")
        if self._totals.cost_usd:
            self._progress.note = f"${self._totals.cost_usd:.2f}"
        failed = judgement.provider_failed
        self._errors_in_a_row = self._errors_in_a_row + 1 if failed else 0
        if self._gone is None and self._errors_in_a_row >= GONE_AFTER:
            self._gone = (
                f"gave no reply {self._errors_in_a_row} times in a row: {judgement.reading.detail}"
            )
