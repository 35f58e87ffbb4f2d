"""A whole story on real llama.cpp servers: run, judge, blind reviews, adjudication, audit, report.

The judge and the three reviewers are simulated, with habits of their own; the audit has to find
them. What is true of an answer is decided by its text alone, so that it can be known here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalbot.domain.people import Role, User
from evalbot.domain.reviewing import Purpose
from evalbot.reviewing.adjudication import decide, disputed_answer, disputes_of
from evalbot.reviewing.desk import Desk
from evalbot.reviewing.submitting import Said as SaidByPerson
from evalbot.reviewing.submitting import grade
from evalbot.store.answers import read_answers
from evalbot.store.assignments import read_assignments
from evalbot.store.campaigns import list_campaigns
from evalbot.store.database import Database, open_database
from tests.building import START
from tests.cli.calling import evalbot
from tests.judge_server import JudgeServer, Said
from tests.people import add_people

SCALE = ("correct", "acceptable", "wrong")
CREDIT = {"correct": 1.0, "acceptable": 0.5, "wrong": 0.0}
WEIGHT = {"correct": 0.0, "acceptable": 0.5, "wrong": 1.0}
CASES = 64
BUDGET = 104
PEOPLE = ("annabel", "bobbie", "evelyne")
LEE = User("lee", Role.LEAD, START)

CONFIG = """\
endpoints:
  - name: smollm2
    base_url: {smollm2}
    family: smollm
    sampling: {{temperature: 0, max_tokens: 10}}
  - name: gemma3
    base_url: {gemma3}
    family: gemma
    sampling: {{temperature: 0, max_tokens: 10}}
judges:
  - {{name: strong, model: openai/judge, family: smollm, api_base: {judge}, concurrency: 4}}
"""
RUBRIC = """\
name: facts
version: "1"
title: Facts
scale:
  - {verdict: correct, credit: 1, means: right}
  - {verdict: acceptable, credit: 0.5, means: tolerable}
  - {verdict: wrong, credit: 0, means: not right}
rate:
  name: error_rate
  title: Error rate
  direction: lower
  weights: {correct: 0, acceptable: 0.5, wrong: 1}
