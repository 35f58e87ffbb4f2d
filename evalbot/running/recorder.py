"""The one writer of a run: answers and their automatic grades, in small batches.

An answer is either in the database, whole and with its grade, or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from evalbot.domain.runs import NewGrade, RecordedAnswer
from evalbot.grading.automatic import AutoGrader
from evalbot.running.patience import patiently
from evalbot.running.together import to_the_end
from evalbot.store import leases
from evalbot.store.answers import add_answers
from evalbot.store.database import Database
from evalbot.store.grades import GradeWriter
from evalbot.store.leases import HEARTBEAT_S, Lease
from evalbot.store.texts import put_texts

LARGEST_BATCH = 500
WAITING_ROOM = 1_000
"""Answers that may wait to be written before asking pauses: memory stays flat."""


class Recorder:
    """Use as an async context manager; leaving it writes what still waits.

    `failed` is set once the record cannot be written any more; `error` tells why.
    """

    def __init__(self, database: Database, lease: Lease, grader: AutoGrader) -> None:
        self._database = database
        self._lease = lease
        self._grader = grader
        self._waiting: asyncio.Queue[RecordedAnswer | None] = asyncio.Queue(WAITING_ROOM)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recorder")
        self.failed = asyncio.Event()
        self.error: Exception | None = None
        self.unsaved = 0

    async def record(self, answer: RecordedAnswer) -> None:
        """Hand over an answer; waits while too many are waiting.

        An answer is handed over even when we are cancelled meanwhile: what came is kept.
        """
        if self.error is not None:
            self.unsaved += 1
        elif self._waiting.full():
            await to_the_end(self._waiting.put(answer))
        else:
            self._waiting.put_nowait(answer)

    async def __aenter__(self) -> Recorder:
        self._writing = asyncio.create_task(self._write_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        await to_the_end(self._finish())

    async def _finish(self) -> None:
        await self._waiting.put(None)
        await self._writing
        self._thread.shutdown()

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        open_ = True
        while open_:
            batch, open_ = await self._next_batch()
            if self.error is not None:
                self.unsaved += len(batch)
                continue
            try:
                await loop.run_in_executor(self._thread, self._write, batch)
            except Exception as error:
                self.error = error
                self.unsaved += len(batch)
                self.failed.set()

    async def _next_batch(self) -> tuple[list[RecordedAnswer], bool]:
        """What waits, or nothing when it is time for a sign of life; False at the end."""
        batch: list[RecordedAnswer] = []
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

    def _write(self, batch: Sequence[RecordedAnswer]) -> None:
        grades = [
            self._grader.grade(one.place.case, one.answer.status, one.answer.text) for one in batch
        ]
        patiently(lambda: self._save(batch, grades))

    def _save(self, batch: Sequence[RecordedAnswer], grades: Sequence[NewGrade]) -> None:
        with self._database.write() as connection:
            # Renewed inside each transaction: who has lost the run cannot write into it.
            leases.renew(connection, self._lease)
            ids = add_answers(connection, self._lease.id, batch)
            GradeWriter(connection).add(list(zip(ids, grades, strict=True)))


def store_rules(database: Database, grader: AutoGrader) -> None:
    """Store the texts that a grader's grades will name."""
    with database.write() as connection:
        put_texts(connection, "rubric_rule", [grader.rubric_text])
        put_texts(connection, "case_rule", grader.case_texts)
