"""Probes by swapping, made up."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from evalbot.domain.probes import Probe
from evalbot.formats.rubrics import read_rubric
from tests.building import START, write_site

with TemporaryDirectory() as folder:
    SMALL = read_rubric(write_site(Path(folder)) / "rubrics/small.yaml")


def swap_probe(number: int, before: str, after: str) -> Probe:
    """A pair that was compared in both orders."""
    return Probe(
        judge="strong",
        kind="swap",
        case="door",
        answer_id=number,
        other_id=number + 1,
        before=before,
        after=after,
        unscored_reason=None,
        rubric_fingerprint="r",
        params={},
        evidence=None,
        cost_usd=None,
        prompt_fingerprint=None,
        token=str(number),
        at=START,
    )
