"""A run taken back in from its export: the same answers, grades, rates and signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evalbot.domain.cases import grading_text
from evalbot.domain.probes import Probe
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import RecordedAnswer, Run
from evalbot.domain.settings import Config
from evalbot.errors import InputError
from evalbot.formats.fields import Fields, root_fields
from evalbot.formats.json_tree import parse_json
from evalbot.formats.problems import Problems, shown
from evalbot.formats.rubrics import parse_rubric
from evalbot.formats.suites import read_suite
from evalbot.formats.textfile import read_text
from evalbot.store import runs
from evalbot.store.answers import add_answers
from evalbot.store.database import Connection, Database, after_bulk_write
from evalbot.store.grades import PEOPLE, GradeWriter, put_grader
from evalbot.store.probes import add_probes
from evalbot.store.texts import put_texts
from evalbot.transfer.checksums import check_sums
from evalbot.transfer.export import (
    ANSWERS,
    FILES,
    GRADES,
    MAY_HOLD,
    PROBES,
    RUBRIC,
    RUN,
    SUITE,
)
from evalbot.transfer.head import Head, masked_run, read_head, run_values
from evalbot.transfer.lines import (
    GradeRecord,
    Line,
    answer_line,
    answer_records,
    grade_line,
    grade_records,
)
from evalbot.transfer.masking import Mask, mask_for
from evalbot.transfer.people import people_of
from evalbot.transfer.probe_lines import ProbeReader, ProbeRecord
from evalbot.transfer.reading import LineReader, Whereabouts
from evalbot.transfer.review_files import ReviewFiles, read_review_files
from evalbot.transfer.review_texts import put_review_texts
from evalbot.transfer.reviews import Reviews, reviews_of, write_reviews


@dataclass(frozen=True, slots=True)
class Restored:
    """The run's id, and whether it came in now; False: it was there already, the same."""

    run: str
    added: bool


@dataclass(frozen=True, slots=True)
class Export:
    """An export as read."""

    head: Head
    answers: list[RecordedAnswer]
    grades: list[GradeRecord]
    probes: list[ProbeRecord]
    review: ReviewFiles


def import_run(database: Database, config: Config, folder: Path) -> Restored:
    """Take an export into the record.

    Raises ProblemsError with everything that is wrong with it, and InputError where the
    record has another run of this id.
    """
    check_sums(folder, FILES, MAY_HOLD)
    export = read_export(folder)
    with database.write() as connection:
        if _is_there(connection, export, mask_for(config)):
            return Restored(export.head.run.id, added=False)
        _write(connection, export)
    return Restored(export.head.run.id, added=True)


def read_export(folder: Path) -> Export:
    """What the files of an export say."""
    problems = Problems()
    suite = read_suite(folder / SUITE)
    rubric = parse_rubric(read_text(folder / RUBRIC, RUBRIC, problems) or "", RUBRIC)
    if suite.rubric != rubric.name:
        problems.add(RUBRIC, "name", shown(rubric.name), f"{shown(suite.rubric)}, as in suite/")
    head = read_head(_read_object(folder / RUN, RUN, problems), suite, rubric)
    problems.raise_if_any()
    reader = LineReader(head, problems)
    answers = reader.answers(read_text(folder / ANSWERS, ANSWERS, problems) or "", ANSWERS)
    there = {Whereabouts(one.place, one.attempt) for one in answers}
    grades = reader.grades(read_text(folder / GRADES, GRADES, problems) or "", GRADES, there)
    probes = []
    if (folder / PROBES).is_file():
        text = read_text(folder / PROBES, PROBES, problems) or ""
        probes = ProbeReader(head, there, problems).probes(text, PROBES)
    review = read_review_files(folder, head, there, problems)
    problems.raise_if_any()
    return Export(head, answers, grades, probes, review)


def _read_object(path: Path, name: str, problems: Problems) -> Fields:
    text = read_text(path, name, problems)
    node = None if text is None else parse_json(text, name, 1, problems)
    problems.raise_if_any()
    return root_fields(node, name, problems)


def _write(connection: Connection, export: Export) -> None:
    head, run = export.head, export.head.run
    if run.import_key is not None and runs.run_imported_as(connection, run.import_key):
        # The file this run was made from has come in here too, as another run: both stay.
        run = replace(run, import_key=None)
    runs.create_run(connection, run)
    _put_rules(connection, head)
    if not head.names:
        # A person who is known by a pseudonym only keeps it in the next export.
        for layer, grader in {(one.grade.layer, one.grade.grader) for one in export.grades}:
            if layer in PEOPLE:
                put_grader(connection, layer, grader, None, pseudonym=grader)
    ids = add_answers(connection, run.id, export.answers)
    by_place = {
        Whereabouts(one.place, one.attempt): row
        for one, row in zip(export.answers, ids, strict=True)
    }
    GradeWriter(connection).add(
        [(by_place[Whereabouts(one.place, one.attempt)], one.grade) for one in export.grades]
    )
    add_probes(connection, run.id, [_with_rows(one, by_place) for one in export.probes])
    put_review_texts(connection, export.review.texts)
    write_reviews(connection, export.review.reviews, by_place, names=head.names)
    after_bulk_write(connection)


def _with_rows(record: ProbeRecord, rows: Mapping[Whereabouts, int]) -> Probe:
    return replace(
        record.probe,
        answer_id=None if record.answer is None else rows[record.answer],
        other_id=None if record.other is None else rows[record.other],
    )


def _put_rules(connection: Connection, head: Head) -> None:
    """Store the texts that the grades rest on: today's, and the earlier ones."""
    suite, rubric = head.run.suite, head.run.rubric
    cases = [grading_text(suite, case) for case in suite.cases]
    put_texts(connection, "case_rule", [*cases, *head.cases])
    layers = [rubric.text_for(layer) for layer in Layer]
    put_texts(connection, "rubric_rule", [*layers, *(one.body for one in head.rubrics)])


def _is_there(connection: Connection, export: Export, mask: Mask) -> bool:
    """Whether the record has this run; InputError where it has another under its name."""
    head = export.head
    if not runs.has_run(connection, head.run.id):
        return False
    run = runs.get_run(connection, head.run.id)
    answers = answer_records(connection, run)
    grades = grade_records(connection, run, names=head.names)
    people = people_of(connection, names=head.names, is_told=False)
    reviews = reviews_of(connection, run, people)
    here = _said(run, answers, grades, reviews, mask)
    if here != _said(head.run, export.answers, export.grades, export.review.reviews, mask):
        raise InputError(
            f"the record has a run {run.id} with other content, nothing was changed; "
            "--database names another database"
        )
    return True


def _said(
    run: Run,
    answers: Iterable[RecordedAnswer],
    grades: Iterable[GradeRecord],
    reviews: Reviews,
    mask: Mask,
) -> list[Line]:
    """What two exports of one run have in common, whatever the rules are today."""
    suite = run.suite.name
    return [
        run_values(masked_run(run, mask)),
        *(answer_line(suite, answer, mask) for answer in answers),
        *(grade_line(suite, grade, mask, stale=False) for grade in grades),
        *reviews.lines(),
    ]
