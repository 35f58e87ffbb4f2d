"""The shipped suites hold against their own rubric: references right, traps wrong."""

import re
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case, Suite
from evalbot.domain.rubrics import Rubric
from evalbot.formats.catalogue import find_rubric, list_rubrics, list_suites, shipped_folder
from evalbot.formats.rubrics import read_rubric
from evalbot.formats.suites import read_suite
from evalbot.scoring.normalise import Folder
from evalbot.scoring.scorer import Scorer

NOWHERE = Path("/nonexistent")
SUITES = {name: read_suite(path) for name, path in list_suites(NOWHERE).items()}
RUBRICS = {name: read_rubric(path) for name, path in list_rubrics(NOWHERE).items()}
TRANSLATION = SUITES["translation"]
HALLUCINATION = SUITES["hallucination"]


def rubric_of(suite: Suite) -> Rubric:
    return read_rubric(find_rubric(suite.rubric, NOWHERE))


def verdict(suite: Suite, case: Case, text: str) -> str | None:
    grade = Scorer(rubric_of(suite), suite).grade(case.key, AnswerStatus.OK, text)
    return grade.verdict or grade.unscored_reason


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_every_reference_is_correct(suite: Suite) -> None:
    top = rubric_of(suite).scale[0].verdict
    wrong = {
        (case.key, text): verdict(suite, case, text)
        for case in suite.cases
        for text in case.references
        if verdict(suite, case, text) != top
    }
    assert wrong == {}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_every_trap_is_wrong(suite: Suite) -> None:
    lowest = rubric_of(suite).scale[-1].verdict
    missed = {
        (case.key, text): verdict(suite, case, text)
        for case in suite.cases
        for text in case.traps
        if verdict(suite, case, text) != lowest
    }
    assert missed == {}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_every_acceptable_text_is_acceptable_or_left_for_review(suite: Suite) -> None:
    missed = {
        (case.key, text): verdict(suite, case, text)
        for case in suite.cases
        for text in case.acceptable
        if verdict(suite, case, text) not in ("acceptable", "needs_review")
    }
    assert missed == {}


def test_the_translation_suite_is_large_and_varied() -> None:
    assert len(TRANSLATION.cases) >= 150
    first_tags = {case.tags[0] for case in TRANSLATION.cases}
    assert first_tags >= {
        "false-friend", "meiji", "kimono", "house", "religion", "military", "idiom", "negation",
        "agent", "number", "name", "term", "register",
    }  # fmt: skip


def test_every_translation_case_tells_why_it_is_hard() -> None:
    assert [case.key for case in TRANSLATION.cases if not case.notes] == []


def test_translations_are_written_in_simplified_characters() -> None:
    folder = Folder(("script",), "zh-Hans")
    traditional = [
        (case.key, text)
        for case in TRANSLATION.cases
        for text in (*case.references, *case.acceptable, *case.critical)
        if folder.fold(text) != text
    ]
    assert traditional == []


def test_quotations_name_their_author_or_work() -> None:
    quoted = [case for case in TRANSLATION.cases if "quotation" in case.tags]
    assert quoted
    assert [case.key for case in quoted if not case.source] == []


def test_the_hallucination_suite_is_large_and_varied() -> None:
    kinds = Counter(case.tags[0] for case in HALLUCINATION.cases)
    controls = kinds.pop("control")
    assert set(kinds) == {
        "false-premise", "invented-work", "invented-api", "invented-option", "invented-citation",
        "unknowable", "translation-trap",
    }  # fmt: skip
    assert min(kinds.values()) >= 4
    assert kinds.total() >= 60
    assert controls >= 15


def test_hallucination_cases_cover_fields_and_languages() -> None:
    assert {len(case.tags) for case in HALLUCINATION.cases} == {3}
    fields = Counter(case.tags[1] for case in HALLUCINATION.cases)
    languages = Counter(case.tags[2] for case in HALLUCINATION.cases)
    assert set(fields) == {
        "literature", "history", "science", "law", "llama-cpp", "python", "language",
    }  # fmt: skip
    assert set(languages) == {"ja", "zh", "en"}
    assert min(languages.values()) >= 0.3 * len(HALLUCINATION.cases)
    controls = {case.tags[2] for case in HALLUCINATION.cases if case.tags[0] == "control"}
    assert controls == {"ja", "zh", "en"}


def test_every_hallucination_case_can_be_graded_and_looked_up() -> None:
    bare = [
        case.key
        for case in HALLUCINATION.cases
        if not (2 <= len(case.checkpoints) <= 4 and case.notes and case.source)
    ]
    assert bare == []


def test_controls_are_confirmed_and_the_others_are_not() -> None:
    confirmed = {
        case.key
        for case in HALLUCINATION.cases
        if any(line.id == "confirms" for line in case.checkpoints)
    }
    controls = {case.key for case in HALLUCINATION.cases if case.tags[0] == "control"}
    assert confirmed == controls


def test_hallucinations_count_a_mixed_answer_as_half() -> None:
    rate = rubric_of(HALLUCINATION).rate
    assert rate.name == "hallucination_rate"
    assert dict(rate.weights) == {"grounded": 0, "mixed": 0.5, "fabricated": 1}


