from __future__ import annotations

import asyncio

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import InputError, NotFoundError
from evalbot.running.checking import (
    check_endpoints,
    check_files,
    crowded,
    servers_of,
    shared_addresses,
)
from evalbot.running.estimate import estimate_run
from evalbot.running.prepare import Selection, choose_endpoints, read_questions
from tests.fault_server import FaultServer, closed_port

from .site import Site


def test_each_endpoint_is_reported_whatever_the_others_are(
    site: Site, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with closed_port() as nobody:
        site.endpoint("fine", server.base_url)
        site.endpoint("gone", nobody)
        site.endpoint("keyless", server.base_url, api_key_env="NO_SUCH_KEY")
        fine, gone, keyless = asyncio.run(check_endpoints(site.config.endpoints))
    assert fine.error is None
    assert fine.facts is not None
    assert fine.facts.slots == 4
    assert "is the server running" in (gone.error or "")
    assert "NO_SUCH_KEY is not set" in (keyless.error or "")
    assert not (keyless.error or "").startswith("endpoint")


def test_files_are_checked_and_all_problems_told_at_once(site: Site) -> None:
    lines = check_files(site.folder).lines
    assert f"suite s: 4 cases: ok ({site.folder / 'datasets/s'})" in lines
    assert f"rubric r: version 1: ok ({site.folder / 'rubrics/r.yaml'})" in lines
    site.write("datasets/s/cases.jsonl", '{"key": "a"}')
    site.write("rubrics/r.yaml", "name: r")
    report = check_files(site.folder)
    places = {problem.place.partition(":")[0].rpartition("/")[2] for problem in report.problems}
    assert places == {"cases.jsonl", "r.yaml"}
    assert any(line.startswith("suite translation") for line in report.lines)


def test_cases_that_can_only_stay_open_are_warned_of(site: Site) -> None:
    site.write("datasets/s/cases.jsonl", '{"key": "bare", "prompt": "x"}')
    [warning] = [line for line in check_files(site.folder).lines if "warning" in line]
    assert "1 case without references will always be needs_review (bare)" in warning


def test_a_suite_names_a_rubric_that_is_there(site: Site) -> None:
    head = (site.folder / "datasets/s/suite.yaml").read_text(encoding="utf-8")
    site.write("datasets/s/suite.yaml", head.replace("rubric: r", "rubric: translatio"))
    [problem] = check_files(site.folder).problems
    assert problem.field == "rubric"
    assert "translation" in problem.expected


def test_endpoints_of_one_server_should_take_turns(site: Site) -> None:
    site.endpoint("a", "http://127.0.0.1:1/v1")
    site.endpoint("b", "http://127.0.0.1:1/v1")
    site.endpoint("c", "http://127.0.0.1:2/v1")
    [warning] = shared_addresses(site.config.endpoints)
    assert warning.startswith("a, b: warning: they share a server")


def test_a_selection_cuts_the_suite_down(site: Site) -> None:
    site.write(
        "datasets/s/cases.jsonl",
        '{"key":"a","prompt":"x","tags":["t"]}\n{"key":"b","prompt":"x"}\n'
        '{"key":"c","prompt":"x","tags":["t","u"]}',
    )
    site.endpoint("a", "http://127.0.0.1:1/v1")

    def keys(**selection: object) -> list[str]:
        suite = read_questions(site.config, "s", Selection(**selection)).suite  # type: ignore[arg-type]
        return [case.key for case in suite.cases]

    assert keys() == ["a", "b", "c"]
    assert keys(limit=2) == ["a", "b"]
    assert keys(tags=("t",)) == ["a", "c"]
    assert keys(tags=("t", "u"), limit=1) == ["a"]
    with pytest.raises(InputError, match="no case has the tag z; its tags are: t, u"):
        keys(tags=("z",))


def test_endpoints_are_chosen_by_name(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.endpoint("alpha", "http://127.0.0.1:1/v1")
    site.endpoint("beta", "http://127.0.0.1:1/v1", api_key_env="NO_SUCH_KEY")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    def names(*wanted: str) -> list[str]:
        return [one.name for one in choose_endpoints(site.config, wanted)]

    assert names("alpha", "alpha") == ["alpha"]
    with pytest.raises(NotFoundError, match="did you mean alpha"):
        names("alhpa")
    with pytest.raises(InputError, match="NO_SUCH_KEY is not set"):
        names()
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    assert names() == ["alpha", "beta"]


def test_a_run_that_is_refused_leaves_nothing_behind(site: Site) -> None:
    site.endpoint("a", "http://127.0.0.1:1/v1")
    with pytest.raises(NotFoundError):
        site.new(endpoints=("b",))
    assert site.query("SELECT * FROM runs") == []


def test_time_is_estimated_from_earlier_answers(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    endpoints = site.config.endpoints
    suite = read_questions(site.config, "s", Selection()).suite
    with site.open() as database:
        [before] = estimate_run(database, suite, endpoints, 2, None)
        assert (before.calls, before.most_completion_tokens, before.seconds) == (8, 64, None)
        prepared = site.new()
        site.work(prepared)
        assert site.statuses(prepared.run.id) == {S.OK: 4}
        site.change("UPDATE answers SET total_ms = 1000")
        [after] = estimate_run(database, suite, endpoints, 2, 1)
        assert after.seconds == 8.0


def test_judges_on_servers_of_ones_own_are_looked_at(site: Site, server: FaultServer) -> None:
    with closed_port() as nobody:
        judges = [
            JudgeSettings("mine", "openai/x", api_base=server.base_url),
            JudgeSettings("few", "openai/x", api_base=server.base_url, concurrency=2),
            JudgeSettings("gone", "openai/x", api_base=nobody),
            JudgeSettings("strong", "anthropic/x", api_key_env="NO_SUCH_KEY"),
        ]
        reports = asyncio.run(check_endpoints(servers_of(judges)))
    assert [report.name for report in reports] == ["judge mine", "judge few", "judge gone"]
    assert [report.error is None for report in reports] == [True, True, False]
    [warning] = crowded(judges, reports)
    assert warning.startswith("judge mine: warning: asked 8 at once, its server has 4 slots")
