"""Sweeps from beginning to end: what is sent, in which order, and what is recorded of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from evalbot.domain.speed import SpeedStatus
from evalbot.domain.sweeps import Round
from evalbot.errors import InputError, LeaseHeldError, NotFoundError
from evalbot.running.progress import Progress
from evalbot.speed.prepare import PreparedSweep
from evalbot.store import leases
from evalbot.store.leases import Leased
from tests.fault_server import Chat, FaultServer, Reply, Step, closed_port
from tests.waiting import until

from .serving import by_number, measured, words, written
from .site import SpeedSite

WARM_UP = 1
"""Chats that are sent to an endpoint before its first round."""


def stop_when(site: SpeedSite, prepared: PreparedSweep, when: Callable[[Progress], object]) -> None:
    """Work on a sweep and cancel it as soon as the condition holds."""

    async def cancelled() -> None:
        with site.open() as database:
            sweeper = site.sweeper(database, prepared)
            working = asyncio.create_task(sweeper.execute())
            await until(lambda: when(sweeper.progress))
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working

    asyncio.run(cancelled())


def holding_back(chat: Chat) -> Reply:
    """A round of which nothing comes until the gate is opened."""
    return written(chat, before=(Step.GATE,))


def test_every_round_is_measured_once_with_all_its_streams(
    any_site: SpeedSite, server: FaultServer, other: FaultServer
) -> None:
    any_site.endpoint("a", server.base_url)
    any_site.endpoint("b", other.base_url)
    prepared = any_site.new((40, 90), (1, 3), repeats=2)
    assert any_site.work(prepared)
    any_site.check_whole(prepared)
    assert any_site.statuses(prepared.sweep.id) == {S.TRUNCATED: 2 * 2 * 2 * (1 + 3)}
    after = any_site.sweep(prepared.sweep.id)
    assert after.state is RunState.FINISHED
    assert after.finished_at is not None


def test_rounds_go_from_light_to_heavy_and_all_of_them_before_any_again(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    site.work(site.new((40, 90), (1, 2), repeats=2))
    lengths = [10 + words(prompt) for prompt in server.prompts]
    once = [40, 40, 40, 90, 90, 90]
    assert lengths == [40] + once * 2  # the first is the warm-up
    asked = [chat.body["max_tokens"] for chat in server.chats]
    assert asked == [8] + [4] * 12


def test_prompts_have_the_servers_own_length_and_are_never_sent_twice(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new((40, 300), (1, 4), repeats=3)
    site.work(prepared)
    site.work(site.new((40, 300), (1, 4)))
    assert len(set(server.prompts)) == len(server.prompts)
    counted = {
        round_: {one.usage.prompt_tokens for one in samples}
        for round_, samples in site.samples(prepared.sweep.id).items()
    }
    assert all(found == {round_.context} for round_, found in counted.items())
    assert all(row.context_tokens == int(row.context_label or 0) for row in site.rows())


def test_the_warm_up_is_not_counted(site: SpeedSite, server: FaultServer) -> None:
    """It is the slow one, and nothing of it is seen."""
    server.reply = by_number(lambda chat: written(chat, before=(0.3,)), written)
    site.endpoint("a", server.base_url)
    prepared = site.new((40,), (1,), repeats=2)
    site.work(prepared)
    assert len(server.chats) == WARM_UP + 2
    samples = [one for of in site.samples(prepared.sweep.id).values() for one in of]
    assert len(samples) == 2
    assert [row.n for row in site.rows()] == [2]


def test_a_failed_warm_up_spoils_nothing(site: SpeedSite, server: FaultServer) -> None:
    server.reply = by_number(lambda _: Reply((), 500), written)
    site.endpoint("a", server.base_url, retries=0)
    prepared = site.new()
    assert site.work(prepared)
    assert site.statuses(prepared.sweep.id) == {S.TRUNCATED: 3}


def test_a_sweep_that_is_stopped_while_it_warms_up_ends_there(
    site: SpeedSite, server: FaultServer
) -> None:
    server.reply = by_number(holding_back, written)
    site.endpoint("a", server.base_url)
    prepared = site.new((40,), (1,), repeats=5)
    stop_when(site, prepared, lambda _: server.chats)
    assert site.samples(prepared.sweep.id) == {}
    assert len(server.chats) == WARM_UP
    assert site.sweep(prepared.sweep.id).state is RunState.STOPPED


def test_a_server_that_loads_its_model_again_is_waited_for(
    site: SpeedSite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It crashed and was restarted: what it says meanwhile is no result."""
    monkeypatch.setattr("evalbot.endpoints.preflight.HEALTH_PAUSE_S", 0.01)
    site.endpoint("a", server.base_url, retries=0)
    prepared = site.new((40,), (1,), repeats=3)

    async def work() -> bool:
        with site.open() as database:
            sweeper = site.sweeper(database, prepared)
            working = asyncio.create_task(sweeper.execute())
            await until(lambda: len(server.chats) >= WARM_UP + 1)
            server.health = 503
            seen = len(server.chats)
            await asyncio.sleep(0.2)
            assert len(server.chats) <= seen + 1  # one round may have been on its way
            server.health = 200
            return await working

    assert asyncio.run(work())
    assert site.statuses(prepared.sweep.id) == {S.TRUNCATED: 3}


