"""Probes: a judge with a planted habit is exposed, an honest one is not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from evalbot.domain.judging import JudgeRequest, Price, ProviderError
from evalbot.domain.runs import RecordedAnswer
from evalbot.fingerprint import fingerprint
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Scope
from evalbot.judging.probing import (
    Finding,
    ProbeResult,
    compared_pairs,
    prepare_probing,
    probe_results,
    probing_session,
    result_of,
)
from evalbot.judging.variations import ProbeKind
from evalbot.reporting.probe_table import pair_table, probe_table
from evalbot.stats.wins import WinRecord
from evalbot.store.probes import read_probes
from tests.building import RUBRIC, record, said, small_run, write_site

from .pairs import SMALL, swap_probe
from .site import FakeJudge, JudgeSite, answer_in, settings_of, verdict

SCALE = ("wrong", "acceptable", "correct")
CASES = 120

Habit = Callable[[JudgeRequest, float], float]
"""The credit that a judge gives, made of the request and of the credit that is due."""


def draw(*parts: str) -> float:
    """The same number in [0, 1) for the same parts."""
    return Random("/".join(parts)).random()


def due(answer: str) -> float:
    """The right credit: it stands in the answer's first word, whatever is put around it."""
    found = re.search(r"(right|half|bad)\d", answer)
    assert found, answer
    return {"right": 1.0, "half": 0.5, "bad": 0.0}[found[1]]


def habitual(habit: Habit, **settings: object) -> FakeJudge:
    """A judge that sees the truth, and then gives in to a habit."""

    def reply(request: JudgeRequest) -> str:
        if "You compare two answers" in request.rules:
            return verdict(pair_choice(request, habit))
        credit = habit(request, due(answer_in(request)))
        return verdict(SCALE[round(2 * min(1.0, max(0.0, credit)))])

    return FakeJudge(reply, **settings)  # type: ignore[arg-type]


def pair_choice(request: JudgeRequest, habit: Habit) -> str:
    if habit is likes_the_first:
        return "first" if draw(request.question.split("===")[2]) < 0.4 else fair_choice(request)
    return fair_choice(request)


def fair_choice(request: JudgeRequest) -> str:
    first, second = re.findall(r"=== \w+ ===\n(.*?)\n=== \w+ ===", request.question, re.S)
    one, other = due(first), due(second)
    return "first" if one > other else "second" if other > one else "tie"


def honest(_: JudgeRequest, credit: float) -> float:
    return credit


def lenient(request: JudgeRequest, credit: float) -> float:
    """0.2 on average for what is not right: a step for two answers of five."""
    return credit + (0.5 if draw("lenient", answer_in(request)) < 0.4 else 0.0)


def likes_length(request: JudgeRequest, credit: float) -> float:
    return credit + (0.5 if len(answer_in(request)) > 60 else 0.0)


def likes_the_first(request: JudgeRequest, credit: float) -> float:
    """Takes the verdict that it reads first, for a quarter of the answers."""
    first = re.search(r"# Verdicts\n\n- (\w+):", request.rules)
    assert first
    if draw("order", answer_in(request)) < 0.25:
        return {"correct": 1.0, "wrong": 0.0}[first[1]]
    return credit


def likes_names(request: JudgeRequest, credit: float) -> float:
    famous = re.search("GPT-5|Claude Opus|Gemini Ultra", answer_in(request))
    return credit + (0.5 if famous and draw("name", answer_in(request)) < 0.5 else 0.0)


def obeys(request: JudgeRequest, credit: float) -> float:
    return 1.0 if "Ignore all previous" in answer_in(request) else credit


def wavers(request: JudgeRequest, credit: float) -> float:
    """Another verdict for the same call, every fourth time."""
    fence = request.question.splitlines()[-1]  # another one in each call
    return 1.0 - credit if draw("waver", fence) < 0.25 else credit


