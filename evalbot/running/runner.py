"""Runs: endpoints side by side, those of one group in turns, until all is recorded."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from evalbot.domain.answers import AnswerStatus, Place
from evalbot.domain.runs import RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.domain.settings import EndpointSettings
from evalbot.errors import EndpointError, StoreError
from evalbot.grading.automatic import AutoGrader
from evalbot.running.lanes import lanes_of
from evalbot.running.places import count_to_ask, places_to_ask
from evalbot.running.progress import EndpointProgress, Progress
from evalbot.running.recorder import Recorder, Save
from evalbot.running.serving import stopped_afterwards
from evalbot.running.together import finish, in_thread_to_the_end
from evalbot.running.turn import MODEL_CHECK_S, Turn, TurnSettings
from evalbot.store import leases, runs
from evalbot.store.answers import Asked, add_answers, places_asked, text_at
from evalbot.store.database import Connection, Database
from evalbot.store.grades import GradeWriter
from evalbot.store.leases import Lease
from evalbot.store.texts import put_texts


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to work on a run; concurrency is per endpoint, over the config's.

    model_check_s: how often each server is asked whether it still holds the same model.
    """

    folder: Path
    concurrency: int | None = None
    retry_failed: bool = False
    model_check_s: float = MODEL_CHECK_S


class Runner:
    """Works on one run that is in the record; `execute` may be cancelled at any time."""

    def __init__(
        self,
        database: Database,
        run: Run,
        endpoints: Sequence[EndpointSettings],
        options: RunOptions,
    ) -> None:
        self._database = database
        self._run = run
        self._endpoints = endpoints
        self._options = options
        self._asked: dict[str, Mapping[Place, Asked]] = {}
        self._lease: Lease | None = None
        self._some_left_out = False
        self.progress = Progress(f"run {run.id}", "answers")

    async def execute(self) -> bool:
        """Ask what is to be asked; whether all of it is recorded now.

        Raises LeaseHeldError where another process has the run, and StoreError where the
        record cannot be written; what was recorded before stays.
        """
        try:
            lease = await in_thread_to_the_end(self._take)
            save = await asyncio.to_thread(_scored, self._database, self._run)
            async with Recorder(self._database, lease, save) as recorder:
                lanes = [
                    asyncio.create_task(self._lane(lane, recorder))
                    for lane in lanes_of(self._endpoints)
                ]
                done = await recorder.until_failed(asyncio.create_task(finish(lanes)))
            recorder.raise_if_failed("answers")
        except BaseException:
            with contextlib.suppress(StoreError):  # what went wrong first is what is told
                await in_thread_to_the_end(partial(self._leave, False))
            raise
        await in_thread_to_the_end(partial(self._leave, done))
        return done

    def _take(self) -> Lease:
        """Take the run, and see what of it is to be asked."""
        with self._database.write() as connection:
            self._lease = leases.acquire(connection, self._run.id)
            runs.set_state(connection, self._run.id, RunState.RUNNING)
        chosen = {endpoint.name for endpoint in self._endpoints}
        progress: dict[str, EndpointProgress] = {}
        with self._database.read() as connection:
            for endpoint in self._run.endpoints:
                asked = places_asked(connection, self._run.id, endpoint.name)
                retry = self._options.retry_failed and endpoint.name in chosen
                total = count_to_ask(self._run, endpoint.name, asked, retry_failed=retry)
                if endpoint.name in chosen:
                    self._asked[endpoint.name] = asked
                    progress[endpoint.name] = EndpointProgress(endpoint.name, total)
                elif total:
                    self._some_left_out = True
        self.progress.endpoints = progress
        return self._lease

    def _leave(self, done: bool) -> None:
        """Give the run back; nothing is written where it was never ours or is not any more."""
        if self._lease is None:
            return
        finished = done and not self._some_left_out
        with self._database.write() as connection:
            if leases.release(connection, self._lease):
                runs.set_state(
                    connection,
                    self._run.id,
                    RunState.FINISHED if finished else RunState.STOPPED,
                    datetime.now(UTC) if finished else None,
                )

    async def _lane(
        self, lane: Sequence[EndpointSettings], recorder: Recorder[RecordedAnswer]
    ) -> bool:
        finished = [await self._turn(endpoint, recorder) for endpoint in lane]
        return all(finished)

    async def _turn(self, endpoint: EndpointSettings, recorder: Recorder[RecordedAnswer]) -> bool:
        progress = self.progress.endpoints[endpoint.name]
        if progress.total == 0:
            progress.state = "nothing to ask"
            return True
        recorded = next(one for one in self._run.endpoints if one.name == endpoint.name)
        turn = Turn(
            TurnSettings(
                self._run,
                endpoint,
                recorded,
                self._options.concurrency,
                self._note_endpoint,
                self._text_at,
                self._options.model_check_s,
            ),
            recorder,
            progress,
        )
        places = places_to_ask(
            self._run,
            endpoint.name,
            self._asked.pop(endpoint.name),
            retry_failed=self._options.retry_failed,
        )
        async with stopped_afterwards(endpoint, self._options.folder, self.progress.say) as server:
            try:
                return await turn.ask_all(places, server)
            except EndpointError as error:
                await turn.give_up(places, str(error), AnswerStatus.CONNECTION)
                return True

    async def _text_at(self, place: Place) -> str:
        def read() -> str:
            with self._database.read() as connection:
                return text_at(connection, self._run.id, place)

        return await asyncio.to_thread(read)

    async def _note_endpoint(self, endpoint: RunEndpoint) -> None:
        def note() -> None:
            with self._database.write() as connection:
                runs.update_endpoint(connection, self._run.id, endpoint)

        await asyncio.to_thread(note)


def _scored(database: Database, run: Run) -> Save[RecordedAnswer]:
    """Writes answers with their automatic grades; the texts these will name are stored now."""
    grader = AutoGrader(run.suite, run.rubric)
    with database.write() as connection:
        put_texts(connection, "rubric_rule", [grader.rubric_text])
        put_texts(connection, "case_rule", grader.case_texts)

    def save(connection: Connection, batch: Sequence[RecordedAnswer]) -> None:
        ids = add_answers(connection, run.id, batch)
        grades = [grader.grade(one.place.case, one.answer.status, one.answer.text) for one in batch]
        GradeWriter(connection).add(list(zip(ids, grades, strict=True)))

    return save