auto: {scorer: none}
judge: {instructions: Grade it.}
"""
SUITE = "name: facts\ntitle: Facts\ntask: chat\nrubric: facts\nlanguage: {source: en, target: en}\n"


def chance(*what: object) -> float:
    """A number in [0, 1) that is always the same for the same words."""
    digest = hashlib.sha256(repr(what).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def truth(text: str) -> str:
    """What is true of an answer: half are right, a quarter is tolerable."""
    drawn = chance("truth", text)
    return "correct" if drawn < 0.5 else "acceptable" if drawn < 0.75 else "wrong"


def moved(verdict: str, steps: int) -> str:
    """The verdict so many steps better."""
    return SCALE[max(0, min(len(SCALE) - 1, SCALE.index(verdict) - steps))]


def judge_says(text: str, is_own: bool) -> str:
    """Lenient to all, and more so to its own family."""
    lifted = chance("judge", text) < (0.9 if is_own else 0.25)
    return moved(truth(text), 1) if lifted else truth(text)


def careful(text: str) -> str:
    """Slips now and then."""
    return truth(text) if chance("ann", text) < 0.95 else SCALE[int(3 * chance("slip", text))]


def harsh(text: str) -> str:
    """Every third answer a step lower."""
    return moved(truth(text), -1) if chance("bob", text) < 0.35 else truth(text)


def hurried(text: str) -> str:
    """Every fourth verdict is a guess."""
    return truth(text) if chance("eva", text) < 0.75 else SCALE[int(3 * chance("guess", text))]


def said_of(text: str) -> tuple[str, ...]:
    """What the three say of an answer."""
    return careful(text), harsh(text), hurried(text)


def write_files(folder: Path, **servers: str) -> None:
    (folder / "datasets/facts").mkdir(parents=True)
    (folder / "rubrics").mkdir()
    (folder / "rubrics/facts.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "datasets/facts/suite.yaml").write_text(SUITE, encoding="utf-8")
    cases = [
        json.dumps({"key": f"n{number}", "prompt": f"What comes after {number}?"})
        for number in range(1, CASES + 1)
    ]
    (folder / "datasets/facts/cases.jsonl").write_text("\n".join(cases), encoding="utf-8")
    (folder / "evalbot.yaml").write_text(CONFIG.format(**servers), encoding="utf-8")


def done(folder: Path, *words: str) -> str:
    """Run a command that must succeed; what it printed."""
    result = evalbot(*words, folder=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


def rates(folder: Path, run: str) -> list[dict[str, Any]]:
    """The corrected rates."""
    found: list[dict[str, Any]] = json.loads(
        done(folder, "rates", run, "--layer", "corrected", "--format", "json")
    )
    return found


def review(database: Database, name: str, says: Callable[[str], str]) -> None:
    """Grade everything that this person is given, as the page does; nothing else is seen."""
    user = User(name, Role.REVIEWER, START)
    desk = Desk(database)
    while (item := desk.view(user).item) is not None:
        waiting = [one for one in item.answers if not one.is_graded]
        if not waiting:
            break
        for one in waiting:
            said = SaidByPerson(says(one.text))
            grade(database, user, one.id, said, f"token-{name}-{one.id}")


def adjudicate(database: Database, run: str, folder: Path, texts: Mapping[int, str]) -> int:
    """A lead decides what is true wherever people disagree; how many that were."""
    disputes = [one for one in disputes_of(database, run, folder).open if len(one.people) > 1]
    apart = [one for one in disputes if len({verdict for _, verdict in one.people}) > 1]
    for one in apart:
        seen = disputed_answer(database, run, one.answer_id, folder)
        verdict = truth(texts[one.answer_id])
        decide(database, LEE, run, one.answer_id, verdict, "looked up", seen.last_grade, folder)
    return len(apart)


def test_from_asking_to_the_published_report(tmp_path: Path, smollm2: str, gemma3: str) -> None:
    own: set[str] = set()

    def reply(body: Mapping[str, Any]) -> Said:
        asked = body["messages"][-1]["content"]
        fence = asked.rstrip().rsplit("\n", 1)[1]
        text = asked.split(f"{fence}\n", 1)[1].rsplit(f"\n{fence}", 1)[0]
        word = judge_says(text, text in own)
        return Said(json.dumps({"reason": "as I see it", "checkpoints": [], "verdict": word}))

    with JudgeServer(by=reply) as judge:
        write_files(tmp_path, smollm2=smollm2, gemma3=gemma3, judge=judge.api_base)
        run = done(tmp_path, "run", "facts").strip()
        with open_database("sqlite:///evalbot.db", tmp_path) as database:
            with database.read() as connection:
                answers = list(read_answers(connection, run))
            texts = {id_: one.answer.text for id_, one in answers}
            models = {id_: one.place.endpoint for id_, one in answers}
            assert len(answers) == 2 * CASES
            own.update(text for id_, text in texts.items() if models[id_] == "smollm2")
            done(tmp_path, "judge", run, "--include-truncated")
            add_people(database, lee="lead", **dict.fromkeys(PEOPLE, "reviewer"))
            done(
                tmp_path, "assign", run, "--reviewers", ",".join(PEOPLE), "--policy", "random",
                "--budget", str(BUDGET), "--overlap", "3", "--layout", "single",
            )  # fmt: skip
            for name, says in zip(PEOPLE, (careful, harsh, hurried), strict=True):
                review(database, name, says)
            with database.read() as connection:
                [campaign] = list_campaigns(connection, run)
                given = [one for one in read_assignments(connection, campaign.id)
                         if one.purpose is Purpose.REVIEW]  # fmt: skip
            assert len(given) == 3 * BUDGET
            assert all(one.done_at is not None for one in given)
            undecided = rates(tmp_path, run)
            decided = adjudicate(database, run, tmp_path, texts)
        assert decided > 20

        # The audit finds what was planted.
        audit = json.loads(done(tmp_path, "audit", run, "--names", "--format", "json"))
        [strong] = audit["judges"]
        assert strong["n"] == BUDGET
        assert strong["leniency"]["low"] > 0
        assert strong["leniency"]["under"] == 0
        assert strong["self_preference"]["controlled"] > 0.1
        assert strong["self_preference"]["p"] < 0.05
        reviewers = {one["name"]: one for one in audit["raters"]["reviewers"]}
        annabel, bobbie, evelyne = (reviewers[name] for name in PEOPLE)
        assert bobbie["high"] < 0
        assert bobbie["over"] == 0
        assert abs(annabel["mean"]) < 0.05
        assert annabel["mean_absolute"] < min(bobbie["mean_absolute"], evelyne["mean_absolute"])

        # The judge's own rate is too good; the corrected one covers what is true.
        corrected = rates(tmp_path, run)
        assert len(corrected) == 2
        for row in corrected:
            mine = [WEIGHT[truth(texts[id_])] for id_ in texts if models[id_] == row["model"]]
            true_rate = sum(mine) / len(mine)
            assert row["low"] <= true_rate <= row["high"]
            assert row["judge_rate"] < true_rate
            assert (row["policy"], row["human_n"]) == ("random", BUDGET // 2)
        smollm = next(row for row in corrected if row["model"] == "smollm2")
        assert smollm["judge_rate"] < smollm["low"]
        # Until a lead had decided, three different verdicts on one answer kept it from being said.
        drawn = {one.answer_id for one in given}
        tied = {models[id_] for id_ in drawn if id_ and len(set(said_of(texts[id_]))) == 3}
        assert {row["model"] for row in undecided if row["rate"] is None} == tied

        report = done(tmp_path, "report", run)
        assert "Is the judge right?" in report
        assert "corrected layer (the judge&#x27;s rate, corrected by what people said" in report
        assert not [name for name in PEOPLE if name in report]
