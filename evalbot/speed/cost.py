"""What speed costs: money and energy for each row, and machines compared in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalbot.domain.settings import Electricity, HardwareSettings
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.stats.rounding import half_up

MILLION = 1_000_000
SECONDS_PER_HOUR = 3600
ABOUT_EQUAL = 1.05
"""Two times whose ratio is smaller are not told apart in words."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The config's hardware by name, and what electricity costs."""

    hardware: Mapping[str, HardwareSettings]
    electricity: Electricity | None = None

    def of(self, row: SpeedRow) -> HardwareSettings | None:
        """The row's machine; None where the config does not know it."""
        return self.hardware.get(row.hardware or "")


def with_cost(row: SpeedRow, prices: Prices) -> SpeedRow:
    """The row with what its tokens cost, where the config knows the machine.

    From the tokens per second the machine writes (output_tps). Rows that are not ok get no
    such figure. A row that came with its own figures keeps those that the config does not
    say anything about.
    """
    machine = prices.of(row)
    if machine is None:
        return row
    row = row if machine.price is None else replace(row, price=machine.price)
    tps = output_tps(row)
    if tps is None:
        return row
    if machine.price:
        row = replace(row, tps_per_1000_price=1000 * tps / machine.price)
    if machine.watts:
        row = replace(row, tokens_per_joule=tps / machine.watts)
    per_million = _price_per_million(tps, machine, prices.electricity)
    return row if per_million is None else replace(row, price_per_million_tokens=per_million)


def output_tps(row: SpeedRow) -> float | None:
    """Tokens written per second by the whole machine; None unless the row is ok.

    All streams together, where as much was offered as the machine could take. A benchmark
    that sent requests at a set rate gave no more than it asked for: there it is one stream's.
    """
    if row.status is not SpeedStatus.OK:
        return None
    paced = row.source is SpeedSource.VLLM_BENCH and "inf" not in (row.test or "")
    if row.aggregate_tps is None or paced:
        return row.decode_tps_p50
    return row.aggregate_tps


def comparisons(rows: Sequence[SpeedRow], prices: Prices) -> list[str]:
    """Each machine beside the dearest one on the same test of the same model, in a sentence.

    Only between machines whose prices are in one currency, and only rows that are ok.
    """
    sentences = []
    for together in _same_tests(rows, prices):
        dearest = max(together, key=lambda row: row.price or 0.0)
        for row in together:
            if row is not dearest and row.hardware != dearest.hardware:
                sentences.append(f"{_test(row)}: {compared(row, dearest)}")
    return sentences


def compared(row: SpeedRow, other: SpeedRow) -> str:
    """One machine beside another: what it costs, what it gives, and when its first token comes.

    Throughput and first token always stand together: either alone has misled buyers.
    """
    share = half_up(100 * _known(row.price) / _known(other.price), 0)
    given = half_up(100 * _known(output_tps(row)) / _known(output_tps(other)), 0)
    return (
        f"{row.hardware} costs {share} % of {other.hardware} and gives {given} % of its tokens/s; "
        f"{_first_token(row, other)}"
    )


def currencies(rows: Iterable[SpeedRow], prices: Prices) -> list[str]:
    """The currencies of the machines in these rows, each once."""
    machines = [prices.of(row) for row in rows]
    named = {machine.currency for machine in machines if machine and machine.currency}
    return sorted(named)


def _price_per_million(
    tps: float, machine: HardwareSettings, electricity: Electricity | None
) -> float | None:
    """Buying the machine, spread over its lifetime, and the electricity while it works."""
    if machine.price is None or machine.lifetime_hours is None or machine.watts is None:
        return None
    if electricity is None or electricity.currency != machine.currency:
        return None
    per_hour = machine.price / machine.lifetime_hours
    per_hour += machine.watts / 1000 * electricity.price_per_kwh
    return per_hour / (tps * SECONDS_PER_HOUR) * MILLION


def _same_tests(rows: Sequence[SpeedRow], prices: Prices) -> Iterable[list[SpeedRow]]:
    tests: dict[tuple[object, ...], list[SpeedRow]] = {}
    for row in rows:
        machine = prices.of(row)
        if row.price and output_tps(row) and machine is not None:
            key = (
                row.model, row.source, row.test, row.context_label, row.context_tokens,
                row.output_tokens, row.concurrency, machine.currency,
            )  # fmt: skip
            tests.setdefault(key, []).append(row)
    return [together for together in tests.values() if len(together) > 1]


def _first_token(row: SpeedRow, other: SpeedRow) -> str:
    now, before = row.ttft_ms_p50, other.ttft_ms_p50
    if not now or not before:
        return "when its first token comes is not known of both"
    if now >= ABOUT_EQUAL * before:
        return f"its first token comes {half_up(now / before, 1)} times later"
    if before >= ABOUT_EQUAL * now:
        return f"its first token comes {half_up(before / now, 1)} times sooner"
    return "its first token comes at the same time"


def _test(row: SpeedRow) -> str:
    return ", ".join(part for part in (row.model, row.test) if part)


def _known(value: float | None) -> float:
    assert value is not None, "rows are chosen by what they know"
    return value
