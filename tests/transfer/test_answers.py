from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case
from evalbot.domain.runs import RecordedAnswer, RunState
from evalbot.formats.cells import BOM
from evalbot.store import runs
from evalbot.store.answers import read_answers
from evalbot.store.database import open_database
from evalbot.store.grades import read_grades
from evalbot.transfer.coming import received

from .site import Site, make_suite

HEAD = ["suite", "case", "model", "answer"]


def recorded(site: Site, run: str) -> dict[tuple[str, str, int], RecordedAnswer]:
    with open_database(site.database) as database, database.read() as connection:
        return {
            (one.place.case, one.place.endpoint, one.place.repeat): one
            for _, one in read_answers(connection, run)
        }


def test_answers_become_a_run_and_are_scored(site: Site) -> None:
    file = site.csv("a.csv", HEAD, ["s", "q2", "m", "a2"], ["s", "q1", "m", "no"])
    [run] = site.ids("import", "answers", file, "--label", "by hand")
    [row] = site.rates()
    assert (row["model"], row["n"], row["unscored"], row["count_best"]) == ("m", 1, 1, 1)
    assert row["unscored_needs_review"] == 1
    with open_database(site.database) as database, database.read() as connection:
        made = runs.get_run(connection, run)
        grades = list(read_grades(connection, run))
    assert (made.label, made.state, list(made.questions)) == (
        "by hand",
        RunState.IMPORTED,
        ["q1", "q2"],
    )
    assert len(grades) == 2


def test_every_field_is_kept(site: Site) -> None:
    head = [*HEAD, "repeat", "finish_reason", "reasoning", "ttft_ms", "decode_tps"]
    file = site.csv(
        "a.csv",
        head,
        ["s", "q1", "m", "<think>hm</think>a1", 2, "stop", "before", 12.5, 40],
        ["s", "q1", "m", "a", 1, "length", None, None, None],
        ["s", "q2", "m", "<think>on and on", 1, "length", None, None, None],
        ["s", "q3", "m", "", 1, None, None, None, None],
        ["s", "q3", "other", "<think>on", 1, None, None, None, None],
    )
    [run] = site.ids("import", "answers", file)
    answers = recorded(site, run)
    whole = answers["q1", "m", 2].answer
    assert (whole.text, whole.reasoning) == ("a1", "before\nhm")
    assert whole.raw == "<think>hm</think>a1"
    assert whole.timing.ttft_ms == 12.5
    assert whole.timing.decode_tps == 40
    assert whole.timing.source == "client"
    assert {key: one.answer.status for key, one in answers.items()} == {
        ("q1", "m", 2): AnswerStatus.OK,
        ("q1", "m", 1): AnswerStatus.TRUNCATED,
        ("q2", "m", 1): AnswerStatus.NO_ANSWER_BUDGET,
        ("q3", "m", 1): AnswerStatus.EMPTY,
        ("q3", "other", 1): AnswerStatus.THINKING_UNCLOSED,
    }
    assert answers["q3", "m", 1].answer.timing.source == "none"


