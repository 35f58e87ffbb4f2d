"""One process at a time works on a run or sweep: a lease with a heartbeat."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, select, update

from evalbot.errors import LeaseHeldError
from evalbot.store.schema import RunColumns, run_table
from evalbot.store.speed_schema import SweepColumns, sweep_table

LEASE_S = 30.0
HEARTBEAT_S = 5.0


class Leased(StrEnum):
    """What a lease is for; the word users know it by."""

    RUN = "run"
    SWEEP = "sweep"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a run or sweep, as long as it is renewed."""

    id: str
    token: str
    of: Leased = Leased.RUN


def acquire(connection: Connection, id_: str, of: Leased = Leased.RUN) -> Lease:
    """Take a run or sweep; raises LeaseHeldError, naming the holder, where another process has it.

    A holder that died on this machine is told from one that lives, so that a killed run
    can go on at once; a holder elsewhere is waited for until its lease runs out.
    """
    refuse_if_held(connection, id_, of)
    now = datetime.now(UTC)
    lease = Lease(id_, secrets.token_hex(8), of)
    table = _table(of)
    connection.execute(
        update(table)
        .where(table.c.id == id_)
        .values(
            lease_token=lease.token,
            lease_holder=_this_process(now),
            lease_until=now + timedelta(seconds=LEASE_S),
        )
    )
    return lease


def refuse_if_held(connection: Connection, id_: str, of: Leased = Leased.RUN) -> None:
    """Raises LeaseHeldError, naming the holder, where a living process works on it.

    Nobody else can take it until the transaction ends.
    """
    row = connection.execute(_lease_of(id_, of).with_for_update()).one()
    if _is_live(row):
        holder = row.lease_holder
        raise LeaseHeldError(
            f"{of} {id_} is being worked on by process {holder['pid']} on {holder['host']} "
            f"since {holder['since']}; wait for it, stop it there, or, if that machine is gone, "
            f"try again after {row.lease_until:%H:%M:%S} UTC"
        )


def renew(connection: Connection, lease: Lease) -> None:
    """Keep a lease; raises LeaseHeldError where another process has taken over."""
    until = datetime.now(UTC) + timedelta(seconds=LEASE_S)
    table = _table(lease.of)
    kept = connection.execute(
        update(table)
        .where(table.c.id == lease.id, table.c.lease_token == lease.token)
        .values(lease_until=until)
    )
    if kept.rowcount != 1:
        raise LeaseHeldError(
            f"{lease.of} {lease.id} was taken over by another process while this one was not "
            "heard of; this one stops"
        )


def release(connection: Connection, lease: Lease) -> bool:
    """Give it back; False where another process had taken it already."""
    table = _table(lease.of)
    given = connection.execute(
        update(table)
        .where(table.c.id == lease.id, table.c.lease_token == lease.token)
        .values(lease_token=None, lease_holder=None, lease_until=None)
    )
    return given.rowcount == 1


def is_held(connection: Connection, id_: str, of: Leased = Leased.RUN) -> bool:
    """Whether a living process works on it."""
    return _is_live(connection.execute(_lease_of(id_, of)).one())


def _table(of: Leased) -> Table[RunColumns] | Table[SweepColumns]:
    return run_table if of is Leased.RUN else sweep_table


def _lease_of(id_: str, of: Leased) -> Select[Any]:
    table = _table(of)
    return select(table.c.lease_token, table.c.lease_holder, table.c.lease_until).where(
        table.c.id == id_
    )


def _is_live(row: Row[Any]) -> bool:
    if row.lease_token is None or row.lease_until <= datetime.now(UTC):
        return False
    return not _has_died(row.lease_holder)


def _this_process(now: datetime) -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "space": _process_space(),
        "pid": os.getpid(),
        "born": _birth(os.getpid()),
        "since": f"{now:%Y-%m-%d %H:%M:%S} UTC",
    }


def _has_died(holder: Mapping[str, Any]) -> bool:
    """Whether the holder was a process of this machine that is gone."""
    if holder.get("host") != socket.gethostname() or holder.get("space") != _process_space():
        return False
    pid = int(holder["pid"])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # The number may have gone to another process since.
    born = _birth(pid)
    return born is not None and holder.get("born") is not None and born != holder["born"]


def _process_space() -> str | None:
    """Where process numbers mean the same: a container has a space of its own; Linux only."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return None


def _birth(pid: int) -> str | None:
    """When a process began, in the kernel's ticks, with the boot it belongs to; Linux only."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    # A zombie holds no run any more.
    return None if len(fields) < 20 else f"{boot}:{fields[19]}:{'Z' if fields[0] == 'Z' else ''}"
