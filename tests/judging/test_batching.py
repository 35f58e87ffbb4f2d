"""Batches: half the price, left and taken up again at any moment, nothing paid for twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evalbot.domain.batches import Batch, BatchRequest
from evalbot.domain.settings import JudgeSettings
from evalbot.errors import EvalbotError
from evalbot.judging import batch_sending
from evalbot.judging.batching import batch_session
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Scope
from evalbot.judging.prepare import prepare, taken_by_batches
from evalbot.judging.session import Session
from evalbot.judging.voting import Judged
from evalbot.providers.anthropic_batches import AnthropicBatches
from evalbot.store.batches import open_batches
from tests.batch_server import BatchServer, Body, errored, succeeded
from tests.building import said
from tests.waiting import until, wait_until

from .site import JudgeSite, always, verdict

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

PRICE = {"input": 1.0, "output": 10.0}


def settings(server: BatchServer, **more: Any) -> JudgeSettings:
    given: dict[str, Any] = {
        "price": PRICE,
        "sampling": {"max_tokens": 100, "temperature": 0},
        **more,
    }
    model = given.pop("model", "anthropic/judge")
    return JudgeSettings("strong", model, api_base=server.api_base, **given)


def session(
    site: JudgeSite, database: Any, server: BatchServer, votes: int = 1,
    max_cost: float | None = None, limit: int | None = None, **more: Any,
) -> Session[Judged]:  # fmt: skip
    judge = settings(server, **more)
    material = site.material(database)
    taken = taken_by_batches(database, material, [judge])
    bench, _ = prepare(database, material, [judge], votes, Scope(limit=limit), taken)
    providers = {"strong": AnthropicBatches(judge)}
    return batch_session(
        database, material, bench, providers, taken, Budget(max_cost), first_poll_s=0.01
    )


def batch(site: JudgeSite, server: BatchServer, **how: Any) -> bool:
    with site.open() as database:
        return asyncio.run(session(site, database, server, **how).execute())


def opened(site: JudgeSite) -> list[Batch]:
    with site.open() as database, database.read() as connection:
        return open_batches(connection, "small-1", "strong")


def test_a_batch_brings_votes_and_the_judges_word_at_half_the_price(site: JudgeSite) -> None:
    with BatchServer() as server:
        server.reply = lambda _: succeeded(verdict("acceptable"), cached=200)
        assert batch(site, server) is True
    assert len(server.asked) == 6
    assert set(site.by_case("strong").values()) == {"acceptable"}
    vote = site.grades("strong#1")[0]
    # 100 fresh and 200 cached tokens read, 20 written, by half of 1 and 10 USD a million.
    assert vote.cost_usd == pytest.approx((100 + 0.1 * 200 + 10 * 20) / 2 / 1e6)
    assert vote.evidence is not None
    assert (vote.evidence["prompt_tokens"], vote.evidence["cached_tokens"]) == (300, 200)
    assert vote.params is not None
    assert (vote.params["batch"], vote.params["dropped"]) == (True, ["response_format"])
    assert opened(site) == []


def test_what_is_sent(site: JudgeSite) -> None:
    with BatchServer() as server:
        batch(site, server, votes=2)
    [sent] = server.batches
    ids = [one["custom_id"] for one in sent.requests]
    assert len(set(ids)) == 12
    params = sent.requests[0]["params"]
    assert (params["model"], params["max_tokens"], params["temperature"]) == ("judge", 100, 0)
    assert "seed" not in params
    [rules] = params["system"]
    assert rules["cache_control"] == {"type": "ephemeral"}
    assert "# Verdicts" in rules["text"]
    assert "# The answer to be graded" in params["messages"][0]["content"]


def test_nothing_is_sent_twice(site: JudgeSite) -> None:
    with BatchServer() as server:
        batch(site, server)
        batch(site, server)
        assert len(server.asked) == 6
        # What a batch has brought is not asked for by calls either.
        assert site.judge({"other": always("correct")}) is True
        batch(site, server, votes=2)
    assert len(server.asked) == 12


@pytest.mark.parametrize("when", ["sent", "lost"])
def test_a_batch_left_half_way_is_fetched_later(site: JudgeSite, when: str) -> None:
    """Must show 5."""
    with BatchServer(ends=False, loses=int(when == "lost")) as server:

        async def left() -> None:
            with site.open() as database:
                work = asyncio.create_task(session(site, database, server).execute())
                await until(lambda: server.looks > 2)
                work.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await work

        if when == "lost":
            with pytest.raises(EvalbotError, match="it is not known whether the provider has"):
                batch(site, server)
        else:
            asyncio.run(left())
        [one] = opened(site)
        assert (one.provider_id is None) == (when == "lost")
        assert site.grades() == []
        server.end_all()
        assert batch(site, server) is True
    assert len(server.asked) == 6
    assert len(site.grades("strong")) == 6


def test_a_lost_batch_is_known_by_our_ids_among_those_of_others(site: JudgeSite) -> None:
    with BatchServer(loses=1) as server:
        server.put_foreign(6)
        with pytest.raises(EvalbotError, match="looks for it in the provider's list"):
            batch(site, server)
        server.put_foreign(6)
        server.put_foreign(3)
        assert batch(site, server) is True
    assert len(server.batches) == 4
    assert len(site.grades("strong")) == 6


def test_an_intent_that_never_arrived_is_sent(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after writing it down, before sending: nothing is lost and nothing doubled."""

    async def fails(*_: object) -> str:
        raise RuntimeError("stopped here")

    with BatchServer() as server:
        server.put_foreign(6, datetime.now(UTC) - timedelta(hours=3))
        with monkeypatch.context() as patch:
            patch.setattr(AnthropicBatches, "send", fails)
            with pytest.raises(RuntimeError, match="stopped here"):
                batch(site, server)
        [intent] = opened(site)
        assert (intent.provider_id, intent.size) == (None, 6)
        assert site.judge({"strong": always("correct")}) is True  # another judge by its model
        assert batch(site, server) is True
    mine = [one for one in server.asked if not one["custom_id"].startswith("other")]
    assert len(mine) == 6
    assert all(one["custom_id"].startswith(f"{intent.id}-") for one in mine)


