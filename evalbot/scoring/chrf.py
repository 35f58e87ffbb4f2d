"""chrF, a second opinion on a translation: shown beside a grade, never deciding one."""

from __future__ import annotations

from collections.abc import Sequence


def chrf(answer: str, references: Sequence[str]) -> float | None:
    """Sentence chrF2 of sacrebleu (Popović 2015), 0 to 100; the best over the references.

    None where there is no answer or no reference to compare. Signature:
    nrefs:var|case:mixed|eff:yes|nc:6|nw:0|space:no.
    """
    if not answer.strip() or not references:
        return None
    from sacrebleu.metrics.chrf import CHRF

    score: float = CHRF().sentence_score(answer, list(references)).score
    return score
