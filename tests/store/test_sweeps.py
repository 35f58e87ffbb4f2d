"""Sweeps in the record: every field comes back, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from evalbot.domain.answers import AnswerStatus, Timing, Usage
from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.speed import DeviceMemory, SpeedRow, SpeedSource, SpeedStatus
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample, Sweep, SweepPlan
from evalbot.errors import InputError, NotFoundError, StoreError
from evalbot.store import sweeps
from evalbot.store.database import Connection, Database, open_database
from tests.building import START

ENDPOINT = RunEndpoint(
    name="qwen 青",
    settings={"name": "qwen 青", "sampling": {"max_tokens": 128}, "extra_body": {"a": [1, None]}},
    settings_fingerprint="f" * 16,
    family="qwen",
    quantisation="Q4_1",
    hardware="pc",
    model_id="qwen.gguf",
    model_fingerprint="e" * 16,
    slots=4,
    slot_context=8192,
    concurrency=2,
    stopped_reason="the server does not answer any more",
)
SWEEP = Sweep(
    id="speed-20261130-0a0b0c",
    state=RunState.STOPPED,
    started_at=START,
    label="夜",
    plan=SweepPlan((512, 4096), (1, 2, 4), 128, 3, parallel_endpoints=True),
    finished_at=START + timedelta(hours=1),
    endpoints=(ENDPOINT, RunEndpoint("bare", {}, "0")),
    version="0.1.0",
)
ROUND = Round("qwen 青", 4096, 2, 3)
SAMPLES = [
    Sample(
        stream=1,
        status=AnswerStatus.TIMEOUT,
        started_at=START + timedelta(microseconds=123_456),
        offset_ms=0.25,
        error_detail="nothing came",
        usage=Usage(4096, 17, 128),
        timing=Timing(1.5, 2.5, 3.5, 4.5, 5.5, 6.5, "server"),
        stream_tps=7.125,
    ),
    Sample(2, AnswerStatus.OK, START),
]


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as database:
        yield database


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.write() as connection:
        yield connection


def of_every_kind() -> SpeedRow:
    """A row in which every field says something, and each something else."""
    values: dict[str, Any] = {}
    for number, field in enumerate(fields(SpeedRow), start=1):
        kind = str(field.type)
        if "int" in kind:
            values[field.name] = number
        elif "float" in kind:
            values[field.name] = number + 1 / 3
        else:
            values[field.name] = f"{field.name} 青\n"
    return SpeedRow(**{**values, "source": SpeedSource.VLLM_BENCH, "status": SpeedStatus.OOM})


def test_a_sweep_comes_back_as_it_was(database: Database) -> None:
    with database.write() as connection:
        sweeps.create_sweep(connection, SWEEP)
    with database.read() as connection:
        assert sweeps.get_sweep(connection, SWEEP.id) == SWEEP
        assert sweeps.list_sweeps(connection) == [SWEEP]


def test_an_import_comes_back_as_it_was(database: Database) -> None:
    rows = (of_every_kind(), SpeedRow(model="m", source=SpeedSource.TABLE), of_every_kind())
    brought = Sweep("import-1", RunState.IMPORTED, START, rows=rows, import_key="k" * 32)
    with database.write() as connection:
        sweeps.create_sweep(connection, brought)
    with database.read() as connection:
        found = sweeps.get_sweep(connection, "import-1")
        assert found == brought
        assert (type(found.rows[0].source), type(found.rows[0].status)) == (
            SpeedSource, SpeedStatus
        )  # fmt: skip
        assert sweeps.sweep_imported_as(connection, "k" * 32) == "import-1"
        assert sweeps.sweep_imported_as(connection, "another") is None


def test_streams_come_back_as_they_were(database: Database) -> None:
    early = Round("bare", 512, 2, 1)
    with database.write() as connection:
        sweeps.create_sweep(connection, SWEEP)
        sweeps.add_round(connection, SWEEP.id, ROUND, SAMPLES)
        sweeps.add_round(connection, SWEEP.id, early, SAMPLES)
    with database.read() as connection:
        assert sweeps.get_samples(connection, SWEEP.id) == {ROUND: SAMPLES, early: SAMPLES}
        assert sweeps.rounds_measured(connection, SWEEP.id) == {ROUND, early}
        assert sweeps.get_samples(connection, "another") == {}
        assert sweeps.rounds_measured(connection, "another") == set()


def test_a_round_comes_in_once_and_whole(database: Database) -> None:
    with database.write() as connection:
        sweeps.create_sweep(connection, SWEEP)
        sweeps.add_round(connection, SWEEP.id, ROUND, SAMPLES)
    other = ROUND._replace(repeat=1)
    with pytest.raises(StoreError):
        with database.write() as connection:
            sweeps.add_round(connection, SWEEP.id, other, SAMPLES)
            sweeps.add_round(connection, SWEEP.id, ROUND, SAMPLES[:1])
    with database.read() as connection:
        assert sweeps.get_samples(connection, SWEEP.id) == {ROUND: SAMPLES}


def test_a_round_belongs_to_an_endpoint_of_the_sweep(database: Database) -> None:
    with pytest.raises(StoreError):
        with database.write() as connection:
            sweeps.create_sweep(connection, SWEEP)
            sweeps.add_round(connection, SWEEP.id, ROUND._replace(endpoint="nobody"), SAMPLES)
    with database.read() as connection:
        assert sweeps.list_sweeps(connection) == []


def test_readings_come_back_as_they_were_and_in_order(database: Database) -> None:
    cards = (DeviceMemory("0", "RTX 5090", 1.5, 32_768.0), DeviceMemory("1", None, None, None))
    readings = [
        MemoryReading("bare", Moment.UNLOADED, START, cards),
        MemoryReading(ROUND.endpoint, Moment.DURING, START, cards[:1], None, ROUND),
        MemoryReading("bare", Moment.STOPPED, START, (), "telemetry: ssh ended with code 255"),
    ]
    with database.write() as connection:
        sweeps.create_sweep(connection, SWEEP)
        for reading in readings:
            sweeps.add_reading(connection, SWEEP.id, reading)
    with database.read() as connection:
        assert sweeps.get_readings(connection, SWEEP.id) == readings
        assert sweeps.get_readings(connection, "another") == []


def test_what_is_learned_of_an_endpoint_changes_that_one_alone(connection: Connection) -> None:
    sweeps.create_sweep(connection, SWEEP)
    sweeps.create_sweep(connection, replace(SWEEP, id="speed-2"))
    learned = RunEndpoint("bare", {"a": 1}, "0", "llama", "Q8_0", "mac", "m", "9", 1, 2, 3, "why")
    sweeps.update_endpoint(connection, SWEEP.id, learned)
    assert sweeps.get_sweep(connection, SWEEP.id).endpoints == (ENDPOINT, learned)
    assert sweeps.get_sweep(connection, "speed-2").endpoints == SWEEP.endpoints


def test_states_change_with_the_time_at_which_it_ended(connection: Connection) -> None:
    sweeps.create_sweep(connection, replace(SWEEP, finished_at=None))
    ended = START + timedelta(minutes=7)
    for state, at in ((RunState.FINISHED, ended), (RunState.RUNNING, None)):
        sweeps.set_state(connection, SWEEP.id, state, at)
        found = sweeps.get_sweep(connection, SWEEP.id)
        assert (found.state, found.finished_at) == (state, at)


def test_sweeps_are_listed_oldest_first(connection: Connection) -> None:
    for name, minutes in (("b", 1), ("a", 1), ("c", 0)):
        at = START + timedelta(minutes=minutes)
        sweeps.create_sweep(connection, Sweep(name, RunState.IMPORTED, at))
    assert [one.id for one in sweeps.list_sweeps(connection)] == ["c", "a", "b"]


def test_a_sweep_is_found_by_the_beginning_of_its_id(connection: Connection) -> None:
    for name in ("speed-1", "speed-12", "import-7_x"):
        sweeps.create_sweep(connection, Sweep(name, RunState.IMPORTED, START))
    found = {
        part: sweeps.get_sweep(connection, part).id
        for part in ("speed-1", "speed-12", "i", "import-7_x")
    }
    assert found == {
        "speed-1": "speed-1", "speed-12": "speed-12", "i": "import-7_x", "import-7_x": "import-7_x"
    }  # fmt: skip
    with pytest.raises(InputError, match="'speed' fits several sweeps: speed-1, speed-12"):
        sweeps.get_sweep(connection, "speed")
    for nobody in ("speed-3", "import-7%", "import_7", "%"):
        with pytest.raises(NotFoundError, match="`evalbot speeds` shows them all"):
            sweeps.get_sweep(connection, nobody)


def test_the_same_content_is_imported_once(database: Database) -> None:
    """Also where two processes bring it in at the same moment."""
    brought = Sweep("import-1", RunState.IMPORTED, START, import_key="same")
    with database.write() as connection:
        sweeps.create_sweep(connection, brought)
    with pytest.raises(StoreError):
        with database.write() as connection:
            sweeps.create_sweep(connection, replace(brought, id="import-2"))
