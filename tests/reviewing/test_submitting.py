"""Grading at the desk: once each, taken back, kept, drafted; never what is somebody else's."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from evalbot.domain.people import Role
from evalbot.domain.reviewing import Draft, Layout
from evalbot.domain.rubrics import Layer
from evalbot.errors import EvalbotError, InputError, NotFoundError
from evalbot.reviewing import handing_on, submitting
from evalbot.reviewing.desk import FOLDED_AT, Desk, DeskItem, label_of
from evalbot.reviewing.submitting import Said
from evalbot.store.assignments import read_assignments
from evalbot.store.database import Database, open_database
from evalbot.ui.review.actions import Actions
from tests.building import add_grades, graded
from tests.reviewing.site import ReviewSite, cases, judge_all, review_site, user

TOKEN = "a token of a page"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as opened:
        yield opened


def now(site: ReviewSite, name: str = "ann") -> DeskItem:
    item = site.item(name)
    assert item is not None
    return item


def test_an_item_has_all_answers_to_a_case_under_letters(site: ReviewSite) -> None:
    site.campaign()
    item = now(site)
    assert [one.label for one in item.answers] == ["A", "B", "C"]
    number = item.case.key[1:]
    assert {one.text for one in item.answers} == {
        f"答案{number}", f"答案{number}吧", f"错误{number}",
    }  # fmt: skip
    assert (item.counts.done, item.counts.total) == (0, 18)
    assert item.turns[-1].content == f"問題{number}"


def test_the_next_item_comes_when_the_last_answer_is_graded(site: ReviewSite) -> None:
    site.campaign()
    first = now(site)
    site.grade("ann", first.answers[0].id, "correct")
    assert now(site).number == first.number
    site.grade("ann", first.answers[1].id, "wrong")
    site.grade("ann", first.answers[2].id, None)
    second = now(site)
    assert second.number == first.number + 1
    assert second.counts.done == 3
    assert [(one.verdict, one.unscored_reason) for _, one in site.grades()] == [
        ("correct", None), ("wrong", None), (None, "cannot_judge"),
    ]  # fmt: skip


def test_a_grade_tells_what_it_rests_on(site: ReviewSite) -> None:
    made = site.campaign()
    item = now(site)
    submitting.grade(
        site.database, user("ann"), item.answers[0].id, Said("wrong", " odd \n", ()), TOKEN
    )
    [(_, grade)] = site.grades()
    case = next(one for one in site.run.suite.cases if one.key == item.case.key)
    assert grade.case_fingerprint == site.run.suite.grading_fingerprint(case)
    assert grade.rubric_fingerprint == site.run.rubric.fingerprint_for(Layer.HUMAN)
    assert (grade.campaign, grade.grader, grade.comment) == (made.campaign.id, "ann", " odd \n")
    assert grade.seen == ["references", "rubric", "layout:together"]


def test_one_token_is_one_grade(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[0].id
    for _ in range(3):
        site.grade("ann", answer, "correct", TOKEN)
    assert len(site.grades()) == 1


def test_sends_at_the_same_moment_are_one_grade(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[0].id
    failures: list[BaseException] = []

    def send() -> None:
        try:
            site.grade("ann", answer, "correct", TOKEN)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == []
    assert len(site.grades()) == 1


def at_once(*acts: Callable[[], object]) -> list[Exception]:
    """Do all of these at the same moment; what they raised."""
    failed: list[Exception] = []
    together = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> None:
        together.wait()
        try:
            act()
        except EvalbotError as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def test_grading_in_several_places_while_the_rest_is_handed_on(site: ReviewSite) -> None:
    made = site.campaign()
    with site.database.read() as connection:
        mine = [one.id for one in read_assignments(connection, made.campaign.id, "ann")]
    first, rest = mine[:6], mine[6:]
    failed = at_once(*(partial(site.grade, "ann", one, "wrong") for one in first))
    assert failed == []
    failed = at_once(
        partial(handing_on.reassign, site.database, made.campaign.id, "ann", "bob"),
        *(partial(site.grade, "ann", one, "wrong") for one in rest[:8]),
    )
    assert all(isinstance(one, NotFoundError) for one in failed)  # handed on already
    graded_ones = {answer for answer, _ in site.grades()}
    assert len(graded_ones) == len(site.grades()) == 6 + 8 - len(failed)
    with site.database.read() as connection:
        given = list(read_assignments(connection, made.campaign.id))
    done = {one.answer_id for one in given if one.done_at and not one.withdrawn_at}
    open_ = {one.answer_id for one in given if one.reviewer == "bob" and not one.withdrawn_at}
    assert done == graded_ones
    assert open_ == set(site.answers.values()) - graded_ones


def test_undone_in_several_places_at_once_is_undone_once(site: ReviewSite) -> None:
    campaign = site.campaign().campaign.id
    answers = now(site).answers
    for one in answers[:2]:
        site.grade("ann", one.id, "wrong")
    at_once(
        *(
            partial(submitting.undo, site.database, user("ann"), campaign, TOKEN + n, answers[1].id)
            for n in "abcdef"
        )
    )
    assert [one.unscored_reason for _, one in site.grades()] == [None, None, "not_graded"]


def test_a_second_thought_is_a_second_grade(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[0].id
    site.grade("ann", answer, "correct")
    site.grade("ann", answer, "wrong")
    assert [one.verdict for _, one in site.grades()] == ["correct", "wrong"]
    assert now(site).counts.done == 1


def test_undo_goes_back_to_the_last_grade_and_keeps_what_was_typed(site: ReviewSite) -> None:
    made = site.campaign()
    first = now(site)
    for one in first.answers:
        said = Said("wrong", f"about {one.label}", ())
        submitting.grade(site.database, user("ann"), one.id, said, f"{TOKEN} {one.id}")
    assert now(site).number == first.number + 1
    for _ in range(2):  # sent twice, taken back once
        assert submitting.undo(site.database, user("ann"), made.campaign.id, TOKEN)
    back = now(site)
    assert back.number == first.number
    assert [one.is_graded for one in back.answers] == [True, True, False]
    assert back.answers[2].draft == Draft("about C", ())
    history = [(one.verdict, one.unscored_reason) for _, one in site.grades()]
    assert history == [("wrong", None)] * 3 + [(None, "not_graded")]
    site.grade("ann", back.answers[2].id, "correct")
    assert now(site).number == first.number + 1


def test_undo_of_what_is_not_the_last_any_more_is_refused(site: ReviewSite) -> None:
    campaign = site.campaign().campaign.id
    item = site.item("ann")
    assert item is not None
    for one in item.answers[:2]:
        site.grade("ann", one.id, "correct")
    with pytest.raises(InputError, match="nothing was taken back"):
        submitting.undo(site.database, user("ann"), campaign, TOKEN, item.answers[0].id)
    assert len(site.grades()) == 2
    assert submitting.undo(site.database, user("ann"), campaign, TOKEN, item.answers[1].id)


def test_undo_of_a_change_gives_the_earlier_grade_back(site: ReviewSite) -> None:
    made = site.campaign()
    first = site.grade_item("ann", "correct")
    changed = first.answers[1].id
    submitting.move(site.database, user("ann"), made.campaign.id, now(site).number, back=True)
    site.grade("ann", changed, "wrong")
    assert now(site).number == first.number  # who has come back stays, to see it changed
    assert now(site).answers[1].own is not None

    def undo(token: str) -> list[str | None]:
        assert submitting.undo(site.database, user("ann"), made.campaign.id, f"{TOKEN} {token}")
        return [one.own.verdict if one.own and one.is_graded else None for one in now(site).answers]

    assert undo("a") == ["correct", "correct", "correct"]
    assert now(site).counts.done == 3
    # Then what was graded before that, and not the same answer again.
    assert undo("b") == ["correct", "correct", None]
    assert undo("c") == ["correct", None, None]
    assert undo("d") == [None, None, None]
    assert not submitting.undo(site.database, user("ann"), made.campaign.id, f"{TOKEN} e")
    said = [one.verdict for _, one in site.grades()]
    assert said == ["correct"] * 3 + ["wrong", "correct", None, None, None]


def test_checks_are_taken_back_as_everything_else(site: ReviewSite) -> None:
    made = site.campaign(practice=1)
    first = now(site)
    for verdict in ("correct", "wrong"):
        site.grade("ann", first.answers[0].id, verdict)
    assert submitting.undo(site.database, user("ann"), made.campaign.id, TOKEN)
    own = now(site).answers[0].own
    assert own is not None
    assert (own.verdict, own.times) == ("correct", 3)


def test_a_planted_reference_is_not_shown_as_one(database: Database, tmp_path: Path) -> None:
    site = review_site(database, tmp_path, 4)
    lines = [{**case, "references": ["一个", "另一个"], "traps": []} for case in cases(4)]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (tmp_path / "datasets/small/cases.jsonl").write_text(text, "utf-8")
    site.campaign(attention=0.49)
    planted = 0
    while (item := site.item("ann")) is not None:
        known = {one.text for one in item.answers} & {"一个", "另一个"}
        planted += len(known)
        assert set(item.case.references) == {"一个", "另一个"} - known
        site.grade_item("ann")
    assert planted == 2


def test_undo_goes_on_backwards_to_the_beginning(site: ReviewSite) -> None:
    made = site.campaign()
    site.grade_item("ann")
    undone = [
        submitting.undo(site.database, user("ann"), made.campaign.id, f"{TOKEN} {n}")
        for n in range(4)
    ]
    assert undone == [True, True, True, False]
    assert now(site).counts.done == 0


def test_a_draft_survives(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[1].id
    draft = Draft("half a thou", ("one",))
    submitting.save_draft(site.database, user("ann"), answer, draft)
    assert now(site).answers[1].draft == draft
    site.grade("ann", answer, "correct")
    assert now(site).answers[1].draft == Draft("", ())
    assert site.grades()[0][1].comment is None  # what is said is what was sent


def test_what_is_changed_after_a_grade_is_told_and_stays(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[1].id
    submitting.grade(site.database, user("ann"), answer, Said("wrong", "typed"), TOKEN)
    graded_once = now(site).answers[1]
    assert (graded_once.draft, graded_once.is_changed) == (Draft("typed", ()), False)
    submitting.save_draft(site.database, user("ann"), answer, Draft("", ()))
    emptied = now(site).answers[1]
    assert (emptied.draft, emptied.is_changed) == (Draft("", ()), True)
    submitting.grade(site.database, user("ann"), answer, Said("wrong", ""), TOKEN + "2")
    assert not now(site).answers[1].is_changed


def test_moving_keeps_the_place(site: ReviewSite) -> None:
    made = site.campaign()
    first = now(site).number

    def move(*, back: bool) -> int:
        submitting.move(site.database, user("ann"), made.campaign.id, now(site).number, back=back)
        return now(site).number

    assert move(back=True) == first  # there is nothing before
    assert [move(back=False) for _ in range(6)] == [1, 2, 3, 4, 5, 5]
    assert move(back=True) == 4
    # What was passed over comes again when this one is done and the end is reached.
    site.grade_item("ann")
    assert now(site).number == 5
    site.grade_item("ann")
    assert now(site).number == 0


def test_the_end_is_an_end(site: ReviewSite) -> None:
    made = site.campaign()
    for _ in range(6):
        site.grade_item("ann")
    view = Desk(site.database).view(user("ann"))
    assert view.item is None
    assert view.current == made.campaign.id
    submitting.look_back(site.database, user("ann"), made.campaign.id)
    assert now(site).is_done
    submitting.go_on(site.database, user("ann"), made.campaign.id, 5)
    assert site.item("ann") is None


def test_nobody_grades_what_is_anothers(site: ReviewSite) -> None:
    site.campaign("bob")
    answer = now(site, "bob").answers[0].id
    for said in (answer, "no such id", ""):
        with pytest.raises(NotFoundError, match="not yours to grade"):
            site.grade("ann", said, "correct", TOKEN)
    with pytest.raises(NotFoundError, match="not yours"):
        submitting.save_draft(site.database, user("ann"), answer, Draft("x", ()))
    with pytest.raises(NotFoundError, match="not yours"):
        submitting.choose(site.database, user("ann"), now(site, "bob").campaign)
    assert site.grades() == []


@pytest.mark.parametrize("verdict", ["right", "CORRECT", "", "needs_review"])
def test_a_verdict_off_the_scale_is_refused(site: ReviewSite, verdict: str) -> None:
    site.campaign()
    with pytest.raises(InputError, match="not on this rubric's scale"):
        site.grade("ann", now(site).answers[0].id, verdict, TOKEN)
    assert site.grades() == []
    assert now(site).counts.done == 0


def test_what_cannot_be_stored_is_refused(site: ReviewSite) -> None:
    site.campaign()
    answer = now(site).answers[0].id
    with pytest.raises(InputError, match="at most 10000 characters"):
        submitting.grade(site.database, user("ann"), answer, Said("wrong", "x" * 10_001), TOKEN)
    with pytest.raises(InputError, match="no token"):
        submitting.grade(site.database, user("ann"), answer, Said("wrong"), "short")
    with pytest.raises(InputError, match="at most 10000 characters"):
        submitting.save_draft(site.database, user("ann"), answer, Draft("x" * 10_001, ()))


def test_reviewers_do_not_see_one_another(site: ReviewSite) -> None:
    site.campaign("ann", "bob", overlap=2)
    site.grade_item("ann", "wrong")
    while (item := site.item("bob")) is not None:
        assert all(one.own is None and one.judge is None for one in item.answers)
        site.grade_item("bob", "correct")
    assert len(site.grades()) == 21


def test_the_judge_is_seen_only_when_the_whole_item_is_graded(site: ReviewSite) -> None:
    judge_all(site, "wrong")
    site.campaign(reveal_judge=True)
    first = now(site)
    for one in first.answers:
        before = now(site)
        assert [(a.judge_shown, a.judge) for a in before.answers] == [(False, None)] * 3
        site.grade("ann", one.id, "correct")
    after = now(site)
    assert after.number == first.number  # it stays, to be looked at
    assert [(a.judge_shown, a.judge) for a in after.answers] == [(True, "wrong")] * 3


def test_checks_are_told_the_judges_word_as_the_others_are(site: ReviewSite) -> None:
    judge_all(site, "acceptable")
    site.campaign(attention=0.4, reveal_judge=True)
    seen = set()
    while (item := site.item("ann")) is not None:
        for one in item.answers:
            site.grade("ann", one.id, "wrong")
        shown = now(site)
        seen.add(len(shown.answers))
        assert {one.judge_shown for one in shown.answers} == {True}
        submitting.go_on(site.database, user("ann"), item.campaign, item.number)
        after = site.item("ann")
        if after is None or after.number <= item.number:
            break
    assert seen == {3, 4}


def test_keeping_and_changing_are_stored_with_what_had_been_seen(site: ReviewSite) -> None:
    judge_all(site, "wrong")
    made = site.campaign(reveal_judge=True)
    first = site.grade_item("ann", "correct")
    site.grade("ann", first.answers[0].id, "wrong")
    for _ in range(2):
        submitting.keep(site.database, user("ann"), made.campaign.id, first.number, TOKEN)
    said = [(one.verdict, "judge" in (one.seen or ())) for _, one in site.grades()]
    assert said == [("correct", False)] * 3 + [("wrong", True)] + [("correct", True)] * 2
    assert now(site).number == first.number + 1


def test_before_all_is_graded_nobody_has_seen_the_judge(site: ReviewSite) -> None:
    judge_all(site, "wrong")
    site.campaign(reveal_judge=True)
    first = now(site)
    site.grade("ann", first.answers[0].id, "correct")
    site.grade("ann", first.answers[0].id, "wrong")  # a second thought, the others still open
    assert ["judge" in (one.seen or ()) for _, one in site.grades()] == [False, False]


def test_without_reveal_there_is_nothing_to_keep(site: ReviewSite) -> None:
    judge_all(site, "wrong")
    made = site.campaign()
    first = site.grade_item("ann", "correct")
    submitting.keep(site.database, user("ann"), made.campaign.id, first.number, TOKEN)
    assert len(site.grades()) == 3


def test_practice_tells_what_is_right_and_is_no_grade(site: ReviewSite) -> None:
    site.campaign(practice=1)
    first = now(site)
    assert first.is_practice
    assert all(one.known is None for one in first.answers)
    site.grade_item("ann", "correct")
    told = now(site)
    assert told.number == first.number
    assert {one.known for one in told.answers} == {"correct", "wrong"}
    submitting.go_on(site.database, user("ann"), told.campaign, told.number)
    assert not now(site).is_practice
    assert site.grades() == []


def test_grades_survive_a_new_judgement(site: ReviewSite) -> None:
    # cases.md, H1: the history is auto, judge, human, judge; the human word is the human's.
    site.campaign()
    judge_all(site, "correct")
    site.grade_item("ann", "wrong")
    add_grades(
        site.database,
        site.run,
        [
            (answer, graded(site.run, Layer.JUDGE, "strong", case, "acceptable"))
            for (case, _), answer in site.answers.items()
        ],
    )
    assert [one.verdict for _, one in site.grades()] == ["wrong"] * 3


def test_a_leads_own_review_says_so(site: ReviewSite) -> None:
    site.campaign("lee")
    item = Desk(site.database).view(user("lee", Role.LEAD)).item
    assert item is not None
    submitting.grade(
        site.database, user("lee", Role.LEAD), item.answers[0].id, Said("wrong"), TOKEN
    )
    assert "lead" in (site.grades()[0][1].seen or ())


def test_checkpoints_are_stored_line_by_line(site: ReviewSite) -> None:
    lines = "\ncheckpoints: [{id: who, text: says who}, {id: when, text: says when}]\n"
    file = site.folder / "rubrics/small.yaml"
    file.write_text(file.read_text("utf-8") + lines, "utf-8")
    site.campaign()
    item = now(site)
    assert [line.id for line in item.checkpoints] == ["who", "when"]
    submitting.grade(
        site.database, user("ann"), item.answers[0].id, Said("wrong", "", ("when",)), TOKEN
    )
    assert site.grades()[0][1].checkpoints == [
        {"id": "who", "met": False, "quote": None}, {"id": "when", "met": True, "quote": None},
    ]  # fmt: skip


def test_a_case_may_have_hundreds_of_checkpoints(site: ReviewSite) -> None:
    site.campaign()
    ticked = [f"point-{n}" for n in range(1_000)]
    Actions(site.database, site.folder).act(
        user("ann"),
        {"do": "grade", "id": now(site).answers[0].id, "verdict": "wrong", "ticked": ticked,
         "token": TOKEN},
    )  # fmt: skip
    assert len(site.grades()) == 1


def test_single_layout_shows_one_answer_without_a_letter(site: ReviewSite) -> None:
    site.campaign(layout=Layout.SINGLE)
    item = now(site)
    assert [one.label for one in item.answers] == [""]
    site.grade_item("ann")
    assert now(site).number == item.number + 1


def test_a_long_answer_is_folded_until_it_is_asked_for(database: Database, tmp_path: Path) -> None:
    site = review_site(database, tmp_path, 1, {"zebra": "长" * (FOLDED_AT + 5)})
    site.campaign()
    [long] = [one for one in now(site).answers if one.length > FOLDED_AT]
    assert (len(long.text), long.length) == (FOLDED_AT, FOLDED_AT + 5)
    item = Desk(site.database).view(user("ann"), whole=long.id).item
    assert item is not None
    assert {one.length - len(one.text) for one in item.answers} == {0}


def test_a_choice_between_campaigns_is_kept(site: ReviewSite) -> None:
    first = site.campaign().campaign.id
    second = site.campaign(seed=2).campaign.id
    assert now(site).campaign == first
    submitting.choose(site.database, user("ann"), second)
    assert now(site).campaign == second
    view = Desk(site.database).view(user("ann"))
    assert [one.campaign for one in view.choices] == [first, second]


def test_letters_go_on_after_z() -> None:
    assert [label_of(n) for n in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip
