"""To audit: a retest, two judges, three people, a draw, and texts that try to break out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from evalbot.domain.reviewing import Layout, Policy
from evalbot.domain.rubrics import Layer
from evalbot.store.database import Database
from tests.auditing.site import audited_site, give
from tests.building import RUBRIC, START, add_grades, graded, record, said, small_run
from tests.reviewing.site import VERDICTS, ReviewSite
from tests.ui.record import HOSTILE

COUNT = 40
ODD_JUDGE, ODD_PERSON = "odd<i>judge</i>", "eva<img src=x onerror='window.bad = 1'>"
CHECKED = RUBRIC.replace("auto:", "checkpoints: [{id: sense, text: the sense is kept}]\nauto:")


def truth(model: str, number: int) -> str:
    """What an answer really is worth."""
    match model:
        case "zebra":
            return VERDICTS[2 if number % 10 == 0 else 0]
        case "okapi":
            return VERDICTS[number % 3]
    return VERDICTS[2 if number % 2 else 1]


def lenient(model: str, number: int) -> str:
    """Every fifth answer one step too good."""
    return VERDICTS[max(0, VERDICTS.index(truth(model, number)) - (number % 5 == 0))]


def ticked(verdict: str) -> Sequence[Mapping[str, Any]]:
    """The rubric's line as met or not."""
    return [{"id": "sense", "met": verdict != "wrong", "quote": HOSTILE}]


def audit_record(database: Database, folder: Path) -> ReviewSite:
    """Run small-1, of which ann has graded a random half, bob and a hostile name some more."""
    site = audited_site(
        database, folder, COUNT, texts={"quagga": HOSTILE}, rubric=CHECKED, speed=20.0
    )
    _before(site)
    give(site, Layer.JUDGE, "strong", lenient, family="equine",
         checkpoints=lambda model, number: ticked(lenient(model, number)))  # fmt: skip
    give(site, Layer.JUDGE, ODD_JUDGE, truth, family="giraffe")
    site.campaign(policy=Policy.RANDOM, budget=60, layout=Layout.SINGLE)
    while (item := site.item("ann")) is not None:
        number = int(item.case.key[1:])
        [one] = item.answers
        model = next(
            model for (case, model), _ in site.answers.items()
            if case == item.case.key and _text(model, number) == one.text
        )  # fmt: skip
        site.grade("ann", one.id, truth(model, number))
    for name in ("bob", ODD_PERSON):
        give(site, Layer.HUMAN, name, lambda model, n: truth(model, n) if n < 20 else None,
             checkpoints=lambda model, n: ticked(truth(model, n)))  # fmt: skip
    judged = graded(site.run, Layer.JUDGE, "strong", "c5", lenient("quagga", 5))
    spoken = judged._replace(rationale=HOSTILE, at=START + timedelta(hours=1),
                             checkpoints=ticked(lenient("quagga", 5)))  # fmt: skip
    add_grades(database, site.run, [(site.answers["c5", "quagga"], spoken)])
    return site


def _text(model: str, number: int) -> str:
    return {"zebra": f"答案{number}", "okapi": f"答案{number}吧"}.get(model, HOSTILE)


def _before(site: ReviewSite) -> None:
    """The same models asked a day earlier; the judge then found more of zebra's wrong."""
    run = small_run(site.folder, "zebra", "okapi", run_id="small-0")
    run = replace(run, started_at=START - timedelta(days=1))
    answers = [
        said(case.key, model, f"{HOSTILE} {case.key}" if model == "okapi" else f"早{case.key}")
        for case in run.suite.cases
        for model in ("zebra", "okapi")
    ]
    ids = record(site.database, run, answers)
    grades = []
    for answer, one in zip(ids, answers, strict=True):
        model, number = one.place.endpoint, int(one.place.case[1:])
        verdict = "wrong" if model == "zebra" and number < 3 else lenient(model, number)
        grades.append((answer, graded(run, Layer.JUDGE, "strong", one.place.case, verdict)))
    add_grades(site.database, run, grades)
