"""`speed`, `speeds` and `import speed` end to end: exit codes, streams, formats and files."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calling import evalbot
from tests.fault_server import FaultServer, closed_port
from tests.speed.serving import measured, words
from tests.speed.site import SpeedSite

DATA = Path(__file__).parents[1] / "data" / "speed"
QUICK = ("--contexts", "40,90", "--concurrency", "1,2", "--output-tokens", "4", "--repeats", "1")


@pytest.fixture
def site(tmp_path: Path) -> SpeedSite:
    return SpeedSite(tmp_path)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield measured(server)


def call(site: SpeedSite, *arguments: str) -> subprocess.CompletedProcess[str]:
    return evalbot(*arguments, folder=site.folder, XDG_STATE_HOME=str(site.folder / "state"))


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """What a usage error said; it changed nothing and printed no table."""
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "bug in evalbot" not in done.stderr
    said = done.stderr.strip()
    assert "\n" not in said
    return said


def test_a_sweep_prints_its_table_on_stdout_and_all_else_on_stderr(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("qwen", server.base_url)
    done = call(site, "speed", *QUICK, "--label", "night")
    assert done.returncode == 0, done.stderr
    rows = lines(done.stdout)
    assert [(row["model"], row["label"], row["test"]) for row in rows] == [
        ("qwen", "night", f"pp{context}+tg4 x{streams}")
        for context in (40, 90)
        for streams in (1, 2)
    ]
    told = done.stderr.splitlines()
    assert told[0] == f"sweep {rows[0]['sweep']}"
    assert any(line.startswith("overhead: evalbot itself used ") for line in told)
    # What it printed is what it recorded.
    assert call(site, "speeds", "--label", "night").stdout == done.stdout


def test_only_the_chosen_endpoints_are_measured_as_often_as_said(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    site.endpoint("b", server.base_url)
    done = call(site, "speed", "--endpoints", "b", "--contexts", "90,40,40", "--concurrency", "2",
                "--output-tokens", "3", "--repeats", "2", "--format", "json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["model"], row["context_label"], row["n"]) for row in rows] == [
        ("b", "40", 4), ("b", "90", 4)
    ]  # fmt: skip
    assert {chat.body["max_tokens"] for chat in server.chats} == {8, 3}
    assert {10 + words(prompt) for prompt in server.prompts} == {40, 90}


def test_people_get_a_table_with_its_notes(site: SpeedSite, server: FaultServer) -> None:
    server.slot_context = 60
    site.endpoint("qwen", server.base_url)
    out = site.folder / "speed.md"
    done = call(site, "speed", *QUICK, "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert f"wrote {out} (md)" in done.stderr
    text = out.read_text(encoding="utf-8")
    assert "Speed measured by evalbot" in text
    assert "context_overflow: not sent: a prompt of 90 tokens and 4 to write need 94" in text


def test_what_could_not_be_measured_makes_it_fail_and_says_how_to_go_on(
    site: SpeedSite, server: FaultServer
) -> None:
    with closed_port() as nobody:
        site.endpoint("dead", nobody)
        site.endpoint("alive", server.base_url)
        done = call(site, "speed", *QUICK)
    assert done.returncode == 1
    rows = lines(done.stdout)
    assert (rows[0]["model"], rows[0]["status"]) == ("dead", "failed")
    assert len(rows) == 5
    how = f"evalbot speed --resume {rows[0]['sweep']}"
    assert f"Not everything could be measured; go on with: {how}" in done.stderr
    site.endpoint("dead", server.base_url)
    server.chats.clear()
    done = call(site, *how.removeprefix("evalbot ").split())
    assert done.returncode == 0, done.stderr
    assert {row["model"]: row["n"] for row in lines(done.stdout)} == {"dead": "2", "alive": "2"}
    assert len(lines(done.stdout)) == 8
    assert len(server.chats) == 1 + 6  # only what was missing


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (["--contexts", "0"], '--contexts: found "0"; expected whole numbers from 1'),
        (["--contexts", "512,4K"], '--contexts: found "4K"'),
        (["--contexts", "-1"], '--contexts: found "-1"'),
        (["--contexts", "١٢"], '--contexts: found "١٢"'),
        (["--contexts", "9" * 5000], '--contexts: found "9999'),
        (["--contexts", ""], "--contexts: found nothing; expected whole numbers, such as 1,2,4"),
        (["--contexts", "10000001"], '--contexts: found "10000001"; expected whole numbers from 1'),
        (["--concurrency", ""], "--concurrency: found nothing"),
        (["--concurrency", "5000"], '"5000"; expected whole numbers from 1 to 1,024, such as 1,2'),
        (["--concurrency", "1,1025"], '--concurrency: found "1025"'),
        (["--concurrency", ","], "--concurrency: found nothing"),
        (["--concurrency", "1.5"], '--concurrency: found "1.5"'),
        (["--endpoints", "qwne"], "no endpoint 'qwne'; did you mean qwen?"),
        (["--format", "pdf"], '--format: found "pdf"; expected one of md, csv, json'),
        (["--output", "missing/x.csv"], "missing/x.csv could not be written"),
        (["--output", "x.pdf"], "--output: what format .pdf is cannot be told; give --format, or"),
        (["--output", "."], "could not be written (it is a folder)"),
        (["--resume", "speed-1", "--repeats", "2"], "--resume ID goes on with that sweep as it is"),
        (["--resume", "speed-1", "--parallel-endpoints"], "--resume ID goes on with that sweep"),
        (["--resume", "speed-1", "--label", "x"], "--resume ID goes on with that sweep as it is"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence_before_anything_is_sent(
    arguments: list[str], words_: str, site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("qwen", server.base_url)
    assert words_ in one_sentence(call(site, "speed", *arguments))
    assert server.chats == []
    assert server.looks == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-tokens", "1"],
        ["--output-tokens", "x"],
        ["--output-tokens", "99999999999"],
        ["--output-tokens", "10000001"],
        ["--repeats", "0"],
        ["--repeats", "1001"],
        ["--repeats", "100000"],
    ],
)
def test_numbers_that_measure_nothing_or_never_end_are_refused(
    arguments: list[str], site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("qwen", server.base_url)
    done = call(site, "speed", *arguments)
    assert (done.returncode, done.stdout, server.looks) == (2, "", 0)
    assert arguments[0] in done.stderr


def test_without_a_config_or_endpoints_there_is_nothing_to_measure(tmp_path: Path) -> None:
    assert "`evalbot init` writes one" in one_sentence(evalbot("speed", folder=tmp_path))
    (tmp_path / "evalbot.yaml").write_text("endpoints: []\n")
    assert "has no endpoints" in one_sentence(evalbot("speed", folder=tmp_path))
    assert not (tmp_path / "evalbot.db").exists()


def test_resume_is_refused_where_it_would_not_be_the_same_sweep(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("qwen", server.base_url)
    sweep = lines(call(site, "speed", *QUICK).stdout)[0]["sweep"]
    server.chats.clear()
    assert "there is no sweep 'speed-x'" in one_sentence(call(site, "speed", "--resume", "speed-x"))
    site.endpoint("qwen", server.base_url, sampling={"top_k": 3})
    said = one_sentence(call(site, "speed", "--resume", sweep))
    assert "endpoint qwen was measured with other settings (sampling)" in said
    assert server.chats == []


def test_commands_of_a_config_are_not_run_before_they_are_allowed(
    site: SpeedSite, server: FaultServer
) -> None:
    site.machine("pc", telemetry=["touch", "telemetry-was-run"])
    site.endpoint("qwen", server.base_url, hardware="pc", stop=["touch", "stop-was-run"])
    done = call(site, "speed", *QUICK)
    assert (done.returncode, done.stdout) == (2, "")
    assert "touch telemetry-was-run" in done.stderr
    assert "touch stop-was-run" in done.stderr
    assert "--allow-commands" in done.stderr
    assert not list(site.folder.glob("*-was-run"))
    done = call(site, "speed", *QUICK, "--allow-commands")
    assert done.returncode == 0, done.stderr
    assert len(list(site.folder.glob("*-was-run"))) == 2
    assert "note: qwen: memory is not known: telemetry: " in done.stderr


@pytest.fixture
def filled(site: SpeedSite) -> SpeedSite:
    done = call(site, "import", "speed", str(DATA / "speed_concurrent.csv"), "--kind", "table")
    assert done.returncode == 0, done.stderr
    return site


def test_an_import_prints_its_id_and_tells_how_many_rows_were_added(site: SpeedSite) -> None:
    path = str(DATA / "speed_concurrent.csv")
    first, again = (call(site, "import", "speed", path, "--kind", "table") for _ in range(2))
    assert first.stdout == again.stdout
    sweep = first.stdout.strip()
    assert first.stderr == f"{path}: 86 rows added\n"
    assert again.stderr == f"{path}: it was there: nothing added\n"
    assert {row["sweep"] for row in lines(call(site, "speeds").stdout)} == {sweep}


def test_a_single_row_is_told_as_one(site: SpeedSite) -> None:
    path = site.write("one.csv", "model,decode_tps_p50\nm,5\n")
    done = call(site, "import", "speed", str(path), "--kind", "table")
    assert done.stderr == f"{path}: 1 row added\n"


def test_the_same_file_under_another_name_adds_nothing(site: SpeedSite) -> None:
    """Its rows are called by the name of the file they came from first."""
    text = (DATA / "llama_bench_shootout.csv").read_text(encoding="utf-8")
    paths = [str(site.write(name, text)) for name in ("shootout.csv", "copy of it.csv")]
    first, again = (call(site, "import", "speed", path, "--kind", "table") for path in paths)
    assert first.stdout == again.stdout
    assert again.stderr == f"{paths[1]}: it was there: nothing added\n"
    rows = lines(call(site, "speeds").stdout)
    assert (len(rows), {row["label"] for row in rows}) == (64, {"shootout"})
    # Named otherwise by whoever imports it, it is another one.
    other = call(site, "import", "speed", paths[1], "--kind", "table", "--label", "mine")
    assert other.stderr == f"{paths[1]}: 64 rows added\n"


def test_an_import_that_is_not_there_or_of_another_kind_is_a_problem(site: SpeedSite) -> None:
    shootout = DATA / "llama_bench_shootout.csv"
    done = call(site, "import", "speed", "gone.json", str(shootout), "--kind", "llama-bench")
    assert (done.returncode, done.stdout) == (2, "")
    assert "gone.json: found no such file; expected a file that can be read" in done.stderr
    assert f"{shootout}: found no result of llama-bench" in done.stderr


def test_figures_at_the_bounds_make_no_table_fail(site: SpeedSite) -> None:
    """Ratios of the largest and the smallest are told in digits too."""
    site.machine("pc", price=1, currency="EUR", watts=1, lifetime_hours=1)
    site.machine("mac", price=5000, currency="EUR", watts=900, lifetime_hours=20_000)
    site.extra["electricity"] = {"price_per_kwh": 0.3, "currency": "EUR"}
    names = ("ttft_ms_p50", "ttft_ms_mean", "decode_tps_p50", "stream_tps_p50", "aggregate_tps",
             "wall_s")  # fmt: skip
    table = [",".join(("model", "hardware", "context_label", "concurrency", *names))]
    for machine, one, two in (("pc", "1e-6", "1e12"), ("mac", "1e12", "1e-6")):
        table += [",".join(("m", machine, "5K", "1", *[one] * len(names))),
                  ",".join(("m", machine, "5K", "2", *[two] * len(names)))]  # fmt: skip
    path = site.write("bounds.csv", "\n".join(table) + "\n")
    assert call(site, "import", "speed", str(path), "--kind", "table").returncode == 0
    for arguments in (["--format", "csv"], ["--format", "md"], ["--format", "html"], ["--wide"],
                      ["--format", "md", "--figures", "figures"]):  # fmt: skip
        done = call(site, "speeds", *arguments)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) >= 3


def test_several_files_print_an_id_each_and_names_stand_over_the_files(site: SpeedSite) -> None:
    files = [str(DATA / f"cpu-two-models.{ending}") for ending in ("json", "md")]
    done = call(site, "import", "speed", *files, "--kind", "llama-bench", "--hardware", "my-pc",
                "--label", "bench")  # fmt: skip
    assert done.returncode == 0
    assert len(set(done.stdout.split())) == 2
    assert 'note: evalbot.yaml has no hardware "my-pc", so there is no price for it' in done.stderr
    rows = lines(call(site, "speeds").stdout)
    assert {(row["hardware"], row["label"]) for row in rows} == {("my-pc", "bench")}
    site.machine("my-pc", price=1000, currency="EUR")
    done = call(site, "import", "speed", *files, "--kind", "llama-bench", "--hardware", "my-pc")
    assert "no price" not in done.stderr


def test_a_wrong_import_changes_nothing_and_tells_where(filled: SpeedSite) -> None:
    before = call(filled, "speeds").stdout
    wrong = filled.write("wrong.csv", "model,decode_tps_p50\nm,fast\n")
    done = call(filled, "import", "speed", str(DATA / "speed_single_stream.csv"), str(wrong),
                "--kind", "table")  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert 'wrong.csv:2: decode_tps_p50: found "fast"' in done.stderr
    assert call(filled, "speeds").stdout == before
    said = one_sentence(call(filled, "import", "speed", str(wrong), "--kind", "tabel"))
    assert '--kind: found "tabel"; expected one of' in said
    assert "did you mean table?" in said


def test_speeds_chooses_rows(filled: SpeedSite) -> None:
    flags = lines(call(filled, "speeds", "--status", "collapsed,cached").stdout)
    assert len(flags) == 10
    assert {row["status"] for row in flags} == {"collapsed", "cached"}
    some = lines(call(filled, "speeds", "import", "--label", "first", "--models",
                      "Llama-3.3-70B Q6_K", "--source", "table").stdout)  # fmt: skip
    assert len(some) == 9


def test_speeds_leaves_out_what_is_not_wanted(filled: SpeedSite) -> None:
    path = str(DATA / "speed_single_stream.csv")
    single = call(filled, "import", "speed", path, "--kind", "table").stdout.strip()
    both = lines(call(filled, "speeds").stdout)
    assert len(both) == 86 + 42
    rest = lines(call(filled, "speeds", "--without", single).stdout)
    assert rest == [row for row in both if row["sweep"] != single]
    [concurrent] = {row["sweep"] for row in rest}
    # The beginning of an id is enough, several stand in a list, and it goes before what is asked.
    left = call(filled, "speeds", "--without", f"{single[:-1]},{concurrent}")
    assert (left.returncode, lines(left.stdout)) == (0, [])
    assert lines(call(filled, "speeds", single, "--without", single).stdout) == []
    said = one_sentence(call(filled, "speeds", "--without", "import-9"))
    assert "there is no sweep 'import-9'" in said


def test_ids_stand_beside_labels_that_several_imports_share(filled: SpeedSite) -> None:
    assert "| id" not in call(filled, "speeds", "--format", "md").stdout
    path = str(DATA / "speed_single_stream.csv")
    single = call(filled, "import", "speed", path, "--kind", "table").stdout.strip()
    people = call(filled, "speeds", "--format", "md").stdout
    assert "| id" in people
    assert single in people


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (["--models", "nobody"], 'no speed result has the model "nobody"; there are: '),
        (["--models", "gpt-oss-120b MXFP4,nobody"], 'has the model "nobody"; there are: '),
        (["--models", "gpt-oss-120b"], "did you mean gpt-oss-120b MXFP4?"),
        (["--label", "night"], 'no speed result has the label "night"; there are: first, retest'),
        (["--label", "firts"], 'has the label "firts"; did you mean first?'),
        (["--hardware", "pc"], 'no speed result has the hardware "pc"; there are: none'),
        (["--models", "nobody", "--wide"], 'no speed result has the model "nobody"'),
        (["--models", "nobody", "--format", "md"], 'no speed result has the model "nobody"'),
        (["--models", "nobody", "--figures", "drawn"], 'no speed result has the model "nobody"'),
    ],
)
def test_names_that_no_result_has_are_told_with_those_that_there_are(
    arguments: list[str], words_: str, filled: SpeedSite
) -> None:
    assert words_ in one_sentence(call(filled, "speeds", *arguments))
    assert not (filled.folder / "drawn").exists()


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (["--source", "tabel"], '--source: found "tabel"; expected one of'),
        (["--status", "ok,colapsed"], "did you mean collapsed?"),
        (["speed-9"], "there is no sweep 'speed-9'"),
        (["--format", "cvs"], "did you mean csv?"),
    ],
)
def test_speeds_tells_wrong_usage_in_a_sentence(
    arguments: list[str], words_: str, filled: SpeedSite
) -> None:
    assert words_ in one_sentence(call(filled, "speeds", *arguments))


def test_what_programs_get_comes_in_again_as_it_was(filled: SpeedSite, tmp_path: Path) -> None:
    """Also flags with their evidence; only the import it is from is another.

    Rows of several imports in one file, whose labels are the same, are not held against each
    other, although they come in as one.
    """
    for name in ("llama_bench_shootout.csv", "speed_single_stream.csv"):
        call(filled, "import", "speed", str(DATA / name), "--kind", "table")
    out = filled.folder / "out.csv"
    assert call(filled, "speeds", "--output", str(out)).returncode == 0
    other = tmp_path / "other"
    other.mkdir()
    again = SpeedSite(other)
    done = call(again, "import", "speed", str(out), "--kind", "table")
    assert done.returncode == 0, done.stderr
    before, after = lines(call(filled, "speeds").stdout), lines(call(again, "speeds").stdout)
    assert before[0].keys() == after[0].keys()
    assert len({row.pop("sweep") for row in before}) == 3
    assert len({row.pop("sweep") for row in after}) == 1
    assert len(after) == 64 + 86 + 42
    assert after == before


def test_rows_of_two_sweeps_in_one_table_are_judged_apart(site: SpeedSite) -> None:
    """The same rows of one sweep are a collapse; without the sweeps' ids they would be one."""
    header = "model,context_label,concurrency,aggregate_tps,sweep\n"
    slow, fast = "m,5K,2,1,{}\n", "m,5K,1,100,{}\n"
    for name, sweeps, status in (("apart", "ab", "ok"), ("together", "aa", "collapsed")):
        text = header + fast.format(sweeps[0]) + slow.format(sweeps[1])
        path = str(site.write(f"{name}.csv", text))
        sweep = call(site, "import", "speed", path, "--kind", "table").stdout.strip()
        rows = lines(call(site, "speeds", sweep).stdout)
        assert [(row["status"], row["sweep"]) for row in rows] == [("ok", sweep), (status, sweep)]