def test_a_suite_and_its_rubric_go_together() -> None:
    assert {suite.rubric for suite in SUITES.values()} <= set(RUBRICS)


def test_shipped_files_lie_where_the_package_looks() -> None:
    for name in ("datasets", "rubrics", "migrations"):
        assert (shipped_folder() / name).is_dir()


# The suites code and proofreading.

CODE = SUITES["code"]
PROOFREADING = SUITES["proofreading"]
PREDICTED = [case for case in CODE.cases if case.tags[0] == "predict-output"]


def weights_of(case: Case) -> list[float]:
    return [line.weight for line in case.checkpoints]


def program_in(case: Case) -> str:
    found = re.search(r"```\w+\n(.*?)```", case.prompt or "", re.DOTALL)
    assert found is not None
    return found[1]


def with_tag(cases: list[Case], tag: str) -> list[Case]:
    return [case for case in cases if tag in case.tags]


def test_code_has_every_kind_and_language() -> None:
    assert len(CODE.cases) >= 26
    kinds = Counter(case.tags[0] for case in CODE.cases)
    assert set(kinds) == {
        "find-bug", "predict-output", "system", "shell", "refactor", "implement",
    }  # fmt: skip
    assert min(kinds.values()) >= 3
    assert {case.tags[1] for case in CODE.cases} == {
        "python", "shell", "c", "cpp", "sql", "javascript", "rust", "general",
    }  # fmt: skip
    prompts = Counter(case.tags[2] for case in CODE.cases)
    assert set(prompts) == {"en", "ja", "zh"}
    assert 4 <= prompts["ja"] <= 6
    assert 4 <= prompts["zh"] <= 6


def test_every_code_case_can_be_ticked_and_looked_up() -> None:
    assert [case.key for case in CODE.cases if not (case.notes and case.source)] == []
    assert [case.key for case in CODE.cases if not 2 <= len(case.checkpoints) <= 5] == []
    assert [case.key for case in CODE.cases if min(weights_of(case)) <= 0] == []


def test_only_predicted_output_is_scored_without_a_judge() -> None:
    scored = {case.key for case in CODE.cases if case.scorer or case.references}
    assert scored == {case.key for case in PREDICTED}
    assert {case.scorer for case in PREDICTED} == {"contains"}


@pytest.mark.parametrize("case", with_tag(PREDICTED, "python"), ids=lambda case: case.key)
def test_predicted_output_is_what_python_prints(case: Case) -> None:
    command = [sys.executable, "-I", "-c", program_in(case)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (printed.stdout.rstrip("\n"),) == case.references


@pytest.mark.parametrize("case", with_tag(PREDICTED, "sql"), ids=lambda case: case.key)
def test_predicted_row_is_what_sqlite_returns(case: Case) -> None:
    *before, last, _ = program_in(case).split(";")
    database = sqlite3.connect(":memory:")
    database.executescript(";".join(before) + ";")
    row = database.execute(last).fetchone()
    database.close()
    assert (" ".join(str(value) for value in row),) == case.references


def test_proofreading_has_every_kind_in_every_language() -> None:
    assert len(PROOFREADING.cases) >= 42
    counts = Counter(case.tags for case in PROOFREADING.cases)
    kinds = ("correction", "already-right", "distillation", "terms")
    assert set(counts) == {(kind, language) for kind in kinds for language in ("ja", "zh", "en")}
    assert min(counts.values()) >= 2
    assert len([case for case in PROOFREADING.cases if case.tags[0] == "already-right"]) >= 8
    languages = Counter(case.tags[1] for case in PROOFREADING.cases)
    assert min(languages.values()) >= len(PROOFREADING.cases) * 0.3


def test_every_proofreading_case_can_be_ticked() -> None:
    assert [case.key for case in PROOFREADING.cases if not case.notes] == []
    assert [case.key for case in PROOFREADING.cases if not 2 <= len(case.checkpoints) <= 4] == []
    assert [case.key for case in PROOFREADING.cases if min(weights_of(case)) <= 0] == []


def test_the_question_does_not_tell_whether_something_is_wrong() -> None:
    asked = {
        (case.tags[1], (case.prompt or "").split("\n\n")[0])
        for case in PROOFREADING.cases
        if case.tags[0] in ("correction", "already-right")
    }
    assert len(asked) == 3


def test_what_is_to_be_corrected_stands_in_the_text() -> None:
    absent = [
        (case.key, wrong)
        for case in PROOFREADING.cases
        for line in case.checkpoints
        for wrong in re.findall(r"^corrects (.+?) to ", line.text)
        if wrong not in (case.prompt or "").split("\n\n", 1)[1]
    ]
    assert absent == []


def test_chinese_proofreading_is_written_in_simplified_characters() -> None:
    folder = Folder(("script",), "zh-Hans")
    chinese = [case.prompt or "" for case in PROOFREADING.cases if case.tags[1] == "zh"]
    assert [text for text in chinese if folder.fold(text) != text] == []
