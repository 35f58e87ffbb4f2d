"""Commands end to end: exit codes, streams, formats and files."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest

from evalbot.store.database import open_database
from evalbot.store.tables import SCHEMA_REVISION
from tests.building import CASES, record, said, small_run, write_site
from tests.cli.calling import evalbot, stopped_while_reading


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a config, a suite and a database with one run of two models."""
    folder = write_site(tmp_path)
    answers = [
        said("door", "甲", "请开门"),
        said("light", "甲", "请关灯"),
        said("rain", "甲", "下雨了"),
        said("door", "b", "请关门"),
        said("light", "b", "把灯关上"),
    ]
    with open_database("sqlite:///evalbot.db", folder) as database:
        record(database, small_run(folder, "甲", "b"), answers)
    return folder


def test_init_writes_what_check_accepts(tmp_path: Path) -> None:
    done = evalbot("init", "my-eval", folder=tmp_path)
    assert done.returncode == 0
    checked = evalbot("check", folder=tmp_path / "my-eval")
    assert "suite my-suite: 5 cases: ok" in checked.stdout
    assert "rubric my-rubric: version 1: ok" in checked.stdout
    # Its example endpoint is not there: that is told, and the exit code says so.
    assert "NOT READY" in checked.stdout
    assert checked.returncode == 1


def test_init_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "evalbot.yaml").write_text("mine")
    done = evalbot("init", folder=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "evalbot.yaml").read_text() == "mine"


def test_check_tells_all_problems_at_once(site: Path) -> None:
    write_site(site, [*CASES, {"key": "door", "prompt": "x"}, {"kye": "y", "prompt": "x"}])
    done = evalbot("check", folder=site)
    assert done.returncode == 2
    assert "cases.jsonl:4" in done.stderr
    assert "cases.jsonl:5" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_needs_a_config_says_how_to_get_one(tmp_path: Path) -> None:
    done = evalbot("run", "translation", folder=tmp_path)
    assert done.returncode == 2
    assert "`evalbot init` writes one" in done.stderr


def test_run_tells_what_is_wrong_before_anything_is_written(site: Path) -> None:
    done = evalbot("run", "smal", folder=site)
    assert (done.returncode, done.stdout) == (2, "")
    config = "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1'}]\n"
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "smal", folder=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert "small" in done.stderr


def test_a_dry_run_asks_nothing(site: Path) -> None:
    config = "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1', sampling: {max_tokens: 9}}]"
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "small", "--repeats", "2", "--dry-run", folder=site)
    assert done.returncode == 0
    assert "a: 6 calls" in done.stdout
    assert "at most 54 to write, time unknown" in done.stdout
    assert evalbot("runs", "--format", "json", folder=site).stdout.count('"run"') == 1


def test_an_unreachable_endpoint_gives_connection_answers_and_exit_zero(site: Path) -> None:
    config = "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1', retries: 0}]\n"
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "small", folder=site)
    assert done.returncode == 0
    [run] = done.stdout.split()
    [row] = json.loads(evalbot("rates", run, "--format", "json", folder=site).stdout)
    assert (row["n"], row["unscored"], row["unscored_connection"]) == (0, 3, 3)


def test_commands_from_a_config_are_shown_and_not_run_unconfirmed(site: Path) -> None:
    marker = site / "started"
    (site / "evalbot.yaml").write_text(
        f"endpoints: [{{name: a, base_url: 'http://127.0.0.1:1/v1', start: [touch, {marker}]}}]\n"
    )
    done = evalbot("run", "small", folder=site, XDG_STATE_HOME=str(site / "state"))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"touch {marker}" in done.stderr
    assert not marker.exists()


def test_rates_as_json(site: Path) -> None:
    rows = json.loads(evalbot("rates", "--format", "json", folder=site).stdout)
    assert [row["model"] for row in rows] == ["b", "甲"]
    first = rows[1]
    assert (first["n"], first["unscored"], first["stale"]) == (3, 0, 0)
    assert first["rate"] == pytest.approx(1 / 3)
    assert (first["grader"], first["tag"]) == (None, None)
    assert list(first)[:16] == [
        "suite", "model", "layer", "grader", "tag", "n", "unscored", "stale", "rate_name",
        "rate", "low", "high", "rate_min", "rate_max", "direction", "signature",
    ]  # fmt: skip


