"""`evalbot judge` as a process of its own, through the real litellm, against a server of ours."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.answers import AnswerStatus
from evalbot.store.database import open_database
from evalbot.store.grades import read_grades
from tests.building import record, said, small_run, write_site
from tests.judge_server import JudgeServer, Said
from tests.judging.site import ANSWERS, verdict
from tests.waiting import wait_until

from .calling import evalbot

GOOD = Said(verdict("acceptable"))
JUDGE = "  - {{name: {name}, model: openai/judge, api_base: '{base}', {more}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path, 1)


def make(folder: Path, repeats: int) -> Path:
    """A run of two models and three cases, each repeated."""
    write_site(folder)
    answers = [
        said(case, model, f"{text}{'!' * repeat}", repeat=repeat)
        for model in "ab"
        for case, text in ANSWERS.items()
        for repeat in range(1, repeats + 1)
    ]
    with open_database("sqlite:///evalbot.db", folder) as database:
        record(database, small_run(folder, "a", "b", repeats=repeats), answers)
    return folder


def judges(folder: Path, **bases: str) -> None:
    """Write the config: each judge with its server's address, and what else is said of it."""
    lines = []
    for name, base in bases.items():
        address, _, more = base.partition(" ")
        lines.append(JUDGE.format(name=name, base=address, more=more or "retries: 0"))
    (folder / "evalbot.yaml").write_text("judges:\n" + "".join(lines), encoding="utf-8")


def recorded(folder: Path) -> Counter[str]:
    with open_database("sqlite:///evalbot.db", folder) as database:
        with database.read() as connection:
            return Counter(one.grade.grader for one in read_grades(connection, "small-1"))


def test_two_judges_are_asked_and_told_of(folder: Path) -> None:
    with JudgeServer(GOOD) as one, JudgeServer(Said(verdict("wrong"))) as two:
        judges(folder, strong=f"{one.api_base} price: {{input: 3, output: 15}}", weak=two.api_base)
        dry = evalbot("judge", "small-1", "--dry-run", folder=folder)
        assert (dry.returncode, one.bodies, two.bodies) == (0, [], [])
        assert re.search(
            r"strong \(openai/judge\): 6 calls .* about \$0\.1\d+, at most \$0\.4\d+ if all",
            dry.stderr,
        )
        assert "weak (openai/judge): 6 calls" in dry.stderr
        assert "cost unknown (no price)" in dry.stderr
        done = evalbot("judge", "small-1", folder=folder)
        assert (done.returncode, done.stdout) == (0, "")
        assert len(one.bodies) == len(two.bodies) == 6
        assert re.search(r"\| strong \| +6 \| +6 \| +0 \| +600 \| +240 \| +120 \|", done.stderr)
        assert "0.0036" in done.stderr
        assert "small: Error rate, lower is better, judge layer (small-1)" in done.stderr
        again = evalbot("judge", "small", folder=folder)
        assert (again.returncode, len(one.bodies)) == (0, 6)
        assert "nothing is left to judge" in again.stderr
    assert recorded(folder) == {
        "auto": 6, "strong#1": 6, "strong": 6, "weak#1": 6, "weak": 6, "panel": 6
    }  # fmt: skip
    table = evalbot("rates", "small-1", "--layer", "judge", "--judge", "weak", folder=folder)
    assert table.stdout.count("judge:weak|judges:weak/") == 2
    unknown = evalbot("rates", "small-1", "--layer", "judge", "--judge", "weka", folder=folder)
    assert unknown.returncode == 2
    assert "no judge 'weka' has graded these runs; there are: panel, strong, weak" in unknown.stderr


def test_litellm_is_not_imported_where_nothing_is_to_be_judged(folder: Path) -> None:
    (folder / "poison/litellm").mkdir(parents=True)
    (folder / "poison/litellm/__init__.py").write_text("raise SystemExit('imported')")
    with JudgeServer(GOOD) as server:
        judges(folder, strong=server.api_base)
        refused = evalbot("judge", "small-1", folder=folder, PYTHONPATH=str(folder / "poison"))
        assert "imported" in refused.stderr
        evalbot("judge", "small-1", folder=folder)
    done = evalbot("judge", "small-1", folder=folder, PYTHONPATH=str(folder / "poison"))
    assert done.returncode == 0
    assert "nothing is left to judge" in done.stderr