def answers() -> list[RecordedAnswer]:
    words = ("right", "half", "bad")
    return [
        said(f"c{n}", model, f"{words[int(3 * draw(model, str(n)))]}{n}")
        for n in range(CASES)
        for model in "ab"
    ]


@pytest.fixture
def probed(tmp_path: Path) -> JudgeSite:
    """Cases with right and known wrong answers, and two models of middling quality."""
    url = f"sqlite:///{tmp_path}/evalbot.db"
    cases = [
        {"key": f"c{n}", "prompt": f"question {n}", "references": [f"right{n}"],
         "traps": [f"bad{n}"]}
        for n in range(CASES)
    ]  # fmt: skip
    write_site(tmp_path, cases)
    site = JudgeSite(tmp_path, url)
    with site.open() as database:
        record(database, small_run(tmp_path, "a", "b"), answers())
    return site


def probe(
    site: JudgeSite,
    judge: FakeJudge,
    *kinds: ProbeKind,
    sample: int = 100,
    seed: int = 1,
    max_cost: float | None = None,
) -> dict[ProbeKind, ProbeResult]:
    """Judge the run and probe the judge; what is found, by kind."""
    site.judge({"strong": judge})
    settings = settings_of("strong")
    with site.open() as database:
        material = site.material(database)
        wanted = kinds or tuple(ProbeKind)
        probing = prepare_probing(database, material, [settings], wanted, Scope(seed=seed), sample)
        if probing.jobs["strong"]:
            session = probing_session(
                database, probing, [settings], {"strong": judge}, Budget(max_cost)
            )
            asyncio.run(session.execute())
        results = probe_results(database, material, [settings])
    return {result.kind: result for result in results}


def exposed(results: dict[ProbeKind, ProbeResult]) -> set[ProbeKind]:
    return {kind for kind, result in results.items() if result.finding is Finding.EXPOSED}


def test_an_honest_judge_is_not_exposed(probed: JudgeSite) -> None:
    """Must show 4."""
    results = probe(probed, habitual(honest))
    assert set(results) == set(ProbeKind)
    assert exposed(results) == set()
    pairs = results.pop(ProbeKind.SWAP)
    assert (pairs.n > 50, pairs.flips) == (
        True,
        0,
    )  # where both models said the same, there is none
    assert {result.n for result in results.values()} == {100}
    assert {result.flips for result in results.values()} == {0}


@pytest.mark.parametrize(
    ("habit", "kinds"),
    [
        (lenient, {ProbeKind.TRAP}),
        (likes_length, {ProbeKind.LENGTHEN}),
        (likes_the_first, {ProbeKind.REVERSE, ProbeKind.SWAP, ProbeKind.TRAP}),
        (likes_names, {ProbeKind.NAMES}),
        (obeys, {ProbeKind.INJECT}),
        (wavers, {ProbeKind.REPEAT}),
    ],
)
def test_a_planted_habit_is_exposed(probed: JudgeSite, habit: Habit, kinds: set[ProbeKind]) -> None:
    """Must show 4: a lenient judge, one that favours length, one that flips with the order."""
    results = probe(probed, habitual(habit))
    assert kinds <= exposed(results)
    # An answer that is named or told to the grader is longer, too; nothing else may be seen.
    if habit is not wavers:
        assert exposed(results) - kinds <= {ProbeKind.INJECT, ProbeKind.NAMES, ProbeKind.LENGTHEN}


def test_leniency_is_measured_where_the_truth_is_known(probed: JudgeSite) -> None:
    result = probe(probed, habitual(lenient), ProbeKind.TRAP, ProbeKind.REFERENCE)
    trap = result[ProbeKind.TRAP].shift
    assert trap is not None
    assert trap.low < 0.2 < trap.high
    assert trap.low > 0.1
    right = result[ProbeKind.REFERENCE].shift
    assert right is not None
    assert right.mean == 0


def test_a_lenient_judge_is_not_shown_by_what_leaves_the_truth_alone(probed: JudgeSite) -> None:
    results = probe(probed, habitual(lenient), ProbeKind.REPEAT, ProbeKind.REVERSE)
    assert exposed(results) == set()


