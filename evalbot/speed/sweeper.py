"""Works through a sweep: endpoint after endpoint, each round recorded as it ends."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalbot.domain.settings import EndpointSettings
from evalbot.domain.sweeps import Round, Sweep
from evalbot.errors import EndpointError, StoreError
from evalbot.running.lanes import lanes_of
from evalbot.running.progress import EndpointProgress, Progress
from evalbot.running.together import finish, first_of
from evalbot.speed.overhead import Overhead
from evalbot.speed.record import SweepRecord
from evalbot.speed.visit import Visit, VisitSettings
from evalbot.store.database import Database


class Sweeper:
    """Works on one sweep that is in the record; `execute` may be cancelled at any time.

    endpoints: those to be asked, as a sweep asks them (asking.measuring). telemetry: the
    commands of their hardware, by endpoint.
    """

    def __init__(
        self,
        database: Database,
        sweep: Sweep,
        endpoints: Sequence[EndpointSettings],
        telemetry: Mapping[str, tuple[str, ...]],
        folder: Path,
    ) -> None:
        assert sweep.plan is not None, "an import has nothing to measure"
        self._plan = sweep.plan
        self._sweep = sweep
        self._endpoints = endpoints
        self._telemetry = telemetry
        self._folder = folder
        self._mark = secrets.token_hex(8)
        self._record = SweepRecord(database, sweep.id)
        self._done = False
        self.overhead = Overhead()
        self.progress = Progress(f"sweep {sweep.id}", "rounds", even=False)

    async def execute(self) -> bool:
        """Measure what is to be measured; whether all of it is recorded now.

        Raises LeaseHeldError where another process has the sweep, and StoreError where the
        record cannot be written; rounds recorded before stay.
        """
        began = time.perf_counter()
        try:
            measured = await self._record.take()
            await first_of(self._all(measured), self._record.keep_alive())
        finally:
            self.overhead.total_s = time.perf_counter() - began
            with contextlib.suppress(StoreError):  # what went wrong first is what is told
                await self._record.leave(finished=self._done)
        return self._done

    async def _all(self, measured: set[Round]) -> None:
        rounds = {
            endpoint.name: [one for one in self._plan.rounds(endpoint.name) if one not in measured]
            for endpoint in self._endpoints
        }
        self.progress.endpoints = {
            name: EndpointProgress(name, len(left)) for name, left in rounds.items()
        }
        together = self._plan.parallel_endpoints
        lanes = lanes_of(self._endpoints) if together else [list(self._endpoints)]
        tasks = [asyncio.create_task(self._lane(lane, rounds)) for lane in lanes]
        self._done = all(await finish(tasks))

    async def _lane(
        self, endpoints: Sequence[EndpointSettings], rounds: Mapping[str, Sequence[Round]]
    ) -> bool:
        return all([await self._visit(one, rounds[one.name]) for one in endpoints])

    async def _visit(self, endpoint: EndpointSettings, rounds: Sequence[Round]) -> bool:
        progress = self.progress.endpoints[endpoint.name]
        if not rounds:
            progress.state = "nothing to measure"
            return True
        recorded = next(one for one in self._sweep.endpoints if one.name == endpoint.name)
        visit = Visit(
            VisitSettings(
                endpoint,
                recorded,
                self._telemetry.get(endpoint.name, ()),
                self._folder,
                self._mark,
            ),
            self._record,
            progress,
            self.overhead,
        )
        try:
            await visit.measure(rounds)
        except EndpointError as error:
            await visit.note_stopped(str(error))
            return False
        progress.state = "done"
        return True
