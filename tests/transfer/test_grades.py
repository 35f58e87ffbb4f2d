from __future__ import annotations

from evalbot.domain.answers import AnswerStatus
from evalbot.domain.cases import Case
from evalbot.domain.runs import StoredGrade
from evalbot.store.answers import read_answers
from evalbot.store.database import open_database
from evalbot.store.grades import read_grades

from .site import Site, make_suite

HEAD = ["suite", "case", "model", "layer", "grader", "verdict"]
ANSWERS = ["suite", "case", "model", "answer"]


def grades_of(site: Site, run: str) -> list[StoredGrade]:
    with open_database(site.database) as database, database.read() as connection:
        return list(read_grades(connection, run))


def import_answers(site: Site) -> str:
    rows = [["s", f"q{n}", model, f"a{n}"] for n in (1, 2) for model in ("m", "n")]
    [run] = site.ids("import", "answers", site.csv("answers.csv", ANSWERS, *rows))
    return run


def test_grades_make_a_run_of_their_own(site: Site) -> None:
    file = site.csv(
        "g.csv",
        [*HEAD, "repeat", "answer", "rationale", "at"],
        ["s", "q2", "m", "human", "ann", "BEST", 1, None, "why", "2025-01-31T18:00:00+09:00"],
        ["s", "q1", "m", "judge", "strong", "worst", 1, "a1", None, None],
    )
    [run] = site.ids("import", "grades", file)
    with open_database(site.database) as database, database.read() as connection:
        answers = {one.place.case: one.answer for _, one in read_answers(connection, run)}
    assert answers["q2"].status is AnswerStatus.NOT_RECORDED
    assert answers["q1"].status is AnswerStatus.OK
    auto, human, judge = (stored.grade for stored in grades_of(site, run))
    assert (auto.layer, auto.verdict) == ("auto", "best")
    assert (human.grader, human.verdict, human.rationale) == ("ann", "best", "why")
    assert human.at.isoformat() == "2025-01-31T09:00:00+00:00"
    assert (judge.layer, judge.grader, judge.verdict) == ("judge", "strong", "worst")
    [row] = site.rates("--layer", "auto")
    assert (row["n"], row["unscored"]) == (1, 1)


def test_grades_go_on_the_answers_of_a_run(site: Site) -> None:
    run = import_answers(site)
    file = site.csv(
        "g.csv",
        HEAD,
        ["s", "q1", "m", "human", "ann", "best"],
        ["s", "q2", "m", "human", "ann", "worst"],
    )
    assert site.ids("import", "grades", file, "--run", run[:4]) == [run]
    rows = {row["model"]: row for row in site.rates("--layer", "human")}
    assert (rows["m"]["n"], rows["m"]["rate"]) == (2, 0.5)
    assert rows["n"]["unscored"] == 2


def test_the_same_file_again_adds_nothing(site: Site) -> None:
    run = import_answers(site)
    rows = [
        ["s", "q1", "m", "human", "ann", "best"],
        ["s", "q2", "m", "human", "ann", "best"],
        ["s", "q2", "m", "human", "ann", "best"],
        ["s", "q1", "m", "human", "bob", "best"],
    ]
    site.ids("import", "grades", site.csv("g.csv", HEAD, *rows), "--run", run)
    before = grades_of(site, run)
    assert len(before) == 4 + 4  # two judges of one answer are two; so is a row that stands twice
    for again in (rows, rows[1:], rows[::-1]):
        site.ids("import", "grades", site.csv("again.csv", HEAD, *again), "--run", run)
        assert grades_of(site, run) == before


def test_a_new_run_is_made_once(site: Site) -> None:
    rows = [["s", "q1", "m", "human", "ann", "best"], ["s", "q2", "m", "human", "ann", "worst"]]
    [run] = site.ids("import", "grades", site.csv("g.csv", HEAD, *rows))
    assert site.ids("import", "grades", site.csv("h.csv", HEAD, *reversed(rows))) == [run]
    assert site.ids("import", "grades", site.csv("i.csv", HEAD, rows[1])) != [run]


def test_the_order_of_what_one_grader_said_is_content(site: Site) -> None:
    rows = [["s", "q1", "m", "human", "ann", "best"], ["s", "q1", "m", "human", "ann", "worst"]]
    site.ids("import", "grades", site.csv("g.csv", HEAD, *rows))
    assert [row["rate"] for row in site.rates("--layer", "human")] == [1.0]
    site.ids("import", "grades", site.csv("g.csv", HEAD, *reversed(rows)))
    assert [row["rate"] for row in site.rates("--layer", "human")] == [0.0]