def test_one_run_a_suite(site: Site) -> None:
    site.put_suite(make_suite(Case(key="x", prompt="x"), name="t"))
    lines = [
        {"suite": "t", "case": "x", "model": "m", "answer": "東京駅で待つ"},
        {"suite": "s", "case": "q1", "model": "m", "answer": "a1"},
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    first, second = site.ids("import", "answers", site.write("a.jsonl", BOM + text))
    assert first.startswith("t-")
    assert second.startswith("s-")
    assert recorded(site, first)["x", "m", 1].answer.text == "東京駅で待つ"


def test_the_same_rows_again_add_nothing(site: Site) -> None:
    rows = [["s", "q1", "m", "a1"], ["s", "q2", "m", "a2"]]
    [run] = site.ids("import", "answers", site.csv("a.csv", HEAD, *rows))
    turned = site.csv("b.csv", HEAD, *reversed(rows), bom=False)
    assert site.ids("import", "answers", turned, "--label", "again") == [run]
    assert len(site.ids("runs", "--format", "csv")[1:]) == 1
    fewer = site.csv("c.csv", HEAD, rows[0])
    assert site.ids("import", "answers", fewer) != [run]


def test_formula_cells_come_in_as_they_were(site: Site) -> None:
    texts = ["=1+1", "-はい", '\u200b=HYPERLINK("x")', "'=x", "-3.5", '@a,\n"b"']
    rows = [["s", "q1", f"m{at}", text] for at, text in enumerate(texts)]
    [run] = site.ids("import", "answers", site.csv("a.csv", HEAD, *rows))
    found = recorded(site, run)
    assert [found["q1", f"m{at}", 1].answer.text for at in range(len(texts))] == texts


def test_all_problems_of_all_files_are_told_at_once(site: Site) -> None:
    first = site.csv("a.csv", HEAD, ["s", "q33", "m", "x"], ["s", "zebra", "m", "x"])
    second = site.csv("b.csv", HEAD, ["ss", "q1", "m", "x"], ["s", "q1", "m", "x"])
    third = site.csv(
        "c.csv", [*HEAD, "repeat"], ["s", "q1", "m", "x", 1], ["s", "q1", "n", "x", 5000]
    )
    home = site.folder / "datasets"
    assert site.fails("import", "answers", first, second, third).splitlines() == [
        "5 problems, nothing was changed:",
        '  c.csv:2: case: found "q1", which b.csv:3 answers for this model and repeat; '
        "expected one answer a case, model and repeat",
        '  a.csv:2: case: found "q33"; expected a case of suite s (did you mean q3?)',
        '  a.csv:3: case: found "zebra"; expected a case of suite s',
        "  c.csv:3: repeat: found 5000; expected a whole number from 1 to 1000",
        f'  b.csv:2: suite: found "ss"; expected a suite in {home} or a shipped one '
        "(did you mean s?)",
    ]
    assert site.ids("runs", "--format", "csv")[1:] == []


def test_broken_rows_of_several_files_are_told_at_once(site: Site) -> None:
    first = site.write("a.csv", "suite,case,model,answer\ns,,m,x\n")
    second = site.write("b.jsonl", '{"suite":"s","case":"q1","model":"m","answer":"a\\u0000"}\n')
    told = site.fails("import", "answers", first, second)
    assert told.startswith("2 problems")
    assert "a.csv:2: case" in told
    assert "b.jsonl:1: answer: found a NUL character" in told


def test_a_file_named_twice_is_read_once(site: Site) -> None:
    file = site.csv("a.csv", HEAD, ["s", "q1", "m", "a1"])
    assert len(site.ids("import", "answers", file, file)) == 1


def test_an_edited_reference_makes_imported_grades_stale(site: Site) -> None:
    file = site.csv("a.csv", HEAD, ["s", "q1", "m", "a1"], ["s", "q2", "m", "a2"])
    site.ids("import", "answers", file)
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=(f"a{n}",)) for n in (1, 3)]
    edited = Case(key="q2", prompt="question 2", references=("a 2",))
    site.put_suite(make_suite(*cases, edited))
    [row] = site.rates()
    assert (row["n"], row["stale"], row["unscored"]) == (1, 1, 0)


def test_a_failure_changes_nothing(site: Site) -> None:
    missing = site.call("import", "answers", "nowhere.csv")
    assert "nowhere.csv: found no such file" in str(missing.exception)
    wrong = site.call("import", "answers", site.write("a.txt", "x"))
    assert "expected .jsonl or .csv" in str(wrong.exception)
    assert site.ids("runs", "--format", "csv")[1:] == []


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_what_was_received_is_kept_whole(text: str) -> None:
    answer = received(text)
    assert answer.raw == text
    assert (answer.status is AnswerStatus.EMPTY) <= (not answer.text.strip())


def test_a_suite_beside_the_config_is_found_from_elsewhere(site: Site, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    (site.folder / "evalbot.yaml").write_text("endpoints: []\n", encoding="utf-8")
    file = site.csv("a.csv", HEAD, ["s", "q1", "m", "a1"])
    config = str(site.folder / "evalbot.yaml")
    assert len(site.ids("import", "answers", file, "--config", config)) == 1


def test_a_row_that_is_wrong_in_itself_hides_no_other_fault(site: Site) -> None:
    first = site.csv("a.csv", HEAD, ["s", "q1", "", "x"], ["s", "q33", "m", "x"])
    other = site.csv("b.txt", HEAD, ["s", "q1", "m", "x"])
    second = site.csv("c.csv", HEAD, ["z", "q1", "m", "x"])
    told = site.fails("import", "answers", first, other, "missing.csv", second)
    for words in ("a.csv:2: model", "b.txt: found .txt", "missing.csv", "q33", "c.csv:2: suite"):
        assert words in told
