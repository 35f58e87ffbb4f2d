"""A sweep over real llama.cpp servers, from the command line."""

from __future__ import annotations

import asyncio
import csv
import io
from pathlib import Path

import aiohttp
import pytest

from evalbot.speed.prompts import WORDS
from tests.cli.calling import evalbot

CONTEXTS, STREAMS, WRITTEN = (64, 80, 96), (1, 2, 4), 6
TOO_LONG = 4096

# One sweep serves them all.
pytestmark = pytest.mark.xdist_group("sweep")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, smollm2: str, gemma3: str) -> Path:
    """A folder in which both servers were swept."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "evalbot.yaml").write_text(
        "endpoints:\n"
        f"  - {{name: smollm2, base_url: {smollm2}}}\n"
        f"  - {{name: gemma3, base_url: {gemma3}, hardware: old-box}}\n"
        "hardware:\n"
        "  old-box: {price: 500, currency: EUR, watts: 60, lifetime_hours: 10000}\n"
        "electricity: {price_per_kwh: 0.3, currency: EUR}\n",
        encoding="utf-8",
    )
    done = evalbot(
        "speed",
        "--contexts", ",".join(map(str, (*CONTEXTS, TOO_LONG))),
        "--concurrency", ",".join(map(str, STREAMS)),
        "--output-tokens", str(WRITTEN),
        "--repeats", "1",
        "--output", "speed.csv",
        folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "told.txt").write_text(done.stderr, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rows(swept: Path) -> list[dict[str, str]]:
    text = (swept / "speed.csv").read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_each_cell_has_a_row_with_what_was_offered_and_what_the_server_has(
    rows: list[dict[str, str]],
) -> None:
    cells = [(row["model"], row["context_label"], row["concurrency"]) for row in rows]
    assert cells == [
        (model, str(context), str(streams))
        for model in ("smollm2", "gemma3")
        for context in (*CONTEXTS, TOO_LONG)
        for streams in STREAMS
    ]
    facts = {(row["model"], row["slots"], row["slot_context"]) for row in rows}
    assert facts == {("smollm2", "2", "512"), ("gemma3", "1", "256")}


def test_prompts_have_exactly_their_length_and_none_is_cached(rows: list[dict[str, str]]) -> None:
    measured = [row for row in rows if row["context_label"] != str(TOO_LONG)]
    for row in measured:
        assert row["context_tokens"] == row["context_label"], row
        assert row["output_tokens"] == str(WRITTEN), row
        assert row["n"] == row["concurrency"], row
        assert row["errors"] == "0", row
        assert row["status"] != "cached", row
        assert float(row["prefill_tps_p50"]) > 0, row
        assert row["timing_source"] == "server", row


def test_times_and_rates_fit_together(rows: list[dict[str, str]]) -> None:
    for row in rows:
        if row["context_label"] == str(TOO_LONG):
            continue
        first, wall = float(row["ttft_ms_p50"]), float(row["wall_s"])
        assert float(row["ttfr_ms_p50"]) <= first <= float(row["ttfot_ms_p50"]) <= 1000 * wall
        tokens = WRITTEN * int(row["concurrency"])
        assert float(row["aggregate_tps"]) == pytest.approx(tokens / wall)
        assert float(row["stream_tps_p50"]) > 0
        assert float(row["decode_tps_p50"]) > 0


def test_what_does_not_fit_names_both_numbers(rows: list[dict[str, str]]) -> None:
    too_long = [row for row in rows if row["context_label"] == str(TOO_LONG)]
    assert {row["status"] for row in too_long} == {"context_overflow"}
    assert {(row["n"], row["errors"], row["ttft_ms_p50"]) for row in too_long} == {("0", "0", "")}
    need = TOO_LONG + WRITTEN
    assert f"need {need}, the context per slot has 512" in too_long[0]["evidence"]
    assert f"need {need}, the context per slot has 256" in too_long[-1]["evidence"]


def test_more_streams_than_slots_are_told(rows: list[dict[str, str]]) -> None:
    queued = [row for row in rows if "the rest queued" in row["evidence"]]
    assert {(row["model"], row["concurrency"]) for row in queued} <= {
        ("smollm2", "4"), ("gemma3", "2"), ("gemma3", "4"),
    }  # fmt: skip
    assert queued


def test_cost_stands_beside_speed_where_the_machine_is_known(rows: list[dict[str, str]]) -> None:
    priced = [row for row in rows if row["hardware"] == "old-box" and row["status"] == "ok"]
    assert priced
    for row in priced:
        tps = float(row["aggregate_tps"])
        assert float(row["tps_per_1000_price"]) == pytest.approx(2 * tps)
        assert float(row["tokens_per_joule"]) == pytest.approx(tps / 60)
        per_hour = 500 / 10000 + 0.06 * 0.3
        assert float(row["price_per_million_tokens"]) == pytest.approx(per_hour / tps / 0.0036)
    assert {row["price"] for row in rows if row["model"] == "smollm2"} == {""}


def test_the_overhead_of_measuring_is_told(swept: Path) -> None:
    told = (swept / "told.txt").read_text(encoding="utf-8")
    assert "overhead: evalbot itself used " in told
    assert "smollm2: 12/12, done" in told


def test_figures_are_drawn(swept: Path) -> None:
    done = evalbot("speeds", "--figures", "figures", "--format", "md", folder=swept)
    assert done.returncode == 0, done.stderr
    drawn = sorted(path.name for path in (swept / "figures").iterdir())
    assert drawn == ["first_token.png", "first_token.svg", "throughput.png", "throughput.svg"]
    assert "context_overflow: not sent: a prompt of 4096 tokens" in done.stdout


def test_no_word_begins_like_another_for_the_server(smollm2: str) -> None:
    async def first_tokens() -> list[int]:
        root = smollm2.removesuffix("/v1")
        async with aiohttp.ClientSession() as session:
            return [await first_token(session, root, word) for word in WORDS]

    async def first_token(session: aiohttp.ClientSession, root: str, word: str) -> int:
        async with session.post(f"{root}/tokenize", json={"content": word}) as reply:
            return int((await reply.json())["tokens"][0])

    tokens = asyncio.run(first_tokens())
    assert len(set(tokens)) == len(WORDS)
