from __future__ import annotations

import csv
import hashlib
import io
import json

import pytest

from evalbot.domain.cases import Case
from evalbot.errors import EvalbotError
from evalbot.formats.suites import read_suite
from evalbot.store.database import open_database
from evalbot.transfer import export
from evalbot.transfer.export import export_run

from .rich_run import CANARIES, RUN, write_rich_run
from .site import Site, make_suite

ANSWER_FIELDS = (
    "suite", "case", "case_fingerprint", "model", "repeat", "pass", "attempt", "status", "text",
    "reasoning", "raw", "finish_reason", "error_detail", "prompt_tokens", "cached_tokens",
    "completion_tokens", "ttfr_ms", "ttft_ms", "ttfot_ms", "total_ms", "prefill_tps",
    "decode_tps", "timing_source", "started_at",
)  # fmt: skip
GRADE_FIELDS = (
    "suite", "case", "case_fingerprint", "model", "repeat", "pass", "attempt", "layer", "grader",
    "grader_family", "verdict", "unscored_reason", "stale", "evidence", "checkpoints",
    "rationale", "comment", "vote", "entropy", "campaign", "seen", "params", "cost_usd",
    "prompt_fingerprint", "rubric", "rubric_version", "at",
)  # fmt: skip


@pytest.fixture
def rich(site: Site) -> Site:
    with open_database(site.database) as database:
        write_rich_run(site, database)
    return site