@pytest.mark.parametrize("change", [{"slots": 1}, {"slot_context": 100}])
def test_rounds_with_other_slots_are_not_of_the_same_sweep(
    change: dict[str, int], site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new((40,), (1, 2), repeats=2)
    stop_when(site, prepared, lambda progress: _done(progress) >= 1)
    before = site.samples(prepared.sweep.id)
    for name, value in change.items():
        setattr(server, name, value)
    assert not site.resume(prepared.sweep.id)
    assert site.samples(prepared.sweep.id) == before
    reason = site.sweep(prepared.sweep.id).endpoints[0].stopped_reason or ""
    assert "the number of slots or their context changed since the sweep began" in reason
    assert site.rows()[0].slots == 4


def _done(progress: Progress) -> int:
    return sum(endpoint.done for endpoint in progress.endpoints.values())


def test_what_cannot_fit_is_recorded_with_both_numbers_and_never_sent(
    any_site: SpeedSite, server: FaultServer
) -> None:
    server.slot_context = 100
    any_site.endpoint("a", server.base_url)
    prepared = any_site.new((40, 97, 5000), (1, 2), output_tokens=4)
    assert any_site.work(prepared)
    any_site.check_whole(prepared)
    assert max(10 + words(prompt) for prompt in server.prompts) == 40
    assert len(server.chats) == WARM_UP + 3
    rows = any_site.unflagged(prepared.sweep.id)
    assert [row.status for row in rows] == ["ok"] * 2 + ["context_overflow"] * 4
    assert "97 tokens and 4 to write need 101, the context per slot has 100" in (
        rows[2].evidence or ""
    )
    long = rows[-1]
    assert (long.n, long.errors, long.concurrency) == (0, 0, 2)
    figures = (long.ttft_ms_p50, long.aggregate_tps, long.stream_tps_p50, long.wall_s)
    assert figures == (None, None, None, None)


def test_what_just_fits_is_sent(site: SpeedSite, server: FaultServer) -> None:
    server.slot_context = 100
    site.endpoint("a", server.base_url)
    prepared = site.new((96,), (1,), output_tokens=4)
    site.work(prepared)
    assert [row.status for row in site.unflagged(prepared.sweep.id)] == ["ok"]


def test_where_nothing_fits_nothing_is_sent_at_all(site: SpeedSite, server: FaultServer) -> None:
    server.slot_context = 100
    site.endpoint("a", server.base_url)
    assert site.work(site.new((200, 5000), (1, 2)))
    assert server.chats == []


def test_a_server_that_does_not_count_is_measured_by_what_it_counted_in_the_warm_up(
    site: SpeedSite, server: FaultServer
) -> None:
    server.llama = False
    site.endpoint("a", server.base_url)
    prepared = site.new((40, 200), (1, 2))
    assert site.work(prepared)
    rows = site.rows(prepared.sweep.id)
    assert [row.context_tokens for row in rows] == [40, 40, 200, 200]
    assert {row.slots for row in rows} == {None}


def test_endpoints_are_measured_one_at_a_time(site: SpeedSite) -> None:
    events: list[str] = []
    with FaultServer("x", events=events) as one, FaultServer("y", events=events) as two:
        for server in (measured(one), measured(two)):
            server.pace_s = 0.005
        site.endpoint("a", one.base_url)
        site.endpoint("b", two.base_url)
        assert site.work(site.new((40,), (1, 2), repeats=2))
    order = [line[0] for line in events]
    assert order == ["x"] * (WARM_UP + 6) + ["y"] * (WARM_UP + 6)


def test_endpoints_are_measured_side_by_side_where_that_is_asked_for(
    site: SpeedSite, server: FaultServer, other: FaultServer
) -> None:
    """Each one's first round ends only when both are in theirs."""
    for one in (server, other):
        one.reply = holding_back
    site.endpoint("a", server.base_url)
    site.endpoint("b", other.base_url)
    prepared = site.new((40,), (2,), parallel=True)

    async def work() -> bool:
        with site.open() as database:
            working = asyncio.create_task(site.sweeper(database, prepared).execute())
            await until(lambda: server.at_once == other.at_once == 1)  # warming up
            server.open_gate()
            other.open_gate()
            return await working

    assert asyncio.run(work())
    site.check_whole(prepared)


def test_endpoints_of_one_group_take_turns_even_side_by_side(site: SpeedSite) -> None:
    events: list[str] = []
    with (
        FaultServer("x", events=events) as one,
        FaultServer("y", events=events) as two,
        FaultServer("z", events=events) as three,
    ):
        for server in map(measured, (one, two, three)):
            server.pace_s = 0.005
        site.endpoint("a", one.base_url, group="gpu")
        site.endpoint("c", three.base_url)
        site.endpoint("b", two.base_url, group="gpu")
        assert site.work(site.new((40,), (1, 2), repeats=2, parallel=True))
    grouped = [line[0] for line in events if line[0] != "z"]
    assert grouped == ["x"] * (WARM_UP + 6) + ["y"] * (WARM_UP + 6)
    assert len(events) == 3 * (WARM_UP + 6)


def test_a_stopped_sweep_keeps_whole_rounds_and_goes_on_with_the_missing_ones(
    any_site: SpeedSite, server: FaultServer
) -> None:
    """Half a round is no round: its streams are closed, and it is measured anew."""
    site = any_site
    server.reply = by_number(*[written] * (WARM_UP + 3), holding_back)
    site.endpoint("a", server.base_url)
    prepared = site.new((40,), (1, 2), repeats=2)
    sweep = prepared.sweep.id
    stop_when(site, prepared, lambda _: len(server.chats) == WARM_UP + 4 and server.at_once == 1)
    assert server.aborted == 1
    assert set(site.samples(sweep)) == {Round("a", 40, 1, 1), Round("a", 40, 2, 1)}
    after = site.sweep(sweep)
    assert (after.state, after.finished_at) == (RunState.STOPPED, None)
    server.reply = written
    server.chats.clear()
    assert site.resume(sweep)
    assert len(server.chats) == WARM_UP + 3
    site.check_whole(prepared)
    assert site.sweep(sweep).state is RunState.FINISHED


def test_a_finished_sweep_has_nothing_to_resume(site: SpeedSite, server: FaultServer) -> None:
    site.endpoint("a", server.base_url)
    prepared = site.new()
    site.work(prepared)
    server.chats.clear()
    assert site.resume(prepared.sweep.id)
    assert server.chats == []
    assert site.sweep(prepared.sweep.id).state is RunState.FINISHED


def test_resume_is_refused_where_an_endpoint_is_asked_in_another_way(
    site: SpeedSite, server: FaultServer
) -> None:
    site.endpoint("a", server.base_url, sampling={"temperature": 0})
    sweep = site.new().sweep.id
    site.endpoint("a", server.base_url, sampling={"temperature": 1})
    with pytest.raises(InputError, match=r"other settings \(sampling\); undo that"):
        site.resumed(sweep)
    # What a sweep sets by itself may change: it changes nothing.
    own = {"temperature": 0, "max_tokens": 77}
    stop = {"stop": ["x"]}
    site.endpoint("a", server.base_url, sampling=own, extra_body=stop, timeout_s=9, retries=4)
    assert site.resume(sweep)


def test_resume_is_refused_for_what_is_not_there_or_was_imported(
    site: SpeedSite, server: FaultServer
) -> None:
    from evalbot.speed.imports import ImportKind, Named, import_speed

    site.endpoint("a", server.base_url)
    sweep = site.new().sweep.id
    with pytest.raises(NotFoundError, match="there is no sweep 'speed-x'"):
        site.resumed("speed-x")
    table = site.write("t.csv", "model,decode_tps_p50\nm,3\n")
    with site.open() as database:
        [imported] = import_speed(database, [table], ImportKind.TABLE, Named())
    with pytest.raises(InputError, match="was imported: there is nothing to resume"):
        site.resumed(imported.sweep)
    site.endpoint("b", server.base_url)
    site.extra = {"endpoints": []}
    site.machine("none")
    with pytest.raises(InputError, match="no endpoints"):
        site.resumed(sweep)


def test_a_sweep_being_worked_on_is_not_taken(any_site: SpeedSite, server: FaultServer) -> None:
    site = any_site
    site.endpoint("a", server.base_url)
    prepared = site.new()
    with site.open() as database, database.write() as connection:
        leases.acquire(connection, prepared.sweep.id, Leased.SWEEP)
    with pytest.raises(LeaseHeldError, match="being worked on by process"):
        site.resumed(prepared.sweep.id)
    with pytest.raises(LeaseHeldError, match="being worked on by process"):
        site.work(prepared)
    assert server.chats == []
    [note] = site.results(prepared.sweep.id, sources=("evalbot",)).notes or ("",)
    assert "--resume" not in note


def test_who_lost_the_sweep_stops_and_writes_nothing_more(
    any_site: SpeedSite, server: FaultServer
) -> None:
    """A process that slept longer than its lease wakes up in the middle of a round."""
    site = any_site
    server.reply = by_number(*[written] * (WARM_UP + 1), holding_back)
    site.endpoint("a", server.base_url)
    prepared = site.new()
    sweep = prepared.sweep.id

    async def overtaken() -> None:
        with site.open() as database:
            working = asyncio.create_task(site.sweeper(database, prepared).execute())
            await until(lambda: server.at_once == 2)
            site.change("UPDATE speed_sweeps SET lease_until = '2020-01-01T00:00:00.000000Z'")
            with database.write() as connection:
                leases.acquire(connection, sweep, Leased.SWEEP)
            server.open_gate()
            with pytest.raises(LeaseHeldError, match="taken over by another process"):
                await working
            with database.read() as connection:
                assert leases.is_held(connection, sweep, Leased.SWEEP)

    asyncio.run(overtaken())
    assert set(site.samples(sweep)) == {Round("a", 40, 1, 1)}
    assert site.sweep(sweep).state is RunState.RUNNING  # the new holder's


def test_the_heartbeat_keeps_a_sweep_during_a_long_round(
    site: SpeedSite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.speed.record.HEARTBEAT_S", 0.02)
    server.reply = holding_back
    site.endpoint("a", server.base_url)
    prepared = site.new()

    def lease_until() -> str:
        [(moment,)] = site.query("SELECT lease_until FROM speed_sweeps")
        return str(moment)

    async def silent() -> bool:
        with site.open() as database:
            working = asyncio.create_task(site.sweeper(database, prepared).execute())
            await until(lambda: server.at_once == 1)
            before = lease_until()
            await until(lambda: lease_until() > before)
            server.open_gate()
            return await working

    assert asyncio.run(silent())


def test_a_model_that_changes_stops_its_endpoint_and_the_round_is_not_recorded(
    any_site: SpeedSite, server: FaultServer, other: FaultServer
) -> None:
    site = any_site
    server.swap_after = WARM_UP + 2  # in the middle of the second round
    site.endpoint("changing", server.base_url)
    site.endpoint("steady", other.base_url)
    prepared = site.new((40,), (1, 2), repeats=2)
    sweep = prepared.sweep.id
    assert not site.work(prepared)
    recorded = site.samples(sweep)
    assert [one for one in recorded if one.endpoint == "changing"] == [Round("changing", 40, 1, 1)]
    assert len([one for one in recorded if one.endpoint == "steady"]) == 4
    assert len(server.chats) == WARM_UP + 3
    after = site.sweep(sweep)
    assert after.state is RunState.STOPPED
    assert "it was qwen-test, 4 slots, 4096 tokens each, now it is another-model" in (
        after.endpoints[0].stopped_reason or ""
    )
    assert after.endpoints[1].stopped_reason is None
    given_up = [row for row in site.unflagged(sweep) if row.status is SpeedStatus.FAILED]
    assert [row.model for row in given_up] == ["changing"]
    assert "given up: the loaded model changed" in (given_up[0].evidence or "")
    # Another model is not measured on resume; the first one again is.
    server.swap_after = None
    server.chats.clear()
    assert not site.resume(sweep)
    assert server.chats == []
    server.models = ["qwen-test"]
    assert site.resume(sweep)
    site.check_whole(prepared)
    assert {row.status for row in site.unflagged(sweep)} == {SpeedStatus.OK}
    assert site.results(sweep).notes == ()


def test_a_server_that_does_not_tell_its_model_for_a_while_is_not_stopped(
    site: SpeedSite, server: FaultServer
) -> None:
    class Failing(dict[str, int]):
        """From the second look on the route fails."""

        def __contains__(self, path: object) -> bool:
            return path == "/props" and server.looks > 1

        def __getitem__(self, path: str) -> int:
            return 503

    server.route_status = Failing()
    site.endpoint("a", server.base_url)
    prepared = site.new()
    assert site.work(prepared)
    assert server.looks > 1


def test_an_unreachable_endpoint_is_told_and_holds_up_nobody(
    any_site: SpeedSite, server: FaultServer
) -> None:
    site = any_site
    with closed_port() as nobody:
        site.endpoint("dead", nobody)
        site.endpoint("alive", server.base_url)
        prepared = site.new()
        sweep = prepared.sweep.id
        assert not site.work(prepared)
    assert {round_.endpoint for round_ in site.samples(sweep)} == {"alive"}
    dead, *alive = site.unflagged(sweep)
    assert (dead.model, dead.status, dead.n) == ("dead", SpeedStatus.FAILED, None)
    assert "is it running?" in (dead.evidence or "")
    assert [row.status for row in alive] == [SpeedStatus.OK] * 2
    [note] = site.results(sweep).notes
    assert (
        note == f"sweep {sweep}: 2 of 4 rounds measured; go on with: evalbot speed --resume {sweep}"
    )
    assert site.sweep(sweep).state is RunState.STOPPED
    site.endpoint("dead", server.base_url)
    assert site.resume(sweep)
    site.check_whole(prepared)


def test_a_server_that_dies_under_load_is_given_up_and_measured_on_when_it_is_back(
    site: SpeedSite, other: FaultServer
) -> None:
    """The round it died of is recorded as failed; what nobody was there for is not."""
    with FaultServer() as dying:
        measured(dying).die_after = WARM_UP + 2
        port = dying.port
        site.endpoint("dying", dying.base_url)
        site.endpoint("alive", other.base_url)
        prepared = site.new((40, 60, 80, 100), (1,))
        sweep = prepared.sweep.id
        assert not site.work(prepared)
    recorded = [one.context for one in site.samples(sweep) if one.endpoint == "dying"]
    assert recorded == [40, 60]
    first, died, given_up, *alive = site.unflagged(sweep)
    assert (first.status, died.status) == (SpeedStatus.OK, SpeedStatus.FAILED)
    assert (died.n, died.errors) == (0, 1)
    assert "the server is not ready (connection refused)" in (given_up.evidence or "")
    assert [row.status for row in alive] == [SpeedStatus.OK] * 4
    back = FaultServer()
    back.port = port
    with measured(back):
        assert site.resume(sweep)
    site.check_whole(prepared)
    statuses = [row.status for row in site.unflagged(sweep) if row.model == "dying"]
    assert statuses == [SpeedStatus.OK, SpeedStatus.FAILED, SpeedStatus.OK, SpeedStatus.OK]


def test_what_an_endpoint_turned_out_to_be_is_recorded(
    site: SpeedSite, server: FaultServer
) -> None:
    site.machine("pc")
    site.endpoint("a", server.base_url, hardware="pc")
    prepared = site.new()
    site.work(prepared)
    [recorded] = site.sweep(prepared.sweep.id).endpoints
    assert (recorded.model_id, recorded.family, recorded.quantisation) == (
        "qwen-test", "qwen", "Q4_1"
    )  # fmt: skip
    assert (recorded.slots, recorded.slot_context, recorded.hardware) == (4, 4096, "pc")
    rows = site.rows()
    assert {(row.slots, row.slot_context, row.hardware) for row in rows} == {(4, 4096, "pc")}


def test_how_much_evalbot_itself_used_is_told(site: SpeedSite, server: FaultServer) -> None:
    server.pace_s = 0.01
    site.endpoint("a", server.base_url)
    prepared = site.new()
    with site.open() as database:
        sweeper = site.sweeper(database, prepared)
        assert sweeper.overhead.cpu_share is None
        assert asyncio.run(sweeper.execute())
    overhead = sweeper.overhead
    assert overhead.rounds_s >= 2 * 0.01
    assert overhead.total_s >= overhead.rounds_s
    assert (overhead.cpu_share or 0) > 0
