"""Which runs an audit can be of, and which one it begins with."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from evalbot.auditing.choosing import audit_choices
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.store.database import Database
from tests.building import START, add_grades, graded, record, said, small_run, write_site


def a_run(
    database: Database, folder: Path, name: str, day: int, *layers: Layer, models: str = "a b",
    suite: str | None = None,
) -> Run:  # fmt: skip
    """A run of a day, graded once in each of these layers."""
    run = small_run(folder, *models.split(), run_id=name)
    run = replace(run, started_at=START + timedelta(days=day))
    if suite is not None:
        run = replace(run, suite=replace(run.suite, name=suite))
    [answer, *_] = record(
        database, run, [said("door", one.name, "请关门") for one in run.endpoints]
    )
    graders = {Layer.JUDGE: "strong", Layer.HUMAN: "ann"}
    grades = [(answer, graded(run, layer, graders[layer], "door", "correct")) for layer in layers]
    if grades:
        add_grades(database, run, grades)
    return run


def test_the_newest_run_with_judge_and_people_is_begun_with(
    database: Database, tmp_path: Path
) -> None:
    write_site(tmp_path)
    a_run(database, tmp_path, "both", 1, Layer.JUDGE, Layer.HUMAN)
    a_run(database, tmp_path, "judged", 2, Layer.JUDGE)
    a_run(database, tmp_path, "people", 3, Layer.HUMAN)
    a_run(database, tmp_path, "nobody", 4)
    found = audit_choices(database)
    assert [(one.run, one.by_judge, one.by_people) for one in found.runs] == [
        ("people", False, True), ("judged", True, False), ("both", True, True),
    ]  # fmt: skip
    assert [one.run for one in found.chosen] == ["both"]
    assert found.judges == ("strong",)
    assert audit_choices(database, "people").judges == ()
    assert [one.run for one in audit_choices(database, "nobody").chosen] == ["both"]


def test_without_such_a_run_it_is_the_newest_graded_one_or_none(
    database: Database, tmp_path: Path
) -> None:
    write_site(tmp_path)
    assert audit_choices(database).chosen == ()
    a_run(database, tmp_path, "nobody", 4)
    assert audit_choices(database).runs == ()
    a_run(database, tmp_path, "people", 1, Layer.HUMAN)
    a_run(database, tmp_path, "judged", 2, Layer.JUDGE)
    assert [one.run for one in audit_choices(database).chosen] == ["judged"]


def test_only_runs_of_the_suite_are_pooled_and_asked_again(
    database: Database, tmp_path: Path
) -> None:
    write_site(tmp_path)
    both = (Layer.JUDGE, Layer.HUMAN)
    a_run(database, tmp_path, "first", 1, *both)
    a_run(database, tmp_path, "others", 2, *both, models="c d")
    a_run(database, tmp_path, "unlike", 3, *both, suite="another")
    a_run(database, tmp_path, "again", 4, *both, models="b c")
    a_run(database, tmp_path, "later", 5, *both)
    found = audit_choices(database, "again", ["again", "first", "unlike", "nothing"])
    assert [one.run for one in found.chosen] == ["again", "first"]
    assert [one.run for one in found.earlier] == ["others", "first"]
    assert audit_choices(database, "unlike").earlier == ()