def test_a_batch_that_is_out_keeps_calls_from_asking_the_same(site: JudgeSite) -> None:
    with BatchServer(loses=1) as server:
        with pytest.raises(EvalbotError):
            batch(site, server)
        judge = settings(server)
        with site.open() as database:
            material = site.material(database)
            taken = taken_by_batches(database, material, [judge])
            assert len(taken["strong"]) == 6
            bench, loads = prepare(database, material, [judge], 1, Scope(), taken)
    assert (bench.busy, loads[0].calls) == ((), 0)


def test_each_error_of_an_item_is_unscored_and_asked_again(site: JudgeSite) -> None:
    results: list[Body] = [
        errored("messages: too long"),
        {"type": "expired"},
        {"type": "canceled"},
        succeeded('{"reason":"訳文', stop="max_tokens"),
        succeeded("I will not.", stop="refusal"),
        succeeded(verdict("correct")),
    ]
    with BatchServer() as server:
        server.reply = lambda one: results[int(one["custom_id"][-1])]
        assert batch(site, server) is True
        assert Counter(grade.unscored_reason for grade in site.grades("strong")) == {
            "judge_error": 3,
            "judge_truncated": 1,
            "judge_refused": 1,
            None: 1,
        }
        details = {(grade.evidence or {}).get("detail") for grade in site.grades("strong#1")}
        assert {"errored: messages: too long", "expired"} <= details
        server.reply = lambda _: succeeded(verdict("wrong"))
        assert batch(site, server) is True
    assert len(server.asked) == 9
    reasons = Counter(row for model in "ab" for row in site.by_case("strong", model).values())
    assert reasons == {"wrong": 3, "judge_truncated": 1, "judge_refused": 1, "correct": 1}


