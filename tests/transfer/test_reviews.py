"""Reviews go out with a run and come back: byte for byte, and nothing that is private."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.reviewing import Assignment
from evalbot.domain.settings import Config
from evalbot.errors import InputError, ProblemsError
from evalbot.reviewing import campaigns, handing_on
from evalbot.reviewing.desk import Desk
from evalbot.reviewing.overview import campaign_overviews
from evalbot.store.assignments import read_assignments
from evalbot.store.campaigns import list_campaigns
from evalbot.store.database import Database, open_database
from evalbot.store.grades import read_grades
from evalbot.transfer.export import export_run
from evalbot.transfer.restore import import_run
from tests.people import add_people
from tests.reviewing.site import ReviewSite, user

from .reviewed import PEOPLE, reviewed_site
from .site import Site
from .test_restore import edit, edit_line

ASSIGNMENT_FIELDS = (
    "campaign", "policy", "seed", "reviewer", "case", "model", "repeat", "position", "label",
    "inclusion_probability", "stratum", "attention", "volunteer", "state",
)  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Iterator[ReviewSite]:
    """The reviewed run in a database of its own."""
    with open_database(f"sqlite:///{tmp_path}/source.db") as database:
        yield reviewed_site(database, tmp_path)


@pytest.fixture
def target(database_url: str) -> Iterator[Database]:
    """An empty record of either kind."""
    with open_database(database_url) as database:
        yield database


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Database]:
    """An empty record."""
    with open_database(f"sqlite:///{tmp_path}/empty.db") as database:
        yield database


def config(site: ReviewSite) -> Config:
    return Config(folder=site.folder, database="")


def export(site: ReviewSite, name: str, database: Database | None = None, **how: bool) -> Path:
    folder = site.folder / name
    export_run(database or site.database, config(site), site.run.id, folder, **how)
    return folder


def files(site: ReviewSite, name: str) -> dict[str, bytes]:
    return Site(site.folder, "").files(name)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    text = (folder / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def told(site: ReviewSite, database: Database, name: str = "one") -> list[str]:
    """What is wrong with an export, of which nothing must have come in."""
    with pytest.raises(ProblemsError) as caught:
        import_run(database, config(site), site.folder / name)
    with database.read() as connection:
        assert list_campaigns(connection) == []
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


@pytest.mark.parametrize("names", [False, True])
def test_they_come_back_unchanged(source: ReviewSite, target: Database, names: bool) -> None:
    export(source, "one", names=names)
    assert import_run(target, config(source), source.folder / "one").added
    export(source, "two", target, names=names)
    one, two = files(source, "one"), files(source, "two")
    assert one.keys() == two.keys()
    assert {name for name in one if one[name] != two[name]} == set()
    assert {"campaigns.jsonl", "assignments.jsonl", "held.jsonl"} <= one.keys()
    assert not import_run(target, config(source), source.folder / "one").added


def test_they_come_back_where_the_files_are_others(source: ReviewSite, empty: Database) -> None:
    export(source, "one")
    import_run(empty, config(source), source.folder / "one")
    for name in ("datasets", "rubrics"):
        (source.folder / name).rename(source.folder / f"gone-{name}")
    export(source, "two", empty)
    assert files(source, "one") == files(source, "two")


def test_two_exports_of_one_record_are_the_same(source: ReviewSite) -> None:
    export(source, "one")
    export(source, "two")
    assert files(source, "one") == files(source, "two")


def all_given(database: Database) -> list[Assignment]:
    with database.read() as connection:
        found = [
            one
            for campaign in list_campaigns(connection)
            for one in read_assignments(connection, campaign.id)
        ]
    plain = [Assignment(**{**_fields(one), "id": "", "answer_id": None}) for one in found]
    return sorted(plain, key=lambda one: (one.campaign, one.reviewer, one.item, one.position))


def _fields(one: Assignment) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Assignment.__dataclass_fields__}


def test_what_was_given_said_and_decided_is_there(source: ReviewSite, target: Database) -> None:
    export(source, "one", names=True)
    import_run(target, config(source), source.folder / "one")
    assert all_given(source.database) == all_given(target)
    here, there = (campaign_overviews(one) for one in (source.database, target))
    assert [one.campaign for one in here] == [one.campaign for one in there]
    assert [one.reviewers for one in here] == [one.reviewers for one in there]
    for one, other in zip(here, there, strict=True):
        held = {(line.case, line.endpoint, line.held[1:]) for line in one.held}
        assert held == {(line.case, line.endpoint, line.held[1:]) for line in other.held}
    assert sum(line.attention_seen for one in there for line in one.reviewers) > 0


def test_work_goes_on_where_it_came_in(source: ReviewSite, target: Database) -> None:
    """Imported reviewers need not be users: a lead hands their answers on."""
    export(source, "one")
    import_run(target, config(source), source.folder / "one")
    add_people(target, dora="reviewer")
    [second] = [
        one.campaign for one in campaign_overviews(target) if one.campaign.closed_at is None
    ]
    [cara] = second.plan.reviewers
    assert second.created_by == "command line"
    assert handing_on.reassign(target, second.id, cara, "dora") > 0
    item = Desk(target).view(user("dora")).item
    assert item is not None
    assert item.rubric.scale[0].means == "quite right"


def test_lines_have_the_fields_of_the_contract_first(source: ReviewSite) -> None:
    found = lines(export(source, "one"), "assignments.jsonl")
    assert {tuple(line)[: len(ASSIGNMENT_FIELDS)] for line in found} == {ASSIGNMENT_FIELDS}
    assert {line["state"] for line in found} == {"open", "done", "withdrawn"}
    assert {line["purpose"] for line in found} == {"review", "attention", "practice"}
    assert {line["volunteer"] for line in found} == {True, False}
    single = [line for line in found if line["label"] is None]
    assert {line["campaign"] for line in found if line not in single}.isdisjoint(
        line["campaign"] for line in single
    )
    assert all(line["position"] == 0 for line in single)
    assert {line["label"] for line in found if line["position"] == 1} == {"B"}
    places = [
        (line["campaign"], line["reviewer"], line["item"], line["position"]) for line in found
    ]
    order = [line["campaign"] for line in lines(source.folder / "one", "campaigns.jsonl")]
    assert places == sorted(places, key=lambda one: (order.index(one[0]), one[1:]))


def test_chances_are_told_by_place_and_not_by_row(source: ReviewSite) -> None:
    first, second = lines(export(source, "one"), "campaigns.jsonl")
    assert [draw["draw"] for draw in first["draws"]] == [1, 2]
    assert {tuple(unit) for unit in first["draws"][0]["chances"]} == {("case", "probability")}
    [draw] = second["draws"]
    units = [(unit["model"], unit["case"], unit["attempt"]) for unit in draw["chances"]]
    assert len(units) == len(set(units)) == 15
    assert ("zebra", "c0", 2) in units
    assert ("zebra", "c0", 1) not in units


def test_only_texts_that_the_files_no_longer_hold_are_carried(source: ReviewSite) -> None:
    first, second = lines(export(source, "one"), "campaigns.jsonl")
    kinds = {text["kind"] for text in first["texts"]}
    assert kinds == {"suite", "rubric", "case", "case_rule"}
    [suite] = [text["body"] for text in first["texts"] if text["kind"] == "suite"]
    assert suite["rubric"] == "small"
    assert second["texts"] == []


def test_checks_and_practice_enter_no_grades(source: ReviewSite) -> None:
    folder = export(source, "one")
    said = [one for line in lines(folder, "assignments.jsonl") for one in line["said"]]
    assert {one["verdict"] for one in said} >= {"correct"}
    with source.database.read() as connection:
        people = len(list(read_grades(connection, source.run.id, ["human"], all_attempts=True)))
    grades = [line for line in lines(folder, "grades.jsonl") if line["layer"] == "human"]
    assert len(grades) == people
    known = {
        (line["campaign"], line["reviewer"], line["case"], line["model"])
        for line in lines(folder, "assignments.jsonl")
        if line["known"] is not None
    }
    told = {(line["campaign"], line["grader"], line["case"], line["model"]) for line in grades}
    assert known.isdisjoint(told)


def test_nobody_is_named_and_nothing_private_leaves(source: ReviewSite) -> None:
    everything = b"".join(path.read_bytes() for path in export(source, "one").rglob("*.json*"))
    for word in (*(f'"{name}"' for name in PEOPLE), "private canary"):
        assert word.encode() not in everything, word


def test_names_are_written_where_asked_for(source: ReviewSite) -> None:
    folder = export(source, "one", names=True)
    assert {line["reviewer"] for line in lines(folder, "assignments.jsonl")} == {
        "ann",
        "bob",
        "cara",
    }
    assert {line["by"] for line in lines(folder, "held.jsonl")} == {"lee", None}


def test_one_person_has_one_pseudonym_in_all_files(source: ReviewSite) -> None:
    folder = export(source, "one")
    first, _ = lines(folder, "campaigns.jsonl")
    reviewers = {line["reviewer"] for line in lines(folder, "assignments.jsonl")}
    graders = {line["grader"] for line in lines(folder, "grades.jsonl") if line["layer"] == "human"}
    assert graders <= reviewers
    assert set(first["plan"]["reviewers"]) <= reviewers
    assert all(name.startswith("reviewer-") for name in reviewers)
    deciders = {line["by"] for line in lines(folder, "held.jsonl")} - {None}
    assert deciders == {first["created_by"]}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"campaign": "other"}, 'campaign: found "other"; expected a campaign of campaigns'),
        ({"policy": "luck"}, 'policy: found "luck"; expected'),
        ({"seed": 5}, 'seed: found "5"; expected'),
        ({"reviewer": " x"}, 'reviewer: found " x"'),
        ({"case": "c77"}, 'case: found "c77"; expected a case of the run'),
        ({"model": "../x"}, 'model: found "../x"; expected an attempt that answers.jsonl has'),
        ({"attempt": 9}, "an attempt that answers.jsonl has"),
        ({"label": "Q"}, 'label: found "Q"; expected'),
        ({"inclusion_probability": 1.5}, 'inclusion_probability: found "1.5"; expected a number'),
        ({"draw_probability": -0.1}, 'draw_probability: found "-0.1"; expected a number'),
        ({"state": "lost"}, 'state: found "lost"; expected'),
        ({"attention": None}, "attention: found no such value; expected true or false"),
        ({"volunteer": "yes"}, "volunteer: found no such value"),
        ({"draw": 3}, "draw: found 3; expected a draw of the campaign"),
        ({"known": "correct"}, "known: found"),
        ({"planted": "x"}, "model: found both"),
        ({"said": [{"verdict": "great", "at": None}]}, 'said[0].verdict: found "great"'),
        ({"case_text": "0" * 32}, "case_text: found"),
        ({"case_rule": "0" * 32}, "case_rule: found"),
        ({"made_at": "yesterday"}, 'made_at: found "yesterday"'),
        ({"item": -7}, "item: found -7"),
        ({"position": -1}, "position: found"),
        ({"token": "x"}, 'found unknown key "token"'),
        ({"stratum": "\ud800"}, "stratum: found a NUL character or half a surrogate pair"),
    ],
)
def test_a_forged_assignment_is_refused(
    source: ReviewSite, empty: Database, change: dict[str, Any], expected: str
) -> None:
    folder = export(source, "one")
    number = next(
        at
        for at, line in enumerate(lines(folder, "assignments.jsonl"), start=1)
        if line["purpose"] == "review"
    )
    edit_line(folder, "assignments.jsonl", number, **change)
    found = told(source, empty)
    assert any(
        line.startswith(f"assignments.jsonl:{number}: ") and expected in line for line in found
    ), found


def test_a_place_that_is_given_twice_is_refused(source: ReviewSite, empty: Database) -> None:
    folder = export(source, "one")
    edit(folder, "assignments.jsonl", lambda text: text + text.split("\n")[0] + "\n")
    [line] = told(source, empty)
    assert "position: found 0, which line 1 has" in line


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"campaign": "../../etc"}, 'campaign: found "../../etc"; expected letters'),
        ({"rubric_text": "0" * 32}, "rubric_text: found"),
        ({"rubric_rule": "0" * 32}, "rubric_rule: found"),
        ({"suite_text": None}, "suite_text: found nothing"),
        ({"plan": None}, "plan: found nothing"),
        ({"texts": [{"kind": "case", "body": {"key": "c1"}}]}, "texts[0].body.prompt: found"),
        ({"texts": [{"kind": "start", "body": {}}]}, 'texts[0].kind: found "start"'),
        ({"draws": []}, "draw: found 1; expected a draw of the campaign"),
        ({"draws": [{"draw": 2}]}, "draws[0].draw: found 2; expected 1"),
        ({"created_by": "a\nb"}, "created_by: found"),
        ({"run": "x"}, 'found unknown key "run"'),
    ],
)
def test_a_forged_campaign_is_refused(
    source: ReviewSite, empty: Database, change: dict[str, Any], expected: str
) -> None:
    edit_line(export(source, "one"), "campaigns.jsonl", 1, **change)
    found = told(source, empty)
    assert any(expected in line for line in found), found


def test_a_forged_plan_or_chance_is_refused(source: ReviewSite, empty: Database) -> None:
    folder = export(source, "one")
    line = lines(folder, "campaigns.jsonl")[1]
    line["plan"] |= {"reviewers": ["a", "a"], "policy": "luck", "attention": 2, "overlap": 0}
    unit = line["draws"][0]["chances"][0]
    line["draws"][0]["chances"] += [unit, unit | {"model": "zorro"}, unit | {"probability": 2}]
    edit_line(folder, "campaigns.jsonl", 2, **line)
    found = "\n".join(told(source, empty))
    for words in (
        "campaigns.jsonl:2: plan.reviewers: found nobody, or somebody twice",
        'campaigns.jsonl:2: plan.policy: found "luck"',
        'campaigns.jsonl:2: plan.attention: found "2"; expected a number from 0 to 1',
        'campaigns.jsonl:2: plan.overlap: found "0"',
        "campaigns.jsonl:2: draws[0].chances[15].case: found",
        'campaigns.jsonl:2: draws[0].chances[16].model: found "zorro"',
        'campaigns.jsonl:2: draws[0].chances[17].probability: found "2"',
    ):
        assert words in found, words


def test_the_same_campaign_twice_is_refused(source: ReviewSite, empty: Database) -> None:
    edit(export(source, "one"), "campaigns.jsonl", lambda text: text + text.split("\n")[0] + "\n")
    [line] = told(source, empty)
    assert line.startswith("campaigns.jsonl:3: campaign: found")


def test_forged_held_answers_are_refused(source: ReviewSite, empty: Database) -> None:
    folder = export(source, "one")
    decisions = [line["decision"] for line in lines(folder, "held.jsonl")]
    assert decisions == ["released", "masked", None, None, None]
    edit_line(folder, "held.jsonl", 1, decision="hidden", names=[])
    edit_line(folder, "held.jsonl", 2, shown=None, by=None)
    edit_line(folder, "held.jsonl", 3, case="c0", at="2026-01-01T00:00:00Z")
    edit_line(folder, "held.jsonl", 4, model=None)
    found = "\n".join(told(source, empty))
    for words in (
        'held.jsonl:1: decision: found "hidden"; expected one of released, masked',
        "held.jsonl:1: names: found nothing",
        "held.jsonl:2: shown: found null; expected a text where masked",
        "held.jsonl:2: by: found null",
        "held.jsonl:3: at: found",
        "held.jsonl:3: model: found",
        "held.jsonl:4: model: found nothing",
    ):
        assert words in found, words


def test_a_campaign_of_another_run_is_not_overwritten(source: ReviewSite, empty: Database) -> None:
    folder = export(source, "one")
    import_run(empty, config(source), folder)
    edit(folder, "run.json", lambda text: text.replace('"small-1"', '"small-2"'))
    with pytest.raises(InputError, match=r"the record has a campaign .* already, of run small-1"):
        import_run(empty, config(source), folder)


def test_more_work_since_makes_it_another_run(source: ReviewSite) -> None:
    export(source, "one")
    site = source
    before = [one.campaign.id for one in campaign_overviews(site.database)]
    campaigns.close(site.database, before[0])
    with pytest.raises(InputError, match="with other content"):
        import_run(site.database, config(site), site.folder / "one")
