"""One judge's lane: its docket worked off, as many calls at once as it allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from evalbot.domain.judging import Price
from evalbot.domain.runs import NewGrade
from evalbot.domain.settings import JudgeSettings
from evalbot.judging.asking import DEFAULT_MAX_TOKENS, ERROR, Judgement, Provider, judge_answer
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Page, ShelvedSheet, Task
from evalbot.judging.grades import GradeForm, reply_of
from evalbot.judging.totals import Totals
from evalbot.running.estimate import rough_tokens
from evalbot.running.progress import EndpointProgress
from evalbot.running.together import finish, to_the_end

GONE_AFTER = 8
"""Errors in a row after which a judge is taken to be gone."""


class Judged(NamedTuple):
    """What is written when a vote is in: its grade, and the majority's where it was the last."""

    answer_id: int
    case: str
    shelved: ShelvedSheet
    grades: Sequence[NewGrade]
    is_complete: bool


Record: TypeAlias = Callable[[Judged], Awaitable[None]]


class Source:
    """Tasks page by page, for several workers; reading never holds up the calls in flight."""

    def __init__(self, pages: Iterator[Page]) -> None:
        self._pages = pages
        self._page: list[Task] = []
        self._turn = asyncio.Lock()

    async def next(self) -> Task | None:
        """The next task; None at the end."""
        async with self._turn:
            while not self._page:
                page = await asyncio.to_thread(next, self._pages, None)
                if page is None:
                    return None
                self._page = page.tasks[::-1]
            return self._page.pop()


class Lane:
    """Asks one judge. What came back is recorded; what did not is left for another time."""

    def __init__(
        self,
        judge: JudgeSettings,
        provider: Provider,
        form: GradeForm,
        budget: Budget,
        progress: EndpointProgress,
        *,
        price: Price | None,
        seed: int | None,
        judged: int = 0,
    ) -> None:
        self._judge = judge
        self._provider = provider
        self._form = form
        self._budget = budget
        self._progress = progress
        self._price = price
        self._seed = seed
        self._refused: set[str] = set()
        self._errors_in_a_row = 0
        self._gone: str | None = None
        self.totals = Totals(judge.name, before=judged)

    async def work(self, source: Source, record: Record) -> bool:
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

    async def _worker(self, source: Source, record: Record) -> None:
        while await self._one(source, record):
            pass

    async def _one(self, source: Source, record: Record) -> bool:
        """The next task; False where there is none, or none may be asked any more."""
        if self._gone is not None or self._budget.is_used_up:
            return False
        task = await source.next()
        if task is None:
            return False
        most = self.most(task)
        if not await self._budget.reserve(most):
            return False
        try:
            judgement = await self._ask(task)
        except BaseException:
            await to_the_end(self._budget.settle(most, 0.0))
            raise
        # Answered and paid for: kept, also when we are stopped meanwhile.
        await to_the_end(self._keep(task, judgement, most, record))
        return True

    async def _keep(self, task: Task, judgement: Judgement, most: float, record: Record) -> None:
        await self._budget.settle(most, judgement.cost_usd)
        self._count(judgement)
        if self._gone is None:
            await record(self._judged(task, judgement))

    async def _ask(self, task: Task) -> Judgement:
        answer = task.answer.text
        prompt = task.shelved.sheet.prompt(answer)
        sampling = self.sampling(task.vote.number)
        return await judge_answer(self._provider, prompt, answer, sampling, self._refused)

    def sampling(self, vote: int) -> dict[str, Any]:
        """What is sent with a vote; a seed of its own where there are several."""
        seed = {} if self._seed is None else {"seed": self._seed + vote}
        return {**self._judge.sampling, **seed}

    def most(self, task: Task) -> float:
        """What a task may cost at most, in USD: 0 where no price is known."""
        if self._price is None:
            return 0.0
        written = int(self._judge.sampling.get("max_tokens", DEFAULT_MAX_TOKENS))
        read = task.shelved.tokens + rough_tokens(task.answer.text)
        return self._price.of(read, written)

    def _judged(self, task: Task, judgement: Judgement) -> Judged:
        grade = self._form.vote(self._judge, task.vote, task.shelved, task.earlier, judgement)
        is_complete = task.ballot.put(task.vote.number, reply_of(judgement))
        grades = [grade]
        if is_complete:
            grades.append(self._form.majority(self._judge, task.vote, task.ballot))
        return Judged(task.answer.id, task.vote.case, task.shelved, grades, is_complete)

    def _count(self, judgement: Judgement) -> None:
        self.totals.add(judgement)
        reason = judgement.reading.unscored_reason
        self._progress.answered(reason or "ok")
        if self.totals.cost_usd:
            self._progress.note = f"${self.totals.cost_usd:.2f}"
        self._errors_in_a_row = self._errors_in_a_row + 1 if reason == ERROR else 0
        if self._errors_in_a_row >= GONE_AFTER:
            self._gone = (
                f"gave no reply {self._errors_in_a_row} times in a row: {judgement.reading.detail}"
            )
