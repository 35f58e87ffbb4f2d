"""Must show 1 of judging: two real endpoints, a real judge, all four suites, rates with reasons."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.calling import evalbot

SUITES = ("translation", "code", "hallucination", "proofreading")


def site(folder: Path, smollm2: str, gemma3: str, judge: str) -> None:
    (folder / "evalbot.yaml").write_text(
        f"""\
endpoints:
  - {{name: smollm2, base_url: {smollm2}, sampling: {{temperature: 0, max_tokens: 24}}}}
  - {{name: gemma3, base_url: {gemma3}, sampling: {{temperature: 0, max_tokens: 12}}}}
judges:
  - name: small
    model: openai/judge
    api_base: {judge}
    concurrency: 1
    timeout_s: 300
    sampling: {{temperature: 0, max_tokens: 60}}
""",
        encoding="utf-8",
    )


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_run_judged_and_told_of(
    tmp_path: Path, smollm2: str, gemma3: str, judge: str, suite: str
) -> None:
    site(tmp_path, smollm2, gemma3, judge)
    ran = evalbot("run", suite, "--limit", "1", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    [run] = ran.stdout.split()
    judged = evalbot("judge", run, "--include-truncated", folder=tmp_path)
    # A judge this small may bring no verdict at all, which is told as an error.
    if judged.returncode != 0:
        assert "judge small gave no verdict in " in judged.stderr
    table = evalbot("rates", run, "--layer", "judge", "--format", "csv", folder=tmp_path)
    rows = list(csv.DictReader(io.StringIO(table.stdout.removeprefix("\ufeff"))))
    assert [row["layer"] for row in rows] == ["judge", "judge"]
    for row in rows:
        assert (int(row["n"]), int(row["unscored"])) in ((1, 0), (0, 1))
        reasons = {name: row[name] for name in row if name.startswith("unscored_")}
        told = sum(int(count or 0) for count in reasons.values())
        assert told == int(row["unscored"])
        assert (row["rate"] == "") == (row["n"] == "0")
        assert "|layer:judge|judge:majority|judges:small/" in row["signature"]
    again = evalbot("judge", run, "--include-truncated", folder=tmp_path)
    assert "nothing is left to judge" in again.stderr
    shown = evalbot("show", run, folder=tmp_path)
    assert shown.stdout.count("small: ") >= 1
