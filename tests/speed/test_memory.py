"""GPU memory around and during rounds; commands that fail are a note, never a failed sweep."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.speed import DeviceMemory
from evalbot.domain.sweeps import MemoryReading, Moment, Round
from evalbot.speed.memory import Telemetry
from tests.fault_server import FaultServer, Step, free_port
from tests.waiting import until, wait_until

from .serving import written
from .site import SpeedSite

ROOT = str(Path(__file__).parents[2])
HEADER = "index, name, memory.used [MiB], memory.total [MiB]\n"
TWO_CARDS = HEADER + "0, RTX 5090, 30000 MiB, 32768 MiB\n1, RTX 5080, 12000 MiB, 16384 MiB\n"
BIG, SMALL = (
    DeviceMemory("0", "RTX 5090", 30000, 32768),
    DeviceMemory("1", "RTX 5080", 12000, 16384),
)
ROUND = Round("a", 40, 2, 1)

SERVE = f"""
import sys
sys.path.insert(0, {ROOT!r})
import time
from tests.fault_server import FaultServer
from tests.speed.serving import measured
server = FaultServer()
server.port = int(sys.argv[1])
with measured(server):
    time.sleep(60)
"""


def command(site: SpeedSite, name: str, code: str) -> list[str]:
    site.write(name, code)
    return [sys.executable, name]


def is_gone(pid_file: Path) -> bool:
    pid = int(pid_file.read_text())
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def telemetry(tmp_path: Path, *command: str) -> tuple[Telemetry, list[MemoryReading]]:
    kept: list[MemoryReading] = []

    async def keep(reading: MemoryReading) -> None:
        kept.append(reading)

    return Telemetry("a", command, tmp_path, keep), kept


def told(tmp_path: Path, *command: str) -> MemoryReading:
    reader, kept = telemetry(tmp_path, *command)
    asyncio.run(reader.read(Moment.BEFORE))
    [reading] = kept
    return reading


def test_readings_stand_before_during_and_after_the_rounds(
    any_site: SpeedSite, server: FaultServer
) -> None:
    site = any_site
    site.write("gpu.csv", TWO_CARDS)
    site.machine("pc", telemetry=["cat", "gpu.csv"])
    site.endpoint("a", server.base_url, hardware="pc")
    site.endpoint("b", server.base_url)
    prepared = site.new((40,), (1, 2))
    assert site.work(prepared)
    readings = site.readings(prepared.sweep.id)
    assert [(one.moment, one.round) for one in readings] == [
        (Moment.BEFORE, None),
        (Moment.DURING, Round("a", 40, 1, 1)),
        (Moment.DURING, Round("a", 40, 2, 1)),
        (Moment.AFTER, None),
    ]
    assert {one.endpoint for one in readings} == {"a"}
    assert all(one.devices == (BIG, SMALL) and one.problem is None for one in readings)
    memory = {row.model: row.memory_used_mib for row in site.rows(prepared.sweep.id)}
    assert memory == {"a": 42000, "b": None}


def test_a_server_that_is_started_and_stopped_is_read_around_it_too(site: SpeedSite) -> None:
    port = free_port()
    site.write("gpu.csv", TWO_CARDS)
    log = "open('log', 'a').write('stopped'); print('said')"
    site.machine("pc", telemetry=["cat", "gpu.csv"])
    site.endpoint(
        "a",
        f"http://127.0.0.1:{port}/v1",
        hardware="pc",
        start=[*command(site, "serve.py", SERVE), str(port)],
        stop=command(site, "stop.py", log),
    )
    prepared = site.new((40,), (1,))
    assert site.work(prepared)
    assert [one.moment for one in site.readings(prepared.sweep.id)] == [
        Moment.UNLOADED, Moment.BEFORE, Moment.DURING, Moment.AFTER, Moment.STOPPED,
    ]  # fmt: skip
    assert site.statuses(prepared.sweep.id) == {S.TRUNCATED: 1}
    assert (site.folder / "log").read_text() == "stopped"
    # A second time there is nothing to measure, so that nothing is started.
    assert site.resume(prepared.sweep.id)
    assert (site.folder / "log").read_text() == "stopped"


def test_a_start_that_fails_gives_the_endpoint_up_with_its_words(
    site: SpeedSite, server: FaultServer
) -> None:
    fail = command(site, "fail.py", "print('CUDA error: out of memory'); raise SystemExit(1)")
    site.endpoint("a", f"http://127.0.0.1:{free_port()}/v1", start=fail)
    site.endpoint("b", server.base_url)
    prepared = site.new((40,), (1,))
    assert not site.work(prepared)
    given_up, fine = site.unflagged(prepared.sweep.id)
    assert (given_up.model, given_up.status) == ("a", "oom")
    assert "CUDA error: out of memory" in (given_up.evidence or "")
    assert (fine.model, fine.status) == ("b", "ok")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["./missing"], "telemetry: ./missing could not be run"),
        (["sh", "-c", "echo no driver >&2; exit 9"], "sh ended with code 9: no driver"),
        (["sh", "-c", "exit 3"], "sh ended with code 3"),
        (["echo", "command not found"], 'found "command not found"'),
        (["true"], 'found ""'),
        (["printf", "\\377\\376\\000"], "telemetry: found"),
        (["printf", "index, memory.used [MiB]\\n0, lots\\n"], 'found "lots"'),
    ],
)
def test_a_reading_that_fails_says_why(words: list[str], problem: str, tmp_path: Path) -> None:
    reading = told(tmp_path, *words)
    assert reading.devices == ()
    assert problem in (reading.problem or "")
    assert (reading.problem or "").startswith("telemetry: ")
    assert "\x00" not in (reading.problem or "")


def test_a_reading_that_hangs_is_ended_with_all_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.speed.memory.LONGEST_READING_S", 0.2)
    reading = told(tmp_path, "sh", "-c", "sleep 60 & echo $! > pid; wait")
    assert reading.problem == "telemetry: sh did not end within 0.2 s"
    wait_until(lambda: is_gone(tmp_path / "pid"))


def test_what_a_command_leaves_running_is_ended_and_its_reading_counts(tmp_path: Path) -> None:
    csv = "echo index, memory.used, memory.total; echo 0, 5, 10"
    reading = told(tmp_path, "sh", "-c", f"sleep 60 & echo $! > pid; {csv}")
    assert reading.problem is None
    assert [(device.used_mib, device.total_mib) for device in reading.devices] == [(5, 10)]
    wait_until(lambda: is_gone(tmp_path / "pid"))


def test_a_command_that_rambles_is_not_kept_in_memory(tmp_path: Path) -> None:
    reading = told(tmp_path, "head", "-c", "1000000", "/dev/zero")
    assert reading.problem == "telemetry: head printed more than 256 KiB"


def test_complaints_beside_good_figures_do_not_matter(tmp_path: Path) -> None:
    csv = "echo index, memory.used, memory.total; echo 0, 5, 10; echo slow driver >&2"
    assert len(told(tmp_path, "sh", "-c", csv).devices) == 1


def test_a_key_in_a_commands_words_is_not_kept(
    site: SpeedSite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "canary-secret-key")
    site.machine("pc", telemetry=["sh", "-c", "echo key $MY_KEY >&2; exit 3"])
    site.endpoint("a", server.base_url, hardware="pc", api_key_env="MY_KEY")
    prepared = site.new((40,), (1,))
    assert site.work(prepared)
    problems = {one.problem for one in site.readings(prepared.sweep.id)}
    assert problems == {"telemetry: sh ended with code 3: key [key]"}


@pytest.mark.parametrize("kind", ["failing", "hanging", "nonsense", "missing"])
def test_telemetry_that_does_not_work_is_a_note_and_no_failed_sweep(
    kind: str, site: SpeedSite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.speed.memory.LONGEST_READING_S", 0.1)
    commands = {
        "failing": ["sh", "-c", "echo no driver; exit 9"],
        "hanging": ["sleep", "60"],
        "nonsense": ["echo", "hello"],
        "missing": ["./not-there"],
    }
    site.machine("pc", telemetry=commands[kind])
    site.endpoint("a", server.base_url, hardware="pc")
    prepared = site.new((40,), (1,))
    assert site.work(prepared)
    assert [row.memory_used_mib for row in site.unflagged(prepared.sweep.id)] == [None]
    # Four readings failed in the same way: that is told once.
    [note] = [one for one in site.results(prepared.sweep.id).notes if "memory" in one]
    assert note.startswith("a: memory is not known: telemetry: ")


def test_slow_telemetry_is_no_part_of_what_is_measured(
    site: SpeedSite, server: FaultServer
) -> None:
    """The round has ended and its time is taken while the reading during it still goes on."""
    site.write("gpu.csv", TWO_CARDS)
    hold = (
        "if test -e once; then until test -e go; do sleep 0.01; done; fi; touch once; cat gpu.csv"
    )
    site.machine("pc", telemetry=["sh", "-c", hold])
    site.endpoint("a", server.base_url, hardware="pc")
    prepared = site.new((40,), (1,))

    async def work() -> bool:
        with site.open() as database:
            sweeper = site.sweeper(database, prepared)
            working = asyncio.create_task(sweeper.execute())
            await until(lambda: sweeper.overhead.rounds_s)
            assert not site.samples(prepared.sweep.id)
            site.write("go", "")
            return await working

    assert asyncio.run(work())
    assert [one.devices for one in site.readings(prepared.sweep.id)] == [(BIG, SMALL)] * 3


def test_the_fullest_reading_of_a_long_round_counts_not_a_sum_of_peaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.speed.memory.PAUSE_S", 0.01)
    gpu = tmp_path / "gpu.csv"

    def write(first: str, second: str) -> None:
        lines = f"{HEADER}0, RTX 5090, {first}, 32768\n1, RTX 5080, {second}, 16384\n"
        (tmp_path / "new").write_text(lines)
        (tmp_path / "new").rename(gpu)

    read = tmp_path / "reads"

    def reads() -> int:
        return len(read.read_text().split()) if read.exists() else 0

    async def round_() -> None:
        write("20000", "9000")
        async with reader.during(ROUND):
            for used in (("1", "12000"), together, ("30000", "1"), ("[N/A]", "[N/A]")):
                before = reads()
                await until(lambda: reads() > before + 1)  # noqa: B023
                write(*used)
            await until(lambda: reads() > before + 4)

    together = ("29000", "8000")  # more than at the peak of either
    reader, kept = telemetry(tmp_path, "sh", "-c", "echo x >> reads; cat gpu.csv")
    asyncio.run(round_())
    [reading] = kept
    assert [device.used_mib for device in reading.devices] == [29_000, 8_000]
    assert (reading.moment, reading.round) == (Moment.DURING, ROUND)


def test_one_reading_that_fails_in_a_round_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbot.speed.memory.PAUSE_S", 0.01)
    (tmp_path / "gpu.csv").write_text(TWO_CARDS)

    async def round_() -> None:
        async with reader.during(ROUND):
            await until(lambda: (tmp_path / "second").exists())

    once = "if test -e first; then touch second; cat gpu.csv; else touch first; exit 1; fi"
    reader, kept = telemetry(tmp_path, "sh", "-c", once)
    asyncio.run(round_())
    [reading] = kept
    assert (reading.problem, reading.devices) == (None, (BIG, SMALL))


def test_without_a_command_nothing_is_read(tmp_path: Path) -> None:
    async def round_() -> None:
        await reader.read(Moment.BEFORE)
        async with reader.during(ROUND):
            pass

    reader, kept = telemetry(tmp_path)
    asyncio.run(round_())
    assert kept == []


def test_a_cancelled_round_ends_its_reading_and_keeps_none(
    site: SpeedSite, server: FaultServer
) -> None:
    server.reply = lambda chat: written(chat, before=(Step.GATE,) if len(server.chats) > 1 else ())
    # Quick before the round, and for ever during it.
    site.write("gpu.csv", TWO_CARDS)
    slow = "if test -e once; then echo $$ > pid; sleep 60; fi; touch once; cat gpu.csv"
    site.machine("pc", telemetry=["sh", "-c", slow])
    site.endpoint("a", server.base_url, hardware="pc")
    prepared = site.new((40,), (1,))

    async def cancelled() -> None:
        with site.open() as database:
            working = asyncio.create_task(site.sweeper(database, prepared).execute())
            await until(lambda: (site.folder / "pid").exists() and server.at_once == 1)
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working

    asyncio.run(cancelled())
    assert [one.moment for one in site.readings(prepared.sweep.id)] == [Moment.BEFORE]
    wait_until(lambda: is_gone(site.folder / "pid"))
