"""Batches written down, sent, and found again where it is not known whether they were sent."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any, Protocol

from evalbot.domain.batches import (
    Batch,
    BatchGoneError,
    BatchRequest,
    BatchResult,
    BatchState,
    ListedBatch,
)
from evalbot.domain.judging import Price, ProviderError
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import EvalbotError
from evalbot.judging.asking import DEFAULT_MAX_TOKENS
from evalbot.judging.batch_items import Intended, intended, item_of
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Task
from evalbot.judging.prompt import reply_schema
from evalbot.running.estimate import most_tokens
from evalbot.running.progress import EndpointProgress
from evalbot.store import batches
from evalbot.store.database import Database
from evalbot.store.texts import put_texts

LARGEST = 10_000
"""Requests in one batch; the provider takes ten times as many, of 256 MB in all."""

LARGEST_CHARACTERS = 30_000_000
FIRST_POLL_S, LONGEST_POLL_S = 5.0, 60.0
MARKS = 200
"""Bytes around an answer in its prompt."""

CLOCKS_APART = timedelta(hours=1)
"""So much the provider's clock may differ from ours when a lost batch is looked for."""


class BatchProvider(Protocol):
    """The edge to a provider of batches."""

    @property
    def price(self) -> Price | None:
        """USD per million tokens in a batch."""

    def params(self, sampling: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """What may be sent, and what has to be left out."""
        ...

    def refused_in(self, error: str) -> str | None:
        """The parameter that an error says is not taken, if it says so."""
        ...

    async def send(
        self,
        requests: Sequence[BatchRequest],
        model: str,
        params: Mapping[str, Any],
        schemas: Mapping[str, Mapping[str, Any]],
    ) -> str:
        """The provider's id; ProviderError where it is not known whether it has the batch."""
        ...

    async def look(self, provider_id: str) -> ListedBatch:
        """How far a batch has come; BatchGoneError where there is none."""
        ...

    async def listed(self) -> list[ListedBatch]:
        """All batches, newest first."""
        ...

    async def results(self, provider_id: str, price: Price | None) -> list[BatchResult]:
        """What became of each request; BatchGoneError where that is not kept any more."""
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...


@dataclass(slots=True)
class Sender:
    """Sends one judge's docket in batches; taken: what the docket leaves out, being in one.

    is_short: the last batch written ends where the money does.
    """

    database: Database
    run: str
    rubric_version: str
    judge: JudgeSettings
    provider: BatchProvider
    docket: Docket
    taken: set[str]
    progress: EndpointProgress
    budget: Budget
    first_poll_s: float = FIRST_POLL_S
    is_short: bool = False

    def write_next(self, refused_before: Collection[str]) -> Batch | None:
        """The intent of the next batch, on record before it is sent; None at the end."""
        self.is_short = False
        price = self.provider.price
        tasks = list(self._next_tasks())
        if not tasks:
            return None
        most = sum(self._most(task) for task in tasks)
        self.budget.reserve_anyway(most)
        id_ = secrets.token_hex(8)
        sampling = {"max_tokens": DEFAULT_MAX_TOKENS, **self.judge.sampling}
        params, dropped = self.provider.params(sampling)
        refused = params.keys() & set(refused_before)
        batch = Batch(
            id=id_,
            run=self.run,
            judge=self.judge.name,
            state=BatchState.PREPARED,
            params={
                "model": self.judge.model,
                "price": None if price is None else list(price),
                "most_usd": most,
                "sent": {name: value for name, value in params.items() if name not in refused},
                "dropped": sorted({*dropped, *refused}),
            },
            size=len(tasks),
            created_at=datetime.now(UTC),
        )
        version = self.rubric_version
        items = [item_of(f"{id_}-{at:06d}", task, version) for at, task in enumerate(tasks)]
        sheets = {task.shelved.fingerprint: task.shelved.sheet.text for task in tasks}
        with self.database.write() as connection:
            put_texts(connection, "prompt", sheets.values())
            batches.add_batch(connection, batch, items)
        self.taken.update(item.identity for item in items)
        return batch

    def _next_tasks(self) -> Iterator[Task]:
        """As many as one batch may hold and the money allows."""
        characters = 0
        most = 0.0
        pages = self.docket.pages(self.database)
        for task in islice(chain.from_iterable(page.tasks for page in pages), LARGEST):
            sheet = task.shelved.sheet
            characters += len(sheet.rules) + len(sheet.question) + len(task.answer.text)
            most += self._most(task)
            if characters > LARGEST_CHARACTERS:
                return
            if not self.budget.can_afford(most):
                self.is_short = True
                return
            yield task

    def _most(self, task: Task) -> float:
        """What a request may cost at most; 0 where no price is known."""
        price = self.provider.price
        if price is None:
            return 0.0
        read = task.shelved.bytes + most_tokens(task.answer.text) + MARKS
        return price.of(read, int(self.judge.sampling.get("max_tokens", DEFAULT_MAX_TOKENS)))

    async def send(self, batch: Batch) -> None:
        """Send what is on record; EvalbotError where that is refused, or not known."""
        self.progress.state = "sending a batch"
        meant = await asyncio.to_thread(self.intended, batch)
        prompts = {name: one.prompt for name, one in meant.items()}
        requests = [BatchRequest(name, one.rules, one.question) for name, one in prompts.items()]
        schemas = {name: reply_schema(one) for name, one in prompts.items()}
        try:
            provider_id = await self.provider.send(
                requests, batch.params["model"], batch.params["sent"], schemas
            )
        except ProviderError as error:
            raise EvalbotError(
                f"judge {self.judge.name}: it is not known whether the provider has the "
                f"batch ({error.detail}); the same command looks for it in the provider's list"
            ) from error
        except EvalbotError:
            await asyncio.to_thread(self._forget, batch)
            raise
        await asyncio.to_thread(self._note_sent, batch, provider_id)

    def intended(self, batch: Batch) -> dict[str, Intended]:
        """The requests of a batch by our ids."""
        with self.database.read() as connection:
            return intended(connection, batches.items_of(connection, batch.id))

    def _forget(self, batch: Batch) -> None:
        """The provider has refused it whole: nothing of it will ever come."""
        with self.database.write() as connection:
            batches.set_fetched(connection, batch, ())

    def _note_sent(self, batch: Batch, provider_id: str) -> None:
        with self.database.write() as connection:
            batches.set_sent(connection, batch.id, provider_id)

    async def find_or_send(self, batch: Batch) -> None:
        """A batch that was perhaps sent: found by our ids in its results, else sent now."""
        with self.database.read() as connection:
            known = batches.provider_ids(connection)
        candidates = [
            listed
            for listed in await self.provider.listed()
            if listed.created_at >= batch.created_at - CLOCKS_APART
            and listed.provider_id not in known
            and listed.size == batch.size
        ]
        # Those that have ended first: whose the others are is only known at their end.
        for listed in sorted(candidates, key=lambda one: not one.is_ended):
            if await self._is_ours(batch, listed.provider_id):
                await asyncio.to_thread(self._note_sent, batch, listed.provider_id)
                return
        await self.send(batch)

    async def _is_ours(self, batch: Batch, provider_id: str) -> bool:
        try:
            await self.until_ended(provider_id, "looking whether a batch is ours")
            results = await self.provider.results(provider_id, None)
        except BatchGoneError:
            return False
        return any(one.custom_id.startswith(f"{batch.id}-") for one in results)

    async def until_ended(self, provider_id: str, state: str) -> None:
        """Wait for a batch; state: what is said meanwhile."""
        pause = self.first_poll_s
        while True:
            listed = await self.provider.look(provider_id)
            if listed.is_ended:
                return
            self.progress.state = f"{state}: {listed.done} of {listed.size} done"
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL_S)
