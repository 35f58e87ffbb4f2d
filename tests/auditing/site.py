"""A run of three models that a judge and people have graded, with what is asked for of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalbot.domain.answers import Timing
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade
from evalbot.store import people
from evalbot.store.database import Database
from tests.building import add_grades, graded, record, said, small_run, write_site
from tests.people import add_people
from tests.reviewing.site import ReviewSite, cases

MODELS = ("zebra", "okapi", "quagga")
FAMILIES = {"zebra": "equine", "okapi": "giraffe", "quagga": "equine"}

Verdicts = Callable[[str, int], str | None]
"""By model and the case's number, a verdict, or None for no grade."""


def audited_site(
    database: Database,
    folder: Path,
    count: int = 12,
    *,
    texts: Mapping[str, str] | None = None,
    extra: Mapping[str, Any] | None = None,
    run_id: str = "small-1",
    rubric: str | None = None,
    speed: float | None = None,
) -> ReviewSite:
    """A run of so many cases, all answered; nothing but the automatic grades so far.

    speed: tokens/s of the first model; each further one is as much faster.
    """
    more = {} if rubric is None else {"rubric": rubric}
    write_site(folder, cases=[{**case, **(extra or {})} for case in cases(count)], **more)
    run = small_run(folder, *MODELS, run_id=run_id)
    endpoints = tuple(replace(one, family=FAMILIES[one.name]) for one in run.endpoints)
    run = replace(run, endpoints=endpoints)
    own = {"zebra": "答案{n}", "okapi": "答案{n}吧", "quagga": "错误{n}", **(texts or {})}
    answers = [
        said(case.key, model, own[model].replace("{n}", case.key[1:]), timing=_timing(speed, place))
        for case in run.suite.cases
        for place, model in enumerate(MODELS, 1)
    ]
    ids = record(database, run, answers)
    with database.read() as connection:
        is_new = not people.list_users(connection)
    if is_new:
        add_people(database, ann="reviewer", bob="reviewer", eva="reviewer", lee="lead")
    places = [(one.place.case, one.place.endpoint) for one in answers]
    return ReviewSite(database, folder, run, dict(zip(places, ids, strict=True)))


def _timing(speed: float | None, place: int) -> Timing:
    if speed is None:
        return Timing()
    return Timing(ttfot_ms=1000 / speed, decode_tps=speed * place, source="server")


def give(
    site: ReviewSite,
    layer: Layer,
    grader: str,
    verdicts: Verdicts,
    *,
    family: str | None = None,
    checkpoints: Callable[[str, int], Sequence[Mapping[str, Any]]] | None = None,
) -> None:
    """Grades of one grader on every answer that `verdicts` has a word for."""
    grades: list[tuple[int, NewGrade]] = []
    for (case, model), answer in site.answers.items():
        number = int(case[1:])
        verdict = verdicts(model, number)
        if verdict is not None:
            grade = graded(site.run, layer, grader, case, verdict)._replace(grader_family=family)
            if checkpoints is not None:
                grade = grade._replace(checkpoints=checkpoints(model, number))
            grades.append((answer, grade))
    add_grades(site.database, site.run, grades)
