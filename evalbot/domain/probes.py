"""Probes: what becomes of a judge's verdict when something is changed that should not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Probe:
    """One before-and-after of a judge.

    answer_id: None where the case's own text was graded; other_id: the second of a pair. after:
    None where the reply gave no verdict. token: the same probe twice is one.
    """

    judge: str
    kind: str
    case: str
    answer_id: int | None
    other_id: int | None
    before: str
    after: str | None
    unscored_reason: str | None
    rubric_fingerprint: str
    params: Mapping[str, Any]
    evidence: Mapping[str, Any] | None
    cost_usd: float | None
    prompt_fingerprint: str | None
    token: str
    at: datetime
