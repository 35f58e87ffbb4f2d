"""Where graders disagree, and what a lead decides."""

from __future__ import annotations

import pytest

from evalbot.domain.people import Role
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, NotFoundError
from evalbot.reviewing import adjudication
from evalbot.reviewing.adjudication import Docket, decide, disputed_answer, disputes_of
from tests.building import add_grades, graded
from tests.reviewing.site import ReviewSite, judge_all, user

LEE = user("lee", Role.LEAD)


def docket(site: ReviewSite) -> Docket:
    return disputes_of(site.database, site.run.id, site.folder)


def say(site: ReviewSite, case: str, model: str, layer: Layer, grader: str, verdict: str) -> None:
    grade = graded(site.run, layer, grader, case, verdict)
    add_grades(site.database, site.run, [(site.answers[case, model], grade)])


def last_grade(site: ReviewSite, answer: int) -> int:
    return disputed_answer(site.database, site.run.id, answer, site.folder).last_grade


def test_the_worst_come_first(site: ReviewSite) -> None:
    for case, ann, bob in (
        ("c0", "correct", "correct"),
        ("c1", "correct", "acceptable"),
        ("c2", "wrong", "correct"),
    ):
        say(site, case, "zebra", Layer.HUMAN, "ann", ann)
        say(site, case, "zebra", Layer.HUMAN, "bob", bob)
    found = docket(site).disputes
    assert [(one.case, one.distance) for one in found] == [("c2", 1.0), ("c1", 0.5)]
    assert found[0].people == (("ann", "wrong"), ("bob", "correct"))


def test_people_against_the_judge_is_a_disagreement_too(site: ReviewSite) -> None:
    judge_all(site, "correct")
    say(site, "c0", "okapi", Layer.HUMAN, "ann", "wrong")
    say(site, "c1", "okapi", Layer.HUMAN, "ann", "correct")
    [one] = docket(site).disputes
    assert (one.case, one.judge, one.distance) == ("c0", "correct", 1.0)


def test_only_each_reviewers_newest_word_counts(site: ReviewSite) -> None:
    for verdict in ("wrong", "correct"):
        say(site, "c0", "zebra", Layer.HUMAN, "ann", verdict)
    say(site, "c0", "zebra", Layer.HUMAN, "bob", "correct")
    assert docket(site).disputes == ()


def test_a_decision_closes_it_and_keeps_the_history(site: ReviewSite) -> None:
    say(site, "c0", "zebra", Layer.HUMAN, "ann", "wrong")
    say(site, "c0", "zebra", Layer.HUMAN, "bob", "correct")
    answer = site.answers["c0", "zebra"]
    decide(
        site.database, LEE, site.run.id, answer, "acceptable", " it is odd ",
        last_grade(site, answer), site.folder,
    )  # fmt: skip
    assert docket(site).open == ()
    assert docket(site).disputes[0].decided == "acceptable"
    [(_, grade)] = site.grades(Layer.ADJUDICATED)
    assert (grade.grader, grade.verdict, grade.rationale) == ("lee", "acceptable", "it is odd")
    shown = disputed_answer(site.database, site.run.id, answer, site.folder)
    assert [one.grade.layer for one in shown.grades] == ["auto", "human", "human", "adjudicated"]


def test_of_two_leads_at_once_the_second_is_told(site: ReviewSite) -> None:
    say(site, "c0", "zebra", Layer.HUMAN, "ann", "wrong")
    answer = site.answers["c0", "zebra"]
    seen = last_grade(site, answer)
    decide(site.database, LEE, site.run.id, answer, "wrong", "so", seen, site.folder)
    with pytest.raises(InputError, match=r"lee has given .* meanwhile \(adjudicated: wrong\)"):
        decide(site.database, LEE, site.run.id, answer, "correct", "no", seen, site.folder)
    assert len(site.grades(Layer.ADJUDICATED)) == 1


def test_a_grade_given_meanwhile_is_told_too(site: ReviewSite) -> None:
    say(site, "c0", "zebra", Layer.HUMAN, "ann", "wrong")
    answer = site.answers["c0", "zebra"]
    seen = last_grade(site, answer)
    say(site, "c0", "zebra", Layer.HUMAN, "bob", "correct")
    with pytest.raises(InputError, match="bob has given"):
        decide(site.database, LEE, site.run.id, answer, "wrong", "so", seen, site.folder)


@pytest.mark.parametrize(
    ("verdict", "reason", "words"),
    [("wrong", "  ", "needs a reason"), ("bad", "so", "not on this rubric's scale"),
     ("wrong", "x" * 10_001, "at most 10000")],
)  # fmt: skip
def test_a_decision_that_will_not_do_is_refused(
    site: ReviewSite, verdict: str, reason: str, words: str
) -> None:
    answer = site.answers["c0", "zebra"]
    with pytest.raises(InputError, match=words):
        decide(site.database, LEE, site.run.id, answer, verdict, reason, 10**6, site.folder)
    assert site.grades(Layer.ADJUDICATED) == []


def test_an_answer_of_another_run_is_not_there(site: ReviewSite) -> None:
    with pytest.raises(NotFoundError, match="no such answer"):
        adjudication.disputed_answer(site.database, site.run.id, 10**6, site.folder)


def test_grades_of_an_older_rubric_are_no_disagreement(site: ReviewSite) -> None:
    say(site, "c0", "zebra", Layer.HUMAN, "ann", "wrong")
    say(site, "c0", "zebra", Layer.HUMAN, "bob", "correct")
    file = site.folder / "rubrics/small.yaml"
    file.write_text(file.read_text("utf-8").replace("tolerable", "just tolerable"), "utf-8")
    assert docket(site).disputes == ()
    shown = disputed_answer(site.database, site.run.id, site.answers["c0", "zebra"], site.folder)
    assert {one.grade.layer for one in shown.grades if one.id in shown.stale} == {"human"}
