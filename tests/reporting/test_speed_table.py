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
from evalbot.reporting.speed_table import machine_table, people_tables, wide_table
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
numbers = st.one_of(st.none(), st.floats(0, 1e12))


@given(
    st.builds(
        SpeedRow,
        **{
            field.name: numbers if "float" in str(field.type) else st.one_of(
                st.none(), st.integers(1, 10**7)) if "int" in str(field.type) else texts
            for field in fields(SpeedRow)
            if field.name not in ("model", "source", "status", "sweep", "timing_source")
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
        "model", "context_tokens", "concurrency", "n", "ttft_ms_p50", "ttft_ms_p90",
        "prefill_tps_p50", "decode_tps_p50", "stream_tps_p50", "aggregate_tps", "wall_s", "status",
    ]  # fmt: skip
    assert table.notes == (
        "in every row: hardware pc, written 128, slots 4, context per slot 8192, timed by server",
        "first reply and first text: with the first token, in every row",
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
    assert table.notes[-2:] == (
        f"qwen, pc, pp512+tg128 x2; qwen, pc, pp512+tg128 x4: failed: {why}",
        "qwen, pc, pp512+tg128 x8: ok: 8 streams for 4 slots: the rest queued",
    )


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
        "Qwen3.6-35B-A3B Q8_0, 32K x2: cached: first token after 755 ms, with one stream 34822 ms: "
        "prompts came from a prompt cache"
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
    assert columns(table)[3:] == [
        "a pp512+tg128 x1", "a pp512+tg128 x2", "b pp512+tg128 x1", "qwen pp512+tg128 x2"
    ]  # fmt: skip
    assert [row[3:] for row in table.rows] == [(48.0, 96.0, 48.0, None), (None, None, None, 96.0)]
    assert table.notes == ("note",)


def test_a_cell_is_the_rate_that_stands_for_the_row_or_what_failed() -> None:
    def only(**fields_: Any) -> object:
        row = SpeedRow(model="m", source=SpeedSource.TABLE, test="t", **fields_)
        return wide_table([row], []).rows[0][3]

    assert only(prefill_tps_p50=9.0) == 9.0
    assert only(decode_tps_p50=8.0, prefill_tps_p50=9.0) == 8.0
    assert only(aggregate_tps=7.0, decode_tps_p50=8.0) == 7.0
    assert only() is None
    assert only(status=SpeedStatus.OOM) == "oom"
    assert only(status=SpeedStatus.SUSPECT, decode_tps_p50=0.125) == "0.13 (suspect)"


def test_the_newest_result_of_a_cell_is_shown_and_the_others_are_counted() -> None:
    rows = [own(1, aggregate_tps=1.0), own(1, aggregate_tps=2.0), own(1, aggregate_tps=3.0)]
    table = wide_table(rows, [])
    assert table.rows[0][3] == 3.0
    assert table.notes == ("older results of the same cells are not shown: 2",)


@pytest.mark.parametrize("form", ["md", "html", "latex", "json", "csv"])
def test_every_format_takes_flagged_rows_and_strange_names(form: str) -> None:
    row = own(1, model="<b>|_&%", status=SpeedStatus.SUSPECT, evidence="a\nb | c")
    tables = [machine_table([row])] if form in ("json", "csv") else people_tables([row, own(2)], [])
    assert b"suspect" in render(*tables, form=form)