def test_csv_is_the_default_where_nobody_looks(site: Path) -> None:
    text = evalbot("rates", folder=site).stdout
    assert not text.startswith("\ufeff")
    assert [row["model"] for row in csv.DictReader(io.StringIO(text))] == ["b", "甲"]


def test_a_csv_file_opens_in_excel(site: Path) -> None:
    evalbot("rates", "--output", "r.csv", folder=site)
    data = (site / "r.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert "甲" in data.decode("utf-8-sig")


@pytest.mark.parametrize("ending", ["md", "html", "tex"])
def test_percentages_for_people_are_rounded_half_up(site: Path, ending: str) -> None:
    done = evalbot("rates", "--output", f"r.{ending}", folder=site)
    assert done.returncode == 0
    text = (site / f"r.{ending}").read_text(encoding="utf-8").replace("\\%", "%")
    assert "33.3 %" in text
    assert "signature" in text


def test_a_spreadsheet_has_numbers(site: Path) -> None:
    evalbot("rates", "--output", "r.xlsx", folder=site)
    sheet = openpyxl.load_workbook(site / "r.xlsx").active
    rates = [row[1].value for row in sheet.iter_rows(min_row=2, max_row=3)]
    assert rates == [0, pytest.approx(1 / 3)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "cvs"],
        ["--layer", "corected"],
        ["--layer", "corrected", "--by", "tag"],
        ["--by", "model"],
        ["--models", "c"],
        ["no-such-run"],
        ["--config", "none.yaml"],
        ["--database", "nonsense"],
        ["--output", "no/such/folder/r.csv"],
        ["--output", "r.pdf"],
    ],
)
def test_wrong_requests_exit_with_two_and_one_sentence(site: Path, arguments: list[str]) -> None:
    done = evalbot("rates", *arguments, folder=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evalbot: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["rates", "runs", "speeds", "speed"])
def test_a_file_of_no_known_format_is_refused(site: Path, command: str) -> None:
    (site / "evalbot.yaml").write_text("endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1'}]")
    for name in ("r.pdf", "r.tar.gz"):
        done = evalbot(command, "--output", name, folder=site)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"evalbot: --output: what format {Path(name).suffix} is cannot be told; give --format, "
            "or an ending of .md, .csv, .json, .xlsx, .html, .tex\n"
        )
        assert not (site / name).exists()


def test_a_named_format_stands_over_the_files_ending(site: Path) -> None:
    for name in ("r.pdf", "r", "r.md"):
        assert evalbot("rates", "-o", name, "--format", "json", folder=site).returncode == 0
        assert len(json.loads((site / name).read_bytes())) == 2
    assert evalbot("rates", "-o", "R.JSON", folder=site).returncode == 0
    assert len(json.loads((site / "R.JSON").read_bytes())) == 2
    assert evalbot("rates", "-o", "plain", folder=site).returncode == 0
    assert (site / "plain").read_text(encoding="utf-8-sig").startswith("suite,")


@pytest.mark.parametrize("debug", [[], ["--debug"]], ids=["", "debug"])
def test_ctrl_c_ends_a_command_with_one_line(site: Path, debug: list[str]) -> None:
    pipe = site / "answers.csv"
    ended = stopped_while_reading(pipe, "import", "answers", str(pipe), *debug, folder=site)
    assert ended == (130, "", "evalbot: stopped\n")


def test_debug_shows_where_an_error_comes_from(site: Path) -> None:
    assert "Traceback" in evalbot("rates", "no-such-run", "--debug", folder=site).stderr


def test_runs_lists_what_there_is(site: Path) -> None:
    [row] = json.loads(evalbot("runs", "--format", "json", folder=site).stdout)
    assert list(row) == [
        "run", "suite", "label", "state", "endpoints", "cases", "repeats", "answers", "unscored",
        "started_at",
    ]  # fmt: skip
    assert (row["run"], row["answers"], row["unscored"]) == ("small-1", 5, 1)


def test_show_prints_answers_with_their_verdicts(site: Path) -> None:
    done = evalbot("show", "small", "--verdict", "wrong", folder=site)
    assert done.returncode == 0
    assert "甲 · wrong · ratio" in done.stdout
    assert "请开门" in done.stdout
    assert "请关灯" not in done.stdout


def test_show_says_when_nothing_fits(site: Path) -> None:
    done = evalbot("show", "small", "--status", "timeout", folder=site)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no answer fits" in done.stderr


