"""Making a sweep, or taking one up again; everything that can be refused is refused here."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evalbot import __version__
from evalbot.domain.runs import RunState
from evalbot.domain.settings import Config, EndpointSettings
from evalbot.domain.sweeps import Sweep, SweepPlan
from evalbot.errors import InputError
from evalbot.running.prepare import changed_settings, choose_endpoints, run_endpoint
from evalbot.speed.asking import measuring
from evalbot.store import leases, sweeps
from evalbot.store.database import Database
from evalbot.store.leases import Leased


@dataclass(frozen=True, slots=True)
class PreparedSweep:
    """A sweep in the record, and the endpoints to be asked now, as a sweep asks them."""

    sweep: Sweep
    endpoints: tuple[EndpointSettings, ...]
    telemetry: Mapping[str, tuple[str, ...]]


def new_sweep(
    database: Database,
    config: Config,
    plan: SweepPlan,
    endpoints: Sequence[EndpointSettings],
    label: str | None,
) -> PreparedSweep:
    """Write a new sweep into the record; nothing has been measured yet."""
    asked = tuple(measuring(endpoint, plan.output_tokens) for endpoint in endpoints)
    now = datetime.now(UTC)
    sweep = Sweep(
        id=new_sweep_id(now),
        state=RunState.RUNNING,
        started_at=now,
        label=label,
        plan=plan,
        endpoints=tuple(run_endpoint(endpoint) for endpoint in asked),
        version=__version__,
    )
    with database.write() as connection:
        sweeps.create_sweep(connection, sweep)
    return PreparedSweep(sweep, asked, telemetry_of(config, asked))


def resume_sweep(database: Database, config: Config, sweep_id: str) -> PreparedSweep:
    """Take up a sweep again; raises InputError where it would not be the same any more.

    LeaseHeldError where another process works on it. Nothing is written.
    """
    with database.read() as connection:
        sweep = sweeps.get_sweep(connection, sweep_id)
    if sweep.plan is None:
        raise InputError(f"sweep {sweep.id} was imported: there is nothing to resume")
    chosen = choose_endpoints(config, [endpoint.name for endpoint in sweep.endpoints])
    asked = tuple(measuring(endpoint, sweep.plan.output_tokens) for endpoint in chosen)
    for endpoint, before in zip(asked, sweep.endpoints, strict=True):
        changed = changed_settings(endpoint, before)
        if changed:
            raise InputError(
                f"sweep {sweep.id}: endpoint {endpoint.name} was measured with other settings "
                f"({', '.join(changed)}); undo that, or start a new sweep"
            )
    with database.write() as connection:
        leases.refuse_if_held(connection, sweep.id, Leased.SWEEP)
    return PreparedSweep(sweep, asked, telemetry_of(config, asked))


def telemetry_of(
    config: Config, endpoints: Sequence[EndpointSettings]
) -> dict[str, tuple[str, ...]]:
    """The telemetry command of each endpoint whose hardware has one."""
    commands = {hardware.name: hardware.telemetry for hardware in config.hardware}
    return {
        endpoint.name: commands[endpoint.hardware]
        for endpoint in endpoints
        if endpoint.hardware is not None and commands.get(endpoint.hardware)
    }


def new_sweep_id(at: datetime) -> str:
    """A name that is easy to type and is not met twice: day, six hex digits."""
    return f"speed-{at:%Y%m%d}-{secrets.token_hex(3)}"
