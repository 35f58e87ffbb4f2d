"""What a running sweep writes: each round whole, with the lease that makes it ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.sweeps import MemoryReading, Round, Sample
from evalbot.running.patience import patiently
from evalbot.running.together import in_thread_to_the_end
from evalbot.store import leases, sweeps
from evalbot.store.database import Connection, Database
from evalbot.store.leases import HEARTBEAT_S, Lease, Leased


class SweepRecord:
    """One sweep's way into the database. All of it may raise StoreError."""

    def __init__(self, database: Database, sweep: str) -> None:
        self._database = database
        self._sweep = sweep
        self._lease: Lease | None = None

    async def take(self) -> set[Round]:
        """Make the sweep ours; the rounds measured before. LeaseHeldError where it is not free."""

        def take() -> set[Round]:
            with self._database.write() as connection:
                self._lease = leases.acquire(connection, self._sweep, Leased.SWEEP)
                sweeps.set_state(connection, self._sweep, RunState.RUNNING)
                return sweeps.rounds_measured(connection, self._sweep)

        return await in_thread_to_the_end(take)

    async def keep_alive(self) -> None:
        """Renews the lease for ever; LeaseHeldError where another process has taken over."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._write(lambda _: None)

    async def add_round(self, round_: Round, samples: Sequence[Sample]) -> None:
        """Write a round with all its streams, or nothing of it."""
        await self._write(lambda c: sweeps.add_round(c, self._sweep, round_, samples))

    async def add_reading(self, reading: MemoryReading) -> None:
        """Write what a telemetry command told."""
        await self._write(lambda c: sweeps.add_reading(c, self._sweep, reading))

    async def note(self, endpoint: RunEndpoint) -> None:
        """Write what has been learned of an endpoint."""
        await self._write(lambda c: sweeps.update_endpoint(c, self._sweep, endpoint))

    async def leave(self, *, finished: bool) -> None:
        """Give the sweep back; nothing is written where it was never or is no longer ours."""
        lease = self._lease
        if lease is None:
            return

        def leave() -> None:
            with self._database.write() as connection:
                if leases.release(connection, lease):
                    state = RunState.FINISHED if finished else RunState.STOPPED
                    at = datetime.now(UTC) if finished else None
                    sweeps.set_state(connection, self._sweep, state, at)

        await in_thread_to_the_end(leave)

    async def _write(self, change: Callable[[Connection], None]) -> None:
        lease = self._lease
        assert lease is not None, "taken before anything is written"

        def save() -> None:
            with self._database.write() as connection:
                # Renewed inside each transaction: who has lost the sweep cannot write into it.
                leases.renew(connection, lease)
                change(connection)

        await in_thread_to_the_end(partial(patiently, save))