def test_replies_without_a_verdict_are_listed_with_their_words(folder: Path) -> None:
    with JudgeServer(GOOD, Said("I cannot grade this."), Said('{"score": 4}'), GOOD) as server:
        judges(folder, strong=f"{server.api_base} concurrency: 1")
        done = evalbot("judge", "small-1", folder=folder)
    assert done.returncode == 0
    assert "strong: unscored: 1 judge_off_scale, 1 judge_unparseable" in done.stderr
    shown = evalbot("show", "small-1", "--verdict", "judge_unparseable", folder=folder)
    assert "strong#1: unscored: judge_unparseable" in shown.stdout
    assert "its words: I cannot grade this." in shown.stdout
    off = evalbot("show", "small-1", "--verdict", "judge_off_scale", folder=folder)
    assert "why: a score (" in off.stdout
    right = evalbot("show", "small-1", "--verdict", "acceptable", folder=folder)
    assert "strong: acceptable – because" in right.stdout
    assert "strong#1" not in right.stdout


def test_a_judge_without_any_verdict_is_an_error(folder: Path) -> None:
    """J4."""
    with JudgeServer(Said("I cannot grade this.")) as server:
        judges(folder, strong=server.api_base)
        done = evalbot("judge", "small-1", folder=folder)
        again = evalbot("judge", "small-1", folder=folder)
    assert done.returncode == 1
    assert "evalbot: judge strong gave no verdict in 6 calls (6 judge_unparseable)" in done.stderr
    assert (again.returncode, len(server.bodies)) == (1, 6)
    assert "judge strong has replied 6 times without a verdict" in again.stderr


def test_an_unreachable_judge_is_told_in_its_own_words_and_asked_later(tmp_path: Path) -> None:
    folder = make(tmp_path, 4)
    judges(folder, strong="http://127.0.0.1:1 retries: 0, concurrency: 2")
    done = evalbot("judge", "small-1", folder=folder)
    assert done.returncode == 1
    assert "judge strong gave no reply 8 times in a row: Connection error." in done.stderr
    assert "check its model, api_base and key in evalbot.yaml" in done.stderr
    assert "Traceback" not in done.stderr
    with JudgeServer(GOOD) as server:
        judges(folder, strong=f"{server.api_base} concurrency: 2")
        assert evalbot("judge", "small-1", folder=folder).returncode == 0
        assert len(server.bodies) == 24


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--judges", "stron"], "evalbot.yaml has no judge 'stron'; did you mean strong?"),
        (["--only", "some"], '--only: found "some"; expected'),
        (["--probe", "length"], '--probe: found "length"; expected'),
        (["--votes", "0"], "Input should be greater than or equal to 1"),
        (["--batch"], "judge strong: openai/judge cannot be sent in batches"),
        (["--max-cost", "1"], "the price of openai/judge is not known, so --max-cost cannot"),
    ],
)
def test_wrong_usage_is_told_and_nothing_is_asked(
    folder: Path, arguments: list[str], told: str
) -> None:
    with JudgeServer(GOOD) as server:
        judges(folder, strong=server.api_base)
        done = evalbot("judge", "small-1", *arguments, folder=folder)
    assert (done.returncode, server.bodies) == (2, [])
    assert told in done.stderr


def test_no_judges_and_no_such_run(folder: Path) -> None:
    assert "evalbot.yaml has no judges" in evalbot("judge", "small-1", folder=folder).stderr
    judges(folder, strong="http://127.0.0.1:1")
    done = evalbot("judge", "smell-1", folder=folder)
    assert (done.returncode, "there is no run 'smell-1'" in done.stderr) == (2, True)


def test_what_was_cut_off_is_told_of_and_judged_where_wanted(tmp_path: Path) -> None:
    write_site(tmp_path)
    answers = [said("door", "a", "请关"), said("light", "a", "请", status=AnswerStatus.TRUNCATED)]
    with open_database("sqlite:///evalbot.db", tmp_path) as database:
        record(database, small_run(tmp_path, "a"), answers)
    with JudgeServer(GOOD) as server:
        judges(tmp_path, strong=server.api_base)
        done = evalbot("judge", "small-1", folder=tmp_path)
        assert "1 answer cut off at the token limit: --include-truncated judges" in done.stderr
        assert "a: unscored answers: 1 not_graded, 1 truncated" in done.stderr
        done = evalbot("judge", "small-1", "--include-truncated", folder=tmp_path)
        assert "cut off at the token limit" not in done.stderr
    assert len(server.bodies) == 2


def test_a_judge_without_a_verdict_is_named_beside_the_others(folder: Path) -> None:
    with JudgeServer(GOOD) as good, JudgeServer(Said("no")) as silent:
        judges(folder, strong=good.api_base, silent=silent.api_base)
        done = evalbot("judge", "small-1", folder=folder)
    assert "no verdict came from silent; the rate is the others'" in done.stderr
    table = evalbot("rates", "small-1", "--judge", "strong", "--format", "md", folder=folder)
    assert "judge layer" in table.stdout
    assert "no verdict came from" not in table.stdout


