"""What speed costs, and machines beside one another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evalbot.domain.settings import Electricity, HardwareSettings
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.speed.cost import (
    ModelOfSweep,
    Prices,
    compared,
    comparisons,
    output_tps,
    price_notes,
    with_cost,
)

from .made import a_row

POWER = Electricity(0.30, "EUR")
PC = HardwareSettings("pc", price=5000, currency="EUR", watts=900, lifetime_hours=20_000)


def prices(*machines: HardwareSettings, electricity: Electricity | None = POWER) -> Prices:
    return Prices({one.name: one for one in machines}, electricity)


def costed(row: SpeedRow, machine: HardwareSettings = PC, power: Electricity | None = POWER,
           ) -> SpeedRow:  # fmt: skip
    return with_cost(row, prices(machine, electricity=power))


def per_million(row: SpeedRow) -> float | None:
    return row.price_per_million_tokens


def served(hardware: str, first_ms: float, tps: float, **fields: Any) -> SpeedRow:
    """One of the published serving benchmarks, at 0.1 requests a second."""
    return SpeedRow(
        model="QwQ-32B-AWQ",
        hardware=hardware,
        source=SpeedSource.VLLM_BENCH,
        test="serve 0.1 req/s",
        ttft_ms_p50=first_ms,
        decode_tps_p50=tps,
        aggregate_tps=31.0,
        **fields,
    )


H100, RTX = served("H100", 33.1446, 78.6386), served("2x RTX 5090", 56.963, 79.5138)
FOUR = [H100, RTX, served("RTX 4090", 58.7202, 43.4144),
        served("2x RTX 4070 TI SUPER", 96.0044, 46.1211)]  # fmt: skip
MACHINES = (
    HardwareSettings("H100", price=30_000, currency="EUR"),
    HardwareSettings("2x RTX 5090", price=5718, currency="EUR"),
)


def test_two_cheap_cards_beside_a_dear_one() -> None:
    """The ratio of prices that an article had as 10 %, and the first token it left out."""
    known = prices(*MACHINES)
    rows = [with_cost(row, known) for row in FOUR]
    assert comparisons(rows, known) == [
        "QwQ-32B-AWQ, serve 0.1 req/s: 2x RTX 5090 costs 19 % of H100 and gives 101 % of its "
        "tokens/s; its first token comes 1.7 times later"
    ]
    assert compared(rows[1], rows[0]) == (
        "2x RTX 5090 costs 19 % of H100 and gives 101 % of its tokens/s; "
        "its first token comes 1.7 times later"
    )
    # What a benchmark at a set rate gave in all is what it was asked for: not the machine's.
    assert rows[0].tps_per_1000_price == pytest.approx(78.6386 / 30)
    assert rows[1].tps_per_1000_price == pytest.approx(79.5138 / 5.718)
    assert rows[2].price is None


def test_the_price_of_a_million_tokens_by_hand() -> None:
    """An hour: 5000 / 20,000 = 0.25 for the machine, 0.9 kW at 0.30 = 0.27 for electricity.

    0.52 an hour at 100 tokens a second, 360,000 an hour: 1.4444 a million.
    """
    row = costed(a_row(1, aggregate_tps=100.0))
    assert row.price == 5000
    assert per_million(row) == pytest.approx(0.52 / 0.36)
    assert row.tps_per_1000_price == 20
    assert row.tokens_per_joule == pytest.approx(100 / 900)


def test_all_streams_together_pay_for_the_machine() -> None:
    row = a_row(4, aggregate_tps=100.0, decode_tps_p50=30.0, stream_tps_p50=25.0)
    assert output_tps(row) == 100
    assert output_tps(replace(row, aggregate_tps=None)) == 30
    assert output_tps(a_row(1, prefill_tps_p50=900.0)) is None


@pytest.mark.parametrize(
    ("test", "expected"),
    [("serve inf req/s", 2000), ("serve 0.1 req/s", 50), ("serve 12 req/s", 50), ("serve", 50)],
)
def test_a_benchmark_counts_as_a_whole_only_where_it_was_not_held_back(
    test: str, expected: float
) -> None:
    row = a_row(None, source=SpeedSource.VLLM_BENCH, test=test, aggregate_tps=2000.0,
                decode_tps_p50=50.0)  # fmt: skip
    assert output_tps(row) == expected


@pytest.mark.parametrize(
    ("machine", "power", "unknown"),
    [
        (replace(PC, price=None), POWER,
         {"price", "tps_per_1000_price", "price_per_million_tokens"}),
        (replace(PC, watts=None), POWER, {"price_per_million_tokens", "tokens_per_joule"}),
        (replace(PC, lifetime_hours=None), POWER, {"price_per_million_tokens"}),
        (PC, None, {"price_per_million_tokens"}),
        (PC, Electricity(0.30, "USD"), {"price_per_million_tokens"}),
        (replace(PC, currency=None), POWER, {"price_per_million_tokens"}),
    ],
)  # fmt: skip
def test_what_is_not_known_gives_no_figure(
    machine: HardwareSettings, power: Electricity | None, unknown: set[str]
) -> None:
    row = costed(a_row(1, aggregate_tps=100.0), machine, power)
    names = ("price", "tps_per_1000_price", "price_per_million_tokens", "tokens_per_joule")
    assert {name for name in names if getattr(row, name) is None} == unknown


def test_a_machine_that_the_config_does_not_know_has_no_price() -> None:
    for row in (a_row(1, hardware="another", aggregate_tps=9.0), a_row(1, hardware=None)):
        assert costed(row) == row


@pytest.mark.parametrize("status", [s for s in SpeedStatus if s is not SpeedStatus.OK])
def test_rows_that_are_not_ok_get_no_figure(status: SpeedStatus) -> None:
    row = costed(a_row(4, status=status, aggregate_tps=100.0, decode_tps_p50=9.0))
    assert (row.tps_per_1000_price, per_million(row), row.tokens_per_joule) == (None, None, None)


def test_figures_of_an_imported_row_stay_where_the_config_says_nothing() -> None:
    own = a_row(1, aggregate_tps=100.0, price=1.0, tps_per_1000_price=2.0,
                price_per_million_tokens=3.0, tokens_per_joule=4.0)  # fmt: skip
    assert costed(own, HardwareSettings("pc")) == own
    assert costed(own, HardwareSettings("another", price=9)) == own
    priced = costed(own, HardwareSettings("pc", price=5000, currency="EUR"))
    assert (priced.price, priced.tps_per_1000_price) == (5000, 20)
    assert (priced.price_per_million_tokens, priced.tokens_per_joule) == (3.0, 4.0)
    assert costed(own).tokens_per_joule == pytest.approx(100 / 900)


def machine(name: str, price: float, currency: str | None = "EUR") -> HardwareSettings:
    return HardwareSettings(name, price=price, currency=currency)


def sentences(*rows: SpeedRow, machines: tuple[HardwareSettings, ...]) -> list[str]:
    known = prices(*machines)
    return comparisons([with_cost(row, known) for row in rows], known)


def on(hardware: str, **fields: Any) -> SpeedRow:
    usual = {"hardware": hardware, "test": "t", "aggregate_tps": 100.0, "ttft_ms_p50": 100.0}
    return a_row(1, **{**usual, **fields})


CHEAP, DEAR = machine("cheap", 1000), machine("dear", 4000)


def test_each_machine_stands_beside_the_dearest_one() -> None:
    middle = machine("middle", 2000)
    told = sentences(on("cheap"), on("dear"), on("middle"), machines=(CHEAP, middle, DEAR))
    assert [line.partition(" and ")[0] for line in told] == [
        "m, t: cheap costs 25 % of dear",
        "m, t: middle costs 50 % of dear",
    ]


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (170.0, "its first token comes 1.7 times later"),
        (50.0, "its first token comes 2.0 times sooner"),
        (100.0, "its first token comes at the same time"),
        (104.0, "its first token comes at the same time"),
        (96.0, "its first token comes at the same time"),
        (105.0, "its first token comes 1.1 times later"),
        (None, "how soon its first token comes is not known for both"),
    ],
)
def test_when_the_first_token_comes_always_stands_beside_the_rate(
    now: float | None, words: str
) -> None:
    [told] = sentences(on("cheap", ttft_ms_p50=now), on("dear"), machines=(CHEAP, DEAR))
    assert told.endswith(f"gives 100 % of its tokens/s; {words}")


def test_other_currencies_are_not_compared() -> None:
    machines = (machine("cheap", 1000, "JPY"), DEAR)
    assert sentences(on("cheap"), on("dear"), machines=machines) == []
    rows = [with_cost(on(name), prices(*machines)) for name in ("cheap", "dear", "x")]
    assert price_notes(rows, prices(*machines, electricity=None)) == [
        "prices as the config says, not compared over currencies: cheap JPY, dear EUR"
    ]


def test_what_is_missing_for_the_price_of_a_million_tokens_is_told() -> None:
    bare = HardwareSettings("bare", price=1000, currency="EUR")
    other = HardwareSettings("other", price=10, currency="USD", watts=1, lifetime_hours=1)
    rows = [with_cost(on(name), prices(PC, bare, other)) for name in ("pc", "bare", "other")]
    assert price_notes(rows, prices(PC, bare, other))[1:] == [
        "bare: no price of a million tokens: the config does not say its lifetime_hours and watts",
        "other: no price of a million tokens: electricity is in EUR, the machine in USD",
    ]
    assert price_notes(rows, prices(PC, electricity=None)) == [
        "prices in EUR, as the config says",
        "pc: no price of a million tokens: the config does not say what electricity costs "
        "(electricity:)",
    ]
    # Who says nothing of lifetimes and electricity does not ask for it.
    assert price_notes(rows[1:2], prices(bare, electricity=None)) == [
        "prices in EUR, as the config says"
    ]


def test_of_several_results_of_one_machine_the_newest_is_compared() -> None:
    rows = (on("cheap"), on("dear", aggregate_tps=10.0), on("dear", aggregate_tps=50.0))
    [told] = sentences(*rows, machines=(CHEAP, DEAR))
    assert "gives 200 % of its tokens/s" in told


def test_two_endpoints_that_held_the_same_model_are_compared() -> None:
    known = prices(CHEAP, DEAR)
    rows = [
        with_cost(on("cheap", model="a", sweep="s"), known),
        with_cost(on("dear", model="b", sweep="s"), known),
    ]
    assert comparisons(rows, known) == []
    loaded = {ModelOfSweep("s", "a"): "same", ModelOfSweep("s", "b"): "same"}
    [told] = comparisons(rows, known, loaded)
    assert told.startswith("a and b, t: cheap costs 25 % of dear")


def test_backends_are_named_where_they_differ() -> None:
    rows = (on("cheap", backend="ROCm"), on("cheap", backend="Vulkan"), on("dear", backend="CUDA"))
    told = sentences(*rows, machines=(CHEAP, DEAR))
    assert [line.partition(" gives")[0] for line in told] == [
        "m, t: cheap (ROCm) costs 25 % of dear (CUDA) and",
        "m, t: cheap (Vulkan) costs 25 % of dear (CUDA) and",
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"test": "u"},
        {"model": "n"},
        {"context_label": "32K"},
        {"output_tokens": 9},
        {"concurrency": 4},
        {"source": SpeedSource.EVALBOT},
        {"status": SpeedStatus.SUSPECT},
        {"aggregate_tps": None},
        {"hardware": "unknown"},
        {"hardware": "dear"},
    ],
)
def test_only_the_same_tests_on_machines_with_prices_are_compared(other: dict[str, Any]) -> None:
    assert len(sentences(on("cheap"), on("dear"), machines=(CHEAP, DEAR))) == 1
    row = replace(on("cheap"), **other)
    assert sentences(row, on("dear"), machines=(CHEAP, DEAR)) == []


def test_a_price_of_nothing_divides_nothing() -> None:
    free = machine("cheap", 0)
    row = with_cost(on("cheap"), prices(free))
    assert (row.price, row.tps_per_1000_price) == (0, None)
    assert sentences(on("cheap"), on("dear"), machines=(free, DEAR)) == []
