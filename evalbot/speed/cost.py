"""What speed costs: money and energy for each row, and machines compared in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from evalbot.domain.settings import Electricity, HardwareSettings
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.stats.rounding import half_up

MILLION = 1_000_000
SECONDS_PER_HOUR = 3600
ABOUT_EQUAL = 1.05
"""Two times whose ratio is smaller are not told apart in words."""


class ModelOfSweep(NamedTuple):
    """A model by its name in a sweep."""

    sweep: str | None
    model: str


EMPTY: Mapping[ModelOfSweep, str] = MappingProxyType({})


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


def written_tps(row: SpeedRow) -> float | None:
    """Tokens written per second by the whole machine; None where that is not known.

    All streams together, where as much was offered as the machine could take. A benchmark
    that sent requests at a set rate gave no more than it asked for: there it is one stream's.
    """
    paced = row.source is SpeedSource.VLLM_BENCH and "inf" not in (row.test or "")
    return row.decode_tps_p50 if row.aggregate_tps is None or paced else row.aggregate_tps


def output_tps(row: SpeedRow) -> float | None:
    """The same where it may be used: None unless the row is ok."""
    return written_tps(row) if row.status is SpeedStatus.OK else None


def comparisons(
    rows: Sequence[SpeedRow], prices: Prices, loaded: Mapping[ModelOfSweep, str] = EMPTY
) -> list[str]:
    """Each machine beside the dearest one on the same test of the same model, in a sentence.

    loaded: what the servers of sweeps held, by fingerprint: two endpoints may hold the same
    model. Only between machines whose prices are in one currency, only rows that are ok, and
    of several results of one machine the newest.
    """
    sentences = []
    for together in _same_tests(rows, prices, loaded):
        dearest = max(together, key=lambda row: row.price or 0.0)
        models = " and ".join(dict.fromkeys(row.model for row in (*together, dearest)))
        backends = len({row.backend for row in together}) > 1
        for row in together:
            if row is not dearest and row.hardware != dearest.hardware:
                test = ", ".join(part for part in (models, row.test) if part)
                sentences.append(f"{test}: {compared(row, dearest, backends=backends)}")
    return sentences


def compared(row: SpeedRow, other: SpeedRow, *, backends: bool = False) -> str:
    """One machine beside another: what it costs, what it gives, and when its first token comes.

    Throughput and first token always stand together: either alone has misled buyers.
    backends: name them too.
    """
    share = half_up(100 * _known(row.price) / _known(other.price), 0)
    given = half_up(100 * _known(output_tps(row)) / _known(output_tps(other)), 0)
    here, there = _machine(row, backends), _machine(other, backends)
    return (
        f"{here} costs {share} % of {there} and gives {given} % of its tokens/s; "
        f"{_first_token(row, other)}"
    )


def price_notes(rows: Iterable[SpeedRow], prices: Prices) -> list[str]:
    """In which currency prices are, and what is missing for the price of a million tokens."""
    priced = {row.hardware: prices.of(row) for row in rows if row.price is not None}
    machines = [machine for machine in priced.values() if machine is not None]
    named = {machine.name: machine.currency for machine in machines if machine.currency}
    notes = []
    if len(set(named.values())) == 1:
        notes.append(f"prices in {next(iter(named.values()))}, as the config says")
    elif named:
        told = ", ".join(f"{name} {currency}" for name, currency in named.items())
        notes.append(f"prices as the config says, not compared over currencies: {told}")
    if prices.electricity is None and all(machine.lifetime_hours is None for machine in machines):
        return notes  # nobody asks for the price of tokens
    return notes + [
        f"{machine.name}: no price of a million tokens: {why}"
        for machine in machines
        if (why := _why_no_price(machine, prices.electricity))
    ]


def _why_no_price(machine: HardwareSettings, electricity: Electricity | None) -> str | None:
    missing = [
        name for name in ("price", "lifetime_hours", "watts") if getattr(machine, name) is None
    ]
    if missing:
        return f"the config does not say its {' and '.join(missing)}"
    if electricity is None:
        return "the config does not say what electricity costs (electricity:)"
    if electricity.currency != machine.currency:
        return f"electricity is in {electricity.currency}, the machine in {machine.currency}"
    return None


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


def _same_tests(
    rows: Sequence[SpeedRow], prices: Prices, loaded: Mapping[ModelOfSweep, str]
) -> Iterable[list[SpeedRow]]:
    tests: dict[tuple[object, ...], dict[tuple[str | None, ...], SpeedRow]] = {}
    for row in rows:
        machine = prices.of(row)
        if row.price and output_tps(row) and machine is not None:
            model = loaded.get(ModelOfSweep(row.sweep, row.model), row.model)
            key = (
                model, row.source, row.test, row.context_label, row.context_tokens,
                row.output_tokens, row.concurrency, machine.currency,
            )  # fmt: skip
            tests.setdefault(key, {})[row.hardware, row.backend, row.memory] = row
    return [list(together.values()) for together in tests.values() if len(together) > 1]


def _first_token(row: SpeedRow, other: SpeedRow) -> str:
    now, before = row.ttft_ms_p50, other.ttft_ms_p50
    if not now or not before:
        return "how soon its first token comes is not known for both"
    if now >= ABOUT_EQUAL * before:
        return f"its first token comes {half_up(now / before, 1)} times later"
    if before >= ABOUT_EQUAL * now:
        return f"its first token comes {half_up(before / now, 1)} times sooner"
    return "its first token comes at the same time"


def _machine(row: SpeedRow, backends: bool) -> str:
    return f"{row.hardware} ({row.backend})" if backends and row.backend else str(row.hardware)


def _known(value: float | None) -> float:
    assert value is not None, "rows are chosen by what they know"
    return value
