"""Judging a run: what is asked, what is written, and that nothing is asked twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.answers import AnswerStatus, Usage
from evalbot.domain.judging import JudgeRequest, Price, ProviderError, ProviderReply
from evalbot.errors import InputError, LeaseHeldError, StoreError
from evalbot.judging import lane
from evalbot.judging.docket import Only, Scope
from evalbot.store import leases
from evalbot.store.texts import get_texts
from tests.building import RUBRIC, said
from tests.waiting import until

from .site import ANSWERS, FakeJudge, JudgeSite, always, answer_in, verdict

DOWN = ProviderError("Connection error.")


def by_answer(words: dict[str, str]) -> FakeJudge:
    return FakeJudge(lambda request: verdict(words[answer_in(request)]))


def test_every_answer_gets_a_vote_and_the_judges_word(site: JudgeSite) -> None:
    judge = by_answer({"请关门": "correct", "把灯关了": "acceptable", "天晴": "wrong"})
    assert site.judge({"strong": judge}) is True
    assert len(judge.requests) == 6
    assert site.by_case("strong") == {"door": "correct", "light": "acceptable", "rain": "wrong"}
    votes, words = site.grades("strong#1"), site.grades("strong")
    assert (len(votes), len(words), len(site.grades())) == (6, 6, 12)
    assert {grade.vote for grade in votes} == {1}
    assert {grade.vote for grade in words} == {None}
    assert {grade.entropy for grade in words} == {0.0}
    assert {grade.rationale for grade in site.grades()} == {"because"}


def test_what_was_really_sent_is_kept_with_each_vote(site: JudgeSite) -> None:
    def picky(request: JudgeRequest) -> str | ProviderError:
        if "temperature" in request.sampling:
            return ProviderError("Unsupported parameter: 'temperature'", "temperature")
        return verdict("correct")

    judge = FakeJudge(picky, price=Price(1.0, 10.0))
    site.judge({"strong": judge}, sampling={"temperature": 0, "max_tokens": 99})
    # Refused once: the first call is made alone, and the others know.
    assert Counter("temperature" in one.sampling for one in judge.requests) == {False: 6, True: 1}
    for grade in site.grades("strong#1"):
        assert grade.params is not None
        assert grade.params["dropped"] == ["temperature"]
        assert grade.params["max_tokens"] == 99
        assert grade.params["response_format"] == "json_schema"
        assert grade.params["model"] == "openai/judge"
        assert grade.cost_usd == pytest.approx(0.0003)
        assert grade.evidence is not None
        assert grade.evidence["latency_s"] == 0.1
    with site.open() as database, database.read() as connection:
        sheets = {grade.prompt_fingerprint or "" for grade in site.grades("strong#1")}
        texts = get_texts(connection, sheets)
    assert len(texts) == 3
    assert all("# Verdicts" in text["rules"] for text in texts.values())
    assert not any("请关门\n===" in text["question"] for text in texts.values())


def test_nothing_is_asked_twice(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge})
    assert site.judge({"strong": judge}) is None
    assert site.judge({"strong": judge}, scope=Scope(Only.ALL)) is None
    assert len(judge.requests) == 6


def test_a_reply_without_a_verdict_is_asked_again_only_where_all_are_wanted(
    site: JudgeSite,
) -> None:
    unwilling = FakeJudge(lambda _: "I cannot grade this.")
    site.judge({"strong": unwilling})
    assert site.judge({"strong": unwilling}) is None
    judge = always("correct")
    assert site.judge({"strong": judge}, scope=Scope(Only.ALL)) is True
    assert len(judge.requests) == 6
    assert site.judge({"strong": judge}, scope=Scope(Only.ALL)) is None
    assert set(site.by_case("strong").values()) == {"correct"}


def test_an_error_is_no_reply_and_is_asked_again(site: JudgeSite) -> None:
    calls = iter(range(100))
    judge = FakeJudge(lambda _: DOWN if next(calls) < 3 else verdict("correct"))
    assert site.judge({"strong": judge}, concurrency=1) is True
    assert Counter(grade.unscored_reason for grade in site.grades("strong")) == {
        "judge_error": 3,
        None: 3,
    }
    row = site.rates()["a"]
    assert (row.rate.n, row.rate.unscored, row.rate.reasons) == (0, 3, {"judge_error": 3})
    assert site.judge({"strong": judge}) is True
    assert len(judge.requests) == 9
    assert {one.rate.n for one in site.rates().values()} == {3}


@pytest.mark.parametrize(
    "change", ["judge", "notes", "references", "instructions", "means", "temperature"]
)
def test_whatever_could_change_a_reply_asks_anew(site: JudgeSite, change: str) -> None:
    judge = always("correct")
    site.judge({"strong": judge})
    cases, rubric = site.folder / "datasets/small/cases.jsonl", site.folder / "rubrics/small.yaml"
    text = cases.read_text(encoding="utf-8")
    settings: dict[str, Any] = {}
    if change == "judge":
        settings = {"sampling": {"max_tokens": 77}}
    elif change == "temperature":
        settings = {"sampling": {"temperature": 0.5}}
    elif change == "notes":
        text = text.replace('"key": "rain"', '"key": "rain", "notes": "It rains."')
    elif change == "references":
        text = text.replace("下雨了", "下雨啦")
    elif change == "instructions":
        rubric.write_text(RUBRIC.replace("Grade it.", "Grade it well."), encoding="utf-8")
    else:
        rubric.write_text(RUBRIC.replace("means: right", "means: all right"), encoding="utf-8")
    cases.write_text(text, encoding="utf-8")
    site.judge({"strong": judge}, **settings)
    assert len(judge.requests) == 6 + (2 if change in ("notes", "references") else 6)


def test_what_cannot_change_a_reply_does_not(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge})
    cases, rubric = site.folder / "datasets/small/cases.jsonl", site.folder / "rubrics/small.yaml"
    text = cases.read_text(encoding="utf-8").replace("weather", "sky")
    cases.write_text(text, encoding="utf-8")
    rubric.write_text(RUBRIC.replace("correct: 100", "correct: 90"), encoding="utf-8")
    settings = {
        "timeout_s": 5.0,
        "api_base": "http://elsewhere",
        "price": {"input": 1, "output": 1},
    }
    assert site.judge({"strong": judge}, **settings) is None


def test_only_what_scoring_left_open_is_judged_where_that_is_wanted(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge}, scope=Scope(Only.NEEDS_REVIEW))
    assert {answer_in(one) for one in judge.requests} == {"把灯关了", "天晴"}
    row = site.rates()["a"]
    assert (row.rate.n, row.rate.reasons) == (2, {"not_graded": 1})
    assert "judged:needs_review" in row.signature
    assert any(note.startswith("judged: needs_review only: 2 answers") for note in row.notes)
    site.judge({"strong": judge})
    row = site.rates()["a"]
    assert (len(judge.requests), row.rate.n) == (6, 3)
    assert "judged:all" in row.signature
    assert row.notes == ()


def test_failed_answers_are_left_out_and_cut_ones_judged_where_wanted(
    tmp_path: Path, database_url: str
) -> None:
    answers = [
        said("door", "a", "请关"),
        said("light", "a", "请关", status=AnswerStatus.TRUNCATED),
        said("rain", "a", "", status=AnswerStatus.TIMEOUT),
    ]
    site = JudgeSite.make(tmp_path, database_url, answers)
    judge = always("correct")
    site.judge({"strong": judge})
    assert len(judge.requests) == 1
    assert site.rates()["a"].notes == ()
    site.judge({"strong": judge}, scope=Scope(include_truncated=True))
    assert len(judge.requests) == 2
    assert site.by_case("strong") == {"door": "correct", "light": "correct"}


def test_repeats_are_judged_each(tmp_path: Path, database_url: str) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in (1, 2, 3)]
    site = JudgeSite.make(tmp_path, database_url, answers)
    words = {"请关门1": "correct", "请关门2": "correct", "请关门3": "wrong"}
    site.judge({"strong": by_answer(words)})
    rate = site.rates()["a"].rate
    assert rate.rate == pytest.approx(1 / 3)
    assert rate.repeat_change == pytest.approx(2 / 3)


def test_a_judge_that_is_gone_is_asked_no_more(site: JudgeSite, tmp_path: Path) -> None:
    other = JudgeSite.make(
        tmp_path / "more",
        f"sqlite:///{tmp_path}/more.db",
        [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 40)],
    )
    judge = FakeJudge(lambda _: DOWN)
    assert other.judge({"strong": judge}, concurrency=1) is False
    assert len(judge.requests) == lane.GONE_AFTER
    with other.open() as database:
        session = other.session(database, {"strong": judge}, concurrency=1)
        assert session is not None
        asyncio.run(session.execute())
    state = session.progress.endpoints["strong"].state
    assert state == "gave no reply 8 times in a row: Connection error."


def test_one_judge_that_is_gone_does_not_hold_up_another(site: JudgeSite) -> None:
    down, up = FakeJudge(lambda _: DOWN), always("correct")
    site.judge({"down": down, "up": up})
    assert len(up.requests) == 6
    assert set(site.by_case("up").values()) == {"correct"}


def test_each_judge_keeps_to_its_own_limit(tmp_path: Path) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 30)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    judge = always("correct")
    site.judge({"strong": judge}, concurrency=3)
    assert (len(judge.requests), judge.most_at_once) == (29, 3)


def test_a_ceiling_of_cost_is_never_broken(tmp_path: Path) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 60)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    price = Price(1.0, 10.0)  # a call of 100 and 20 tokens costs 0.0003, at most about 0.0014
    judge = always("correct", price=price)
    how = {"sampling": {"max_tokens": 100}, "max_cost": 0.006}
    assert site.judge({"strong": judge}, **how) is False
    spent = sum(grade.cost_usd or 0 for grade in site.grades("strong#1"))
    assert spent == pytest.approx(len(judge.requests) * 0.0003)
    assert 0.004 < spent <= 0.006
    assert site.judge({"strong": judge}, **{**how, "max_cost": 1.0}) is True
    assert len(judge.requests) == 59


def test_a_ceiling_needs_a_price(site: JudgeSite) -> None:
    with pytest.raises(InputError, match=r"the price of openai/judge is not known, so --max-cost"):
        site.judge({"strong": always("correct")}, max_cost=1.0)
    assert site.grades() == []


def test_a_ceiling_below_one_call_asks_nothing(site: JudgeSite) -> None:
    judge = always("correct", price=Price(1.0, 10.0))
    assert site.judge({"strong": judge}, max_cost=0.0001) is False
    assert judge.requests == []


def test_calls_in_flight_are_kept_when_judging_is_stopped(site: JudgeSite) -> None:
    """Must show 5: what was answered costs no second call."""
    judge = always("correct")

    async def stopped() -> None:
        with site.open() as database:
            session = site.session(database, {"strong": judge}, concurrency=3)
            assert session is not None
            judge.holds, judge.free = asyncio.Event(), 1
            work = asyncio.create_task(session.execute())
            await until(lambda: judge.at_once == 3)
            work.cancel()
            await asyncio.sleep(0.05)
            judge.holds.set()
            with pytest.raises(asyncio.CancelledError):
                await work

    asyncio.run(stopped())
    assert len(judge.requests) == 4
    assert len(site.grades("strong")) == 4
    judge.holds = None
    assert site.judge({"strong": judge}) is True
    assert len(judge.requests) == 6


def test_a_call_that_hangs_is_given_up_after_its_grace(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "GRACE_S", 0.05)
    judge = always("correct")
    judge.holds = asyncio.Event()

    async def stopped() -> None:
        with site.open() as database:
            session = site.session(database, {"strong": judge})
            assert session is not None
            work = asyncio.create_task(session.execute())
            await until(lambda: bool(judge.requests))
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work

    asyncio.run(stopped())
    assert site.grades() == []
    judge.holds = None
    assert site.judge({"strong": judge}) is True


def test_one_process_judges_a_run_at_a_time(site: JudgeSite) -> None:
    with site.open() as database:
        with database.write() as connection:
            lease = leases.acquire(connection, "small-1")
        with pytest.raises(LeaseHeldError, match="run small-1 is being worked on by process"):
            site.judge({"strong": always("correct")})
        with database.write() as connection:
            leases.release(connection, lease)
    assert site.judge({"strong": always("correct")}) is True
    with site.open() as database, database.read() as connection:
        assert not leases.is_held(connection, "small-1")


def test_a_record_that_cannot_be_written_is_told_with_what_it_cost(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("evalbot.judging.voting.GradeWriter.add", fails)
    with pytest.raises(StoreError, match=r"the disk is full \(\d judgements received after"):
        site.judge({"strong": always("correct")})
    monkeypatch.undo()
    assert site.judge({"strong": always("correct")}) is True


def test_stale_grades_are_told_and_judging_again_renews_them(site: JudgeSite) -> None:
    site.judge({"strong": always("correct")})
    rubric = RUBRIC.replace("means: tolerable", "means: nearly tolerable")
    (site.folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")
    assert site.rates()["a"].rate.stale == 3
    site.judge({"strong": always("wrong")})
    rate = site.rates()["a"].rate
    assert (rate.stale, rate.n, rate.rate) == (0, 3, 1.0)


def test_rates_say_who_judged_and_by_which_settings(site: JudgeSite) -> None:
    site.judge({"strong": always("correct")}, votes=3)
    [one] = {row.signature for row in site.rates().values() if row.model == "a"}
    assert "|judge:majority|judges:strong/" in one
    assert "x3|judged:all|" in one
    site.judge({"strong": always("wrong")}, votes=3, sampling={"temperature": 1})
    other = site.rates()["a"].signature
    assert one.partition("judges:")[2][:15] != other.partition("judges:")[2][:15]


def test_an_unfinished_judging_says_so(tmp_path: Path, database_url: str) -> None:
    site = JudgeSite.make(tmp_path, database_url)
    price = Price(1.0, 10.0)
    judge = always("correct", price=price)
    assert site.judge({"strong": judge}, max_cost=0.002, sampling={"max_tokens": 100}) is False
    notes = site.rates()["a"].notes + site.rates()["b"].notes
    assert any("judging is not finished" in note for note in notes)


def test_a_cut_reply_and_a_refusal_are_unscored_with_their_words(site: JudgeSite) -> None:
    said_so = {
        "请关门": ProviderReply('{"reason":"訳文は概ね', "length"),
        "把灯关了": ProviderReply("I will not.", "stop", refused=True),
        "天晴": ProviderReply('{"score": 4}', "stop"),
    }
    site.judge({"strong": FakeJudge(lambda request: said_so[answer_in(request)])})
    votes = {
        grade.unscored_reason: (grade.evidence or {}).get("raw")
        for grade in site.grades("strong#1")
    }
    assert votes == {
        "judge_truncated": '{"reason":"訳文は概ね',
        "judge_refused": "I will not.",
        "judge_off_scale": '{"score": 4}',
    }
    reasons = site.rates()["a"].rate.reasons
    assert reasons == {"judge_truncated": 1, "judge_refused": 1, "judge_off_scale": 1}


def test_j4_five_of_twenty_replies_that_say_nothing_leave_a_rate_over_fifteen(
    tmp_path: Path, database_url: str
) -> None:
    """J4: neither wrong nor repaired; the coverage is told."""
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 21)]
    site = JudgeSite.make(tmp_path, database_url, answers)

    def reply(request: JudgeRequest) -> str:
        number = int(answer_in(request).removeprefix("请关门"))
        return "I cannot grade this." if number <= 5 else verdict("wrong")

    site.judge({"strong": FakeJudge(reply)})
    row = site.rates()["a"]
    assert row.rate.counts["wrong"] == 15
    # Of each of the two cases without an answer there are 20 repeats.
    assert row.rate.reasons == {"judge_unparseable": 5, "not_graded": 40}
    assert row.rate.rate == 1.0


def test_the_text_of_an_answer_is_fenced_and_nothing_tells_whose_it_is(site: JudgeSite) -> None:
    judge = always("correct")
    site.judge({"strong": judge})
    for request in judge.requests:
        assert answer_in(request) in ANSWERS.values()
        for canary in ("small-1", '"a"', "endpoint", "model:"):
            assert canary not in request.rules + request.question


def test_settings_that_cannot_make_a_grade_are_refused(site: JudgeSite) -> None:
    rubric = RUBRIC.replace("{instructions: Grade it.}", "{instructions: Grade it., min_votes: 3}")
    (site.folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")
    with pytest.raises(InputError, match=r"wants at least 3 votes .* try --votes 3"):
        site.judge({"strong": always("correct")})
    assert replace(Scope(), seed=2).statuses == (AnswerStatus.OK,)


def test_an_answer_that_the_provider_refuses_does_not_end_the_work(tmp_path: Path) -> None:
    """Twelve answers are too long for the judge: the others are judged all the same."""
    answers = [
        said("door", "a", ("long" if n <= 12 else "short") + str(n), repeat=n) for n in range(1, 31)
    ]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    too_long = ProviderError("the prompt is too long", is_about_request=True)

    def reply(request: JudgeRequest) -> str | ProviderError:
        return too_long if answer_in(request).startswith("long") else verdict("correct")

    assert site.judge({"strong": FakeJudge(reply)}, concurrency=1) is True
    counts = Counter(one.unscored_reason for one in site.grades("strong"))
    assert counts == {"judge_error": 12, None: 18}
    # Asking again would change nothing, until everything is asked for once more.
    assert site.judge({"strong": FakeJudge(reply)}) is None
    again = always("wrong")
    assert site.judge({"strong": again}, scope=Scope(Only.ALL)) is True
    assert len(again.requests) == 12


def test_a_second_try_for_a_cut_reply_is_paid_for_by_itself(tmp_path: Path) -> None:
    """The ceiling holds, and what came is kept as cut."""
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 40)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)

    def cut(request: JudgeRequest) -> ProviderReply:
        written = int(request.sampling["max_tokens"])
        usage = Usage(300, 0, written)
        return ProviderReply("{", "length", usage=usage, cost_usd=Price(1, 10).of(300, written))

    judge = FakeJudge(cut, price=Price(1.0, 10.0))
    how = {"max_cost": 0.02, "sampling": {"max_tokens": 200}}
    assert site.judge({"strong": judge}, **how) is False
    spent = sum(Price(1, 10).of(300, int(one.sampling["max_tokens"])) for one in judge.requests)
    assert 0.01 < spent <= 0.02
    assert {one.unscored_reason for one in site.grades("strong")} == {"judge_truncated"}


def test_a_reply_without_usage_counts_with_its_most_under_a_ceiling(tmp_path: Path) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 40)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    judge = FakeJudge(lambda _: ProviderReply(verdict("correct"), "stop"), price=Price(1.0, 10.0))
    assert site.judge({"strong": judge}, max_cost=0.05, sampling={"max_tokens": 200}) is False
    assert 5 < len(judge.requests) < 20


def test_single_votes_do_not_count_as_judged(site: JudgeSite) -> None:
    """Stopped after one vote of two: nothing is graded so far, and the rates say so."""
    price = Price(1.0, 10.0)
    judge = always("correct", price=price)
    how = {"sampling": {"max_tokens": 100}, "concurrency": 1}
    assert site.judge({"strong": judge}, votes=2, max_cost=0.0025, **how) is False
    row = site.rates()["b"]
    assert "judged:part" in row.signature
    assert any("judging is not finished" in note for note in row.notes)


def test_a_judge_that_is_half_done_is_told_of(site: JudgeSite) -> None:
    site.judge({"one": always("correct")})
    half = always("wrong", price=Price(1.0, 10.0))
    how = {"sampling": {"max_tokens": 100}, "concurrency": 1}
    assert site.judge({"two": half}, max_cost=0.0025, **how) is False
    for judge in (None, "two"):
        row = site.rates(judge)["a"]
        assert "judged:part" in row.signature
        assert any(note.startswith("judging is not finished") for note in row.notes)
    alone = site.rates("one")["a"]
    assert "judges:one/" in alone.signature
    assert "two" not in alone.signature
    assert "judged:all" in alone.signature
    assert alone.notes == ()


def test_cut_answers_that_were_judged_are_in_the_signature(
    tmp_path: Path, database_url: str
) -> None:
    answers = [
        said("door", "a", "请关"),
        said("light", "a", "请", status=AnswerStatus.TRUNCATED),
    ]
    site = JudgeSite.make(tmp_path, database_url, answers)
    site.judge({"strong": always("correct")})
    assert "|judged:all|" in site.rates()["a"].signature
    site.judge({"strong": always("correct")}, scope=Scope(include_truncated=True))
    assert "|judged:all+truncated|" in site.rates()["a"].signature


@pytest.mark.parametrize("odd", ["\\u0000", "\\ud83d"])
def test_odd_characters_in_a_reply_are_recorded_on_every_database(
    site: JudgeSite, odd: str
) -> None:
    reply = f'{{"reason":"a{odd}b","checkpoints":[],"verdict":"correct"}}'
    assert site.judge({"strong": FakeJudge(lambda _: reply)}) is True
    assert {one.rationale for one in site.grades("strong")} == {"a\ufffdb"}
    raw = FakeJudge(lambda _: "no \x00 verdict \ud83d here")
    assert site.judge({"other": raw}) is True
    assert {(one.evidence or {})["raw"] for one in site.grades("other#1")} == {
        "no \ufffd verdict \ufffd here"
    }


def test_a_few_answers_can_be_tried_first(site: JudgeSite) -> None:
    judge = always("correct")
    assert site.judge({"strong": judge}, votes=2, scope=Scope(limit=2)) is True
    assert (len(judge.requests), len(site.grades("strong"))) == (4, 2)
    assert "judged:part" in site.rates()["a"].signature
    site.judge({"strong": judge}, votes=2, scope=Scope(limit=100))
    assert len(judge.requests) == 12
