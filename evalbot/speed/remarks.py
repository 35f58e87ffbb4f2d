"""What has to be said of a row's own samples, whatever its neighbours are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalbot.domain.runs import RunEndpoint
from evalbot.domain.sweeps import Sample
from evalbot.formats.words import count
from evalbot.speed.samples import SHORTEST_ROUND_S, Cell, aggregate_tps, middle_count, wall_s
from evalbot.stats.quantiles import known, percentile_of_known
from evalbot.stats.rounding import half_up

UNSTEADY = 2.0
"""Times by which repeats may differ and still be of one thing."""

CONTRADICTION = 3.0
"""Times by which the server's own rate and ours may differ: while other prompts are read, a first
token may be on its way for long."""


def doubts(
    whole: Sequence[Sample], repeats: Sequence[Sequence[Sample]], asked: int
) -> Iterable[str]:
    """Figures that cannot all be true, or repeats that are not of one thing."""
    most = max((one.usage.completion_tokens or 0 for one in whole), default=0)
    if most > asked:
        yield f"the server counts {most} tokens where {asked} were asked for"
    long = [one for one in repeats if (wall_s(one) or 0.0) >= SHORTEST_ROUND_S]
    samples = [sample for one in long for sample in one]
    server = percentile_of_known((one.timing.decode_tps for one in samples), 50)
    ours = percentile_of_known((one.stream_tps for one in samples), 50)
    if server and ours and not 1 / CONTRADICTION < server / ours < CONTRADICTION:
        yield (
            f"the server says that it wrote {half_up(server, 1)} tok/s, by our clock it was "
            f"{half_up(ours, 1)}"
        )
    rates = known(aggregate_tps([one]) for one in long)
    if len(rates) > 1 and max(rates) > UNSTEADY * min(rates):
        yield (
            f"the repeats differ: {half_up(min(rates), 1)} to {half_up(max(rates), 1)} tok/s of "
            "all streams together"
        )


def remarks(
    whole: Sequence[Sample],
    fresh: Sequence[Sample],
    cell: Cell,
    endpoint: RunEndpoint,
    asked: int,
) -> Iterable[str]:
    """What a reader of the figures should know, though they may be used."""
    if len(fresh) < len(whole):
        yield (
            f"{len(whole) - len(fresh)} of {len(whole)} prompts came from the prompt cache and "
            "are left out of first-token, prefill and aggregate figures"
        )
    if endpoint.slots is not None and cell.concurrency > endpoint.slots:
        yield f"{cell.concurrency} streams for {count(endpoint.slots, 'slot')}: the rest queued"
    prompt = middle_count(one.usage.prompt_tokens for one in whole)
    if prompt is None:
        yield "the server does not say how many tokens the prompts had"
    elif prompt != cell.context:
        yield f"prompts had {prompt} tokens: {cell.context} could not be met exactly"
    written = known(one.usage.completion_tokens for one in whole)
    early = sorted(int(tokens) for tokens in written if tokens < asked)
    if early:
        span = str(early[0]) if early[0] == early[-1] else f"{early[0]} to {early[-1]}"
        streams = f"{len(early)} of {count(len(written), 'stream')}"
        yield f"{streams} ended early, after {span} of {asked} tokens"
