from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, ProblemsError
from evalbot.formats import imports
from evalbot.formats.cells import BOM, write_csv
from evalbot.formats.imports import AnswerRow, GradeRow
from evalbot.formats.problems import Problems

from .texts import problems_of


def read_answer_rows(path: Path) -> list[AnswerRow]:
    problems = Problems()
    rows = imports.read_answer_rows(path, problems)
    problems.raise_if_any()
    return rows


def read_grade_rows(path: Path) -> list[GradeRow]:
    problems = Problems()
    rows = imports.read_grade_rows(path, problems)
    problems.raise_if_any()
    return rows


ANSWERS = "suite,case,model,answer"
GRADES = "suite,case,model,layer,grader,verdict"


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Writes a file and gives its path as a user types it."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return Path(name)

    return write


Save = Callable[[str, str], Path]


def test_answers_are_read_from_csv(save: Save) -> None:
    text = (
        f"{BOM}{ANSWERS},repeat,finish_reason,reasoning,ttft_ms,decode_tps\n"
        "s,a,m,東京,2,stop,hm,12.5,40\n"
        's,b,m,"\'=x\ny",,,,,\n'
        "s,c,m,,,,,,\n"
        "s,d,m,null,,,,,\n"
    )
    assert read_answer_rows(save("a.csv", text)) == [
        AnswerRow("a.csv:2", "s", "a", "m", "東京", 2, "stop", "hm", 12.5, 40.0),
        AnswerRow("a.csv:3", "s", "b", "m", "=x\ny"),
        AnswerRow("a.csv:4", "s", "c", "m", ""),
        AnswerRow("a.csv:5", "s", "d", "m", "null"),
    ]


def test_answers_are_read_from_json_lines(save: Save) -> None:
    text = (
        '{"suite":"s","case":1,"model":"m","answer":"x","repeat":2,"ttft_ms":null}\n\n'
        '{"suite":"s","case":"b","model":"m","answer":"","decode_tps":1.5}\n'
    )
    assert read_answer_rows(save("a.jsonl", text)) == [
        AnswerRow("a.jsonl:1", "s", "1", "m", "x", 2),
        AnswerRow("a.jsonl:3", "s", "b", "m", "", decode_tps=1.5),
    ]