def test_a_refused_parameter_is_left_out_at_once_and_from_then_on(site: JudgeSite) -> None:
    """J9, for batches."""

    def picky(one: Body) -> Body:
        if "temperature" in one["params"]:
            return errored("`temperature` is deprecated for this model.")
        return succeeded(verdict("correct"))

    with BatchServer(picky) as server:
        assert batch(site, server) is True
        assert len(server.batches) == 2
        grades = site.grades("strong#1")
        assert len(grades) == 6
        assert {tuple((one.params or {})["dropped"]) for one in grades} == {
            ("response_format", "temperature")
        }
        batch(site, server, votes=2)
    assert len(server.batches) == 3
    assert "temperature" not in server.asked[-1]["params"]


def test_a_batch_refused_whole_is_told_and_forgotten(site: JudgeSite) -> None:
    with BatchServer(refuses=1) as server:
        with pytest.raises(EvalbotError, match=r"judge strong: takes no batch: .*no batches today"):
            batch(site, server)
        assert opened(site) == []
        assert batch(site, server) is True
    assert len(server.asked) == 6


def test_a_ceiling_of_cost_sends_so_many_as_it_allows(tmp_path: Path) -> None:
    """And more when what came back has cost less than feared; never more than the ceiling."""
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 60)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    with BatchServer() as server:
        assert batch(site, server, max_cost=0.008) is False
        sent = len(server.asked)
        spent = sum(grade.cost_usd or 0 for grade in site.grades("strong#1"))
        assert len(server.batches) > 1
        assert 5 < sent < 59
        assert 0.0065 < spent <= 0.008
        assert batch(site, server, max_cost=1.0) is True
    assert len(server.asked) == 59


def test_what_is_on_its_way_counts_against_the_ceiling(tmp_path: Path) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 60)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    with BatchServer(loses=1) as server:
        with pytest.raises(EvalbotError):
            batch(site, server, max_cost=0.004)
        batch(site, server, max_cost=0.004)
        spent = sum(grade.cost_usd or 0 for grade in site.grades("strong#1"))
    assert 0 < spent <= 0.004


def test_large_dockets_go_in_several_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_sending, "LARGEST", 25)
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 61)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    with BatchServer() as server:
        assert batch(site, server, votes=2) is True
    assert [len(one.requests) for one in server.batches] == [25, 25, 25, 25, 20]
    assert len({one["custom_id"] for one in server.asked}) == 120
    words = site.grades("strong")
    assert len(words) == 60
    assert {(one.evidence or {})["votes"]["correct"] for one in words} == {2}


def test_results_of_others_are_passed_over_and_missing_ones_unscored(site: JudgeSite) -> None:
    with BatchServer(loses=1) as server:
        with pytest.raises(EvalbotError):
            batch(site, server)
        [lost] = opened(site)
        extra = {"custom_id": f"{lost.id}-999999", "params": {}}
        server.batches[0].requests = [*server.asked[:5], extra]
        assert batch(site, server) is True
        assert opened(site) == []
        reasons = Counter(grade.unscored_reason for grade in site.grades("strong"))
        assert reasons == {None: 5, "judge_error": 1}
        assert batch(site, server) is True
    assert len(server.asked) == 7