def test_reasons_without_a_verdict_are_unscored(site: Site) -> None:
    run = import_answers(site)
    file = site.csv(
        "g.csv",
        HEAD,
        ["s", "q1", "m", "human", "ann", "cannot_judge"],
        ["s", "q2", "m", "human", "ann", "best"],
        ["s", "q1", "m", "judge", "strong", "judge_refused"],
    )
    site.ids("import", "grades", file, "--run", run)
    human = next(row for row in site.rates("--layer", "human") if row["model"] == "m")
    assert (human["n"], human["unscored"], human["unscored_cannot_judge"]) == (1, 1, 1)
    judge = next(row for row in site.rates("--layer", "judge") if row["model"] == "m")
    assert judge["unscored_judge_refused"] == 1


def test_two_reviewers_who_disagree_are_a_tie(site: Site) -> None:
    rows = [["s", "q1", "m", "human", "ann", "best"], ["s", "q1", "m", "human", "bob", "worst"]]
    site.ids("import", "grades", site.csv("g.csv", HEAD, *rows))
    [row] = site.rates("--layer", "human")
    assert (row["n"], row["unscored_tie"], row["rate"]) == (0, 1, None)
    assert (row["rate_min"], row["rate_max"]) == (0.0, 1.0)


def test_imported_automatic_grades_stand_alone(site: Site) -> None:
    head = [*HEAD, "answer"]
    file = site.csv("g.csv", head, ["s", "q1", "m", "auto", "their-scorer", "worst", "a1"])
    [run] = site.ids("import", "grades", file)
    [stored] = grades_of(site, run)
    assert (stored.grade.grader, stored.grade.verdict) == ("their-scorer", "worst")


def test_an_edited_reference_makes_them_stale(site: Site) -> None:
    rows = [["s", f"q{n}", "m", "human", "ann", "best"] for n in (1, 2)]
    site.ids("import", "grades", site.csv("g.csv", HEAD, *rows))
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=(f"a{n}",)) for n in (1, 3)]
    site.put_suite(make_suite(*cases, Case(key="q2", prompt="question 2", references=("a 2",))))
    [row] = site.rates("--layer", "human")
    assert (row["n"], row["stale"]) == (1, 1)


def test_wrong_verdicts_are_told_with_the_nearest_word(site: Site) -> None:
    rows = [["s", "q1", "m", "human", "ann", word] for word in ("bets", "1", "canot_judge")]
    assert site.fails("import", "grades", site.csv("g.csv", HEAD, *rows)).splitlines() == [
        "3 problems, nothing was changed:",
        '  g.csv:2: verdict: found "bets"; expected one of best, middle, worst, or a reason such '
        "as cannot_judge (did you mean best?)",
        '  g.csv:3: verdict: found "1"; expected one of best, middle, worst, or a reason such '
        "as cannot_judge",
        '  g.csv:4: verdict: found "canot_judge"; expected one of best, middle, worst, or a '
        "reason such as cannot_judge (did you mean cannot_judge?)",
    ]
    assert site.ids("runs", "--format", "csv")[1:] == []


def test_grades_without_an_answer_in_the_run_are_told(site: Site) -> None:
    run = import_answers(site)
    before = grades_of(site, run)
    file = site.csv(
        "g.csv",
        [*HEAD, "repeat", "answer"],
        ["s", "q1", "m", "human", "ann", "best", 1, "a1"],
        ["s", "q22", "m", "human", "ann", "best", 1, None],
        ["s", "q1", "mm", "human", "ann", "best", 1, None],
        ["s", "q1", "m", "human", "ann", "best", 2, None],
        ["t", "q1", "m", "human", "ann", "best", 1, None],
        ["s", "q2", "m", "human", "ann", "best", 1, "another"],
    )
    assert site.fails("import", "grades", file, "--run", run).splitlines() == [
        "5 problems, nothing was changed:",
        f'  g.csv:3: case: found "q22"; expected a case of run {run} (did you mean q2?)',
        f'  g.csv:4: model: found "mm"; expected a model of run {run} (did you mean m?)',
        f"  g.csv:5: repeat: found 2; expected a repeat that m has answered q1 in, in run {run}",
        f'  g.csv:6: suite: found "t"; expected s, the suite of {run}',
        f'  g.csv:7: answer: found "another"; expected the answer in {run}',
    ]
    assert grades_of(site, run) == before


def test_two_answers_to_one_question_are_told(site: Site) -> None:
    head = [*HEAD, "answer"]
    file = site.csv(
        "g.csv",
        head,
        ["s", "q1", "m", "human", "ann", "best", None],
        ["s", "q1", "m", "human", "bob", "best", "one"],
        ["s", "q1", "m", "human", "cy", "best", "two"],
    )
    assert site.fails("import", "grades", file).splitlines()[1:] == [
        '  g.csv:4: answer: found "two"; expected the answer of g.csv:3, which is to the same '
        "question"
    ]


def test_a_label_is_for_new_runs(site: Site) -> None:
    run = import_answers(site)
    file = site.csv("g.csv", HEAD, ["s", "q1", "m", "human", "ann", "best"])
    assert "--label" in site.fails("import", "grades", file, "--run", run, "--label", "x")
    assert "there is no run" in site.fails("import", "grades", file, "--run", "nothing")
