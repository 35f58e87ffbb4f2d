"""A record that is judged and reviewed throughout, for what measures audits."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.served import PASSWORD
from evalbot.domain.answers import Answer, AnswerStatus, Place, Timing
from evalbot.domain.people import Role, User
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.formats.catalogue import find_rubric, find_suite
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.grading.automatic import AutoGrader
from evalbot.reviewing.users import hash_password
from evalbot.store import people, runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Database
from evalbot.store.grades import GradeWriter
from evalbot.store.texts import put_texts

MODELS, JUDGES, PEOPLE = 6, ("strong", "other"), ("ann", "bob", "eva")
RUN, LEAD = "bench-run", "lee"
HOURS = "一二三四五六七八九十"


def fill(database: Database, folder: Path) -> None:
    """A run over this folder's suite, every answer graded by all, and a lead to look at it."""
    suite = read_suite(find_suite("bench", folder))
    now = datetime.now(UTC)
    run = Run(
        id=RUN,
        suite=suite,
        rubric=read_rubric(find_rubric("translation", folder)),
        questions={one.key: suite.question_fingerprint(one) for one in suite.cases},
        state=RunState.FINISHED,
        repeats=1,
        started_at=now,
        endpoints=tuple(
            RunEndpoint(f"m{n}", {}, f"f{n}", family=f"family{n % 3}") for n in range(MODELS)
        ),
    )
    chance = random.Random(1)
    grader = AutoGrader(suite, run.rubric)
    with database.write() as connection:
        runs.create_run(connection, run)
        rules = [run.rubric.text_for(layer) for layer in Layer]
        put_texts(connection, "rubric_rule", [grader.rubric_text, *rules])
        put_texts(connection, "case_rule", grader.case_texts)
        people.add_user(connection, User(LEAD, Role.LEAD, now), hash_password(PASSWORD))
        writer = GradeWriter(connection)
        for number, endpoint in enumerate(run.endpoints):
            answers = [_answer(run, one.key, endpoint.name, number, chance) for one in suite.cases]
            ids = add_answers(connection, run.id, answers)
            auto = [grader.grade(a.place.case, a.answer.status, a.answer.text) for a in answers]
            writer.add(list(zip(ids, auto, strict=True)))
            keys = [one.key for one in suite.cases]
            for grades in _grades(run, keys, number, chance):
                writer.add(list(zip(ids, grades, strict=True)))


def _answer(run: Run, case: str, model: str, number: int, chance: random.Random) -> RecordedAnswer:
    text = f"会议{'将' * chance.randrange(3)}在周五上午{chance.choice(HOURS)}点开始。"
    speed = 20.0 * (number + 1)
    timing = Timing(ttfot_ms=9_000 / speed, total_ms=90_000 / speed, decode_tps=speed,
                    source="server")  # fmt: skip
    answer = Answer(AnswerStatus.OK, text, "", text, run.started_at, timing=timing)
    return RecordedAnswer(Place(case, model), 1, answer, run.questions[case])


def _grades(
    run: Run, cases: Sequence[str], number: int, chance: random.Random
) -> Iterator[list[NewGrade]]:
    """What each judge and person says of one model's answers: mostly the same."""
    scale = run.rubric.verdicts
    truth = [
        chance.choice(scale[: 1 + (number + place) % len(scale)]) for place in range(len(cases))
    ]
    prints = {
        case.key: run.suite.grading_fingerprint(case) for case in run.suite.cases
    }  # once: it is the slow part
    graders = [(Layer.JUDGE, name) for name in JUDGES] + [(Layer.HUMAN, name) for name in PEOPLE]
    for layer, name in graders:
        rule = run.rubric.fingerprint_for(layer)
        yield [
            NewGrade(
                layer=str(layer),
                grader=name,
                verdict=right if chance.random() < 0.8 else chance.choice(scale),
                unscored_reason=None,
                rubric=run.rubric.name,
                rubric_version=run.rubric.version,
                rubric_fingerprint=rule,
                case_fingerprint=prints[case],
                at=run.started_at,
                rationale="The sense is kept; one word is free." if layer is Layer.JUDGE else None,
                grader_family=f"family{JUDGES.index(name)}" if layer is Layer.JUDGE else None,
            )
            for case, right in zip(cases, truth, strict=True)
        ]