def test_grades_are_read_with_their_moment(save: Save) -> None:
    text = (
        f"{GRADES},repeat,answer,rationale,at\n"
        "s,a,m,human,ann,correct,,,,2025-01-31T18:00:00+09:00\n"
        "s,a,m,judge,strong,wrong,2,x,why,2025-01-31 18:00\n"
        "s,a,m,adjudicated,lead,wrong,,,,\n"
    )
    assert read_grade_rows(save("g.csv", text)) == [
        GradeRow(
            *("g.csv:2", "s", "a", "m", Layer.HUMAN, "ann", "correct"),
            at=datetime(2025, 1, 31, 9, tzinfo=UTC),
        ),
        GradeRow(
            *("g.csv:3", "s", "a", "m", Layer.JUDGE, "strong", "wrong", 2, "x", "why"),
            at=datetime(2025, 1, 31, 18, tzinfo=UTC),
        ),
        GradeRow("g.csv:4", "s", "a", "m", Layer.ADJUDICATED, "lead", "wrong"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "",
            ["a.csv: found an empty file; expected a header line and rows", "a.csv: found no row"],
        ),
        (f"{ANSWERS}\n", ["a.csv: found no rows; expected at least one row"]),
        ("suite,case,model\ns,a,m\n", ["a.csv:2: answer: found nothing; expected text, or a bla"]),
        (f"{ANSWERS}\ns,,m,x\n", ["a.csv:2: case: found nothing; expected text"]),
        (f"{ANSWERS},repeat\ns,a,m,x,0\n", ['a.csv:2: repeat: found "0"; expected a whole numbe']),
        (f"{ANSWERS},ttft_ms\ns,a,m,x,-1\n", ['a.csv:2: ttft_ms: found "-1"; expected a number']),
        (f"{ANSWERS},ttft_ms\ns,a,m,x,nan\n", ['a.csv:2: ttft_ms: found "nan"; expected a numb']),
        (
            f"{ANSWERS},decode_tp\ns,a,m,x,1\n",
            ['a.csv:2: found unknown key "decode_tp"; expected a known key: did you mean decode_t'],
        ),
        (
            f"{ANSWERS}\ns,a,m,x\ns,b,m,x\ns,a,m,y\n",
            ['a.csv:4: case: found "a", which a.csv:2 answers for this model and repeat; expected'],
        ),
        (
            f"{ANSWERS},repeat\ns,a,m,x,one\n,b,m,x,\n",
            ['a.csv:2: repeat: found "one"', "a.csv:3: suite: found nothing; expected text"],
        ),
    ],
)
def test_wrong_answers_name_row_column_found_and_expected(
    save: Save, text: str, expected: list[str]
) -> None:
    found = problems_of(lambda: read_answer_rows(save("a.csv", text)))
    assert len(found) == len(expected)
    assert all(a.startswith(b) for a, b in zip(found, expected, strict=True)), found


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("s,a,m,people,ann,correct,", 'layer: found "people"; expected one of auto, judge, human'),
        ("s,a,m,,ann,correct,", "layer: found nothing; expected one of auto, judge, human"),
        ("s,a,m,human,,correct,", "grader: found nothing; expected text"),
        ("s,a,m,human,ann,,", "verdict: found nothing; expected text"),
        ("s,a,m,human,ann,correct,31.1.2025", 'at: found "31.1.2025"; expected a date and time'),
        ("s,a,m,human,ann,correct,0001-01-01T00:00+09:00", "at: found"),
    ],
)
def test_wrong_grades_name_row_column_found_and_expected(
    save: Save, row: str, expected: str
) -> None:
    path = save("g.csv", f"{GRADES},at\n{row}\n")
    found = problems_of(lambda: read_grade_rows(path))
    assert len(found) == 1
    assert found[0].startswith(f"g.csv:2: {expected}")


def test_a_null_answer_is_no_answer(save: Save) -> None:
    path = save("a.jsonl", '{"suite":"s","case":"a","model":"m","answer":null}')
    assert problems_of(lambda: read_answer_rows(path)) == [
        "a.jsonl:1: answer: found nothing; expected text, or a blank one"
    ]


def test_other_files_are_refused(save: Save) -> None:
    with pytest.raises(InputError, match=r"expected \.jsonl or \.csv"):
        read_answer_rows(save("a.txt", ""))
    with pytest.raises(ProblemsError, match=r"missing\.csv: found no such file"):
        read_grade_rows(Path("missing.csv"))


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@given(TEXTS)
@settings(max_examples=50, deadline=None)
def test_any_answer_survives_our_own_csv(answer: str) -> None:
    rows = write_csv([ANSWERS.split(","), ["s", "a", "m", answer]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text(BOM + rows, encoding="utf-8", newline="")
        assert [row.answer for row in read_answer_rows(path)] == [answer]


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
@given(text=st.text(max_size=40) | st.text('{}[]":,\nsuitecmodl-', max_size=40))
@settings(max_examples=50, deadline=None)
def test_any_text_is_rows_or_has_problems(ending: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        for read in (read_answer_rows, read_grade_rows):
            with pytest.raises(ProblemsError):
                read(path)


@pytest.mark.parametrize("model", ["a,b", "a +check"])
def test_a_model_has_a_name_that_tables_and_lists_can_hold(tmp_path: Path, model: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f'suite,case,model,answer\ns,c,"{model}",x\n', encoding="utf-8")
    with pytest.raises(ProblemsError, match=r"a\.csv:2: model: found"):
        read_answer_rows(file)
