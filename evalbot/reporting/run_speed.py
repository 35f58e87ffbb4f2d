"""How fast the models of a run answered, as a by-product of asking them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evalbot.domain.answers import FAILED_ON_THE_WAY
from evalbot.domain.runs import Run, RunEndpoint
from evalbot.domain.speed import SpeedRow, SpeedSource, SpeedStatus
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.tables import Table
from evalbot.reporting.speed_table import people_tables
from evalbot.speed.asking import MEASURED
from evalbot.stats.quantiles import known, percentile_of_known
from evalbot.store import runs
from evalbot.store.database import Database
from evalbot.store.timings import TimedAnswer, timed_answers


def run_speed_table(database: Database, run_id: str) -> Table:
    """The speed of a run's models as people read it."""
    with database.read() as connection:
        run = runs.get_run(connection, run_id)
        rows = run_speed_rows(run, timed_answers(connection, run.id))
    title = f"{run.suite.name}: speed, medians over the answers"
    return replace(people_tables(rows, ())[0], title=title)


def run_speed_rows(run: Run, answers: Iterable[TimedAnswer]) -> list[SpeedRow]:
    """A row for each model, and for its self-checked answers.

    Medians over its answers. Prefill is rarely known here: chats share their beginning,
    which the server then has cached. Throughput is not, since a run waits for its slowest.
    """
    together: dict[tuple[str, int], list[TimedAnswer]] = {}
    for answer in answers:
        together.setdefault((answer.endpoint, answer.pass_), []).append(answer)
    passes = sorted({pass_ for _, pass_ in together})
    return [
        _row(run, endpoint, pass_, together[endpoint.name, pass_])
        for endpoint in run.endpoints
        for pass_ in passes
        if (endpoint.name, pass_) in together
    ]


def _row(run: Run, endpoint: RunEndpoint, pass_: int, answers: Sequence[TimedAnswer]) -> SpeedRow:
    whole = [answer for answer in answers if answer.status in MEASURED]
    first = [answer.ttft_ms for answer in whole]
    visible = [answer.ttfot_ms for answer in whole]
    sources = {answer.timing_source for answer in whole} - {"none"}
    return SpeedRow(
        label=run.label,
        model=endpoint.name + (CHECK_SUFFIX if pass_ > 1 else ""),
        hardware=endpoint.hardware,
        source=SpeedSource.EVALBOT,
        test=f"run {run.suite.name}",
        context_tokens=_middle(answer.prompt_tokens for answer in whole),
        output_tokens=_middle(answer.completion_tokens for answer in whole),
        concurrency=endpoint.concurrency,
        slots=endpoint.slots,
        slot_context=endpoint.slot_context,
        n=len(whole),
        errors=sum(1 for answer in answers if answer.status in FAILED_ON_THE_WAY),
        ttfr_ms_p50=percentile_of_known((answer.ttfr_ms for answer in whole), 50),
        ttft_ms_p50=percentile_of_known(first, 50),
        ttft_ms_p90=percentile_of_known(first, 90),
        ttft_ms_mean=sum(known(first)) / len(known(first)) if known(first) else None,
        ttfot_ms_p50=percentile_of_known(visible, 50),
        ttfot_ms_p90=percentile_of_known(visible, 90),
        prefill_tps_p50=percentile_of_known((answer.prefill_tps for answer in whole), 50),
        decode_tps_p50=percentile_of_known((answer.decode_tps for answer in whole), 50),
        status=SpeedStatus.OK if whole else SpeedStatus.FAILED,
        timing_source="+".join(sorted(sources)) or None,
    )


def _middle(values: Iterable[int | None]) -> int | None:
    middle = percentile_of_known(values, 50)
    return None if middle is None else int(middle)
