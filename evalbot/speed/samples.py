"""What samples say together: how many tokens in which time, and what was cached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalbot.domain.sweeps import Sample
from evalbot.speed.asking import MEASURED
from evalbot.stats.quantiles import percentile_of_known

SHORTEST_ROUND_S = 0.5
"""In shorter rounds a hiccup of the machine weighs more than what is measured."""

NEGLIGIBLE_CACHE = 0.05
"""Share of a prompt that may be cached, as a template's beginning is, and the prompt is new."""


class Cell(NamedTuple):
    """What a row stands for: all repeats of it."""

    context: int
    concurrency: int


def is_cached(sample: Sample) -> bool:
    """Whether so much of the prompt came from a cache that its first token tells nothing."""
    cached, prompt = sample.usage.cached_tokens, sample.usage.prompt_tokens
    return bool(cached) and (prompt is None or (cached or 0) > NEGLIGIBLE_CACHE * prompt)


def aggregate_tps(rounds: Iterable[Sequence[Sample]]) -> float | None:
    """Tokens of all streams over the wall time of their rounds (statistics.md, g).

    None where the server does not count its tokens.
    """
    tokens, seconds = 0, 0.0
    for samples in rounds:
        for sample in samples:
            if sample.status in MEASURED:
                if sample.usage.completion_tokens is None:
                    return None
                tokens += sample.usage.completion_tokens
        seconds += wall_s(samples) or 0.0
    return tokens / seconds if tokens and seconds else None


def wall_s(samples: Iterable[Sample]) -> float | None:
    """From the first request of a round to the end of its last stream."""
    sent = [one for one in samples if one.timing.total_ms is not None]
    if not sent:
        return None
    ends = [one.offset_ms + (one.timing.total_ms or 0.0) for one in sent]
    return (max(ends) - min(one.offset_ms for one in sent)) / 1000


def middle_count(values: Iterable[int | None]) -> int | None:
    """The median of counts, rounded down; None where none is known."""
    middle = percentile_of_known(values, 50)
    return None if middle is None else int(middle)
