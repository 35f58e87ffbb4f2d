"""answers.jsonl and grades.jsonl of an export, read strictly: all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from evalbot.domain.answers import Answer, AnswerStatus, Place, Timing, Usage
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run
from evalbot.domain.unscored import UNSCORED_REASONS
from evalbot.fingerprint import fingerprint
from evalbot.formats.fields import NOT_NEGATIVE, Bounds, Fields
from evalbot.formats.json_tree import parse_json
from evalbot.formats.problems import Problems, nearest, one_of, shown
from evalbot.formats.tree import Entries
from evalbot.grading.basis import Basis
from evalbot.grading.staleness import Rules
from evalbot.judging.asking import ERROR
from evalbot.judging.grades import REFUSED_REQUEST
from evalbot.judging.identity import Vote, token_of, token_of_error
from evalbot.transfer.head import NUMBER, EarlierRubric, Head
from evalbot.transfer.lines import GradeRecord
from evalbot.transfer.strict import boolean, free, free_list, moment, optional_text

SOURCES = ("server", "client", "none")
PASS = Bounds("1 or 2", at_least=1, at_most=2)
ATTEMPT = Bounds("a whole number from 1 to 2147483647", at_least=1, at_most=2**31 - 1)


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The answer a line speaks of."""

    place: Place
    attempt: int


