"""Lines of the rubric that a judge and people read differently."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from evalbot.auditing.gathering import AuditedAnswer, Gathered
from evalbot.domain.rubrics import Layer
from evalbot.grading.effective import newest_per_grader
from evalbot.grading.staleness import Rules
from evalbot.store.audited import Ticks

MOST_TELLING = 3


class Telling(NamedTuple):
    """An answer on which they differ; people: how many of them said that it is met."""

    case: str
    model: str
    judge_met: bool
    people_met: int
    people: int
    run: str
    answer: int


@dataclass(frozen=True, slots=True)
class CheckpointAudit:
    """One line: on n answers both said whether it is met; agreement: how often the same.

    judge_only: the judge said met and people not; people_only: the other way round.
    """

    id: str
    n: int
    agreement: float | None
    judge_only: int
    people_only: int
    telling: tuple[Telling, ...]


class _Said(NamedTuple):
    of: AuditedAnswer
    judge: bool
    people: tuple[bool, ...]

    @property
    def majority(self) -> bool | None:
        """What more than half of the people said; None where they are evenly split."""
        met = sum(self.people)
        return None if 2 * met == len(self.people) else 2 * met > len(self.people)


def audit_checkpoints(
    gathered: Gathered, ticks: Iterable[Ticks]
) -> dict[str, tuple[CheckpointAudit, ...]]:
    """By judge, each line on which both it and people said something, worst agreement first."""
    answers = {answer.row.id: answer for answer in gathered.answers}
    rules = Rules.of(gathered.basis)
    found: dict[tuple[str, str], list[_Said]] = defaultdict(list)
    for answer_id, together in groupby(ticks, key=lambda one: one.glance.answer_id):
        answer = answers.get(answer_id)
        if answer is None:
            continue
        row = answer.row
        by_id = {one.glance.id: one for one in together}
        fresh = [
            by_id[glance.id]
            for glance in newest_per_grader(one.glance for one in by_id.values())
            if not rules.is_stale(row.case, glance)
        ]
        people = _met_by_people([one for one in fresh if one.glance.layer == Layer.HUMAN])
        for one in fresh:
            if one.glance.layer == Layer.JUDGE and one.glance.grader in gathered.judges:
                for line in one.checkpoints:
                    met, ticked = line.get("met"), people.get(str(line["id"]))
                    if isinstance(met, bool) and ticked:
                        said = _Said(answer, met, tuple(ticked))
                        found[one.glance.grader, str(line["id"])].append(said)
    by_judge: dict[str, list[CheckpointAudit]] = defaultdict(list)
    for (judge, id_), together_said in found.items():
        by_judge[judge].append(_audit(id_, together_said))
    return {
        judge: tuple(sorted(lines, key=lambda one: (one.agreement is None, one.agreement, one.id)))
        for judge, lines in by_judge.items()
    }


def _met_by_people(ticks: Sequence[Ticks]) -> Mapping[str, list[bool]]:
    met: dict[str, list[bool]] = defaultdict(list)
    for one in ticks:
        for line in one.checkpoints:
            if isinstance(line.get("met"), bool):
                met[str(line["id"])].append(line["met"])
    return met


def _audit(line: str, said: Sequence[_Said]) -> CheckpointAudit:
    clear = [one for one in said if one.majority is not None]
    kinds = Counter((one.judge, one.majority) for one in clear)
    apart = [one for one in clear if one.judge != one.majority]
    # The more people, and the more of one mind, the more telling.
    apart.sort(key=_most_telling_first)
    same = kinds[True, True] + kinds[False, False]
    return CheckpointAudit(
        id=line,
        n=len(clear),
        agreement=same / len(clear) if clear else None,
        judge_only=kinds[True, False],
        people_only=kinds[False, True],
        telling=tuple(
            Telling(
                one.of.row.case, one.of.row.endpoint, one.judge, sum(one.people), len(one.people),
                one.of.run, one.of.row.id,
            )
            for one in apart[:MOST_TELLING]
        ),
    )  # fmt: skip


def _most_telling_first(said: _Said) -> tuple[int, str, str]:
    row = said.of.row
    return (-abs(2 * sum(said.people) - len(said.people)), row.case, row.endpoint)