def test_a_server_of_ones_own_needs_its_protocols_name(folder: Path) -> None:
    text = "judges:\n  - {name: mine, model: judge, api_base: 'http://127.0.0.1:1/v1'}\n"
    (folder / "evalbot.yaml").write_text(text, encoding="utf-8")
    done = evalbot("judge", "small-1", folder=folder)
    assert (done.returncode, "expected openai/judge" in done.stderr) == (2, True)


def test_a_missing_key_is_told_before_anything_is_asked(folder: Path) -> None:
    with JudgeServer(GOOD) as server:
        judges(folder, strong=server.api_base, weak=f"{server.api_base} api_key_env: NO_SUCH_KEY")
        done = evalbot("judge", "small-1", folder=folder)
    assert (done.returncode, server.bodies) == (2, [])
    assert "judge weak: the environment variable NO_SUCH_KEY is not set" in done.stderr
    checked = evalbot("check", folder=folder)
    assert "judge weak: warning: the variable NO_SUCH_KEY is not set" in checked.stdout


def test_a_ceiling_of_cost_stops_it_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = make(tmp_path, 10)
    more = "price: {input: 3, output: 15}, sampling: {max_tokens: 50}, concurrency: 2"
    with JudgeServer(GOOD) as server:
        judges(folder, strong=f"{server.api_base} {more}")
        done = evalbot("judge", "small-1", "--max-cost", "0.01", folder=folder)
        assert done.returncode == 1
        assert "Stopped at --max-cost after $0.0" in done.stderr
        assert 5 < len(server.bodies) < 20
        assert evalbot("judge", "small-1", "--max-cost", "1", folder=folder).returncode == 0
        assert len(server.bodies) == 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_or_killed_nothing_recorded_is_asked_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Must show 5."""
    folder = make(tmp_path, 8)
    with JudgeServer(GOOD, pace_s=0.05) as server:
        judges(folder, strong=f"{server.api_base} concurrency: 3")
        command = [sys.executable, "-m", "evalbot.cli.main", "judge", "small-1"]
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(server.bodies) > 12)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        asked, there = len(server.bodies), recorded(folder)["strong"]
        if number == signal.SIGKILL:
            assert there > 0
            assert asked - there <= 2 * 3  # those in flight, and those waiting to be written
        else:
            assert (process.returncode, there) == (1, asked)
            assert "Stopped. Every reply is saved" in told
        server.pace_s = 0
        assert evalbot("judge", "small-1", folder=folder).returncode == 0
        assert len(server.bodies) == 48 + (asked - there)
    counts = recorded(folder)
    assert (counts["strong"], counts["strong#1"]) == (48, 48)


def test_a_busy_server_is_waited_for(folder: Path) -> None:
    busy = Said("slow down", status=429, headers={"Retry-After": "0.05"})
    with JudgeServer(GOOD, busy, GOOD, busy, GOOD) as server:
        judges(folder, strong=f"{server.api_base} retries: 2, concurrency: 1")
        done = evalbot("judge", "small-1", folder=folder)
    assert (done.returncode, len(server.bodies)) == (0, 8)
    assert "judge_error" not in done.stderr


def favours_long_answers(body: Mapping[str, Any]) -> Said:
    """A planted judge: half a point more for what is long."""
    question = body["messages"][-1]["content"]
    answer = question.split(question.splitlines()[-1])[1]
    return Said(verdict("correct" if len(answer) > 80 else "wrong"))


def test_probes_expose_a_planted_judge_and_not_an_honest_one(tmp_path: Path) -> None:
    """Must show 4, through the command line and the real litellm."""
    folder = make(tmp_path, 6)
    with JudgeServer(by=favours_long_answers) as planted, JudgeServer(GOOD) as honest:
        judges(folder, planted=planted.api_base, honest=honest.api_base)
        done = evalbot(
            "judge", "small-1", "--probe", "repeat,lengthen", "--probe-sample", "20", folder=folder
        )
        assert done.returncode == 0
        assert len(planted.bodies) == 36 + 40
        again = evalbot("judge", "small-1", "--probe", "repeat", "--probe-sample", "20",
                        folder=folder)  # fmt: skip
        assert len(planted.bodies) == 36 + 40
    findings = dict(
        re.findall(r"^\| (\w+ +\| \w+) +\|.*\| (exposed|no sign) +\|$", done.stderr, re.M)
    )
    assert {re.sub(r"\s+", " ", name): found for name, found in findings.items()} == {
        "planted | repeat": "no sign",
        "planted | lengthen": "exposed",
        "honest | repeat": "no sign",
        "honest | lengthen": "no sign",
    }
    assert "planted: 0 calls to probe it" in again.stderr
    exported = evalbot("export", "small-1", "--output", "out", folder=folder)
    assert exported.returncode == 0
    lines = (folder / "out/probes.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 80
