"""The one writer of a run: what has come, in small batches.

What came is either in the database, whole, or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeAlias, TypeVar

from evalbot.errors import StoreError
from evalbot.running.patience import patiently
from evalbot.running.together import to_the_end
from evalbot.store import leases
from evalbot.store.database import Connection, Database
from evalbot.store.leases import HEARTBEAT_S, Lease

LARGEST_BATCH = 500
WAITING_ROOM = 1_000
"""Items that may wait to be written before asking pauses: memory stays flat."""

Item = TypeVar("Item")
Save: TypeAlias = Callable[[Connection, Sequence[Item]], None]


class Recorder(Generic[Item]):
    """Use as an async context manager; leaving it writes what still waits.

    save writes items within one transaction. `failed` is set once the record cannot be
    written any more; `error` tells why, `unsaved` how many items that cost.
    """

    def __init__(self, database: Database, lease: Lease, save: Save[Item]) -> None:
        self._database = database
        self._lease = lease
        self._save_items = save
        self._waiting: asyncio.Queue[Item | None] = asyncio.Queue(WAITING_ROOM)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recorder")
        self.failed = asyncio.Event()
        self.error: Exception | None = None
        self.unsaved = 0

    async def record(self, item: Item) -> None:
        """Hand over an item; waits while too many are waiting.

        It is handed over even when we are cancelled meanwhile: what came is kept.
        """
        if self.error is not None:
            self.unsaved += 1
        elif self._waiting.full():
            await to_the_end(self._waiting.put(item))
        else:
            self._waiting.put_nowait(item)

    async def flush(self) -> None:
        """Until all that was handed over is written; raises why it could not be."""
        await self._waiting.join()
        self.raise_if_failed("items")

    async def __aenter__(self) -> Recorder[Item]:
        self._writing = asyncio.create_task(self._write_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        await to_the_end(self._finish())

    async def until_failed(self, work: asyncio.Task[list[bool]]) -> bool:
        """Work to its end, unless the record fails first; whether all of it was done."""
        failing = asyncio.create_task(self.failed.wait())
        try:
            await asyncio.wait([work, failing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            failing.cancel()
            await asyncio.wait([work, failing])
        return not work.cancelled() and all(work.result())

    def raise_if_failed(self, what: str) -> None:
        """Raises why the record failed, if it did, and what that cost; what: the items' name."""
        if self.error is None:
            return
        if not isinstance(self.error, StoreError) or not self.unsaved:
            raise self.error
        raise type(self.error)(
            f"{self.error} ({self.unsaved} {what} received after the last save are not recorded; "
            "they will be asked again)"
        )

    async def _finish(self) -> None:
        await self._waiting.put(None)
        await self._writing
        self._thread.shutdown()

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        open_ = True
        while open_:
            batch, open_ = await self._next_batch()
            try:
                if self.error is None:
                    await loop.run_in_executor(self._thread, self._write, batch)
                else:
                    self.unsaved += len(batch)
            except Exception as error:
                self.error = error
                self.unsaved += len(batch)
                self.failed.set()
            for _ in batch:
                self._waiting.task_done()

    async def _next_batch(self) -> tuple[list[Item], bool]:
        """What waits, or nothing when it is time for a sign of life; False at the end."""
        batch: list[Item] = []
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                item = await self._waiting.get()
        except TimeoutError:
            return batch, True
        while item is not None:
            batch.append(item)
            if len(batch) >= LARGEST_BATCH or self._waiting.empty():
                return batch, True
            item = self._waiting.get_nowait()
        return batch, False

    def _write(self, batch: Sequence[Item]) -> None:
        patiently(lambda: self._save(batch))

    def _save(self, batch: Sequence[Item]) -> None:
        with self._database.write() as connection:
            # Renewed inside each transaction: who has lost the run cannot write into it.
            leases.renew(connection, self._lease)
            if batch:
                self._save_items(connection, batch)
