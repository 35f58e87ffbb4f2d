"""The lines of held.jsonl: answers that name a model, and what a lead decided about each."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from evalbot.domain.reviewing import Held
from evalbot.formats.fields import Fields
from evalbot.formats.problems import Problems, shown
from evalbot.reviewing.holding import MASKED, RELEASED
from evalbot.store.columns import time_text
from evalbot.transfer.head import Head
from evalbot.transfer.lines import Line
from evalbot.transfer.people import People
from evalbot.transfer.reading import Whereabouts, json_objects
from evalbot.transfer.refs import RefReader, ref_values
from evalbot.transfer.strict import optional_moment, optional_text


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A held answer by its place; the row in held means nothing."""

    held: Held
    answer: Whereabouts


def held_record(held: Held, answer: Whereabouts, people: People) -> HeldRecord:
    """A held answer as it may leave the house."""
    by = None if held.by is None else people.name(held.by)
    return HeldRecord(held._replace(answer_id=0, by=by), answer)


def held_line(record: HeldRecord) -> Line:
    """A held answer as its JSON object; shown: its text with the names covered."""
    held = record.held
    return {
        **ref_values(record.answer.place.case, record.answer),
        "names": list(held.names),
        "decision": held.decision,
        "shown": held.shown,
        "by": held.by,
        "at": None if held.at is None else time_text(held.at),
    }


class HeldReader:
    """Reads held.jsonl of one run."""

    def __init__(self, head: Head, answers: Container[Whereabouts], problems: Problems) -> None:
        self._refs = RefReader(head.run, answers)
        self._problems = problems

    def held(self, text: str, file: str) -> list[HeldRecord]:
        """The held answers in their order."""
        found: dict[Whereabouts, HeldRecord] = {}
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            answer = self._refs.needed_answer(fields)
            held = _held(fields)
            fields.finish()
            if answer is None:
                continue
            if answer in found:
                fields.fault("model", shown(answer.place.endpoint), "each answer once")
            found[answer] = HeldRecord(held, answer)
        return list(found.values())


def _held(fields: Fields) -> Held:
    names = fields.texts("names")
    if not names:
        fields.fault("names", "nothing", "the names that the answer tells")
    decision = fields.choice("decision", (RELEASED, MASKED)) if fields.has("decision") else None
    held = Held(
        answer_id=0,
        names=names,
        decision=decision,
        shown=optional_text(fields, "shown"),
        by=fields.name("by") if fields.has("by") else None,
        at=optional_moment(fields, "at"),
    )
    if (held.shown is None) == (decision == MASKED):
        fields.fault("shown", "null" if held.shown is None else "a text", "a text where masked")
    for name, value in (("by", held.by), ("at", held.at)):
        if (value is None) != (decision is None):
            fields.fault(name, str(value or "null"), "who decided and when, or null twice")
    return held