@pytest.mark.parametrize(
    ("option", "word", "near"),
    [("--case", "dor", "door"), ("--verdict", "wron", "wrong"), ("--status", "tmeout", "timeout")],
)
def test_show_guesses_what_was_meant(site: Path, option: str, word: str, near: str) -> None:
    done = evalbot("show", "small", option, word, folder=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert near in done.stderr


def test_show_takes_lists(site: Path) -> None:
    done = evalbot("show", "small", "--model", "甲,b", "--case", "door,rain", folder=site)
    assert done.stdout.count("请关门") + done.stdout.count("下雨了") >= 3


def test_score_follows_a_changed_suite(site: Path) -> None:
    write_site(site, [CASES[0], {**CASES[1], "references": ["把灯关上"]}, CASES[2]])
    before = json.loads(evalbot("rates", "--format", "json", folder=site).stdout)
    assert [row["stale"] for row in before] == [1, 1]
    done = evalbot("score", "small-1", folder=site)
    assert "5 answers scored, 2 grades new, 2 verdicts changed" in done.stderr
    after = json.loads(evalbot("rates", "--format", "json", folder=site).stdout)
    assert {row["model"]: row["n"] for row in after} == {"b": 2, "甲": 2}


def test_the_database_tells_its_version_and_is_copied(site: Path) -> None:
    assert f"version:  {SCHEMA_REVISION}" in evalbot("db", "status", folder=site).stdout
    assert evalbot("db", "backup", "copy.db", folder=site).returncode == 0
    copied = evalbot("runs", "--database", "sqlite:///copy.db", "--format", "json", folder=site)
    assert json.loads(copied.stdout)[0]["run"] == "small-1"
    assert f"version {SCHEMA_REVISION}" in evalbot("db", "upgrade", folder=site).stderr


def test_the_database_may_come_from_the_environment(site: Path) -> None:
    evalbot("db", "backup", "other.db", folder=site)
    (site / "evalbot.db").unlink()
    done = evalbot("runs", "--format", "json", folder=site, EVALBOT_DATABASE="sqlite:///other.db")
    assert [row["run"] for row in json.loads(done.stdout)] == ["small-1"]


@pytest.mark.parametrize(
    "command",
    [["rates"], ["runs"], ["show", "x"], ["score", "x"], ["export", "x", "-o", "y"],
     ["db", "status"], ["db", "backup", "y"], ["run", "--resume", "x"]],
    ids=" ".join,
)  # fmt: skip
def test_reading_makes_no_database(tmp_path: Path, command: list[str]) -> None:
    write_site(tmp_path)
    done = evalbot(*command, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no record in" in done.stderr
    assert list(tmp_path.glob("*.db*")) == []


def test_broken_files_do_not_keep_results_from_being_read(site: Path) -> None:
    (site / "datasets/small/cases.jsonl").write_text('{"key"', encoding="utf-8")
    done = evalbot("rates", "--format", "json", folder=site)
    assert done.returncode == 0
    assert [row["n"] for row in json.loads(done.stdout)] == [1, 3]
    assert "note: the files of suite small or its rubric are broken" in done.stderr
    assert evalbot("score", "small-1", folder=site).returncode == 2


def test_runs_of_one_suite_are_told_apart(site: Path) -> None:
    with open_database("sqlite:///evalbot.db", site) as database:
        record(database, small_run(site, "b", run_id="small-2"), [said("door", "b", "请关门")])
    text = evalbot("rates", "small-1", "small-2", "--format", "md", folder=site).stdout
    assert "| small-1 | b " in text
    assert "| small-2 | b " in text
    assert "small-2, b: unscored answers: 2 not_graded" in text


def test_failed_answers_are_told_with_what_to_type(site: Path) -> None:
    config = "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1', retries: 0}]\n"
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "small", folder=site)
    assert "3 answers failed on the way; ask again with: evalbot run --resume" in done.stderr
    assert "connection refused" in done.stderr


@pytest.mark.parametrize("ending", ["md", "html", "tex", "xlsx"])
def test_people_get_a_table_for_each_suite(site: Path, ending: str) -> None:
    other = site / "datasets/other"
    other.mkdir()
    for name in ("suite.yaml", "cases.jsonl"):
        text = (site / "datasets/small" / name).read_text(encoding="utf-8")
        (other / name).write_text(text.replace("name: small", "name: other"), encoding="utf-8")
    rows = "suite,case,model,answer\nother,door,c,请关门\n"
    (site / "more.csv").write_text(rows, encoding="utf-8")
    assert evalbot("import", "answers", "more.csv", folder=site).returncode == 0
    assert evalbot("rates", "--output", f"r.{ending}", folder=site).returncode == 0
    if ending == "xlsx":
        names = openpyxl.load_workbook(site / "r.xlsx").sheetnames
        assert [name[:7] for name in names] == ["1 other", "2 small"]
    else:
        text = (site / f"r.{ending}").read_text(encoding="utf-8")
        assert 0 < text.index("other: Error rate") < text.index("small: Error rate")


@pytest.mark.parametrize("query", ["password=hunter2", "sslpassword=hunter2"])
def test_a_password_in_a_database_url_is_refused_and_not_repeated(site: Path, query: str) -> None:
    url = f"postgresql://u@127.0.0.1:1/db?{query}"
    for done in (
        evalbot("runs", folder=site, EVALBOT_DATABASE=url),
        evalbot("db", "status", "--database", url, folder=site),
    ):
        assert done.returncode == 2
        assert "PGPASSWORD" in done.stderr
        assert "hunter2" not in done.stderr


def test_a_refused_resume_changes_nothing(site: Path) -> None:
    dead = "base_url: 'http://127.0.0.1:1/v1', retries: 0"
    (site / "evalbot.yaml").write_text(f"endpoints: [{{name: a, {dead}}}]\n")
    [run] = evalbot("run", "small", folder=site).stdout.split()
    before = evalbot("runs", "--format", "json", folder=site).stdout
    (site / "evalbot.yaml").write_text(
        f"endpoints: [{{name: a, {dead}}}, {{name: b, {dead}, start: [./no-such]}}]\n"
    )
    state = str(site / "state")
    more = ["run", "--resume", run, "--add-endpoints", "b", "--repeats", "4"]
    done = evalbot(*more, folder=site, XDG_STATE_HOME=state)
    assert (done.returncode, done.stdout) == (2, "")
    assert evalbot("runs", "--format", "json", folder=site).stdout == before


def test_a_command_cannot_hide_itself(site: Path) -> None:
    hidden = '["sh", "-c", "touch evil\\r\\e[2K", "x y"]'
    (site / "evalbot.yaml").write_text(
        f"endpoints: [{{name: a, base_url: 'http://127.0.0.1:1/v1', start: {hidden}}}]\n"
    )
    done = evalbot("run", "small", folder=site, XDG_STATE_HOME=str(site / "state"))
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "touch evil" in done.stderr
    assert "'x y'" in done.stderr


def test_a_suite_run_by_its_path_is_found_again(site: Path) -> None:
    (site / "datasets/small").rename(site / "elsewhere")
    config = "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1', retries: 0}]\n"
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "elsewhere", folder=site)
    assert done.returncode == 0, done.stderr
    [run] = done.stdout.split()
    head = site / "elsewhere/suite.yaml"
    head.write_text(head.read_text() + "system: Translate.\n")
    done = evalbot("run", "--resume", run, folder=site)
    assert done.returncode == 2
    assert "the questions of suite small changed" in done.stderr