class LineReader:
    """Reads the lines of one run; what is wrong is noted in problems."""

    def __init__(self, head: Head, problems: Problems) -> None:
        run = head.run
        self._run = run
        self._problems = problems
        self._endpoints = {endpoint.name: endpoint for endpoint in run.endpoints}
        self._rules = Rules.of(Basis(run.suite, run.rubric))
        self._known_cases = {
            *self._rules.cases.values(),
            *(fingerprint(body) for body in head.cases),
        }
        self._rubrics = dict(_by_line(head.rubrics))
        self._replies: Counter[str] = Counter()

    def answers(self, text: str, file: str) -> list[RecordedAnswer]:
        """The answers of answers.jsonl."""
        found: list[RecordedAnswer] = []
        lines: dict[Whereabouts, int] = {}
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            where = self._whereabouts(fields)
            found.append(self._answer(fields, where))
            fields.finish()
            first = lines.setdefault(where, entries.line)
            if first != entries.line:
                expected = "each attempt once"
                fields.fault("attempt", f"{where.attempt}, which line {first} has", expected)
        return found

    def grades(self, text: str, file: str, answers: Container[Whereabouts]) -> list[GradeRecord]:
        """The grades of grades.jsonl, each said about one of the answers."""
        found = []
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            where = self._whereabouts(fields)
            if where not in answers:
                expected = "an attempt that answers.jsonl has"
                fields.fault("attempt", str(where.attempt), expected)
            grade = self._with_token(self._grade(fields, entries.line), where)
            self._check_stale(fields, where.place.case, grade)
            found.append(GradeRecord(where.place, where.attempt, grade))
            fields.finish()
        return found

    def _whereabouts(self, fields: Fields) -> Whereabouts:
        run = self._run
        if fields.text("suite") != run.suite.name:
            fields.fault("suite", "another suite", f"{shown(run.suite.name)}, the run's")
        return Whereabouts(
            Place(
                case=_known(fields, "case", run.questions),
                endpoint=_known(fields, "model", self._endpoints),
                repeat=fields.integer("repeat", _up_to(run), 1),
                pass_=fields.integer("pass", PASS, 1),
            ),
            attempt=fields.integer("attempt", ATTEMPT, 1),
        )

    def _answer(self, fields: Fields, where: Whereabouts) -> RecordedAnswer:
        endpoint = self._endpoints.get(where.place.endpoint)
        return RecordedAnswer(
            place=where.place,
            attempt=where.attempt,
            question_fingerprint=fields.text("case_fingerprint"),
            model_fingerprint=endpoint.model_fingerprint if endpoint else None,
            answer=Answer(
                status=AnswerStatus(fields.choice("status", list(AnswerStatus))),
                text=fields.text_or_blank("text"),
                reasoning=fields.text_or_blank("reasoning"),
                raw=fields.text_or_blank("raw"),
                started_at=moment(fields, "started_at"),
                finish_reason=optional_text(fields, "finish_reason"),
                error_detail=optional_text(fields, "error_detail"),
                usage=Usage(
                    fields.integer("prompt_tokens", NUMBER),
                    fields.integer("cached_tokens", NUMBER),
                    fields.integer("completion_tokens", NUMBER),
                ),
                timing=Timing(
                    fields.number("ttfr_ms", NOT_NEGATIVE),
                    fields.number("ttft_ms", NOT_NEGATIVE),
                    fields.number("ttfot_ms", NOT_NEGATIVE),
                    fields.number("total_ms", NOT_NEGATIVE),
                    fields.number("prefill_tps", NOT_NEGATIVE),
                    fields.number("decode_tps", NOT_NEGATIVE),
                    fields.choice("timing_source", SOURCES),
                ),
            ),
        )

    def _grade(self, fields: Fields, line: int) -> NewGrade:
        layer = fields.choice("layer", list(Layer))
        verdict = optional_text(fields, "verdict")
        reason = optional_text(fields, "unscored_reason")
        if (verdict is None) == (reason is None):
            found = "neither" if verdict is None else "both"
            fields.fault("verdict", found, "either a verdict or an unscored_reason")
        if reason is not None and reason not in UNSCORED_REASONS:
            fields.fault("unscored_reason", shown(reason), one_of(UNSCORED_REASONS, reason))
        grade = NewGrade(
            layer=layer,
            grader=fields.name("grader"),
            grader_family=optional_text(fields, "grader_family"),
            verdict=verdict,
            unscored_reason=reason,
            rubric=fields.text("rubric"),
            rubric_version=fields.text("rubric_version"),
            rubric_fingerprint=self._rubrics.get(line, self._rules.layers[layer]),
            case_fingerprint=fields.text("case_fingerprint"),
            at=moment(fields, "at"),
            evidence=free(fields, "evidence") if fields.has("evidence") else None,
            rationale=optional_text(fields, "rationale"),
            checkpoints=free_list(fields, "checkpoints"),
            comment=optional_text(fields, "comment"),
            vote=fields.integer("vote", ATTEMPT),
            entropy=fields.number("entropy", NOT_NEGATIVE),
            campaign=optional_text(fields, "campaign"),
            seen=free_list(fields, "seen"),
            params=free(fields, "params") if fields.has("params") else None,
            cost_usd=fields.number("cost_usd", NOT_NEGATIVE),
            prompt_fingerprint=optional_text(fields, "prompt_fingerprint"),
        )
        if grade.case_fingerprint not in self._known_cases:
            expected = "the fingerprint of a case in suite/, or of an earlier rule in run.json"
            fields.fault("case_fingerprint", shown(grade.case_fingerprint), expected)
        return grade

    def _with_token(self, grade: NewGrade, where: Whereabouts) -> NewGrade:
        """A judge's reply keeps its name, so that it is never asked for again here either."""
        judge = (grade.params or {}).get("judge")
        sheet = grade.prompt_fingerprint
        if grade.vote is None or not isinstance(judge, str) or sheet is None:
            return grade
        vote = Vote(
            judge=judge,
            sheet=sheet,
            rubric=grade.rubric_fingerprint,
            case=grade.case_fingerprint,
            run=self._run.id,
            place=where.place,
            attempt=where.attempt,
            number=grade.vote,
        )
        if grade.unscored_reason == ERROR and not (grade.evidence or {}).get(REFUSED_REQUEST):
            when = f"{grade.at.timestamp():.6f}"
            return grade._replace(token=token_of_error(vote.identity, when))
        token = token_of(vote.identity, self._replies[vote.identity])
        self._replies[vote.identity] += 1
        return grade._replace(token=token)

    def _check_stale(self, fields: Fields, case: str, grade: NewGrade) -> None:
        said = boolean(fields, "stale")
        if case in self._rules.cases and said != self._rules.is_stale(case, grade):
            found = "true" if said else "false"
            fields.fault("stale", found, "what the rubric, the suite and run.json tell")


def json_objects(text: str, file: str, problems: Problems) -> Iterator[Entries]:
    """The objects of the lines, one after the other: a large file's trees never all at once."""
    for number, line in enumerate(text.split("\n"), start=1):
        node = parse_json(line, file, number, problems) if line else None
        if isinstance(node, Entries):
            yield node
        elif node is not None:
            problems.add(f"{file}:{number}", "", shown(line), "a JSON object a line")


def _by_line(rubrics: tuple[EarlierRubric, ...]) -> list[tuple[int, str]]:
    return [
        (line, name)
        for rubric in rubrics
        for name in [fingerprint(rubric.body)]
        for first, last in rubric.grades
        for line in range(first, last + 1)
    ]


def _known(fields: Fields, name: str, known: Mapping[str, object]) -> str:
    word = fields.text(name)
    if word and word not in known:
        close = nearest(word, known)
        hint = f" (did you mean {close}?)" if close else ""
        fields.fault(name, shown(word), f"a {name} of the run{hint}")
    return word


def _up_to(run: Run) -> Bounds:
    return Bounds(f"a whole number from 1 to {run.repeats}", at_least=1, at_most=run.repeats)
