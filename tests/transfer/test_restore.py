from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import Place
from evalbot.domain.cases import Case
from evalbot.domain.rubrics import ScorerName
from evalbot.domain.runs import NewGrade, RecordedAnswer, Run, RunEndpoint, RunState
from evalbot.formats.problems import Problems
from evalbot.judging.identity import identity_in
from evalbot.store import runs
from evalbot.store.answers import read_answers
from evalbot.store.database import open_database
from evalbot.store.grades import read_grades
from evalbot.transfer.head import Head
from evalbot.transfer.lines import answer_line
from evalbot.transfer.masking import Mask
from evalbot.transfer.reading import LineReader

from .rich_run import RUN, START, write_rich_run
from .rich_run import answer as answer_of
from .site import Site, make_rubric, make_suite

LAYERS = ("auto", "judge", "human", "adjudicated")


@pytest.fixture
def other(tmp_path: Path) -> str:
    """A second, empty database."""
    return f"sqlite:///{tmp_path}/other.db"


@pytest.fixture
def rich(site: Site) -> Site:
    with open_database(site.database) as database:
        write_rich_run(site, database)
    return site


def edit(folder: Path, name: str, change: Callable[[str], str], *, sums: bool = True) -> None:
    """Change a file of an export, and by default its sum with it."""
    path = folder / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8", newline="")
    if sums:
        lines = [
            f"{hashlib.sha256((folder / line[66:]).read_bytes()).hexdigest()}  {line[66:]}\n"
            for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
        ]
        (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="")


def edit_line(folder: Path, name: str, number: int, **values: Any) -> None:
    """Change fields in one line of a file of an export."""

    def change(text: str) -> str:
        lines = text.split("\n")
        lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | values)
        return "\n".join(lines)

    edit(folder, name, change)


def check_round_trip(site: Site, other: str, *options: str) -> None:
    """Out, into another database, and out again: nothing is another."""
    site.ids("export", RUN, "--output", "one", *options)
    assert site.ids("import", "run", "one", database=other) == [RUN]
    site.ids("export", RUN, "--output", "two", *options, database=other)
    assert site.files("one") == site.files("two")
    for layer in LAYERS:
        here, there = (site.rates(RUN, "--layer", layer, database=url) for url in (None, other))
        assert here == there


def test_a_run_comes_back_unchanged(rich: Site, other: str) -> None:
    check_round_trip(rich, other)


def test_it_comes_back_with_names(rich: Site, other: str) -> None:
    check_round_trip(rich, other, "--names")


def test_it_comes_back_with_stale_grades(rich: Site, other: str) -> None:
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=(f"a{n}",)) for n in (1, 3)]
    rich.put_suite(make_suite(*cases, Case(key="q2", prompt="question 2", references=("A",))))
    rich.put_rubric(make_rubric(scorer=ScorerName.EXACT))
    assert {row["stale"] > 0 for row in rich.rates(RUN)} == {True}
    check_round_trip(rich, other)