def test_a_suites_name_stands_for_its_newest_run(site: Path) -> None:
    with open_database("sqlite:///evalbot.db", site) as database:
        record(database, small_run(site, "new", run_id="small-2"), [said("door", "new", "请关门")])
    done = evalbot("rates", "small", "--format", "json", folder=site)
    assert [row["run"] for row in json.loads(done.stdout)] == ["small-2"]


def test_show_finds_verdicts_of_people_too(site: Path) -> None:
    rows = "suite,case,model,layer,grader,verdict\nsmall,light,b,human,ann,acceptable\n"
    (site / "grades.csv").write_text(rows, encoding="utf-8")
    assert (
        evalbot("import", "grades", "grades.csv", "--run", "small-1", folder=site).returncode == 0
    )
    done = evalbot("show", "small-1", "--verdict", "acceptable", folder=site)
    assert "ann: acceptable" in done.stdout


def test_settings_stand_in_words_behind_their_fingerprint(site: Path) -> None:
    config = (
        "endpoints: [{name: a, base_url: 'http://127.0.0.1:1/v1', retries: 0, "
        'thinking: "off", sampling: {temperature: 0.8, max_tokens: 9}}]\n'
    )
    (site / "evalbot.yaml").write_text(config)
    done = evalbot("run", "small", folder=site)
    assert "(max_tokens 9, temperature 0.8, thinking off)" in done.stderr
