"""A run that people can grade: three models, some cases, judged; and people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalbot.domain.people import Role, User
from evalbot.domain.reviewing import CampaignPlan
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import NewGrade, Run
from evalbot.reviewing.campaigns import make_campaign
from evalbot.reviewing.desk import Desk, DeskItem
from evalbot.reviewing.draws import Made
from evalbot.reviewing.submitting import Said, grade
from evalbot.store.database import Database
from evalbot.store.grades import read_grades
from tests.building import START, add_grades, graded, record, said, small_run, write_site
from tests.people import add_people

MODELS = ("zebra", "okapi", "quagga")
VERDICTS = ("correct", "acceptable", "wrong")


def cases(count: int) -> list[dict[str, Any]]:
    """Cases with a reference and a trap each, and a tag by turns."""
    return [
        {"key": f"c{n}", "prompt": f"問題{n}", "references": [f"答案{n}"], "traps": [f"错误{n}"],
         "notes": f"about {n}", "tags": ["odd" if n % 2 else "even"]}
        for n in range(count)
    ]  # fmt: skip


def user(name: str, role: Role = Role.REVIEWER) -> User:
    """Somebody who is signed in."""
    return User(name, role, START)


@dataclass(frozen=True)
class ReviewSite:
    """A recorded run and the people who may grade it; answers: row ids by case and model."""

    database: Database
    folder: Path
    run: Run
    answers: Mapping[tuple[str, str], int]

    def campaign(self, *reviewers: str, **plan: Any) -> Made:
        """A new campaign for these reviewers, or for ann."""
        return make_campaign(
            self.database,
            self.run.id,
            CampaignPlan(reviewers=reviewers or ("ann",), **plan),
            "lee",
            self.folder,
        )

    def item(self, name: str) -> DeskItem | None:
        """What is before a reviewer."""
        return Desk(self.database).view(user(name)).item

    def grade_item(self, name: str, verdict: str | None = "correct") -> DeskItem:
        """Grade all open answers of the item before a reviewer; the item as it was."""
        item = self.item(name)
        assert item is not None
        for one in item.answers:
            if not one.is_graded:
                self.grade(name, one.id, verdict)
        return item

    def grade(self, name: str, assignment: str, verdict: str | None, token: str = "") -> None:
        """Grade one answer."""
        said = Said(verdict)
        grade(self.database, user(name), assignment, said, token or f"token-{assignment}-{verdict}")

    def grades(self, layer: Layer = Layer.HUMAN) -> list[tuple[int, NewGrade]]:
        """All grades of a layer in the order they were given, with their answers."""
        with self.database.read() as connection:
            return [
                (one.answer_id, one.grade)
                for one in read_grades(connection, self.run.id, [str(layer)])
            ]


def review_site(
    database: Database, folder: Path, count: int = 6, texts: Mapping[str, str] | None = None
) -> ReviewSite:
    """A run of so many cases, and ann, bob (reviewers) and lee (lead).

    texts: by model, what it answers instead; `{n}` is the case's number.
    """
    write_site(folder, cases=cases(count))
    run = small_run(folder, *MODELS)
    own = {"zebra": "答案{n}", "okapi": "答案{n}吧", "quagga": "错误{n}", **(texts or {})}
    answers = [
        said(case.key, model, own[model].replace("{n}", case.key[1:]))
        for case in run.suite.cases
        for model in MODELS
    ]
    ids = record(database, run, answers)
    add_people(database, ann="reviewer", bob="reviewer", lee="lead")
    places = [(one.place.case, one.place.endpoint) for one in answers]
    return ReviewSite(database, folder, run, dict(zip(places, ids, strict=True)))


def judge_all(site: ReviewSite, verdict: str = "correct", *, entropy: float = 0.0) -> None:
    """A judge's grade on every answer."""
    add_grades(
        site.database,
        site.run,
        [
            (
                answer,
                graded(site.run, Layer.JUDGE, "strong", case, verdict)._replace(entropy=entropy),
            )
            for (case, _), answer in site.answers.items()
        ],
    )