def test_it_comes_back_where_the_files_say_something_else(rich: Site, other: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    rich.put_suite(make_suite(Case(key="q1", prompt="question 1", references=("else",))))
    rich.ids("import", "run", "one", database=other)
    rich.ids("export", RUN, "--output", "two", database=other)
    assert rich.files("one") == rich.files("two")


def said(url: str) -> tuple[object, ...]:
    """What the record says of the run, as far as an export carries it."""
    with open_database(url) as database, database.read() as connection:
        run = runs.get_run(connection, RUN)
        answers = {
            (one.place, one.attempt): replace(one.answer, retries=(), error_detail=None)
            for _, one in read_answers(connection, RUN, all_attempts=True)
        }
        grades = [
            (stored.place, unmasked(stored.grade))
            for stored in read_grades(connection, RUN, all_attempts=True)
        ]
    moments = (run.started_at, run.finished_at)
    return run.rubric, run.questions, run.label, run.state, run.version, moments, answers, grades


def unmasked(grade: NewGrade) -> NewGrade:
    """The grade without what is masked in an export, and without its token."""
    evidence = {**grade.evidence, "detail": None} if grade.evidence else None
    params = {**grade.params, "model": None} if grade.params else None
    return grade._replace(evidence=evidence, params=params, token=None)


def test_everything_that_was_said_is_there(rich: Site, other: str) -> None:
    rich.ids("export", RUN, "--output", "one", "--names")
    rich.ids("import", "run", "one", database=other)
    assert said(rich.database) == said(other)


def test_a_judges_reply_keeps_its_name_and_an_error_is_none(rich: Site, other: str) -> None:
    """So that what was answered elsewhere is not asked for again."""
    rich.ids("export", RUN, "--output", "one")
    rich.ids("import", "run", "one", database=other)
    with open_database(other) as database, database.read() as connection:
        votes = [
            stored.grade
            for stored in read_grades(connection, RUN, all_attempts=True)
            if stored.grade.vote is not None
        ]
    tokens = {one.token or "" for one in votes if one.verdict is not None}
    assert len(tokens) == 6
    assert all(token.endswith(":0") for token in tokens)
    errors = {one.token or "" for one in votes if one.unscored_reason == "judge_error"}
    assert {identity_in(token) for token in errors} == {identity_in(token) for token in tokens}
    assert not errors & tokens


def test_the_same_run_again_adds_nothing(rich: Site, other: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    assert rich.ids("import", "run", "one") == [RUN]
    rich.ids("import", "run", "one", database=other)
    assert rich.ids("import", "run", "one", database=other) == [RUN]
    rich.ids("export", RUN, "--output", "two")
    assert rich.files("one") == rich.files("two")


def test_another_run_of_the_same_id_is_refused(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    text = "suite,case,model,layer,grader,verdict\ns,q2,zeta,human,Cy,best\n"
    rich.ids("import", "grades", rich.write("g.csv", text), "--run", RUN)
    assert "with other content" in rich.fails("import", "run", "one")


def test_an_imported_run_can_be_scored_by_todays_files(rich: Site, other: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    rich.ids("import", "run", "one", database=other)
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=("new",)) for n in (1, 2, 3)]
    rich.put_suite(make_suite(*cases))
    before = rich.rates(RUN, database=other)
    assert {row["stale"] for row in before} == {0}
    rich.ids("score", RUN, database=other)
    assert rich.rates(RUN, database=other) != before


def test_imported_grades_come_back(site: Site, other: str) -> None:
    text = "suite,case,model,layer,grader,verdict\ns,q1,m,human,ann,best\ns,q2,m,human,ann,worst\n"
    [run] = site.ids("import", "grades", site.write("g.csv", text))
    site.ids("export", run, "--output", "one")
    site.ids("import", "run", "one", database=other)
    assert site.rates("--layer", "human") == site.rates("--layer", "human", database=other)
    assert site.ids("import", "grades", "g.csv", database=other) == [run]


def test_a_file_that_came_in_on_both_sides_is_two_runs(site: Site, other: str) -> None:
    text = "suite,case,model,layer,grader,verdict\ns,q1,m,human,ann,best\n"
    file = site.write("g.csv", text)
    [here], [there] = (site.ids("import", "grades", file, database=url) for url in (None, other))
    site.ids("export", here, "--output", "one")
    for _ in range(2):
        assert site.ids("import", "run", "one", database=other) == [here]
    assert site.ids("import", "grades", file, database=other) == [there]


@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_any_text_is_read_back(text: str) -> None:
    suite, rubric = make_suite(Case(key=" k", prompt="p")), make_rubric()
    endpoints = (RunEndpoint("m", {}, "f"),)
    run = Run("id", suite, rubric, {" k": "f"}, RunState.FINISHED, 1, START, endpoints=endpoints)
    answer = replace(answer_of(text), retries=())
    one = RecordedAnswer(Place(" k", "m"), 1, answer, "f")
    problems = Problems()
    reader = LineReader(Head(run, names=False), problems)
    line = json.dumps(answer_line("s", one, Mask()), ensure_ascii=False)
    assert reader.answers(f"{line}\n", "answers.jsonl") == [one]
    problems.raise_if_any()


def test_a_changed_file_is_refused(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    folder = rich.folder / "one"
    edit(folder, "grades.jsonl", lambda text: text.replace("worst", "best"), sums=False)
    (folder / "extra").write_text("x", encoding="utf-8")
    (folder / "rates.csv").unlink()
    told = rich.fails("import", "run", "one")
    assert told.startswith("3 problems, nothing was changed:")
    assert "grades.jsonl: found another content" in told
    assert "rates.csv: found no file" in told
    assert "extra: found a file that SHA256SUMS does not list" in told


@pytest.mark.parametrize("path", ["../evalbot.db", "/etc/passwd", "suite/../../x", "./run.json"])
def test_paths_outside_the_folder_are_refused(rich: Site, path: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    edit(rich.folder / "one", "SHA256SUMS", lambda text: f"{text}{'0' * 64}  {path}\n", sums=False)
    told = rich.fails("import", "run", "one")
    assert f'SHA256SUMS:12: found "{path}"; expected a path inside the folder' in told


def test_links_are_refused(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    folder = rich.folder / "one"
    (folder / "rates.csv").rename(rich.folder / "rates.csv")
    (folder / "rates.csv").symlink_to(rich.folder / "rates.csv")
    (folder / "suite").rename(rich.folder / "elsewhere")
    (folder / "suite").symlink_to(rich.folder / "elsewhere")
    told = rich.fails("import", "run", "one")
    assert "rates.csv: found a symbolic link; expected a file" in told
    assert "suite: found a symbolic link; expected a file" in told


def test_files_that_no_export_has_are_refused(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    folder = rich.folder / "one"
    (folder / "start.sh").write_text("rm -rf /", encoding="utf-8")
    edit(folder, "SHA256SUMS", lambda text: f"{text}{'0' * 64}  start.sh\n", sums=False)
    assert "start.sh: found a file no export has" in rich.fails("import", "run", "one")


def test_a_folder_that_is_no_export_is_refused(rich: Site) -> None:
    assert "holds no export" in rich.fails("import", "run", ".")
    assert "holds no export" in rich.fails("import", "run", "nowhere")


def test_all_wrong_lines_are_told(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    folder = rich.folder / "one"
    edit_line(folder, "answers.jsonl", 1, status="fine", repeat=3, text=None, more=1)
    edit_line(folder, "answers.jsonl", 6, model="alphа", started_at="yesterday")
    edit_line(folder, "grades.jsonl", 1, verdict="great", unscored_reason=None, stale=None)
    edit_line(folder, "grades.jsonl", 2, case_fingerprint="0" * 32, checkpoints="all", attempt=9)
    edit_line(folder, "grades.jsonl", 3, verdict=None, unscored_reason="tired", rationale="\ud800")
    told = [line.strip() for line in rich.fails("import", "run", "one").splitlines()[1:]]
    for start in (
        'answers.jsonl:1: repeat: found "3"; expected a whole number from 1 to 2',
        'answers.jsonl:1: status: found "fine"; expected one of ok,',
        "answers.jsonl:1: text: found nothing",
        'answers.jsonl:1: found unknown key "more"',
        'answers.jsonl:6: model: found "alphа"; expected a model of the run (did you mean alpha?)',
        'answers.jsonl:6: started_at: found "yesterday"; expected a date and time',
        "grades.jsonl:1: stale: found no such value; expected true or false",
        "grades.jsonl:2: attempt: found 9; expected an attempt that answers.jsonl has",
        "grades.jsonl:2: case_fingerprint",
        "grades.jsonl:2: checkpoints: found no list; expected a list, or null",
        'grades.jsonl:3: unscored_reason: found "tired"; expected one of',
        "grades.jsonl:3: rationale: found a NUL character or half a surrogate pair",
    ):
        assert any(line.startswith(start) for line in told), (start, told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, "run.json:1: format"),
        ({"state": "done"}, 'run.json:1: state: found "done"'),
        ({"repeats": 10**6}, "repeats"),
        ({"questions": {"q1": "x"}}, "questions.q2: found nothing"),
        ({"start": ["./x.sh"]}, 'found unknown key "start"'),
        ({"earlier_rules": {"cases": 1, "rubrics": []}}, "earlier_rules"),
        ({"fingerprints": {"cases": {}, "rubric": {}}}, "fingerprints.cases.q1: found nothing"),
        ({"settings": {"x": "\ud800"}}, "settings: found a NUL character"),
    ],
)
def test_a_wrong_head_is_told(rich: Site, change: dict[str, Any], told: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    edit(
        rich.folder / "one",
        "run.json",
        lambda text: json.dumps(json.loads(text) | change, indent=1),
    )
    assert told in rich.fails("import", "run", "one").replace("run.json:2:", "run.json:1:", 0)


def test_a_suite_that_is_not_the_runs_is_told(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    edit(rich.folder / "one", "suite/cases.jsonl", lambda text: text.replace("a2", "b2"))
    edit(rich.folder / "one", "rubric.yaml", lambda text: text.replace("it is best", "so good"))
    told = rich.fails("import", "run", "one")
    assert "fingerprints.cases" in told
    assert "fingerprints.rubric" in told


def test_a_refused_import_changes_nothing(rich: Site, other: str) -> None:
    rich.ids("export", RUN, "--output", "one")
    edit_line(rich.folder / "one", "grades.jsonl", 1, verdict=None, unscored_reason=None)
    assert rich.call("import", "run", "one", database=other).exit_code != 0
    assert rich.ids("runs", "--format", "csv", database=other)[1:] == []
