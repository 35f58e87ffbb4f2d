"""Votes as requests of a batch, and back: everything a grade needs is kept with the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from evalbot.domain.answers import Place, Usage
from evalbot.domain.batches import Batch, BatchResult
from evalbot.domain.judging import JudgeReading
from evalbot.domain.settings import JudgeSettings
from evalbot.judging.asking import ERROR, Judgement, read_reply
from evalbot.judging.docket import ShelvedSheet, Task
from evalbot.judging.grades import GradeForm
from evalbot.judging.identity import Vote, token_of_error
from evalbot.judging.prompt import JudgePrompt, JudgeSheet, Presentation, sheet_from
from evalbot.judging.voting import Judged
from evalbot.store.batches import BatchItem, texts_of_answers
from evalbot.store.database import Connection
from evalbot.store.texts import get_texts

NO_RESULT = "the batch ended without a result for this request"


class Intended(NamedTuple):
    """A request of a batch with what it is about, read back from the record."""

    item: BatchItem
    vote: Vote
    earlier: int
    shelved: ShelvedSheet
    answer: str

    @property
    def prompt(self) -> JudgePrompt:
        """What is sent; the random mark is another one each time."""
        return self.shelved.sheet.prompt(self.answer)


def item_of(custom_id: str, task: Task, rubric_version: str) -> BatchItem:
    """A task as it is written down before it is sent."""
    presentation = task.shelved.presentation
    return BatchItem(
        custom_id,
        task.answer.id,
        task.vote.identity,
        {
            **task.vote._asdict(),
            "place": list(task.vote.place),
            "earlier": task.earlier,
            "rubric_version": rubric_version,
            "seed": presentation.seed,
            "reversed_scale": presentation.reversed_scale,
        },
    )


def intended(connection: Connection, items: Iterable[BatchItem]) -> dict[str, Intended]:
    """By our ids, what was meant to be sent: as it was when the batch was written down."""
    listed = list(items)
    texts = get_texts(connection, [item.vote["sheet"] for item in listed])
    sheets = {name: sheet_from(text) for name, text in texts.items()}
    answers = texts_of_answers(connection, [item.answer_id for item in listed])
    return {
        item.custom_id: _intended(item, sheets[item.vote["sheet"]], answers[item.answer_id])
        for item in listed
    }


def judged_of(
    form: GradeForm, judge: JudgeSettings, batch: Batch, meant: Intended, result: BatchResult
) -> tuple[Judged, Judgement]:
    """What a result is written as; an error is no reply, and unscored as one."""
    judgement = _judgement(batch.params, meant, result)
    asked = replace(judge, model=batch.params["model"])
    grade = form.vote(asked, meant.vote, meant.shelved, meant.earlier, judgement)
    grade = grade._replace(rubric_version=meant.item.vote["rubric_version"])
    if judgement.reading.unscored_reason == ERROR:
        # The same whenever it is fetched: an error is written down once.
        grade = grade._replace(token=token_of_error(meant.vote.identity, batch.id))
    judged = Judged(meant.item.answer_id, meant.vote.case, meant.shelved, [grade], False)
    return judged, judgement


def _intended(item: BatchItem, sheet: JudgeSheet, answer: str) -> Intended:
    said = item.vote
    vote = Vote(
        judge=said["judge"],
        sheet=said["sheet"],
        rubric=said["rubric"],
        case=said["case"],
        run=said["run"],
        place=Place(*said["place"]),
        attempt=said["attempt"],
        number=said["number"],
    )
    presentation = Presentation(said["seed"], said["reversed_scale"])
    return Intended(
        item, vote, said["earlier"], ShelvedSheet(sheet, vote.sheet, presentation, 0, 0), answer
    )


def _judgement(params: Mapping[str, Any], meant: Intended, result: BatchResult) -> Judgement:
    reply = result.reply
    if reply is None:
        reading = JudgeReading(None, ERROR, detail=result.error)
    else:
        reading = read_reply(reply, meant.prompt, meant.answer)
    return Judgement(
        reading=reading,
        raw="" if reply is None else reply.text,
        params={**params["sent"], "batch": True},
        dropped=tuple(params["dropped"]),
        replies=0 if reply is None else 1,
        usage=Usage() if reply is None else reply.usage,
        cost_usd=None if reply is None else reply.cost_usd,
        latency_s=None,
        provider_failed=reply is None,
    )
