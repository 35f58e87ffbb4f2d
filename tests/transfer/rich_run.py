"""A run with everything an export has to carry, and things that it must not carry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from evalbot.domain.answers import Answer, AnswerStatus, Place, Retry, Timing, Usage
from evalbot.domain.rubrics import Layer, Rubric
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.fingerprint import fingerprint
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.grading.automatic import AutoGrader
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Database
from evalbot.store.grades import GradeWriter
from evalbot.store.texts import put_texts

from .site import Site

RUN = "s-20250131-abcdef"
START = datetime(2025, 1, 31, 18, 0, 0, 123456, tzinfo=UTC)
CANARIES = ("canary-host", "10.9.8.7", "/secret-home", "sk-canary", "canary-password")

ENDPOINTS = (
    RunEndpoint(
        name="zeta",
        settings={
            "name": "zeta",
            "model": "/secret-home/models/zeta.gguf",
            "sampling": {"temperature": 0.0, "max_tokens": 64, "seed": 1},
            "thinking": "off",
            "extra_body": {
                "api_key": "canary-password",
                "proxy": "http://canary-host:1/",
                "header": "Bearer sk-canary-0123456789",
            },
        },
        settings_fingerprint=fingerprint("zeta"),
        family="z",
        quantisation="Q8_0",
        hardware="two-hosts",
        model_id="/secret-home/models/zeta.gguf",
        model_fingerprint=fingerprint("model"),
        slots=2,
        slot_context=4096,
        concurrency=2,
    ),
    RunEndpoint(
        "alpha",
        {"name": "alpha"},
        fingerprint("alpha"),
        stopped_reason="canary-host:8080 is gone (10.9.8.7)",
    ),
)


def answer(text: str, status: AnswerStatus = AnswerStatus.OK, detail: str | None = None) -> Answer:
    return Answer(
        status=status,
        text=text,
        reasoning="hm\u2028\n",
        raw=f"<think>hm</think>{text}",
        started_at=START + timedelta(seconds=1),
        finish_reason="stop",
        error_detail=detail,
        usage=Usage(12, 0, 5),
        timing=Timing(1.5, 2.25, 3.0, 1e-05, None, 41.123456789012345, "server"),
        retries=(Retry(AnswerStatus.CONNECTION, "http://canary-host/", 1.0),),
    )


def answers_of(run: Run) -> list[RecordedAnswer]:
    """Out of order, with earlier attempts, a second pass and failures."""
    broken = "Cannot connect to host canary-host:80 [10.9.8.7]; see '/secret-home/log'"
    said = [
        (Place("q2", "zeta"), 1, answer("a2")),
        (Place("q1", "zeta"), 1, answer("", AnswerStatus.CONNECTION, broken)),
        (Place("q1", "zeta"), 2, answer("a1")),
        (Place("q1", "zeta", 2), 1, answer("=東京駅で待つ")),
        (Place("q1", "zeta", 1, 2), 1, answer("a1")),
        (Place("q3", "alpha"), 1, answer("'-はい")),
    ]
    return [
        RecordedAnswer(place, attempt, one, run.questions[place.case], fingerprint("model"))
        for place, attempt, one in said
    ]


def write_rich_run(site: Site, database: Database) -> None:
    """Put the run into the record, graded in all layers by today's files."""
    suite = read_suite(site.folder / "datasets" / "s")
    rubric = read_rubric(site.folder / "rubrics" / "r.yaml")
    run = Run(
        id=RUN,
        suite=suite,
        rubric=rubric,
        questions={case.key: suite.question_fingerprint(case) for case in suite.cases},
        state=RunState.FINISHED,
        repeats=2,
        started_at=START,
        finished_at=START + timedelta(hours=1),
        label="東京",
        endpoints=ENDPOINTS,
        version="0.0.9",
        settings={"limit": None, "tags": ["x"]},
    )
    grader = AutoGrader(suite, rubric)
    answers = answers_of(run)
    with database.write() as connection:
        runs.create_run(connection, run)
        put_texts(connection, "case_rule", grader.case_texts)
        put_texts(connection, "rubric_rule", [rubric.text_for(layer) for layer in Layer])
        ids = add_answers(connection, run.id, answers)
        writer = GradeWriter(connection)
        for row, one in zip(ids, answers, strict=True):
            auto = grader.grade(one.place.case, one.answer.status, one.answer.text)
            case = suite.grading_fingerprint(suite.cases[int(one.place.case[1]) - 1])
            writer.add([(row, auto)])
            writer.add([(row, grade) for grade in spoken(rubric, case)])


def spoken(rubric: Rubric, case: str) -> list[NewGrade]:
    """What judges and people say of each answer."""

    def grade(
        layer: Layer, grader: str, verdict: str | None, reason: str | None = None
    ) -> NewGrade:
        return NewGrade(
            layer=str(layer),
            grader=grader,
            grader_family="claude" if layer is Layer.JUDGE else None,
            verdict=verdict,
            unscored_reason=reason,
            rubric=rubric.name,
            rubric_version=rubric.version,
            rubric_fingerprint=rubric.fingerprint_for(layer),
            case_fingerprint=case,
            at=START,
            evidence={"flags": ["injection"], "ratio": 98.5, "n": 1, "x": None, "deep": [True]},
            rationale="because\nof that",
            token=None,
        )

    vote = grade(Layer.JUDGE, "strong#1", None, "judge_error")._replace(
        evidence={"detail": "Cannot connect to http://canary-host:1", "flags": []},
        vote=1,
        params={"judge": "f" * 32, "model": "/secret-home/judge.gguf", "dropped": ["seed"]},
        prompt_fingerprint="e" * 32,
    )
    return [
        vote,
        vote._replace(
            verdict="worst",
            unscored_reason=None,
            evidence={"flags": ["quote_missing"], "latency_s": 0.25},
            checkpoints=[{"id": "c1", "met": None, "quote": None}],
            cost_usd=1e-05,
        ),
        grade(Layer.JUDGE, "strong", "worst")._replace(entropy=0.9182958340544896),
        grade(Layer.HUMAN, "Ann Canary", "best")._replace(
            comment="=hm\n", campaign="c-1", seen=["judge"]
        ),
        grade(Layer.HUMAN, "Bob Canary", None, "cannot_judge"),
        grade(Layer.ADJUDICATED, "Ann Canary", "middle"),
    ]
