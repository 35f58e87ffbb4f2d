"""Several votes, several judges: majorities, ties, entropy, too few replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.judging import JudgeRequest
from evalbot.judging.ballots import Ballot, Reply
from evalbot.judging.docket import Scope
from evalbot.stats.votes import majority
from tests.building import RUBRIC

from .site import FakeJudge, JudgeSite, always, answer_in, verdict

SCALE = ("correct", "acceptable", "wrong")


def ballot(*said: str | None, least: int = 1) -> Ballot:
    made = Ballot(len(said), least)
    for number, word in enumerate(said, start=1):
        made.put(number, Reply(word, None if word else "judge_refused", f"reason {number}"))
    return made


@pytest.mark.parametrize(
    ("said", "verdict", "reason", "entropy"),
    [
        (("correct",), "correct", None, 0.0),
        (("correct", "correct", "wrong"), "correct", None, 0.9182958340544896),
        (("correct", "wrong"), None, "tie", 1.0),
        (("correct", "acceptable", "wrong"), None, "tie", 1.584962500721156),
        (("correct", "wrong", None), None, "tie", 1.0),
        (("correct", "correct", None), "correct", None, 0.0),
        ((None, None, "wrong"), "wrong", None, 0.0),
        ((None, None), None, "judge_refused", None),
        (("correct", "correct", "wrong", "acceptable"), None, "tie", 1.5),
    ],
)
def test_the_majority_of_the_votes_decides(
    said: Sequence[str | None], verdict: str | None, reason: str | None, entropy: float | None
) -> None:
    found = ballot(*said).outcome()
    assert (found.verdict, found.unscored_reason) == (verdict, reason)
    assert found.entropy == (None if entropy is None else pytest.approx(entropy))


def test_the_reason_is_one_of_those_who_agree() -> None:
    assert ballot("wrong", "correct", "correct").outcome().rationale == "reason 2"
    assert ballot("wrong", "correct").outcome().rationale == "reason 1"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (("correct", "correct", None), "judge_refused"),
        (("correct", None, None), "judge_refused"),
        ((None, None, None), "judge_refused"),
    ],
)
def test_fewer_verdicts_than_a_grade_needs_are_unscored(
    said: Sequence[str | None], reason: str
) -> None:
    found = ballot(*said, least=3).outcome()
    assert (found.verdict, found.unscored_reason) == (None, reason)


def test_checkpoints_are_ticked_by_most_votes() -> None:
    made = Ballot(3, 1)
    for number, (met, quote) in enumerate([(True, "a"), (False, None), (True, "b")], start=1):
        lines: list[dict[str, Any]] = [
            {"id": "one", "met": met, "quote": quote},
            {"id": "two", "met": None, "quote": None},
        ]
        made.put(number, Reply("correct", None, None, lines))
    assert made.outcome().checkpoints == [
        {"id": "one", "met": True, "quote": "a"},
        {"id": "two", "met": None, "quote": None},
    ]


@given(st.lists(st.sampled_from([*SCALE, None]), min_size=1, max_size=9), st.randoms())
def test_the_order_of_votes_decides_nothing(said: list[str | None], random: object) -> None:
    mixed = list(said)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = ballot(*said).outcome(), ballot(*mixed).outcome()
    assert one[:2] == other[:2]
    verdicts = [word for word in said if word]
    assert one.verdict == majority(verdicts)


def test_votes_see_other_orders_and_seeds_and_the_first_sees_none(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge}, votes=3, scope=Scope(seed=5))
    asked = [one for one in judge.requests if answer_in(one) == "把灯关了"][:3]
    assert [one.sampling["seed"] for one in asked] == [6, 7, 8]
    votes = [grade for grade in site.grades() if grade.vote]
    orders = {grade.vote: (grade.params or {})["order"]["seed"] for grade in votes}
    assert orders == {1: None, 2: 7, 3: 8}
    assert len({one.rules for one in judge.requests}) == 2  # best first, and worst first


def test_one_vote_has_no_seed_and_two_more_are_two_calls_more(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge})
    assert "seed" not in judge.requests[0].sampling
    site.judge({"strong": judge}, votes=3)
    assert len(judge.requests) == 18
    newest = site.grades("strong")[-6:]
    assert {(grade.evidence or {})["votes"]["correct"] for grade in newest} == {3}


def test_fewer_votes_later_take_none_away(site: JudgeSite) -> None:
    site.judge({"strong": always("correct")}, votes=3)
    assert site.judge({"strong": always("wrong")}, votes=1) is None
    assert {row.rate.rate for row in site.rates().values()} == {0.0}


def test_ties_are_kept_as_ties_and_entropy_is_stored(site: JudgeSite) -> None:
    words = iter([*"cw" * 20])
    judge = FakeJudge(lambda _: verdict("correct" if next(words) == "c" else "wrong"))
    site.judge({"strong": judge}, votes=2, concurrency=1)
    grades = site.grades("strong")
    assert {(one.verdict, one.unscored_reason, one.entropy) for one in grades} == {
        (None, "tie", 1.0)
    }
    assert site.rates()["a"].rate.reasons == {"tie": 3}


def test_a_rubric_may_want_several_replies(site: JudgeSite) -> None:
    rubric = RUBRIC.replace("{instructions: Grade it.}", "{instructions: Grade it., min_votes: 2}")
    (site.folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")

    def reply(request: JudgeRequest) -> str:
        is_second = request.sampling["seed"] == 3
        return "no idea" if is_second and answer_in(request) == "天晴" else verdict("correct")

    site.judge({"strong": FakeJudge(reply)}, votes=2)
    assert site.by_case("strong") == {
        "door": "correct",
        "light": "correct",
        "rain": "judge_unparseable",
    }


def test_judges_make_a_panel_and_its_majority_is_the_rate(site: JudgeSite) -> None:
    judges = {"one": always("wrong"), "two": always("correct"), "three": always("wrong")}
    site.judge(judges)
    assert set(site.by_case("panel").values()) == {"wrong"}
    panel = site.grades("panel")
    assert len(panel) == 6
    assert panel[0].entropy == pytest.approx(0.9182958340544896)
    assert panel[0].evidence == {
        "flags": [],
        "judges": {"one": "wrong", "two": "correct", "three": "wrong"},
    }
    assert site.rates()["a"].rate.rate == 1.0
    assert site.rates("two")["a"].rate.rate == 0.0
    assert site.rates("two#1")["a"].rate.rate == 0.0


def test_a_panel_of_two_that_differ_is_a_tie(site: JudgeSite) -> None:
    site.judge({"one": always("wrong"), "two": always("correct")})
    assert set(site.by_case("panel").values()) == {"tie"}
    assert site.rates()["a"].rate.reasons == {"tie": 3}


def test_a_judge_that_joins_later_makes_the_panel_speak_again(site: JudgeSite) -> None:
    site.judge({"one": always("wrong")})
    assert site.grades("panel") == []
    site.judge({"two": always("correct")})
    site.judge({"three": always("correct")})
    assert [set(site.by_case("panel").values()), len(site.grades("panel"))] == [{"correct"}, 12]
    assert site.rates()["a"].rate.rate == 0.0


def test_a_panel_waits_for_all_its_judges(site: JudgeSite) -> None:
    """While one is still at work, nothing is said in the name of all."""
    site.judge({"one": always("wrong")})
    site.judge({"two": always("wrong"), "three": always("correct")})
    assert len(site.grades("panel")) == 6
    judges = {(one.evidence or {})["judges"].keys() == {"one", "two", "three"}
              for one in site.grades("panel")}  # fmt: skip
    assert judges == {True}


def test_a_stale_panel_does_not_hide_a_judge_that_graded_again(site: JudgeSite) -> None:
    site.judge({"one": always("wrong"), "two": always("wrong")})
    rubric = RUBRIC.replace("means: tolerable", "means: nearly tolerable")
    (site.folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")
    assert site.rates()["a"].rate.stale == 3
    site.judge({"one": always("correct")})
    rate = site.rates()["a"].rate
    assert (rate.stale, rate.rate) == (0, 0.0)
