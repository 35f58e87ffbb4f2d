"""How a line says which answer it speaks of: by its place, never by a row of the record."""

from __future__ import annotations

from collections.abc import Container, Mapping

from evalbot.domain.answers import Place
from evalbot.domain.runs import Run
from evalbot.formats.fields import Fields
from evalbot.formats.problems import nearest, shown
from evalbot.transfer.lines import Line
from evalbot.transfer.reading import ATTEMPT, PASS, Whereabouts


def ref_values(case: str, where: Whereabouts | None) -> Line:
    """The fields that name a case and, where one is meant, an answer to it."""
    return {
        "case": case,
        "model": None if where is None else where.place.endpoint,
        "repeat": None if where is None else where.place.repeat,
        "pass": None if where is None else where.place.pass_,
        "attempt": None if where is None else where.attempt,
    }


class RefReader:
    """Reads those fields; what is not there in the run is noted."""

    def __init__(self, run: Run, answers: Container[Whereabouts]) -> None:
        self._cases: Mapping[str, str] = run.questions
        self._answers = answers

    def case(self, fields: Fields) -> str:
        """The case, which the run must have."""
        key = fields.text("case")
        if key and key not in self._cases:
            close = nearest(key, self._cases)
            hint = f" (did you mean {close}?)" if close else ""
            fields.fault("case", shown(key), f"a case of the run{hint}")
        return key

    def answer(self, fields: Fields, case: str) -> Whereabouts | None:
        """The answer, which answers.jsonl must have; None where no model is named."""
        model = fields.text("model") if fields.has("model") else None
        repeat, attempt = fields.integer("repeat", ATTEMPT), fields.integer("attempt", ATTEMPT)
        pass_ = fields.integer("pass", PASS)
        if model is None:
            for name, value in (("repeat", repeat), ("pass", pass_), ("attempt", attempt)):
                if value is not None:
                    fields.fault(name, str(value), "null, as no model is named")
            return None
        for name, value in (("repeat", repeat), ("pass", pass_), ("attempt", attempt)):
            if value is None:
                fields.require(name, "a whole number, as a model is named")
        where = Whereabouts(Place(case, model, repeat or 1, pass_ or 1), attempt or 1)
        if where not in self._answers:
            fields.fault("model", shown(model), "an attempt that answers.jsonl has")
        return where

    def needed_answer(self, fields: Fields) -> Whereabouts | None:
        """The answer of a line that must name one."""
        fields.require("model", "the model whose answer is meant")
        return self.answer(fields, self.case(fields))


class RunOrder:
    """The order of answers in every export: not the database's, which sort texts differently."""

    def __init__(self, run: Run) -> None:
        self._cases = {case: at for at, case in enumerate(run.questions)}
        self._endpoints = {endpoint.name: at for at, endpoint in enumerate(run.endpoints)}

    def key(self, where: Whereabouts | str) -> tuple[int, ...]:
        """Sorts answers, and cases that stand for all their answers."""
        if isinstance(where, str):
            return (self._cases[where],)
        place = where.place
        case, endpoint = self._cases[place.case], self._endpoints[place.endpoint]
        return (endpoint, case, place.repeat, place.pass_, where.attempt)
