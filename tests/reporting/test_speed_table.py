"""The speed table for programs and for people, and machines beside models."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.problems import Problems
from evalbot.formats.speed_tables import read_speed_table
from evalbot.formats.tables import Table, render
from evalbot.reporting.speed_table import (
    headline_tps,
    machine_table,
    people_tables,
    wide_table,
)
from evalbot.speed.flags import flagged

DATA = Path(__file__).parents[1] / "data" / "speed"
CONTRACT = [
    "label", "model", "hardware", "memory", "backend", "source", "test", "context_label",
    "context_tokens", "output_tokens", "concurrency", "slots", "slot_context", "n", "errors",
    "ttfr_ms_p50", "ttft_ms_p50", "ttft_ms_p90", "ttft_ms_mean", "ttfot_ms_p50", "ttfot_ms_p90",
    "prefill_tps_p50", "decode_tps_p50", "stream_tps_p50", "aggregate_tps", "wall_s", "status",
    "evidence", "timing_source", "price", "tps_per_1000_price", "price_per_million_tokens",
    "tokens_per_joule", "memory_used_mib",
]  # fmt: skip
"""The published columns of `speeds`, in their order."""


def own(concurrency: int = 1, **fields_: Any) -> SpeedRow:
    """A row that evalbot measured."""
    usual = {
        "label": "night", "model": "qwen", "hardware": "pc", "source": SpeedSource.EVALBOT,
        "test": f"pp512+tg128 x{concurrency}", "context_label": "512", "context_tokens": 512,
        "output_tokens": 128, "slots": 4, "slot_context": 8192, "n": 3 * concurrency, "errors": 0,
        "ttfr_ms_p50": 100.2, "ttft_ms_p50": 100.4, "ttft_ms_p90": 120.5, "ttft_ms_mean": 101.0,
        "ttfot_ms_p50": 100.4, "ttfot_ms_p90": 120.5, "prefill_tps_p50": 512.25,
        "decode_tps_p50": 50.0, "stream_tps_p50": 49.95, "aggregate_tps": 48.0 * concurrency,
        "wall_s": 2.675, "timing_source": "server", "sweep": "speed-1",
    }  # fmt: skip
    return SpeedRow(**{**usual, "concurrency": concurrency, **fields_})


def columns(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def cell(table: Table, row: int, name: str) -> str:
    return table.shown_rows()[row][columns(table).index(name)]


def read_back(text: bytes, folder: Path) -> list[SpeedRow]:
    path = folder / "speeds.csv"
    path.write_bytes(text)
    problems = Problems()
    rows = read_speed_table(path, problems)
    problems.raise_if_any()
    return rows


def published(name: str) -> list[SpeedRow]:
    problems = Problems()
    rows = read_speed_table(DATA / name, problems)
    problems.raise_if_any()
    return rows


def test_programs_get_exactly_the_published_columns_in_their_order() -> None:
    table = machine_table([own()])
    assert columns(table) == [*CONTRACT, "sweep"]
    assert render(table, form="csv").decode().splitlines()[0] == ",".join([*CONTRACT, "sweep"])
    assert machine_table([]).rows == ()


def test_programs_get_numbers_unrounded_and_empty_cells_for_what_is_unknown() -> None:
    row = own(aggregate_tps=1 / 3, wall_s=None, status=SpeedStatus.SUSPECT)
    [line] = csv.DictReader(io.StringIO(render(machine_table([row]), form="csv").decode()))
    assert (line["aggregate_tps"], line["wall_s"], line["price"]) == (repr(1 / 3), "", "")
    assert (line["status"], line["source"], line["context_tokens"]) == ("suspect", "evalbot", "512")


@pytest.mark.parametrize("name", ["speed_concurrent.csv", "speed_single_stream.csv",
                                  "llama_bench_shootout.csv"])  # fmt: skip
def test_what_programs_get_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    rows = flagged(published(name))
    again = read_back(render(machine_table(rows), form="csv"), tmp_path)
    assert again == rows
    assert flagged(again) == rows


texts = st.one_of(
    st.none(), st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)
)
numbers = st.one_of(st.none(), st.just(0.0), st.floats(0.000001, 1e12))


@given(
    st.builds(
        SpeedRow,
        **{
            field.name: numbers if "float" in str(field.type) else st.one_of(
                st.none(), st.integers(1, 10**7)) if "int" in str(field.type) else texts
            for field in fields(SpeedRow)
            if field.name not in ("model", "source", "status", "timing_source")
        },
        model=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9),
        source=st.sampled_from(SpeedSource),
        status=st.sampled_from(SpeedStatus),
        timing_source=st.sampled_from([None, "server", "client", "client+server"]),
    )
)  # fmt: skip
def test_any_row_is_read_back_as_it_was(row: SpeedRow) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert read_back(render(machine_table([row]), form="csv"), Path(folder)) == [row]


def test_people_do_not_read_what_is_the_same_in_every_row() -> None:
    rows = [own(1), own(2), own(4)]
    [table] = people_tables(rows, ["a note"])
    assert table.title == "Speed measured by evalbot (night)"
    assert columns(table) == [
        "model", "context_label", "concurrency", "n", "ttft_ms_p50", "ttft_ms_p90",
        "prefill_tps_p50", "decode_tps_p50", "aggregate_tps", "wall_s", "status",
    ]  # fmt: skip
    assert table.notes == (
        "in every row: hardware pc, written 128, slots 4, context per slot 8192, timed by server",
        "first reply and first text came with the first token in every row",
        "prefill and decode are one stream's; all streams is what they wrote together, over the "
        "whole round, so that reading the prompts counts too",
        "a note",
    )


def test_people_read_what_differs() -> None:
    rows = [own(1), own(2, hardware="mac", slots=2, label="day", timing_source="client")]
    [table] = people_tables(rows, [])
    assert {"label", "hardware", "slots", "timing_source"} <= set(columns(table))
    assert table.title == "Speed measured by evalbot"


@pytest.mark.parametrize("name", ["hardware", "slots", "output_tokens", "timing_source"])
def test_what_a_row_does_not_know_is_not_said_of_every_row(name: str) -> None:
    rows = [own(1), own(2, **{name: None})]
    [table] = people_tables(rows, [])
    assert name in columns(table)
    assert cell(table, 1, name) == "–"
    # A row that failed knows little; that hides nothing and shows nothing.
    failed = replace(rows[1], status=SpeedStatus.FAILED)
    [table] = people_tables([own(1), failed], [])
    assert name not in columns(table)


def test_first_text_is_told_where_the_model_thinks_first() -> None:
    thinking = own(2, ttfot_ms_p50=7200.0, ttfot_ms_p90=9000.0)
    [table] = people_tables([own(1), thinking], [])
    assert {"ttfot_ms_p50", "ttfot_ms_p90"} <= set(columns(table))
    assert "ttfr_ms_p50" not in columns(table)
    assert cell(table, 1, "ttfot_ms_p50") == "7200"


def test_people_read_rounded_numbers_and_a_dash_for_what_is_unknown() -> None:
    [table] = people_tables([own(1), own(2, prefill_tps_p50=None)], [])
    assert cell(table, 0, "prefill_tps_p50") == "512.3"
    assert cell(table, 1, "prefill_tps_p50") == "–"
    assert (cell(table, 0, "ttft_ms_p90"), cell(table, 0, "wall_s")) == ("121", "2.68")


@pytest.mark.parametrize(
    ("came_from", "told"),
    [
        ([("night", "s-1"), ("night", "s-1")], False),
        ([("night", "s-1"), ("day", "s-2")], False),
        ([("night", "s-1"), ("day", "s-1")], False),
        ([("night", "s-1"), ("night", "s-2")], True),
        ([(None, "s-1"), (None, "s-2")], True),
        # A published table has several labels, and another of the same rounds the same ones.
        ([("first", "s-1"), ("retest", "s-1"), ("first", "s-2"), ("retest", "s-2")], True),
        ([("first", "s-1"), ("retest", "s-1"), ("night", "s-2"), ("night", "s-3")], True),
    ],
)
def test_sweeps_are_told_apart_where_their_labels_do_not(
    came_from: Sequence[tuple[str | None, str]], told: bool
) -> None:
    [table] = people_tables([own(1, label=label, sweep=sweep) for label, sweep in came_from], [])
    assert ("sweep" in columns(table)) is told
    if told:
        assert table.columns[columns(table).index("sweep")].title == "id"
        assert [cell(table, at, "sweep") for at in range(len(came_from))] == [
            sweep for _, sweep in came_from
        ]


@pytest.mark.parametrize(
    ("stream", "decode", "told"),
    [
        (50.0, 50.0, False),
        (49.5, 50.0, False),
        (50.5, 50.0, False),
        (None, 50.0, False),
        (49.4, 50.0, True),
        (50.6, 50.0, True),
        (50.0, None, True),
        (0.0, 0.1, True),
    ],
)
def test_a_streams_rate_is_told_where_it_is_not_the_decode_rate(
    stream: float | None, decode: float | None, told: bool
) -> None:
    [table] = people_tables([own(1), own(2, stream_tps_p50=stream, decode_tps_p50=decode)], [])
    assert ("stream_tps_p50" in columns(table)) is told


def test_a_ninetieth_percentile_of_two_samples_is_not_told() -> None:
    late = {"ttfot_ms_p50": 7200.0, "ttfot_ms_p90": 9000.0}
    p90 = {"ttft_ms_p90", "ttfot_ms_p90"}
    [table] = people_tables([own(1, n=1, **late), own(2, n=2, **late)], [])
    assert not p90 & set(columns(table))
    assert {"ttft_ms_p50", "ttfot_ms_p50"} <= set(columns(table))
    for n in (3, None):
        [table] = people_tables([own(1, n=1, **late), own(2, n=n, **late)], [])
        assert p90 <= set(columns(table))


def test_prompts_are_told_as_asked_for_where_they_had_that_many_tokens() -> None:
    [table] = people_tables([own(1), own(2)], [])
    assert "context_tokens" not in columns(table)
    [table] = people_tables([own(1), own(2, context_tokens=500)], [])
    assert {"context_label", "context_tokens"} <= set(columns(table))
    failed = own(2, context_tokens=None, status=SpeedStatus.FAILED)
    [table] = people_tables([own(1), failed], [])
    assert "context_tokens" not in columns(table)


def test_titles_say_what_is_counted() -> None:
    [table] = people_tables([own(1, memory_used_mib=9000.0, price_per_million_tokens=1.5)], [])
    titles = {column.name: column.title for column in table.columns}
    assert titles["memory_used_mib"] == "MiB, all devices"
    assert titles["price_per_million_tokens"] == "price per M written"


def test_failures_are_counted_where_there_are_any() -> None:
    [table] = people_tables([own(1), own(2, errors=1)], [])
    assert [cell(table, row, "errors") for row in (0, 1)] == ["0", "1"]
    [table] = people_tables([own(1), own(2)], [])
    assert "errors" not in columns(table)


def test_each_source_has_a_table_of_its_own_and_the_notes_stand_below_the_last() -> None:
    bench = SpeedRow(model="m", source=SpeedSource.LLAMA_BENCH, test="pp512", prefill_tps_p50=9.0)
    tables = people_tables([own(1), bench, own(2)], ["n"])
    assert [table.title for table in tables] == [
        "Speed measured by evalbot (night)", "Speed imported from llama-bench"
    ]  # fmt: skip
    assert [len(table.rows) for table in tables] == [2, 1]
    assert columns(tables[1]) == ["model", "test", "prefill_tps_p50", "status"]
    assert "n" not in tables[0].notes
    assert tables[1].notes[-1] == "n"


def test_without_rows_there_is_an_empty_table_with_its_notes() -> None:
    [table] = people_tables([], ["nothing yet"])
    assert (table.rows, table.notes) == ((), ("nothing yet",))


def test_evidence_stands_below_and_rows_with_the_same_reason_together() -> None:
    why = "2 of 2 requests failed (timeout: nothing came)"
    rows = [
        own(1),
        own(2, status=SpeedStatus.FAILED, evidence=why),
        own(4, status=SpeedStatus.FAILED, evidence=why),
        own(8, evidence="8 streams for 4 slots: the rest queued"),
    ]
    [table] = people_tables(rows, [])
    # What is to be said of an ok row is no reason for its status.
    assert table.notes[-2:] == (
        f"qwen, pc, pp512+tg128 x2; qwen, pc, pp512+tg128 x4: failed: {why}",
        "qwen, pc, pp512+tg128 x8: 8 streams for 4 slots: the rest queued",
    )


def test_evidence_tells_the_label_where_there_are_several() -> None:
    failed = {"status": SpeedStatus.FAILED, "evidence": "too hot"}
    [table] = people_tables(
        [own(1), own(2, label="day", **failed), own(4, label=None, **failed)], []
    )
    assert (
        table.notes[-1]
        == "day, qwen, pc, pp512+tg128 x2; qwen, pc, pp512+tg128 x4: failed: too hot"
    )
    # Each table knows its own rows' labels alone.
    bench = SpeedRow(model="m", source=SpeedSource.TABLE, label="x", test="t", **failed)
    _, table = people_tables([own(1), bench], [])
    assert table.notes == ("m, t: failed: too hot",)


@pytest.mark.parametrize(("streams", "told"), [(6, ""), (7, " and 1 more"), (90, " and 84 more")])
def test_at_most_six_rows_are_named_beside_the_same_evidence(streams: int, told: str) -> None:
    rows = [own(n, evidence="queued") for n in range(1, streams + 1)]
    [table] = people_tables(rows, [])
    six = "; ".join(f"qwen, pc, pp512+tg128 x{n}" for n in range(1, 7))
    assert table.notes[-1] == f"{six}{told}: queued"


def test_rows_of_one_name_are_named_once() -> None:
    [table] = people_tables([own(1, sweep=f"s-{n}", evidence="queued") for n in range(9)], [])
    assert table.notes[-1] == "qwen, pc, pp512+tg128 x1: queued"


def test_that_samples_vary_is_no_note() -> None:
    bench = SpeedRow(model="m", source=SpeedSource.LLAMA_BENCH, test="pp512", prefill_tps_p50=9.0,
                     evidence="stddev 0.3 tok/s")  # fmt: skip
    [table] = people_tables([bench], [])
    assert table.notes == ()
    [table] = people_tables([replace(bench, status=SpeedStatus.OOM)], [])
    assert table.notes == ("m, pp512: oom: stddev 0.3 tok/s",)


def test_flags_of_the_published_table_are_told_below_it() -> None:
    [table] = people_tables(flagged(published("speed_concurrent.csv")), [])
    told = [note for note in table.notes if "cached: first token after 755 ms" in note]
    assert told == [
        "first, Qwen3.6-35B-A3B Q8_0, 32K x2: cached: first token after 755 ms, with one "
        "stream 34822 ms: prompts came from a prompt cache"
    ]


def long_of(text: str, models: Sequence[str]) -> set[tuple[str, str, str, str, float | str]]:
    """A wide table as lines of the long one: node, memory, test, model, tok/s or failure."""
    lines = set()
    for row in csv.DictReader(io.StringIO(text)):
        node = f"{row.pop('hardware')} ({row.pop('backend')})"
        memory = row.pop("memory")
        for across, value in row.items():
            model = next(one for one in models if across.startswith(f"{one} "))
            test = across.removeprefix(f"{model} ")
            if value:
                number = value.replace(".", "", 1).isdigit()
                lines.add((node, memory, test, model, float(value) if number else value))
    return lines


def test_a_published_comparison_of_machines_printed_wide_has_all_its_numbers_and_failures() -> None:
    path = DATA / "llama_bench_shootout.csv"
    with path.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    expected = {
        (one["node"], one["memory"], one["test"], one["model"],
         float(one["tok_s"]) if one["tok_s"] else one["failure"])
        for one in lines
    }  # fmt: skip
    models = sorted({one["model"] for one in lines}, key=len, reverse=True)
    table = wide_table(flagged(published(path.name)), [])
    assert long_of(render(table, form="csv").decode(), models) == expected
    assert len(expected) == len(lines) == 64
    assert len(table.rows) == 8
    assert columns(table)[:3] == ["hardware", "backend", "memory"]


def test_columns_of_one_model_stand_together_and_what_was_not_measured_is_empty() -> None:
    rows = [own(1, model="a"), own(1, model="b"), own(2, model="a"), own(2, hardware="mac")]
    table = wide_table(rows, ["note"])
    assert columns(table) == [
        "hardware",
        "a pp512+tg128 x1", "a pp512+tg128 x2", "b pp512+tg128 x1", "qwen pp512+tg128 x2",
    ]  # fmt: skip
    assert table.rows == (("pc", 48.0, 96.0, 48.0, None), ("mac", None, None, None, 96.0))
    assert table.notes == ("note",)
    assert table.title == "Speed, tok/s: read in pp tests, else written"


def test_of_a_machine_only_what_some_row_tells_is_a_column_of_the_wide_table() -> None:
    def first(*rows: SpeedRow) -> tuple[list[str], tuple[object, ...]]:
        table = wide_table(rows, [])
        known = [name for name in columns(table) if not name.startswith("qwen")]
        return known, table.rows[0][: len(known)]

    assert first(own(1)) == (["hardware"], ("pc",))
    assert first(own(1, hardware=None)) == (["hardware"], (None,))
    assert first(own(1, backend="CUDA")) == (["hardware", "backend"], ("pc", "CUDA"))
    assert first(own(1, memory="8GB")) == (["hardware", "memory"], ("pc", "8GB"))
    assert first(own(1), own(2, backend="CUDA", memory="8GB")) == (
        ["hardware", "backend", "memory"], ("pc", None, None)
    )  # fmt: skip


def test_a_cell_is_the_rate_that_stands_for_the_row_or_what_failed() -> None:
    def only(**fields_: Any) -> object:
        row = SpeedRow(model="m", source=SpeedSource.TABLE, test="t", **fields_)
        return wide_table([row], []).rows[0][1]

    assert only(prefill_tps_p50=9.0) == 9.0
    assert only(decode_tps_p50=8.0, prefill_tps_p50=9.0) == 8.0
    assert only(aggregate_tps=7.0, decode_tps_p50=8.0) == 7.0
    assert only(aggregate_tps=7.0, prefill_tps_p50=9.0) == 7.0
    assert only() is None
    assert only(status=SpeedStatus.OOM) == "oom"
    assert only(status=SpeedStatus.SUSPECT, decode_tps_p50=0.125) == "0.13 (suspect)"


def test_the_newest_result_of_a_cell_is_shown_and_the_others_are_counted() -> None:
    rows = [own(1, aggregate_tps=1.0), own(1, aggregate_tps=2.0), own(1, aggregate_tps=3.0)]
    table = wide_table(rows, [])
    assert table.rows == (("pc", 3.0),)
    assert table.notes == ("older results of the same cells are not shown: 2",)


@pytest.mark.parametrize(
    ("test", "shown"),
    [("serve 0.1 req/s", 78.5), ("serve 10.0 req/s", 78.5), ("serve", 78.5),
     ("serve inf req/s", 900.0)],
)  # fmt: skip
def test_at_a_set_rate_a_cell_is_what_a_stream_wrote_and_not_what_was_asked_for(
    test: str, shown: float
) -> None:
    row = SpeedRow(
        model="m",
        source=SpeedSource.VLLM_BENCH,
        test=test,
        decode_tps_p50=78.5,
        aggregate_tps=900.0,
    )
    assert wide_table([row], []).rows == ((None, shown),)
    assert headline_tps(row) == shown


@pytest.mark.parametrize("form", ["md", "html", "latex", "json", "csv"])
def test_every_format_takes_flagged_rows_and_strange_names(form: str) -> None:
    row = own(1, model="<b>|_&%", status=SpeedStatus.SUSPECT, evidence="a\nb | c")
    tables = [machine_table([row])] if form in ("json", "csv") else people_tables([row, own(2)], [])
    assert b"suspect" in render(*tables, form=form)
