"""What a run will take, before it is started: calls, tokens, rough time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalbot.domain.cases import Suite
from evalbot.domain.settings import EndpointSettings
from evalbot.running.turn import UNKNOWN_SLOTS
from evalbot.store.answers import mean_total_ms
from evalbot.store.database import Database

CHARACTERS_PER_TOKEN = 4
"""Of text in Latin letters; a Chinese or Japanese character counts as a token of its own."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One endpoint's share. prompt_tokens is rough; seconds is None without earlier answers."""

    endpoint: str
    calls: int
    prompt_tokens: int
    most_completion_tokens: int
    seconds: float | None


def estimate_run(
    database: Database,
    suite: Suite,
    endpoints: Sequence[EndpointSettings],
    repeats: int,
    concurrency: int | None,
    passes: int = 1,
) -> list[Estimate]:
    """One line per endpoint; time is told by the mean of its earlier answers.

    passes: 2 where each answer is checked once more; its own length is not known yet.
    """
    calls = len(suite.cases) * repeats * passes
    tokens = (
        repeats
        * passes
        * sum(
            rough_tokens(turn.content) for case in suite.cases for turn in suite.conversation(case)
        )
    )
    estimates = []
    with database.read() as connection:
        for endpoint in endpoints:
            usual = mean_total_ms(connection, endpoint.name, suite.name)
            at_once = concurrency or endpoint.concurrency or UNKNOWN_SLOTS
            estimates.append(
                Estimate(
                    endpoint=endpoint.name,
                    calls=calls,
                    prompt_tokens=tokens,
                    most_completion_tokens=calls * endpoint.max_tokens,
                    seconds=None if usual is None else usual / 1000 * calls / at_once,
                )
            )
    return estimates


def rough_tokens(text: str) -> int:
    """About how many tokens a text has."""
    wide = sum(1 for character in text if ord(character) >= 0x2E80)
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)


def most_tokens(text: str) -> int:
    """So many tokens a text has at most: each has at least one byte."""
    return len(text.encode("utf-8", "replace"))
