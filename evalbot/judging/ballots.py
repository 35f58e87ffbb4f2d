"""The votes of one judge on one answer, and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalbot.stats.votes import entropy, majority

TIE = "tie"


class Reply(NamedTuple):
    """One vote as it counts: a verdict, or why there is none."""

    verdict: str | None
    unscored_reason: str | None
    rationale: str | None = None
    checkpoints: Sequence[Mapping[str, Any]] = ()
    flags: Sequence[str] = ()


class Outcome(NamedTuple):
    """What the votes come to. entropy in bits, over those with a verdict; None of none."""

    verdict: str | None
    unscored_reason: str | None
    entropy: float | None
    rationale: str | None
    checkpoints: Sequence[Mapping[str, Any]]
    flags: Sequence[str]
    counts: Mapping[str, int]


@dataclass(slots=True)
class Ballot:
    """Filled as replies come; least: how many verdicts make a grade."""

    size: int
    least: int
    replies: dict[int, Reply] = field(default_factory=dict)

    def put(self, number: int, reply: Reply) -> bool:
        """Put in a vote; whether all are there now."""
        self.replies[number] = reply
        return len(self.replies) == self.size

    def outcome(self) -> Outcome:
        """The verdict of more than half of those who gave one; a tie is a tie."""
        replies = [self.replies[number] for number in sorted(self.replies)]
        verdicts = [one.verdict for one in replies if one.verdict is not None]
        counts = Counter(one.verdict or one.unscored_reason or "" for one in replies)
        verdict: str | None = None
        reason: str | None = None
        if len(verdicts) < self.least:
            missing = Counter(one.unscored_reason for one in replies if one.verdict is None)
            reason = missing.most_common(1)[0][0]
        else:
            verdict = majority(verdicts)
            reason = TIE if verdict is None else None
        agreeing = [one for one in replies if one.verdict == verdict] if verdict else replies
        return Outcome(
            verdict=verdict,
            unscored_reason=reason,
            entropy=entropy(verdicts),
            rationale=next((one.rationale for one in agreeing if one.rationale), None),
            checkpoints=_ticked(replies),
            flags=sorted({flag for one in replies for flag in one.flags}),
            counts=dict(counts),
        )


def _ticked(replies: Sequence[Reply]) -> list[Mapping[str, Any]]:
    """Each line as most votes ticked it, with a quote of one of those; None where they tie."""
    found: list[Mapping[str, Any]] = []
    for name in dict.fromkeys(line["id"] for one in replies for line in one.checkpoints):
        lines = [line for one in replies for line in one.checkpoints if line["id"] == name]
        ticks = [str(line["met"]) for line in lines if line["met"] is not None]
        met = {"True": True, "False": False}.get(majority(ticks) or "")
        quotes = [line["quote"] for line in lines if line["met"] is met and line["quote"]]
        found.append({"id": name, "met": met, "quote": quotes[0] if quotes else None})
    return found
