"""The same models asked the same questions again: what has changed?"""

from __future__ import annotations

from dataclasses import dataclass

from evalbot.auditing.gathering import AuditedAnswer, Gathered
from evalbot.auditing.scores import judge_meant
from evalbot.domain.rubrics import Layer
from evalbot.grading.effective import PANEL
from evalbot.store.answers import texts_of
from evalbot.store.database import Connection
from evalbot.store.judging import judges_used


@dataclass(frozen=True, slots=True)
class Changed:
    """An answer of a retest whose verdict is another one; before, after: what was said."""

    case: str
    model: str
    repeat: int
    before: str
    after: str
    verdict_before: str
    verdict_after: str


def same_questions(before: Gathered, after: Gathered) -> frozenset[str]:
    """Keys of the cases that both runs asked in the same words, and are graded by the same."""
    asked, again = before.runs[0].questions, after.runs[0].questions
    rules = [
        {case.key: suite.grading_fingerprint(case) for case in suite.cases}
        for suite in (before.basis.suite, after.basis.suite)
    ]
    return frozenset(
        key
        for key, question in asked.items()
        if again.get(key) == question and rules[0][key] == rules[1][key]
    )


def other_judges(
    connection: Connection, before: Gathered, after: Gathered, judge: str | None
) -> str | None:
    """In words, that the runs were not judged alike; judge: the only one that is looked at."""
    used = [
        [
            one
            for one in judges_used(connection, part.runs[0].id)
            if one.name != PANEL and judge in (None, PANEL, one.name)
        ]
        for part in (before, after)
    ]
    if used[0] == used[1]:
        return None
    names = [", ".join(dict.fromkeys(one.name for one in own)) or "nobody" for own in used]
    who = (
        f"judged with other settings of {names[0]} in the two runs"
        if names[0] == names[1]
        else f"judged by {names[0]} before, and by {names[1]} after"
    )
    return f"{who}: a change may be the judges', not the models'"


def changed_answers(
    connection: Connection,
    before: Gathered,
    after: Gathered,
    layer: Layer,
    judge: str | None,
) -> list[Changed]:
    """The answers whose verdict is another one than before, by case, with both texts."""
    same = same_questions(before, after)
    later = {(one.row.endpoint, one.row.case, one.row.repeat): one for one in after.answers}
    judges = judge_meant(before, judge), judge_meant(after, judge)
    found: list[tuple[AuditedAnswer, AuditedAnswer]] = []
    for one in before.answers:
        other = later.get((one.row.endpoint, one.row.case, one.row.repeat))
        if other is None or one.row.case not in same:
            continue
        said, says = one.word(layer, judges[0]), other.word(layer, judges[1])
        if not said.stale and not says.stale and _differ(said.verdict, says.verdict):
            found.append((one, other))
    ids = [answer.row.id for pair in found for answer in pair]
    texts = {id_: text for id_, _, text in texts_of(connection, ids)}
    order = {case.key: place for place, case in enumerate(before.basis.suite.cases)}
    made = [
        Changed(
            case=one.row.case,
            model=one.row.endpoint,
            repeat=one.row.repeat,
            before=texts[one.row.id],
            after=texts[other.row.id],
            verdict_before=str(one.word(layer, judges[0]).verdict),
            verdict_after=str(other.word(layer, judges[1]).verdict),
        )
        for one, other in found
    ]
    return sorted(made, key=lambda one: (order[one.case], one.model, one.repeat))


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