@pytest.mark.parametrize("method", ["_settle", "_note_fetched"])
def test_stopped_between_the_last_steps_everything_comes_once(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Votes are written, the judge's words or the batch's end are not."""

    def stops(*_: object) -> None:
        raise RuntimeError("stopped here")

    results: list[Body] = [*[succeeded(verdict("correct"))] * 4, *[errored("no")] * 2]
    with BatchServer(lambda one: results[int(one["custom_id"][-1])]) as server:
        for _ in range(2):
            with monkeypatch.context() as patch:
                patch.setattr(f"evalbot.judging.batching._BatchLane.{method}", stops)
                with pytest.raises(RuntimeError, match="stopped here"):
                    batch(site, server)
        assert batch(site, server) is True
        assert len(server.asked) == 6
    assert len(site.grades("strong#1")) == 6
    words = Counter(one.verdict or one.unscored_reason for one in site.grades("strong"))
    assert words == {"correct": 4, "judge_error": 2}


@pytest.mark.parametrize("when", ["looked for", "fetched"])
def test_a_batch_that_the_provider_has_no_more_is_unscored_and_asked_again(
    site: JudgeSite, when: str
) -> None:
    with BatchServer(ends=False) as server:

        async def left() -> None:
            with site.open() as database:
                work = asyncio.create_task(session(site, database, server).execute())
                await until(lambda: server.looks > 1)
                work.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await work

        asyncio.run(left())
        server.end_all()
        server.forgets = when
        assert batch(site, server) is True
        assert Counter(one.unscored_reason for one in site.grades("strong")) == {"judge_error": 6}
        [detail] = {(one.evidence or {})["detail"] for one in site.grades("strong#1")}
        assert detail.startswith("the provider has the batch no more (")
        server.forgets, server.ends = "", True
        assert batch(site, server) is True
    assert len(server.asked) == 12


def test_a_limit_holds_over_all_batches(site: JudgeSite) -> None:
    with BatchServer() as server:
        assert batch(site, server, limit=2) is True
        assert len(server.asked) == 2
        assert batch(site, server, limit=3) is True
    assert (len(server.batches), len(server.asked)) == (2, 5)


def test_an_intent_is_sent_to_the_model_it_was_written_down_for(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> str:
        raise RuntimeError("stopped here")

    with BatchServer() as server:
        with monkeypatch.context() as patch:
            patch.setattr(AnthropicBatches, "send", fails)
            with pytest.raises(RuntimeError, match="stopped here"):
                batch(site, server)
        batch(site, server, model="anthropic/other")
    models = [one["params"]["model"] for one in server.asked]
    assert models == ["judge"] * 6 + ["other"] * 6
    recorded = Counter((one.params or {})["model"] for one in site.grades("strong#1"))
    assert recorded == {"anthropic/judge": 6, "anthropic/other": 6}


def test_a_batch_sent_without_a_ceiling_counts_against_a_later_one(site: JudgeSite) -> None:
    with BatchServer(loses=1) as server:
        with pytest.raises(EvalbotError):
            batch(site, server)
        [lost] = opened(site)
        assert lost.params["most_usd"] > 0.003
        # What is out could cost all that there is: nothing further is sent before it is back.
        batch(site, server, votes=2, max_cost=0.0065)
    spent = sum(grade.cost_usd or 0 for grade in site.grades() if grade.vote)
    assert spent <= 0.0065


def test_what_was_sent_to_another_model_is_recorded_as_that_ones(site: JudgeSite) -> None:
    """The judge's model and price are changed while its batch is out."""
    with BatchServer(loses=1) as server:
        with pytest.raises(EvalbotError):
            batch(site, server)
        dearer = replace(
            settings(server), model="anthropic/other", price={"input": 9.0, "output": 99.0}
        )
        with site.open() as database:
            material = site.material(database)
            taken = taken_by_batches(database, material, [dearer])
            bench, _ = prepare(database, material, [dearer], 1, Scope(), taken)
            providers = {"strong": AnthropicBatches(dearer)}
            work = batch_session(
                database, material, bench, providers, taken, Budget(), first_poll_s=0.01
            )
            assert asyncio.run(work.execute()) is True
    assert len(server.batches) == 2
    votes = site.grades("strong#1")
    models = Counter((one.params or {})["model"] for one in votes)
    assert models == {"anthropic/judge": 6, "anthropic/other": 6}
    costs = {(one.params or {})["model"]: one.cost_usd for one in votes}
    assert costs["anthropic/judge"] == pytest.approx((100 + 10 * 20) / 2 / 1e6)
    assert costs["anthropic/other"] == pytest.approx((9 * 100 + 99 * 20) / 2 / 1e6)
    assert len({(one.params or {})["judge"] for one in votes}) == 2


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "stop_reason": "end_turn", "usage": None},
        {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn", "usage": None},
        {"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": -5}},
        None,
    ],
)
def test_a_result_of_another_form_is_one_unscored_answer(site: JudgeSite, message: Any) -> None:
    good = succeeded(verdict("correct"))

    def reply(one: Body) -> Body:
        is_odd = one["custom_id"].endswith("3")
        return {"type": "succeeded", "message": message} if is_odd else good

    with BatchServer(reply) as server:
        assert batch(site, server) is True
    assert opened(site) == []
    assert sum(one.verdict == "correct" for one in site.grades("strong")) == 5