def test_the_files_are_those_of_the_contract(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    found = sorted(
        path.relative_to(rich.folder / "out").as_posix()
        for path in (rich.folder / "out").rglob("*")
        if path.is_file()
    )
    assert found == sorted(
        [
            "SHA256SUMS",
            "answers.jsonl",
            "audit.json",
            "figures/quality_speed.png",
            "figures/quality_speed.svg",
            "grades.jsonl",
            "rates.csv",
            "rubric.yaml",
            "run.json",
            "speed.csv",
            "suite/cases.jsonl",
            "suite/suite.yaml",
        ]
    )
    assert [path.name for path in rich.folder.iterdir() if path.name.startswith(".")] == []


def test_lines_have_the_listed_fields_and_no_others(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    answers, grades = rich.lines("out", "answers.jsonl"), rich.lines("out", "grades.jsonl")
    assert {tuple(line) for line in answers} == {ANSWER_FIELDS}
    assert {tuple(line) for line in grades} == {GRADE_FIELDS}
    assert len(answers) == 6
    assert len(grades) == 6 * 7
    order = [
        (line["model"], line["case"], line["repeat"], line["pass"], line["attempt"])
        for line in answers
    ]
    assert order == [
        ("zeta", "q1", 1, 1, 1),
        ("zeta", "q1", 1, 1, 2),
        ("zeta", "q1", 1, 2, 1),
        ("zeta", "q1", 2, 1, 1),
        ("zeta", "q2", 1, 1, 1),
        ("alpha", "q3", 1, 1, 1),
    ]


def test_fingerprints_tell_question_and_rule_apart(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    suite = read_suite(rich.folder / "out" / "suite")
    case = suite.cases[0]
    [answer, *_] = rich.lines("out", "answers.jsonl")
    assert answer["case_fingerprint"] == suite.question_fingerprint(case)
    grade = next(line for line in rich.lines("out", "grades.jsonl") if line["case"] == "q1")
    assert grade["case_fingerprint"] == suite.grading_fingerprint(case)


def test_sums_are_those_of_sha256sum(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    lines = (rich.folder / "out" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    paths = [line[66:] for line in lines]
    assert paths == sorted(paths)
    for line, path in zip(lines, paths, strict=True):
        content = (rich.folder / "out" / path).read_bytes()
        assert line == f"{hashlib.sha256(content).hexdigest()}  {path}"


def test_no_secret_host_or_person_leaves(rich: Site) -> None:
    config = "endpoints:\n  - {name: zeta, base_url: 'http://canary-host:8080/v1'}\n"
    (rich.folder / "evalbot.yaml").write_text(config, encoding="utf-8")
    rich.ids("export", RUN, "--output", "out")
    everything = b"".join(rich.files("out").values()).decode("utf-8", "replace")
    for canary in (*CANARIES, "Ann Canary", "Bob Canary", "base_url", str(rich.folder)):
        assert canary not in everything, canary
    [failed] = [line for line in rich.lines("out", "answers.jsonl") if line["error_detail"]]
    assert failed["error_detail"] == "Cannot connect to host [address] [address]; see '[path]'"
    head = json.loads((rich.folder / "out" / "run.json").read_text(encoding="utf-8"))
    assert head["endpoints"][0]["model_id"] == "zeta.gguf"
    assert head["endpoints"][0]["settings"]["sampling"]["seed"] == 1


def test_reviewers_keep_their_pseudonym_over_layers(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    graders = {
        (line["layer"], line["grader"])
        for line in rich.lines("out", "grades.jsonl")
        if line["layer"] in ("human", "adjudicated")
    }
    assert len({name for _, name in graders}) == 2
    assert len(graders) == 3
    assert all(name.startswith("reviewer-") for _, name in graders)


def test_names_are_written_where_asked_for(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out", "--names")
    graders = {line["grader"] for line in rich.lines("out", "grades.jsonl")}
    assert graders == {"auto", "strong", "strong#1", "Ann Canary", "Bob Canary"}


def test_two_exports_differ_only_in_their_moment(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "one")
    rich.ids("export", RUN[:6], "--output", "two")
    assert rich.files("one") == rich.files("two")
    first, second = (
        (rich.folder / name / "run.json").read_text(encoding="utf-8").splitlines()
        for name in ("one", "two")
    )
    assert [a for a, b in zip(first, second, strict=True) if a != b] == [first[-2]]
    assert '"exported_at"' in first[-2]


def test_rates_of_all_graded_layers_are_written(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    text = (rich.folder / "out" / "rates.csv").read_bytes().decode("utf-8-sig")
    layers = [line.split(",")[2] for line in text.splitlines()[1:]]
    assert list(dict.fromkeys(layers)) == ["auto", "judge", "human", "adjudicated"]


def test_stale_grades_are_marked(rich: Site) -> None:
    cases = [Case(key=f"q{n}", prompt=f"question {n}", references=(f"a{n}",)) for n in (1, 3)]
    rich.put_suite(make_suite(*cases, Case(key="q2", prompt="question 2", references=("A",))))
    rich.ids("export", RUN, "--output", "out")
    stale = {line["case"] for line in rich.lines("out", "grades.jsonl") if line["stale"]}
    assert stale == {"q2"}
    head = json.loads((rich.folder / "out" / "run.json").read_text(encoding="utf-8"))
    assert [rule["references"] for rule in head["earlier_rules"]["cases"]] == [["a2"]]
    assert head["earlier_rules"]["rubrics"] == []


def test_a_folder_that_is_not_empty_is_refused(rich: Site) -> None:
    (rich.folder / "full").mkdir()
    (rich.folder / "full" / "x").write_text("mine", encoding="utf-8")
    assert "is not an empty folder" in rich.fails("export", RUN, "--output", "full")
    assert [path.name for path in (rich.folder / "full").iterdir()] == ["x"]
    assert "is not an empty folder" in rich.fails("export", RUN, "--output", "full/x")
    (rich.folder / "empty").mkdir()
    rich.ids("export", RUN, "--output", "empty")
    rich.ids("export", RUN, "--output", "deep/er")


def test_a_failure_leaves_nothing(rich: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(rich.folder.iterdir())
    monkeypatch.setattr(export, "write_sums", full)
    with (
        open_database(rich.database) as database,
        pytest.raises(EvalbotError, match=r"could not be written \(No space left on device\)"),
    ):
        export_run(database, rich.config, RUN, rich.folder / "out")
    assert sorted(path for path in rich.folder.iterdir() if "evalbot.db" not in path.name) == [
        path for path in before if "evalbot.db" not in path.name
    ]


def test_an_unknown_run_is_refused(rich: Site) -> None:
    assert "there is no run 'x'" in rich.fails("export", "x", "--output", "out")
    assert not (rich.folder / "out").exists()


def test_the_speed_of_each_model_stands_in_the_columns_of_speeds(rich: Site) -> None:
    rich.ids("export", RUN, "--output", "out")
    text = (rich.folder / "out/speed.csv").read_text(encoding="utf-8-sig")
    zeta, checked, alpha = csv.DictReader(io.StringIO(text))
    assert [row["model"] for row in (zeta, checked, alpha)] == ["zeta", "zeta +check", "alpha"]
    assert (zeta["label"], zeta["source"], zeta["test"]) == ("東京", "evalbot", "run s")
    assert (zeta["n"], zeta["errors"], alpha["n"]) == ("3", "0", "1")
    assert (zeta["ttft_ms_p50"], zeta["ttfot_ms_p50"], zeta["timing_source"]) == (
        "2.25", "3.0", "server",
    )  # fmt: skip
    assert (zeta["context_tokens"], zeta["output_tokens"], zeta["wall_s"]) == ("12", "5", "")
