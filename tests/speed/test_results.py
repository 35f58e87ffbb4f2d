"""What the record knows about speed, chosen and with what has to be said beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from evalbot.domain.runs import RunEndpoint, RunState
from evalbot.domain.speed import DeviceMemory, SpeedRow
from evalbot.domain.sweeps import MemoryReading, Moment, Round, Sample, Sweep, SweepPlan
from evalbot.errors import InputError, NotFoundError
from evalbot.speed.imports import ImportKind, Named, import_speed
from evalbot.store import leases, sweeps
from evalbot.store.leases import Leased
from tests.building import START

from .made import a_stream, a_sweep, rounds_of
from .site import SpeedSite

PLAN = SweepPlan((512,), (1, 2), 128, 1)
FULL = {
    **rounds_of([a_stream(0, 1, 128, ttft=0.5)]),
    **rounds_of([a_stream(0, 2, 128, ttft=0.6), a_stream(0, 2, 128, ttft=0.7, stream=2)]),
}

QWEN = {round_._replace(endpoint="qwen"): samples for round_, samples in FULL.items()}


def record(
    site: SpeedSite,
    sweep: Sweep,
    rounds: Mapping[Round, Sequence[Sample]] = FULL,
    readings: Sequence[MemoryReading] = (),
) -> None:
    with site.open() as database, database.write() as connection:
        sweeps.create_sweep(connection, sweep)
        for round_, samples in rounds.items():
            sweeps.add_round(connection, sweep.id, round_, samples)
        for reading in readings:
            sweeps.add_reading(connection, sweep.id, reading)


def brought(site: SpeedSite, lines: str, name: str = "typed") -> str:
    path = site.write(f"{name}.csv", lines)
    with site.open() as database:
        [made] = import_speed(database, [path], ImportKind.TABLE, Named())
    return made.sweep


@pytest.fixture
def filled(any_site: SpeedSite) -> SpeedSite:
    """A finished sweep of `m` and an import of `n` and `o`."""
    record(any_site, a_sweep("m", plan=PLAN, label="night"))
    brought(
        any_site,
        "model,hardware,concurrency,context_label,aggregate_tps,source\n"
        "n,pc,1,5K,100,table\nn,pc,4,5K,1,table\no,other,1,5K,50,llama-bench\n",
    )
    return any_site


def models(rows: Sequence[SpeedRow]) -> list[str]:
    return [f"{row.model} x{row.concurrency}" for row in rows]


def test_everything_is_shown_oldest_first(filled: SpeedSite) -> None:
    assert models(filled.rows()) == ["m x1", "m x2", "n x1", "n x4", "o x1"]
    assert filled.results().notes == ()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"labels": ("night",)}, ["m x1", "m x2"]),
        ({"labels": ("typed",)}, ["n x1", "n x4", "o x1"]),
        ({"models": ("o", "m")}, ["m x1", "m x2", "o x1"]),
        ({"hardware": ("other",)}, ["o x1"]),
        ({"sources": ("evalbot", "llama-bench")}, ["m x1", "m x2", "o x1"]),
        ({"statuses": ("ok",)}, ["m x1", "m x2", "n x1", "o x1"]),
        # Flags come first: the base of what is shown need not be shown.
        ({"statuses": ("collapsed",)}, ["n x4"]),
        ({"models": ("n",), "statuses": ("collapsed", "ok")}, ["n x1", "n x4"]),
        ({"hardware": ("pc",), "sources": ("table",), "statuses": ("ok",)}, ["n x1"]),
    ],
)  # fmt: skip
def test_rows_are_chosen(
    query: dict[str, tuple[str, ...]], expected: list[str], filled: SpeedSite
) -> None:
    assert models(filled.rows(**query)) == expected


def test_sweeps_are_chosen_by_the_beginning_of_their_id(filled: SpeedSite) -> None:
    assert models(filled.rows("speed-")) == ["m x1", "m x2"]
    twice = filled.rows("import", "speed-1", "speed-")
    assert models(twice) == ["n x1", "n x4", "o x1", "m x1", "m x2"]
    with pytest.raises(NotFoundError, match="there is no sweep 'speed-9'"):
        filled.rows("speed-9")
    with pytest.raises(InputError):
        filled.rows("")


def test_a_beginning_that_fits_several_is_refused(site: SpeedSite) -> None:
    record(site, a_sweep("m", plan=PLAN, id="speed-1"))
    record(site, a_sweep("m", plan=PLAN, id="speed-12"))
    record(site, a_sweep("m", plan=PLAN, id="speed-2%"))
    assert {row.sweep for row in site.rows("speed-1")} == {"speed-1"}
    with pytest.raises(InputError, match="fits several sweeps: speed-1, speed-12, speed-2%"):
        site.rows("speed-")
    with pytest.raises(NotFoundError):
        site.rows("speed_1")
    with pytest.raises(NotFoundError):
        site.rows("%")


def test_a_name_that_nothing_has_is_told_with_the_names_there_are(site: SpeedSite) -> None:
    record(site, a_sweep("qwen", plan=PLAN), QWEN)
    with pytest.raises(NotFoundError, match='has the model "qwne"; did you mean qwen'):
        site.results(models=("qwne",))
    with pytest.raises(NotFoundError, match='has the hardware "mars"; there are: pc'):
        site.results(hardware=("mars",))


def test_sweeps_of_one_label_keep_all_that_is_said_of_them(site: SpeedSite) -> None:
    for name in ("one", "two"):
        sweep = a_sweep("m", plan=PLAN, state=RunState.STOPPED, label="night")
        half = dict(list(FULL.items())[:1])
        record(site, replace(sweep, id=name), half)
    told = [note for note in site.results().notes if "rounds measured" in note]
    assert [note.split(":")[0] for note in told] == ["night, sweep one", "night, sweep two"]


def test_a_sweep_can_be_left_out(site: SpeedSite) -> None:
    record(site, a_sweep("qwen", plan=PLAN), QWEN)
    assert site.results(without=("speed-1",)).rows == ()


def test_todays_hardware_counts_for_a_sweep_that_had_none(site: SpeedSite) -> None:
    record(site, a_sweep("m", plan=PLAN))
    site.machine("pc", price=500, currency="EUR")
    site.endpoint("m", "http://127.0.0.1:1/v1", hardware="pc")
    assert {(row.hardware, row.price) for row in site.results().rows} == {("pc", 500)}


def test_an_unfinished_sweep_says_how_to_go_on(any_site: SpeedSite) -> None:
    endpoint = RunEndpoint("m", {}, "f", stopped_reason="the server does not answer any more")
    half = dict(list(FULL.items())[:1])
    record(any_site, a_sweep(endpoint, "n", plan=PLAN, state=RunState.STOPPED), half)
    results = any_site.results()
    assert results.notes == (
        "sweep speed-1: 1 of 4 rounds measured; go on with: evalbot speed --resume speed-1",
    )
    assert [str(row.status) for row in results.rows] == ["ok", "failed"]
    # Where none of its rows is shown, nothing is said of it.
    assert any_site.results(statuses=("oom",)).notes == ()


def test_a_sweep_that_is_being_measured_is_not_to_be_resumed(any_site: SpeedSite) -> None:
    record(any_site, a_sweep("m", plan=PLAN, state=RunState.RUNNING), dict(list(FULL.items())[:1]))
    with any_site.open() as database, database.write() as connection:
        lease = leases.acquire(connection, "speed-1", Leased.SWEEP)
    assert any_site.results().notes == ("sweep speed-1: 1 of 2 rounds measured so far",)
    with any_site.open() as database, database.write() as connection:
        leases.release(connection, lease)
    assert any_site.results().notes == (
        "sweep speed-1: 1 of 2 rounds measured; go on with: evalbot speed --resume speed-1",
    )


def test_memory_notes_stand_beside_the_rows_they_are_about(site: SpeedSite) -> None:
    used = DeviceMemory("0", None, 30_000.0, 32_768.0)
    held = DeviceMemory("0", None, 2000.0, 32_768.0)
    readings = [
        MemoryReading("m", Moment.UNLOADED, START, (held,)),
        MemoryReading("m", Moment.DURING, START, (used,), round=Round("m", 512, 1, 1)),
    ]
    record(site, a_sweep("m", plan=PLAN), readings=readings)
    results = site.results()
    assert results.notes == ("m: 2000 MiB on device 0 was in use before the model was loaded",)
    assert [row.memory_used_mib for row in results.rows] == [30_000, None]


def test_prices_are_told_with_their_currency_where_there_is_one(site: SpeedSite) -> None:
    record(site, a_sweep("m", plan=PLAN))
    assert site.results().notes == ()
    site.machine("pc", price=5000, currency="EUR")
    results = site.results()
    assert {row.price for row in results.rows} == {5000}
    assert results.notes == ("prices in EUR, as the config says",)


def test_machines_of_several_sweeps_are_compared(site: SpeedSite) -> None:
    site.machine("pc", price=5000, currency="EUR")
    site.machine("mac", price=2500, currency="EUR")
    record(site, a_sweep("m", plan=PLAN))
    on_mac = replace(a_sweep("m").endpoints[0], hardware="mac")
    slower = {**rounds_of([a_stream(0, 2, 128, ttft=1.0)])}
    record(site, a_sweep(on_mac, plan=PLAN, id="speed-2"), slower)
    assert site.results().notes == (
        "prices in EUR, as the config says",
        "m, pp512+tg128 x1: mac costs 50 % of pc and gives 50 % of its tokens/s; its first token "
        "comes 2.0 times later",
    )
