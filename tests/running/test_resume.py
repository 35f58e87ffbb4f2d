from __future__ import annotations

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.errors import InputError, NotFoundError
from tests.fault_server import FaultServer, Reply, Step, answer, closed_port, failing, stream

from .site import Site


def test_a_finished_run_has_nothing_left_to_ask(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    site.work(prepared)
    server.chats.clear()
    assert site.resume(prepared.run.id)
    assert server.prompts == []


def test_only_what_is_missing_or_was_cancelled_is_asked(
    any_site: Site, server: FaultServer
) -> None:
    site = any_site
    site.endpoint("a", server.base_url)
    prepared = site.new()
    site.work(prepared)
    run = prepared.run.id
    site.change("DELETE FROM grades WHERE answer_id IN"
                " (SELECT id FROM answers WHERE case_key = 'c1')")  # fmt: skip
    site.change("DELETE FROM answers WHERE case_key = 'c1'")
    site.change("UPDATE answers SET status = 'cancelled' WHERE case_key = 'c2'")
    server.chats.clear()
    assert site.resume(run)
    assert sorted(server.prompts) == ["p1", "p2"]
    assert site.statuses(run) == {S.OK: 4}
    attempts = [(one.place.case, one.attempt) for one in site.answers(run, all_attempts=True)]
    assert attempts == [("c0", 1), ("c1", 1), ("c2", 1), ("c2", 2), ("c3", 1)]
    site.check_record(run)


def test_what_failed_on_the_way_is_asked_again_only_when_told(
    any_site: Site, server: FaultServer
) -> None:
    site = any_site
    bad = [
        failing(500),
        stream(Step.BREAK),
        stream(b"data: {\n\n"),
        stream(b"error: x\n\n"),
        Reply(before=(Step.HANG,)),
        answer("cut", finish="length"),
        answer(""),
        answer("<think>x"),
        failing(400, {"type": "exceed_context_size_error"}),
    ]
    site.write_cases([f"p{i}" for i in range(len(bad) + 1)])
    for i, reply in enumerate(bad):
        server.on(f"p{i}", reply, answer("now"))
    site.endpoint("a", server.base_url, timeout_s=3)
    prepared = site.new()
    run = prepared.run.id
    assert site.work(prepared)
    server.chats.clear()
    assert site.resume(run)
    assert server.prompts == []
    assert site.resume(run, retry_failed=True)
    assert sorted(server.prompts) == [f"p{i}" for i in range(5)]
    last = {one.place.case: (one.attempt, one.answer.status) for one in site.answers(run)}
    assert [last[f"c{i}"] for i in range(5)] == [(2, S.OK)] * 5
    assert {attempt for attempt, _ in (last[f"c{i}"] for i in range(5, 10))} == {1}
    site.check_record(run)


def test_a_failed_endpoint_is_asked_again_when_told(site: Site, server: FaultServer) -> None:
    with closed_port() as nobody:
        site.endpoint("a", nobody)
        prepared = site.new()
        site.work(prepared)
    site.endpoint("a", server.base_url)  # where a server stands may change
    assert site.resume(prepared.run.id, retry_failed=True)
    assert site.statuses(prepared.run.id) == {S.OK: 4}
    site.check_record(prepared.run.id)


def test_repeats_can_be_added(any_site: Site, server: FaultServer) -> None:
    any_site.endpoint("a", server.base_url)
    prepared = any_site.new()
    run = prepared.run.id
    any_site.work(prepared)
    assert any_site.resume(run, repeats=3)
    assert len(any_site.answers(run)) == 12
    assert any_site.run(run).repeats == 3
    assert any_site.resume(run)  # stays three without saying so again
    assert len(server.chats) == 12
    with pytest.raises(InputError, match="has 3 repeats already"):
        any_site.resumed(run, repeats=2)
    any_site.check_record(run)


def test_endpoints_can_be_added(any_site: Site, server: FaultServer, other: FaultServer) -> None:
    any_site.endpoint("a", server.base_url)
    prepared = any_site.new()
    run = prepared.run.id
    any_site.work(prepared)
    any_site.endpoint("b", other.base_url)
    assert any_site.resume(run, add_endpoints=("b",))
    assert [one.name for one in any_site.run(run).endpoints] == ["a", "b"]
    assert any_site.statuses(run, "b") == {S.OK: 4}
    assert len(server.chats) == 4
    with pytest.raises(InputError, match="has endpoint b already"):
        any_site.resumed(run, add_endpoints=("b",))


def test_a_part_of_the_endpoints_can_be_resumed(
    site: Site, server: FaultServer, other: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    site.endpoint("b", other.base_url)
    run = site.new().run.id
    assert site.resume(run, endpoints=("a",))
    assert (len(server.chats), len(other.chats)) == (4, 0)
    assert site.run(run).state is RunState.STOPPED  # b is still to be asked
    assert site.resume(run, endpoints=("b",))
    assert site.run(run).state is RunState.FINISHED


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sampling": {"max_tokens": 9}}, "sampling"),
        ({"model": "m"}, "model"),
        ({"thinking": "on"}, "thinking"),
        ({"extra_body": {"x": 1}}, "extra_body"),
    ],
)
def test_other_settings_are_refused(
    change: dict[str, object], named: str, site: Site, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    site.endpoint("a", server.base_url, **change)
    with pytest.raises(InputError, match=f"other settings \\({named}\\)"):
        site.resumed(run)


def test_what_does_not_change_answers_may_change(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    site.endpoint("a", server.base_url, timeout_s=7, retries=1, group="g", concurrency=2)
    assert site.resume(run)


def test_changed_questions_are_refused(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    site.write_cases(["p0", "another question", "p2", "p3"])
    with pytest.raises(InputError, match="questions of suite s changed since \\(cases c1\\)"):
        site.resumed(run)
    site.write("datasets/s/suite.yaml", "name: s\ntitle: S\ntask: chat\nrubric: r\nsystem: new\n")
    with pytest.raises(InputError, match="changed"):
        site.resumed(run)


def test_changed_references_are_taken_up(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    old = (site.folder / "datasets/s/cases.jsonl").read_text()
    site.write("datasets/s/cases.jsonl", old.replace("answer to p0", "no"))
    assert site.resume(run)
    assert site.verdicts(run) == {"wrong": 1, "right": 3}


def test_a_run_can_be_resumed_without_its_files(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    (site.folder / "datasets/s/suite.yaml").unlink()
    (site.folder / "datasets/s/cases.jsonl").unlink()
    (site.folder / "datasets/s").rmdir()
    assert site.resume(run)
    assert site.verdicts(run) == {"right": 4}


def test_what_is_not_there_is_told(site: Site, server: FaultServer) -> None:
    site.endpoint("alpha", server.base_url)
    run = site.new().run.id
    with pytest.raises(NotFoundError, match="no run"):
        site.resumed("nothing")
    with pytest.raises(InputError, match="no endpoint b"):
        site.resumed(run, endpoints=("b",))
    with pytest.raises(NotFoundError, match="did you mean alpha"):
        site.resumed(run, add_endpoints=("alpa",))


def test_the_beginning_of_an_id_is_enough(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    run = site.new().run.id
    assert site.resumed(run[:-2]).run.id == run