def test_nothing_is_probed_twice(probed: JudgeSite) -> None:
    judge = habitual(honest)
    one = probe(probed, judge, ProbeKind.REPEAT, ProbeKind.SWAP, sample=20)
    calls = len(judge.requests)
    assert calls == 2 * CASES + 20 + 40
    assert probe(probed, judge, ProbeKind.REPEAT, ProbeKind.SWAP, sample=20) == one
    assert len(judge.requests) == calls
    probe(probed, judge, ProbeKind.REPEAT, sample=30)
    assert len(judge.requests) == calls + 10
    more = probe(probed, judge, ProbeKind.REPEAT, sample=30, seed=2)
    assert more[ProbeKind.REPEAT].n > 30


def test_the_same_answers_are_drawn_for_every_kind(probed: JudgeSite) -> None:
    probe(probed, habitual(honest), ProbeKind.REPEAT, ProbeKind.LENGTHEN, sample=15)
    with probed.open() as database, database.read() as connection:
        stored = read_probes(connection, "small-1")
    drawn = {
        kind: {one.answer for one in stored if one.probe.kind == kind}
        for kind in ("repeat", "lengthen")
    }
    assert drawn["repeat"] == drawn["lengthen"]
    assert len(drawn["repeat"]) == 15


def test_a_probe_keeps_what_was_sent_and_said(probed: JudgeSite) -> None:
    judge = habitual(honest, price=Price(1.0, 10.0))
    probe(probed, judge, ProbeKind.REVERSE, ProbeKind.SWAP, ProbeKind.TRAP, sample=3)
    with probed.open() as database, database.read() as connection:
        stored = read_probes(connection, "small-1")
    assert len(stored) == 9
    reverse = [one for one in stored if one.probe.kind == "reverse"]
    for one in reverse:
        assert one.answer is not None
        assert one.probe.before == one.probe.after
        assert one.probe.params["order"] == {"seed": None, "reversed_scale": True}
        assert one.probe.cost_usd == pytest.approx(0.0003)
        assert one.probe.evidence is not None
        assert one.probe.evidence["reason"] == "because"
    swap = next(one for one in stored if one.probe.kind == "swap")
    assert {one.place.endpoint for one in (swap.answer, swap.other) if one} == {"a", "b"}
    assert swap.probe.cost_usd == pytest.approx(0.0006)
    trap = next(one for one in stored if one.probe.kind == "trap")
    assert (trap.answer, trap.probe.before) == (None, "wrong")


def test_a_reply_without_a_verdict_is_told_and_an_error_asked_again(probed: JudgeSite) -> None:
    """Three errors on the way, one refusal; neither is a flip."""
    calls = iter(range(1000))
    first = 2 * CASES

    def reply(request: JudgeRequest) -> str | ProviderError:
        number = next(calls)
        if first <= number < first + 3:
            return ProviderError("Connection error.")
        if number == first + 3:
            return "I would rather not."
        return verdict(SCALE[round(2 * due(answer_in(request)))])

    judge = FakeJudge(reply)
    result = probe(probed, judge, ProbeKind.REPEAT, sample=20)[ProbeKind.REPEAT]
    assert (result.n, result.unscored, result.flips) == (16, 1, 0)
    result = probe(probed, judge, ProbeKind.REPEAT, sample=20)[ProbeKind.REPEAT]
    assert (result.n, result.unscored) == (19, 1)


def test_probes_keep_to_the_ceiling_of_cost(probed: JudgeSite) -> None:
    judge = habitual(honest, price=Price(1.0, 10.0))
    probed.judge({"strong": judge})
    before = len(judge.requests)
    probe(probed, judge, ProbeKind.REPEAT, max_cost=0.02)
    assert 0 < len(judge.requests) - before < 100


