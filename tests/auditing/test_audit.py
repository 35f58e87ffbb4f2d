"""Judges, reviewers, checkpoints and bands measured by what people said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalbot.auditing.audit import Audit, AuditQuery, audit
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError
from evalbot.reporting.audit_tables import audit_tables
from evalbot.reporting.audit_values import audit_values
from evalbot.store.database import Database
from tests.auditing.site import audited_site, give
from tests.building import RUBRIC, add_grades, graded, write_site
from tests.reviewing.site import ReviewSite, cases

CORRECT, ACCEPTABLE, WRONG = "correct", "acceptable", "wrong"
SCALE = (CORRECT, ACCEPTABLE, WRONG)


def audited(site: ReviewSite, *more: str, **query: Any) -> Audit:
    return audit(site.database, [site.run.id, *more], site.folder, AuditQuery(names=True, **query))


def by_turns(_model: str, number: int) -> str:
    return SCALE[number % 3]


def lifted(model: str, number: int) -> str:
    """One step better than by_turns."""
    return SCALE[max(0, number % 3 - 1)]


def test_a_judge_is_measured_by_the_majority_of_people(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path)
    give(site, Layer.JUDGE, "strong", lifted, family="equine")
    for name in ("ann", "bob"):
        give(site, Layer.HUMAN, name, by_turns)
    give(site, Layer.HUMAN, "eva", lambda _model, _number: WRONG)  # outvoted
    [judge] = audited(site).judges
    assert (judge.name, judge.family, judge.n) == ("strong", "equine", 36)
    assert judge.confusion.counts == ((12, 0, 0), (12, 0, 0), (0, 12, 0))
    assert judge.agreement.raw == pytest.approx(1 / 3)
    assert judge.leniency is not None
    assert judge.leniency.mean == pytest.approx(1 / 3)
    assert (judge.leniency.over, judge.leniency.under) == (24, 0)
    assert (judge.unscored, judge.stale) == (0, 0)


def test_a_leads_decision_goes_over_the_majority(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 1)
    give(site, Layer.JUDGE, "strong", lambda *_: CORRECT)
    for name in ("ann", "bob"):
        give(site, Layer.HUMAN, name, lambda *_: WRONG)
    give(site, Layer.ADJUDICATED, "lee", lambda model, _: CORRECT if model == "zebra" else None)
    found = audited(site)
    assert found.judges[0].confusion.counts == ((1, 0, 0), (0, 0, 0), (2, 0, 0))
    assert [(one.model, one.human, one.judge) for one in found.disagreements] == [
        ("okapi", WRONG, CORRECT), ("quagga", WRONG, CORRECT),
    ]  # fmt: skip


def test_ties_and_answers_without_people_measure_nobody(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 2)
    give(site, Layer.JUDGE, "strong", lambda *_: CORRECT)
    give(site, Layer.HUMAN, "ann", lambda model, _: CORRECT if model != "quagga" else None)
    give(site, Layer.HUMAN, "bob", lambda model, _: WRONG if model == "okapi" else None)
    [judge] = audited(site).judges
    assert judge.n == 2  # zebra's two; okapi's are tied, quagga's nobody has graded
    assert [one.n for one in judge.by_model] == [2, 0, 0]


def test_what_a_judge_could_not_say_is_counted_apart(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 2)
    give(site, Layer.HUMAN, "ann", lambda *_: CORRECT)
    failed = [
        (answer, graded(site.run, Layer.JUDGE, "strong", case, None, "judge_refused"))
        if model == "okapi"
        else (answer, graded(site.run, Layer.JUDGE, "strong", case, CORRECT))
        for (case, model), answer in site.answers.items()
        if model != "quagga"
    ]
    add_grades(database, site.run, failed)
    [judge] = audited(site).judges
    assert (judge.n, judge.unscored) == (2, 2)


def test_grades_under_an_old_rubric_are_counted_as_stale(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    give(site, Layer.HUMAN, "ann", by_turns)
    write_site(tmp_path, cases=cases(3), rubric=RUBRIC.replace("means: tolerable", "means: so so"))
    found = audited(site)
    assert found.judges[0].n == 0
    assert found.judges[0].stale == 9
    assert found.stale == {"auto": 0, "judge": 9, "human": 9, "adjudicated": 0}
    notes = audit_tables(found)[0].notes
    assert any("9 judge, 9 human" in note for note in notes)


def test_own_family_is_told_from_length_and_one_judge_says_what_it_cannot_show(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.HUMAN, "ann", by_turns)
    give(
        site, Layer.JUDGE, "strong",
        lambda model, number: (by_turns if model == "okapi" else lifted)(model, number),
        family="equine",
    )  # fmt: skip
    [judge] = audited(site).judges
    own = judge.self_preference
    assert own.difference == pytest.approx(1 / 3)
    assert "one judge alone cannot show" in own.note
    give(site, Layer.JUDGE, "other", lambda m, n: by_turns(m, n + (n == 5)), family="giraffe")
    found = audited(site)
    assert [one.name for one in found.judges] == ["other", "strong", "panel"]
    notes = [one.self_preference.note for one in found.judges]
    assert notes == ["", "", "a panel is of no family"]
    give(site, Layer.JUDGE, "nameless", by_turns)
    nameless = audited(site).judges[0]
    assert "family is not known" in nameless.self_preference.note
    assert nameless.self_preference.effect is None


def test_reviewers_are_measured_among_themselves(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 6)
    give(site, Layer.HUMAN, "ann", by_turns)
    give(site, Layer.HUMAN, "bob", by_turns)
    give(site, Layer.HUMAN, "eva", lambda model, n: lifted(model, n) if model == "zebra" else None)
    raters = audited(site).raters
    assert [(one.a, one.b, one.n, one.raw) for one in raters.pairs] == [
        ("ann", "bob", 18, 1.0), ("ann", "eva", 6, pytest.approx(1 / 3)),
        ("bob", "eva", 6, pytest.approx(1 / 3)),
    ]  # fmt: skip
    assert raters.n == 18
    eva = next(one for one in raters.each if one.name == "eva")
    assert eva.leniency is not None
    assert (eva.graded, eva.leniency.over, eva.leniency.under) == (6, 4, 0)
    alone = audited_site(database, tmp_path, 2, run_id="small-2")
    give(alone, Layer.HUMAN, "ann", by_turns)
    raters = audited(alone).raters
    assert (raters.alpha_nominal, raters.alpha_interval, raters.pairs) == (None, None, ())
    assert raters.reasons["alpha_nominal"] == "no answer was graded by two people"


def test_people_stand_under_pseudonyms_unless_asked_for(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    give(site, Layer.HUMAN, "ann", by_turns)
    give(site, Layer.HUMAN, "bob", by_turns)
    text = json.dumps(audit_values(audit(database, [site.run.id], tmp_path)))
    assert '"ann"' not in text
    assert '"bob"' not in text
    assert '"ann"' in json.dumps(audit_values(audited(site)))


RUBRIC_WITH_LINES = (
    RUBRIC + "checkpoints: [{id: polite, text: It is polite}, {id: whole, text: W}]\n"
)


def test_lines_of_the_rubric_that_are_read_differently_come_first(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 4, rubric=RUBRIC_WITH_LINES)

    def ticked(polite: bool, whole: bool) -> list[dict[str, Any]]:
        return [{"id": "polite", "met": polite, "quote": None},
                {"id": "whole", "met": whole, "quote": None}]  # fmt: skip

    give(site, Layer.JUDGE, "strong", by_turns,
         checkpoints=lambda _m, n: ticked(True, n != 0))  # fmt: skip
    give(site, Layer.HUMAN, "ann", by_turns,
         checkpoints=lambda model, _n: ticked(model == "zebra", True))  # fmt: skip
    give(site, Layer.HUMAN, "bob", by_turns, checkpoints=lambda *_: ticked(False, True))
    lines = audited(site).checkpoints["strong"]
    # On zebra's, the two people are split over `polite`: that says nothing.
    assert [(one.id, one.n, one.agreement, one.judge_only, one.people_only) for one in lines] == [
        ("polite", 8, 0.0, 8, 0), ("whole", 12, 0.75, 0, 3),
    ]  # fmt: skip
    assert [(one.case, one.model, one.judge_met, one.people_met, one.people)
            for one in lines[1].telling] == [
        ("c0", "okapi", False, 2, 2), ("c0", "quagga", False, 2, 2), ("c0", "zebra", False, 2, 2),
    ]  # fmt: skip


def test_automatic_bands_have_their_measured_error(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 10)
    words = {"zebra": (CORRECT, CORRECT), "okapi": (None, None), "quagga": (CORRECT, WRONG)}
    give(site, Layer.HUMAN, "ann", lambda model, n: words[model][n > 1])
    found = audited(site)
    assert [(one.band, one.n, one.errors) for one in found.bands] == [
        ("correct: equal", 10, 0), ("wrong: trap", 10, 2),
    ]  # fmt: skip
    assert found.bands[0].interval is not None
    assert found.bands[0].interval.high < 0.3


def test_thresholds_are_proposed_for_a_wished_error(database: Database, tmp_path: Path) -> None:
    # okapi's answers differ by one letter from the reference: 答案{n}吧.
    site = audited_site(database, tmp_path, 10)
    give(site, Layer.HUMAN, "ann", lambda model, _: CORRECT if model != "quagga" else WRONG)
    [top, middle] = audited(site, wished_error=0.05).proposals
    assert (top.line, top.verdict, top.today, top.seen) == ("any length", CORRECT, 100.0, 20)
    assert top.found is not None
    assert top.found.ratio == pytest.approx(200 * 3 / 7, abs=1e-3)
    assert (top.found.n, top.found.errors) == (20, 0)
    assert middle.verdict == ACCEPTABLE
    give(site, Layer.HUMAN, "ann", lambda model, _: WRONG if model == "okapi" else None)
    [top, _] = audited(site, wished_error=0.05).proposals
    assert top.found is not None
    assert (top.found.ratio, top.found.n) == (100.0, 10)


def test_grades_given_after_the_judges_was_shown_are_told(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 2)
    give(site, Layer.JUDGE, "strong", by_turns)
    grades = [
        (answer, graded(site.run, Layer.HUMAN, "ann", case, CORRECT)._replace(seen=seen))
        for (case, _), answer in site.answers.items()
        for seen in (("references",), ("references", "judge"))
    ]
    add_grades(database, site.run, grades)
    assert audited(site).notes == (
        "given after the judge's had been shown: 6 grades of people; agreement with the judge may "
        "be higher for it",
    )


def nulls(values: Any, path: str = "") -> Iterator[str]:
    if isinstance(values, dict):
        for name, value in values.items():
            yield from nulls(value, f"{path}.{name}" if path else name)
    elif isinstance(values, list):
        for place, value in enumerate(values):
            yield from nulls(value, f"{path}[{place}]")
    elif values is None:
        yield path


@pytest.mark.parametrize("graded_by", ["nobody", "a judge", "people", "both"])
def test_every_null_has_its_reason(database: Database, tmp_path: Path, graded_by: str) -> None:
    site = audited_site(database, tmp_path, 4)
    if graded_by in ("a judge", "both"):
        give(site, Layer.JUDGE, "strong", by_turns)
    if graded_by in ("people", "both"):
        give(site, Layer.HUMAN, "ann", by_turns)
    found = audited(site)
    values = audit_values(found)
    reasons = values.pop("reasons")
    assert set(nulls(values)) == set(reasons)
    assert all(reasons.values())
    for table in audit_tables(found):
        assert table.shown_rows() is not None


def test_the_object_has_the_fields_that_scripts_rely_on(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 4)
    give(site, Layer.JUDGE, "strong", lifted)
    give(site, Layer.HUMAN, "ann", by_turns)
    values = audit_values(audited(site))
    assert {"runs", "rubric", "judges", "bands", "raters", "disagreements", "reasons"} <= set(
        values
    )
    [judge] = values["judges"]
    wanted = {
        "": "name family n unscored stale by_model checkpoints",
        "confusion": "labels counts",
        "agreement": "raw kappa kappa_linear kappa_quadratic alpha_nominal alpha_interval ac1 "
        "ac2_linear ac2_quadratic",
        "leniency": "mean low high over under p",
        "verbosity": "per_doubling low high p",
        "self_preference": "difference controlled p note",
        "position": "n consistency first second bias p",
        "consistency": "n flip_rate low high",
        "alt_test": "applicable reason epsilon score humans winning_rate advantage_probability "
        "passed",
    }
    for name, fields in wanted.items():
        assert set(fields.split()) <= set(judge[name] if name else judge), name
    assert set(judge["by_model"][0]) >= {
        "model", "n", "leniency", "decode_tps_p50", "ttfot_ms_p50", "median_length",
    }  # fmt: skip
    assert set(values["raters"]) >= {"alpha_nominal", "alpha_interval", "pairs"}
    assert set(values["bands"][0]) >= {"band", "n", "errors", "low", "high"}
    assert set(values["disagreements"][0]) >= {"case", "model", "judge", "human", "judge_grader"}


def test_runs_of_one_suite_are_pooled_and_others_refused(
    database: Database, tmp_path: Path
) -> None:
    for run in ("small-1", "small-2"):
        site = audited_site(database, tmp_path, 3, run_id=run)
        give(site, Layer.JUDGE, "strong", by_turns)
        give(site, Layer.HUMAN, "ann", by_turns)
    found = audited(site, "small-1")
    assert (found.runs, found.judges[0].n) == (("small-2", "small-1"), 18)
    with pytest.raises(InputError, match="--alt-test-epsilon 2"):
        audited(site, epsilon=2.0)


NOMINAL = RUBRIC.replace("credit: 1,", "credit: null,").replace("credit: 0.5,", "credit: null,")


def test_a_scale_without_credits_has_what_needs_none(database: Database, tmp_path: Path) -> None:
    rubric = NOMINAL.replace("credit: 0,", "credit: null,")
    site = audited_site(database, tmp_path, 6, rubric=rubric)
    give(site, Layer.JUDGE, "strong", lifted)
    give(site, Layer.HUMAN, "ann", by_turns)
    give(site, Layer.HUMAN, "bob", by_turns)
    [judge] = audited(site).judges
    assert judge.agreement.kappa is not None
    assert judge.agreement.kappa_quadratic is None
    assert judge.leniency is None
    assert judge.reasons["leniency"] == "the scale has no credits"
    assert judge.alt_test.score == "accuracy"
    with pytest.raises(InputError, match="needs a scale with credits"):
        audited(site, score="neg_rmse")


def test_pooled_runs_need_not_have_asked_the_same_cases(database: Database, tmp_path: Path) -> None:
    """A suite grows between two runs; disagreements and bands are of all cases."""
    for run_id, count in (("small-1", 3), ("small-2", 5)):
        site = audited_site(database, tmp_path, count, run_id=run_id)
        give(site, Layer.JUDGE, "strong", lambda *_: "correct")
        give(site, Layer.HUMAN, "ann", lambda *_: "wrong")
    for order in (["small-1", "small-2"], ["small-2", "small-1"]):
        found = audit(database, order, tmp_path, AuditQuery())
        assert found.judges[0].n == len(found.disagreements) == (3 + 5) * 3
        assert [one.case for one in found.disagreements[-3:]] == ["c4"] * 3
        assert sum(band.n for band in found.bands) == (3 + 5) * 2