def test_odd_characters_in_results_are_made_storable(site: JudgeSite) -> None:
    odd = '{"reason":"a\\u0000b \\ud800","verdict":"wrong"}'
    with BatchServer(lambda _: succeeded(odd)) as server:
        assert batch(site, server) is True
    assert {one.rationale for one in site.grades("strong")} == {"a\ufffdb \ufffd"}


def test_a_key_in_an_errors_words_is_masked(
    site: JudgeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "very-secret-key")
    with BatchServer(lambda _: errored("bad key very-secret-key")) as server:
        batch(site, server, api_key_env="JUDGE_KEY")
    details = {(one.evidence or {})["detail"] for one in site.grades("strong#1")}
    assert details == {"errored: bad key [key]"}


def test_several_judges_share_one_ceiling(tmp_path: Path) -> None:
    answers = [said("door", "a", f"请关门{n}", repeat=n) for n in range(1, 30)]
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db", answers)
    with BatchServer() as server:
        judges = [replace(settings(server), name=name) for name in ("one", "two")]
        with site.open() as database:
            material = site.material(database)
            taken = taken_by_batches(database, material, judges)
            bench, _ = prepare(database, material, judges, 1, Scope(), taken)
            providers = {judge.name: AnthropicBatches(judge) for judge in judges}
            budget = Budget(0.004)
            work = batch_session(
                database, material, bench, providers, taken, budget, first_poll_s=0.01
            )
            assert asyncio.run(work.execute()) is False
    spent = sum(grade.cost_usd or 0 for grade in site.grades() if grade.vote)
    assert 0.002 < spent <= 0.004


KILLED = """
import sys
from tests.judging import test_batching as own
from tests.judging.site import JudgeSite
from pathlib import Path

class Elsewhere:
    api_base = sys.argv[2]

site = JudgeSite(Path(sys.argv[1]), f"sqlite:///{sys.argv[1]}/evalbot.db")
own.batch(site, Elsewhere(), votes=2)
"""


@pytest.mark.parametrize("when", ["waiting", "intent"])
def test_a_killed_process_leaves_everything_to_the_next(tmp_path: Path, when: str) -> None:
    """kill -9 while it waits, and while the provider's reply is on its way."""
    site = JudgeSite.make(tmp_path, f"sqlite:///{tmp_path}/evalbot.db")
    with BatchServer(ends=False) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), server.api_base],
            cwd=Path(__file__).parents[2],
        )
        reached: Callable[[], object] = (
            (lambda: server.looks > 1) if when == "waiting" else (lambda: server.batches)
        )
        try:
            wait_until(reached)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert len(server.batches) == 1
        server.end_all()
        assert batch(site, server, votes=2) is True
    assert len(server.asked) == 12
    assert len(site.grades("strong")) == 6


def test_structured_output_is_asked_for_where_the_model_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {"supports_native_structured_output": True, "supports_sampling_params": False}
    monkeypatch.setattr("evalbot.providers.anthropic_batches.known_model", lambda _: known)
    with BatchServer() as server:
        provider = AnthropicBatches(settings(server))
        params, dropped = provider.params({"max_tokens": 9, "temperature": 0, "seed": 1})
        assert params == {"max_tokens": 9, "response_format": "json_schema"}
        assert dropped == ["seed", "temperature"]

        async def send() -> None:
            request = BatchRequest("a-1", "rules", "question")
            form = {"type": "object", "properties": {"verdict": {"type": "string"}}}
            await provider.send([request], "anthropic/judge", params, {"a-1": form})
            await provider.close()

        asyncio.run(send())
    [sent] = server.asked
    assert sent["params"]["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {"type": "object", "properties": {"verdict": {"type": "string"}}},
        }
    }
    assert "temperature" not in json.dumps(sent)
    assert replace(settings(server), price=None).price is None
