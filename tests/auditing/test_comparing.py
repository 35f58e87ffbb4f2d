"""Comparisons of models and of runs, on runs that are really recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from evalbot.auditing.comparing import Comparison, compare
from evalbot.domain.answers import Timing
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError, NotFoundError
from evalbot.grading.basis import FROM_RECORD
from evalbot.reporting.compare_tables import comparison_tables, comparison_values, in_words
from evalbot.reporting.findings import ahead_of, headline, steps, told_apart
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.rates import rate_rows
from evalbot.store.database import Database
from evalbot.store.runs import get_run, set_setting
from tests.auditing.site import audited_site, give
from tests.building import RUBRIC, START, add_grades, graded, record, said, small_run, write_site
from tests.reviewing.site import cases

A = ["correct", "correct", "acceptable", "correct", "correct", "acceptable", "correct", "correct"]
B = ["acceptable", "correct", "acceptable", "wrong", "correct", "acceptable", "acceptable", "wrong"]


def judged_run(
    database: Database,
    folder: Path,
    verdicts: Mapping[str, Sequence[str | None]],
    *,
    run_id: str = "small-1",
    repeats: int = 1,
    extra: Mapping[str, object] | None = None,
) -> None:
    """A run whose answers a judge gave these verdicts, by model, case after case."""
    count = max(map(len, verdicts.values())) // repeats
    write_site(folder, cases=[{**case, **(extra or {})} for case in cases(count)])
    run = small_run(folder, *verdicts, repeats=repeats, run_id=run_id)
    answers = [
        said(f"c{n // repeats}", model, f"{run_id} {model} {n}", repeat=n % repeats + 1,
             timing=Timing(ttfot_ms=100.0 * (1 + place), decode_tps=50.0 / (1 + place)))
        for place, (model, own) in enumerate(verdicts.items())
        for n in range(len(own))
    ]  # fmt: skip
    ids = record(database, run, answers)
    flat = [verdict for own in verdicts.values() for verdict in own]
    grades = [
        (id_, graded(run, Layer.JUDGE, "strong", one.place.case, verdict))
        for id_, one, verdict in zip(ids, answers, flat, strict=True)
        if verdict is not None
    ]
    add_grades(database, run, grades)


def compared(database: Database, folder: Path, *runs: str) -> Comparison:
    return compare(database, runs or ("small-1",), folder, Layer.JUDGE)


def test_a_pair_is_compared_on_the_same_cases_by_the_exact_test(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": A, "b": B})
    found = compared(database, tmp_path)
    [pair] = found.pairs
    # The oracle of the exact test, in error weights: lower is better.
    assert (pair.n, pair.difference, pair.p, pair.p_holm) == (8, -0.375, 0.125, 0.125)
    assert (pair.wins, pair.losses, pair.ties) == (4, 0, 4)
    assert not pair.separable
    assert pair.swap_after == 4
    assert pair.cases_needed is not None
    assert pair.cases_needed > 8
    assert in_words(pair).startswith("no: about ")
    assert (pair.decode_tps_difference, pair.ttfot_ms_difference) == (25.0, -100.0)
    assert found.letters == {"a": "a", "b": "a"}


def test_models_that_differ_enough_are_told_apart(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"good": ["correct"] * 12, "bad": ["wrong"] * 12})
    found = compared(database, tmp_path)
    [pair] = found.pairs
    assert pair.separable
    assert pair.p == 2 / 2**12
    assert pair.cases_needed is None
    assert in_words(pair) == "yes"
    assert found.letters == {"good": "a", "bad": "b"}
    assert found.ranks == {"good": [1.0, 0.0], "bad": [0.0, 1.0]}


def test_all_pairs_are_adjusted_together(database: Database, tmp_path: Path) -> None:
    judged_run(
        database, tmp_path,
        {"a": ["correct"] * 6, "b": ["wrong"] * 6, "c": ["acceptable"] * 6},
    )  # fmt: skip
    found = compared(database, tmp_path)
    assert [pair.p for pair in found.pairs] == [0.03125] * 3
    assert [pair.p_holm for pair in found.pairs] == [0.09375] * 3
    assert set(found.letters.values()) == {"a"}
    notes = comparison_tables(found)[0].notes
    assert any("at least 7 cases must differ" in note for note in notes)


def test_cases_without_a_verdict_of_both_are_left_out_and_told(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": [*A[:7], None], "b": [None, *B[1:]]})
    found = compared(database, tmp_path)
    [pair] = found.pairs
    assert (pair.n, found.n) == (6, 6)
    assert any("6 of 8 cases" in note for note in found.notes)


def test_repeats_count_as_the_mean_of_their_case(database: Database, tmp_path: Path) -> None:
    judged_run(
        database, tmp_path,
        {"a": ["correct", "wrong", "correct", "correct"], "b": ["wrong"] * 4}, repeats=2,
    )  # fmt: skip
    [pair] = compared(database, tmp_path).pairs
    assert (pair.n, pair.difference) == (2, -0.75)
    assert pair.p == 0.5


def test_cases_of_one_document_change_sides_together(database: Database, tmp_path: Path) -> None:
    judged_run(
        database, tmp_path, {"a": ["correct"] * 6, "b": ["wrong"] * 6},
        extra={"cluster": "one document"},
    )  # fmt: skip
    [pair] = compared(database, tmp_path).pairs
    assert (pair.n, pair.p) == (6, 1.0)


def test_cases_needed_are_more_than_there_are_where_documents_are_too_few(
    database: Database, tmp_path: Path
) -> None:
    """Five documents of ten cases tell nothing, whatever happens in them."""
    bad = ["wrong" if n % 3 else "correct" for n in range(50)]
    judged_run(database, tmp_path, {"a": ["correct"] * 50, "b": bad})
    site = [{**case, "cluster": f"document {n // 10}"} for n, case in enumerate(cases(50))]
    write_site(tmp_path, cases=site)
    found = compared(database, tmp_path)
    [pair] = found.pairs
    assert (pair.wins, pair.p, pair.separable) == (33, 2 / 2**5, False)
    # Six documents, at least, must point the same way: six times ten cases.
    assert (pair.cases_needed, in_words(pair)) == (60, "no: about 60 cases would tell")
    [notes, *_] = [table.notes for table in comparison_tables(found)]
    assert any(note.endswith("; cases of one document count as one") for note in notes)
    write_site(tmp_path, cases=[{**case, "cluster": "one document"} for case in cases(50)])
    [pair] = compared(database, tmp_path).pairs
    assert (pair.cases_needed, in_words(pair)) == (None, "no: too few cases or documents")


def test_one_case_that_differs_is_not_called_no_difference(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": ["correct"], "b": ["wrong"]})
    found = compared(database, tmp_path)
    assert in_words(found.pairs[0]) == "no: too few cases or documents"
    assert any("(1 case)" in table.title for table in comparison_tables(found))


def test_an_order_that_shared_cases_turn_round_is_not_called_supported(
    database: Database, tmp_path: Path
) -> None:
    """b has the easy cases, too: its rate is the better one, and yet a is the better model."""
    a = [None] * 20 + ["correct"] * 14 + ["wrong"] * 26
    b = ["correct"] * 24 + ["wrong"] * 36
    judged_run(database, tmp_path, {"a": a, "b": b})
    found = compared(database, tmp_path)
    assert found.rates == {"a": pytest.approx(26 / 40), "b": pytest.approx(36 / 60)}
    assert found.pairs[0].difference == -0.25
    assert told_apart(found) == ["a before b"]
    assert ahead_of(found, ["b"]) == ["a"]
    assert ahead_of(found, ["a"]) == []
    [step] = steps(found)
    assert step == (
        "b (60.0 %) before a (65.0 %): not supported: on the 40 cases that both have a verdict "
        "on, a is ahead (told apart, p 0.0020 after Holm)"
    )
    assert any(note.startswith("a is better than b on the 40 cases") for note in found.notes)


def test_equal_models_are_alike_and_no_number_of_cases_would_tell(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": A, "b": A})
    [pair] = compared(database, tmp_path).pairs
    assert (pair.p, pair.cases_needed, pair.swap_after) == (1.0, None, 1)
    assert in_words(pair) == "no: alike on every case"


def test_without_any_shared_case_nothing_is_claimed(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": ["correct", None], "b": [None, "wrong"]})
    found = compared(database, tmp_path)
    [pair] = found.pairs
    assert (pair.n, pair.difference, pair.p, pair.p_holm, pair.swap_after) == (
        0, None, None, None, None,
    )  # fmt: skip
    assert not pair.separable
    assert found.ranks == {}
    assert in_words(pair) == "no case that both have a verdict on"


def test_a_retest_pairs_each_model_with_itself(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": A, "b": B})
    judged_run(database, tmp_path, {"b": A, "c": A}, run_id="small-2")
    found = compared(database, tmp_path, "small-1", "small-2")
    [pair] = found.pairs
    assert (pair.a, pair.b, pair.run_a, pair.run_b) == ("b", "b", "small-1", "small-2")
    assert (pair.difference, pair.losses, pair.ties) == (0.375, 4, 4)
    assert (pair.decode_tps_difference, pair.ttfot_ms_difference) == (-25.0, 100.0)
    assert [(one.case, one.verdict_before, one.verdict_after) for one in found.changed] == [
        ("c0", "acceptable", "correct"), ("c3", "wrong", "correct"),
        ("c6", "acceptable", "correct"), ("c7", "wrong", "correct"),
    ]  # fmt: skip
    assert found.changed[0].before == "small-1 b 0"
    assert found.changed[0].after == "small-2 b 0"
    assert found.ranks == {}


def test_a_retest_leaves_out_what_was_asked_in_other_words(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": A})
    asked = [{**case, "prompt": "別の質問"} if case["key"] == "c0" else case for case in cases(8)]
    write_site(tmp_path, cases=asked)
    run = small_run(tmp_path, "a", run_id="small-2")
    record(database, run, [said(f"c{n}", "a", f"答案{n}") for n in range(8)])
    found = compare(database, ["small-1", "small-2"], tmp_path, Layer.AUTO)
    assert found.n == 7
    left_out = "left out, as not asked and graded by the same texts in both runs: 1 case"
    assert found.notes == (left_out,)


def test_a_retest_tells_of_cases_that_only_one_run_asked(
    database: Database, tmp_path: Path
) -> None:
    judged_run(database, tmp_path, {"a": A[:5]}, run_id="small-2")
    judged_run(database, tmp_path, {"a": A})
    told = "left out, as not asked and graded by the same texts in both runs: 3 cases"
    for both in (["small-1", "small-2"], ["small-2", "small-1"]):
        found = compared(database, tmp_path, *both)
        assert (found.n, found.notes) == (5, (told,))


def test_a_retest_that_another_judge_graded_says_so(database: Database, tmp_path: Path) -> None:
    """The same answers, and a judge that is harsher: no model has become worse."""
    sites = [audited_site(database, tmp_path, 12, run_id=run) for run in ("small-1", "small-2")]
    give(sites[0], Layer.JUDGE, "mild", lambda *_: "correct")
    give(sites[1], Layer.JUDGE, "harsh", lambda *_: "wrong")
    told = "judged by mild before, and by harsh after: a change may be the judges', not the models'"
    assert compared(database, tmp_path, "small-1", "small-2").notes == (told,)
    for site in sites:
        give(site, Layer.JUDGE, "both", lambda *_: "correct")
    both = compare(database, ["small-1", "small-2"], tmp_path, Layer.JUDGE, "both")
    assert both.notes == ()
    assert compare(database, ["small-1", "small-2"], tmp_path, Layer.AUTO).notes == ()
    add_grades(
        database,
        sites[1].run,
        [
            (
                answer,
                graded(sites[1].run, Layer.JUDGE, "both", case, "correct")._replace(
                    params={"judge": "other settings"}, at=START + timedelta(days=1)
                ),
            )
            for (case, _), answer in sites[1].answers.items()
        ],
    )
    both = compare(database, ["small-1", "small-2"], tmp_path, Layer.JUDGE, "both")
    assert both.notes[0].startswith("judged with other settings of both in the two runs: ")


def test_a_retest_by_another_rate_or_other_references_is_no_retest(
    database: Database, tmp_path: Path
) -> None:
    """The older run came in whole and keeps the texts that it was graded by."""
    judged_run(database, tmp_path, {"a": A})
    with database.write() as connection:
        set_setting(connection, get_run(connection, "small-1"), FROM_RECORD, True)
    judged_run(database, tmp_path, {"a": A}, run_id="small-2")
    both = ["small-1", "small-2"]
    assert compared(database, tmp_path, *both).pairs[0].difference == 0
    other = [{**case, "references": ["別"]} if case["key"] == "c0" else case for case in cases(8)]
    write_site(tmp_path, cases=other)
    assert compared(database, tmp_path, *both).pairs[0].n == 7
    write_site(tmp_path, cases=cases(8), rubric=RUBRIC.replace("acceptable: 0.5", "acceptable: 0"))
    with pytest.raises(InputError, match="are graded by two rubric texts"):
        compared(database, tmp_path, *both)


def test_what_cannot_be_compared_is_refused_in_words(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": A})
    with pytest.raises(InputError, match="has one model"):
        compared(database, tmp_path)
    judged_run(database, tmp_path, {"b": A}, run_id="small-2")
    with pytest.raises(InputError, match="no model in common"):
        compared(database, tmp_path, "small-1", "small-2")
    with pytest.raises(InputError, match="two different ones"):
        compared(database, tmp_path, "small-1", "small-1")
    with pytest.raises(NotFoundError, match="no judge 'weak'"):
        compare(database, ["small-1"], tmp_path, Layer.JUDGE, "weak")
    with pytest.raises(InputError, match="--judge goes with"):
        compare(database, ["small-1"], tmp_path, Layer.AUTO, "strong")


def test_the_object_has_the_fields_that_scripts_rely_on(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": A, "b": B})
    values = comparison_values(compared(database, tmp_path))
    assert {"pairs", "changed", "ranks"} <= set(values)
    assert set(values["pairs"][0]) >= {
        "a", "b", "n", "difference", "p", "p_holm", "wins", "losses", "ties", "separable",
        "cases_needed", "swap_after", "run_a", "run_b", "decode_tps_difference",
        "ttfot_ms_difference",
    }  # fmt: skip
    assert [len(ranks) for ranks in values["ranks"].values()] == [2, 2]


def test_stale_grades_take_no_part(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": A, "b": B})
    changed = [replace_references(case) if case["key"] == "c3" else case for case in cases(8)]
    write_site(tmp_path, cases=changed)
    [pair] = compared(database, tmp_path).pairs
    assert (pair.n, pair.difference) == (7, pytest.approx(-2 / 7))


def replace_references(case: Mapping[str, object]) -> Mapping[str, object]:
    return {**case, "references": ["另一个答案"]}


def test_a_single_pair_is_spoken_of_as_one(database: Database, tmp_path: Path) -> None:
    judged_run(database, tmp_path, {"a": A, "b": B})
    found = compared(database, tmp_path)
    assert headline(found) == "the two models cannot be told apart by these cases"
    [notes, *_] = [table.notes for table in comparison_tables(found)]
    assert not [note for note in notes if "1 comparisons" in note]


def test_without_a_decision_the_adjudicated_layer_compares_what_all_agree_on(
    database: Database, tmp_path: Path
) -> None:
    """As `rates` reads that layer: a majority that somebody contradicts is no verdict there."""
    site = audited_site(database, tmp_path, 12)
    for name in ("ann", "bob"):
        give(site, Layer.HUMAN, name, lambda m, _: "wrong" if m == "zebra" else "correct")
    give(site, Layer.HUMAN, "eva", lambda m, n: "correct" if m != "zebra" or n < 9 else "wrong")
    give(site, Layer.ADJUDICATED, "lee", lambda m, n: "wrong" if m == "zebra" and n < 2 else None)
    found = compare(database, [site.run.id], tmp_path, Layer.ADJUDICATED)
    rows = rate_rows(database, [site.run.id], tmp_path, RateQuery(Layer.ADJUDICATED))
    assert {row.model: row.rate.n for row in rows} == {"zebra": 5, "okapi": 12, "quagga": 12}
    assert {row.model: row.letters for row in rows} == found.letters
    by_models = {(pair.a, pair.b): pair.n for pair in found.pairs}
    assert by_models == {("zebra", "okapi"): 5, ("zebra", "quagga"): 5, ("okapi", "quagga"): 12}
    people = compare(database, [site.run.id], tmp_path, Layer.HUMAN)
    assert {pair.n for pair in people.pairs} == {12}


def test_judges_that_graded_apart_are_compared_by_their_majority(
    database: Database, tmp_path: Path
) -> None:
    """As `rates` reads the judge layer, though nobody wrote a panel's grades."""
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.JUDGE, "harsh", lambda m, _: "wrong" if m == "zebra" else "correct")
    give(site, Layer.JUDGE, "mild", lambda m, n: "wrong" if m == "zebra" and n < 3 else "correct")
    found = compare(database, [site.run.id], tmp_path, Layer.JUDGE)
    rows = rate_rows(database, [site.run.id], tmp_path, RateQuery(Layer.JUDGE))
    assert {row.model: row.rate.rate for row in rows} == found.rates
    by_models = {(pair.a, pair.b): (pair.n, pair.difference) for pair in found.pairs}
    # Two say two things of nine of zebra's answers: ties, which are no verdicts.
    assert by_models["zebra", "okapi"] == (3, 1.0)
    assert by_models["okapi", "quagga"] == (12, 0.0)
    asked_for = compare(database, [site.run.id], tmp_path, Layer.JUDGE, "panel")
    assert asked_for.pairs == found.pairs
    named = rate_rows(database, [site.run.id], tmp_path, RateQuery(Layer.JUDGE, "panel"))
    assert [(row.model, row.rate) for row in named] == [(row.model, row.rate) for row in rows]
    alone = compare(database, [site.run.id], tmp_path, Layer.JUDGE, "harsh")
    assert alone.rates["zebra"] == 1.0
