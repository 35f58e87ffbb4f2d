"""The lines of probes.jsonl, written and read back."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from evalbot.domain.answers import Place
from evalbot.domain.probes import Probe
from evalbot.domain.unscored import UNSCORED_REASONS
from evalbot.formats.fields import NOT_NEGATIVE, Fields
from evalbot.formats.problems import Problems, one_of, shown
from evalbot.judging.variations import ProbeKind
from evalbot.store.columns import time_text
from evalbot.store.probes import StoredProbe
from evalbot.transfer.head import Head
from evalbot.transfer.lines import Line, masked_evidence, masked_params
from evalbot.transfer.masking import Mask
from evalbot.transfer.reading import ATTEMPT, PASS, Whereabouts, json_objects
from evalbot.transfer.strict import free, moment, optional_text


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """A probe with the answers it speaks of, by their place instead of their row."""

    probe: Probe
    answer: Whereabouts | None
    other: Whereabouts | None


def probe_line(stored: StoredProbe, mask: Mask) -> Line:
    """A probe as its JSON object; model and repeat are null where no model's answer was shown."""
    probe, answer, other = stored
    return {
        "judge": probe.judge,
        "kind": probe.kind,
        "case": probe.case,
        "model": None if answer is None else answer.place.endpoint,
        "repeat": None if answer is None else answer.place.repeat,
        "pass": None if answer is None else answer.place.pass_,
        "attempt": None if answer is None else answer.attempt,
        "other_model": None if other is None else other.place.endpoint,
        "other_attempt": None if other is None else other.attempt,
        "before": probe.before,
        "after": probe.after,
        "unscored_reason": probe.unscored_reason,
        "evidence": masked_evidence(probe.evidence, mask),
        "params": masked_params(probe.params, mask),
        "cost_usd": probe.cost_usd,
        "prompt_fingerprint": probe.prompt_fingerprint,
        "rubric_fingerprint": probe.rubric_fingerprint,
        "token": probe.token,
        "at": time_text(probe.at),
    }


class ProbeReader:
    """Reads the lines of one run; what is wrong is noted in problems."""

    def __init__(self, head: Head, answers: Container[Whereabouts], problems: Problems) -> None:
        self._cases = head.run.questions
        self._answers = answers
        self._problems = problems

    def probes(self, text: str, file: str) -> list[ProbeRecord]:
        """The probes of probes.jsonl."""
        found = []
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            found.append(self._record(fields))
            fields.finish()
        return found

    def _record(self, fields: Fields) -> ProbeRecord:
        case = fields.text("case")
        if case not in self._cases:
            fields.fault("case", shown(case), "a case of the run")
        answer = self._answer(fields, case, "model", "attempt")
        other = self._answer(fields, case, "other_model", "other_attempt")
        reason = optional_text(fields, "unscored_reason")
        after = optional_text(fields, "after")
        if reason is not None and reason not in UNSCORED_REASONS:
            fields.fault("unscored_reason", shown(reason), one_of(UNSCORED_REASONS, reason))
        if (after is None) == (reason is None):
            found = "neither" if after is None else "both"
            fields.fault("after", found, "either a verdict or an unscored_reason")
        probe = Probe(
            judge=fields.name("judge"),
            kind=fields.choice("kind", list(ProbeKind)),
            case=case,
            answer_id=None,
            other_id=None,
            before=fields.text_or_blank("before"),
            after=after,
            unscored_reason=reason,
            rubric_fingerprint=fields.text("rubric_fingerprint"),
            params=free(fields, "params"),
            evidence=free(fields, "evidence") if fields.has("evidence") else None,
            cost_usd=fields.number("cost_usd", NOT_NEGATIVE),
            prompt_fingerprint=optional_text(fields, "prompt_fingerprint"),
            token=fields.text("token"),
            at=moment(fields, "at"),
        )
        return ProbeRecord(probe, answer, other)

    def _answer(self, fields: Fields, case: str, model: str, attempt: str) -> Whereabouts | None:
        repeat, pass_ = fields.integer("repeat", ATTEMPT), fields.integer("pass", PASS)
        name, number = optional_text(fields, model), fields.integer(attempt, ATTEMPT)
        if name is None:
            return None
        where = Whereabouts(Place(case, name, repeat or 1, pass_ or 1), number or 1)
        if where not in self._answers:
            fields.fault(model, shown(name), "an attempt that answers.jsonl has")
        return where