def test_machines_stand_down_and_models_across(site: SpeedSite) -> None:
    call(site, "import", "speed", str(DATA / "llama_bench_shootout.csv"), "--kind", "table")
    done = call(site, "speeds", "--wide")
    assert done.returncode == 0
    rows = lines(done.stdout)
    assert len(rows) == 8
    assert list(rows[0])[:3] == ["hardware", "backend", "memory"]
    assert rows[0]["hardware"] == "RTX 5090"
    assert rows[0]["Qwen2.5 32B (Q6_K) pp2048"] == "2725.44"
    assert sum(value == "oom" for row in rows for value in row.values()) == 16


def test_notes_go_to_stderr_beside_data_and_below_the_table_for_people(
    site: SpeedSite, server: FaultServer
) -> None:
    site.machine("pc", price=1000, currency="EUR")
    site.endpoint("qwen", server.base_url, hardware="pc")
    assert call(site, "speed", *QUICK).returncode == 0
    note = "prices in EUR, as the config says"
    data, people = (call(site, "speeds", "--format", form) for form in ("json", "md"))
    assert f"note: {note}" in data.stderr
    assert note not in data.stdout
    assert {row["price"] for row in json.loads(data.stdout)} == {1000}
    assert note in people.stdout
    assert people.stderr == ""


def test_without_rows_there_is_an_empty_table(site: SpeedSite) -> None:
    done = call(site, "import", "speed", str(DATA / "cpu-two-models.md"), "--kind", "llama-bench")
    assert done.returncode == 0
    for arguments in (["--status", "oom"], ["--without", done.stdout.strip()]):
        none = call(site, "speeds", *arguments, "--format", "json")
        assert (none.returncode, json.loads(none.stdout)) == (0, [])
        assert call(site, "speeds", *arguments, "--format", "md").returncode == 0


def test_a_record_without_speed_results_knows_no_names_to_mistype(site: SpeedSite) -> None:
    with site.open():
        pass
    done = call(site, "speeds", "--models", "nobody", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


@pytest.mark.parametrize("command", [["speed"], ["speeds"], ["import", "speed"]])
def test_help_has_an_example(command: list[str], tmp_path: Path) -> None:
    done = evalbot(*command, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert f"Example: evalbot {' '.join(command)}" in done.stdout