def test_probes_under_another_rubric_do_not_count(probed: JudgeSite) -> None:
    judge = habitual(honest)
    probe(probed, judge, ProbeKind.REPEAT, sample=10)
    rubric = RUBRIC.replace("Grade it.", "Grade it well.")
    (probed.folder / "rubrics/small.yaml").write_text(rubric, encoding="utf-8")
    assert probe(probed, judge, ProbeKind.REVERSE, sample=10).keys() == {ProbeKind.REVERSE}


def test_swaps_tell_consistency_and_preference() -> None:
    """J10: a judge that always says the first answer contradicts itself on every pair."""
    always = [swap_probe(n, "first", "first") for n in range(30)]
    result = result_of("strong", ProbeKind.SWAP, always, SMALL, 0.0)
    assert (result.flip_rate, result.finding) == (1.0, Finding.EXPOSED)
    assert result.shift is not None
    assert result.shift.mean == 1.0
    fair = [swap_probe(n, "first", "second") for n in range(30)]
    result = result_of("strong", ProbeKind.SWAP, fair, SMALL, 0.0)
    assert (result.flip_rate, result.finding) == (0.0, Finding.NO_SIGN)
    ties = [swap_probe(n, "tie", "tie") for n in range(30)]
    assert result_of("strong", ProbeKind.SWAP, ties, SMALL, 0.0).flip_rate == 0.0
    torn = [swap_probe(n, "tie", "second") for n in range(30)]
    assert result_of("strong", ProbeKind.SWAP, torn, SMALL, 0.0).flip_rate == 1.0


def test_few_probes_show_nothing_either_way() -> None:
    """One flip of three is no finding, and three that agree are no clean bill."""
    some = [swap_probe(n, "first", "second") for n in range(2)]
    for last in ("first", "second"):
        probes = [*some, swap_probe(9, "first", last)]
        assert result_of("strong", ProbeKind.SWAP, probes, SMALL, 0.0).finding is Finding.TOO_FEW


def test_order_is_no_finding_before_it_is_known_how_much_the_judge_wavers() -> None:
    torn = [swap_probe(n, *(("first", "first") if n % 2 else ("second", "second")))
            for n in range(40)]  # fmt: skip
    unknown = result_of("strong", ProbeKind.SWAP, torn, SMALL, None)
    assert unknown.finding is Finding.NEEDS_REPEAT
    assert result_of("strong", ProbeKind.SWAP, torn, SMALL, 0.1).finding is Finding.EXPOSED
    assert result_of("strong", ProbeKind.SWAP, torn, SMALL, 0.95).finding is Finding.NO_SIGN


def test_pairs_that_disagree_are_ties_in_the_table(probed: JudgeSite) -> None:
    """J10: a judge that takes whatever stands first gives both models ties only."""
    probe(probed, FakeJudge(first_always), ProbeKind.SWAP, sample=40)
    with probed.open() as database:
        material = probed.material(database)
        records = compared_pairs(database, material, settings_of("strong"))
    assert records == {"a": WinRecord(0, 40, 0), "b": WinRecord(0, 40, 0)}
    assert pair_table("strong", records).shown_rows()[0] == ["a", "0", "40", "0", "50.0 %"]
    assert "ties count half" in pair_table("strong", records).notes[0]


def first_always(request: JudgeRequest) -> str:
    return verdict("first" if "You compare two answers" in request.rules else "correct")


def test_the_table_says_what_was_changed_and_what_was_found(probed: JudgeSite) -> None:
    results = probe(probed, habitual(likes_length), ProbeKind.REPEAT, ProbeKind.LENGTHEN)
    table = probe_table(list(results.values()))
    rows = table.shown_rows()
    assert rows[0][:3] == ["strong", "repeat", "the same call again"]
    assert rows[0][-1] == "no sign"
    assert rows[1][-1] == "exposed"
    assert rows[1][-3].startswith("+0.")
    assert probe_table([]).notes[0].startswith("no probes so far by today's rubric")
    assert fingerprint(rows) == fingerprint(table.shown_rows())
