"""A run as a folder: everything needed to check its result elsewhere."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evalbot.auditing.audit import AuditQuery, audit_of
from evalbot.auditing.gathering import gather_runs
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.domain.settings import Config
from evalbot.errors import EvalbotError, InputError
from evalbot.formats.rubrics import write_rubric
from evalbot.formats.suites import CASES, HEAD, write_suite
from evalbot.formats.tables import render
from evalbot.grading.basis import Basis, basis_of
from evalbot.grading.staleness import Rules
from evalbot.reporting.audit_values import audit_values
from evalbot.reporting.charts import quality_speed_charts
from evalbot.reporting.figures import write_figures
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.rate_table import machine_table
from evalbot.reporting.rates import rates_of_run
from evalbot.reporting.run_speed import run_speed_rows
from evalbot.reporting.speed_charts import points_of_run
from evalbot.reporting.speed_table import machine_table as speed_table
from evalbot.store import runs
from evalbot.store.database import Connection, Database
from evalbot.store.probes import read_probes
from evalbot.store.timings import timed_answers
from evalbot.transfer.checksums import write_sums
from evalbot.transfer.head import head_of, head_values, masked_run
from evalbot.transfer.held_lines import held_line
from evalbot.transfer.lines import (
    GradeRecord,
    answer_line,
    answer_records,
    grade_line,
    grade_records,
)
from evalbot.transfer.masking import Mask, mask_for
from evalbot.transfer.people import People, give_pseudonyms, people_of
from evalbot.transfer.probe_lines import probe_line
from evalbot.transfer.review_texts import texts_in_files
from evalbot.transfer.reviews import campaign_lines, reviews_of
from evalbot.transfer.run_votes import votes_of_run
from evalbot.transfer.vote_lines import vote_line

RUN, SUITE, RUBRIC = "run.json", "suite", "rubric.yaml"
QUALITY_SPEED = "quality_speed"
ANSWERS, GRADES, RATES = "answers.jsonl", "grades.jsonl", "rates.csv"

SPEED, FIGURES, PROBES = "speed.csv", "figures", "probes.jsonl"
CAMPAIGNS, ASSIGNMENTS = "campaigns.jsonl", "assignments.jsonl"
HELD, VOTES, AUDIT = "held.jsonl", "votes.jsonl", "audit.json"

FILES = (RUN, f"{SUITE}/{HEAD}", f"{SUITE}/{CASES}", RUBRIC, ANSWERS, GRADES, RATES)
"""What an export always holds besides its list of sums."""

MAY_HOLD = (
    SPEED,
    *(PROBES, CAMPAIGNS, ASSIGNMENTS, HELD, VOTES, AUDIT),
    *(f"{FIGURES}/{QUALITY_SPEED}.{kind}" for kind in ("png", "svg")),
)
"""What it may hold besides; all but speed.csv are there where there is something to tell."""


def export_run(
    database: Database, config: Config, run_id: str, target: Path, *, names: bool = False
) -> str:
    """Write a run into a new or empty folder; the whole id of the run.

    People stand under their pseudonyms, or with names under their own. Where it fails, there
    is no folder, or the empty one that was there.
    """
    target = target.absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{target} is not an empty folder; name another one")
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if not names:
            give_pseudonyms(database, run_id)
        with database.read() as connection:
            run = runs.get_run(connection, run_id)
            unfinished.mkdir(parents=True)
            _write(
                connection, run, basis_of(run, config.folder), mask_for(config), names, unfinished
            )
        write_sums(unfinished)
        unfinished.replace(target)
    except OSError as error:
        raise EvalbotError(f"{target} could not be written ({error.strerror})") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return run.id


def _write(
    connection: Connection, run: Run, basis: Basis, mask: Mask, names: bool, folder: Path
) -> None:
    grades = grade_records(connection, run, names=names)
    rules = Rules.of(basis)
    head = head_of(connection, masked_run(run, mask), basis, grades, names=names)
    write_suite(basis.suite, folder / SUITE)
    _write_text(folder / RUN, json.dumps(head_values(head), ensure_ascii=False, indent=2) + "\n")
    _write_text(folder / RUBRIC, write_rubric(basis.rubric))
    _write_lines(
        folder / ANSWERS,
        (answer_line(run.suite.name, one, mask) for one in answer_records(connection, run)),
    )
    _write_lines(
        folder / GRADES,
        (
            grade_line(run.suite.name, one, mask, stale=rules.is_stale(one.place.case, one.grade))
            for one in grades
        ),
    )
    probes = read_probes(connection, run.id)
    if probes:
        _write_lines(folder / PROBES, (probe_line(one, mask) for one in probes))
    _write_reviews(connection, run, basis, people_of(connection, names=names), folder)
    (folder / RATES).write_bytes(_rates(connection, run, basis, grades))
    _write_audit(connection, run, basis, names, folder)
    speed = run_speed_rows(masked_run(run, mask), timed_answers(connection, run.id))
    (folder / SPEED).write_bytes(render(speed_table(speed), form="csv", to_file=True))
    charts = quality_speed_charts(points_of_run(connection, run, basis))
    for chart in charts.values():
        write_figures(folder / FIGURES, {QUALITY_SPEED: chart})


def _write_reviews(
    connection: Connection, run: Run, basis: Basis, people: People, folder: Path
) -> None:
    reviews = reviews_of(connection, run, people)
    if reviews.campaigns:
        in_files = texts_in_files(basis.suite, basis.rubric)
        _write_lines(folder / CAMPAIGNS, campaign_lines(connection, reviews, in_files))
        _write_lines(folder / ASSIGNMENTS, reviews.assignment_lines())
    if reviews.held:
        _write_lines(folder / HELD, map(held_line, reviews.held))
    votes = votes_of_run(connection, run)
    if votes:
        _write_lines(folder / VOTES, (vote_line(one, people) for one in votes))


def _write_audit(connection: Connection, run: Run, basis: Basis, names: bool, folder: Path) -> None:
    """Where a judge or people have graded."""
    gathered = gather_runs(connection, {run.id: (run, basis)})
    if gathered.judges or any(answer.people for answer in gathered.answers):
        found = audit_values(audit_of(connection, gathered, AuditQuery(names=names)))
        text = json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False)
        _write_text(folder / AUDIT, text + "\n")


def _rates(connection: Connection, run: Run, basis: Basis, grades: Iterable[GradeRecord]) -> bytes:
    """The rates of every layer that has grades, as one table."""
    graded = {record.grade.layer for record in grades}
    rows = [
        row
        for layer in Layer
        if layer in graded
        for row in rates_of_run(connection, run, basis, RateQuery(layer))
    ]
    if {str(Layer.JUDGE), str(Layer.HUMAN)} <= graded:
        corrected = RateQuery(Layer.JUDGE, corrected=True)
        found = rates_of_run(connection, run, basis, corrected)
        rows += found if any(row.rate.rate is not None for row in found) else []
    return render(machine_table(rows), form="csv", to_file=True)


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
