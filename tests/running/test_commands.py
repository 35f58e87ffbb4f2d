from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.settings import EndpointSettings
from evalbot.running.commands import ServerProcess
from tests.fault_server import FaultServer, free_port
from tests.waiting import until, wait_until

from .site import Site

ROOT = str(Path(__file__).parents[2])


def command(site: Site, name: str, code: str) -> list[str]:
    """A small Python script in the project's folder, as a command."""
    site.write(name, code)
    return [sys.executable, name]


SERVE = f"""
import os, sys, time
sys.path.insert(0, {ROOT!r})
if "daemon" in sys.argv:
    if os.fork():
        os._exit(0)
    os.setsid()
with open("pid", "w") as pid, open("log", "a") as log:
    pid.write(str(os.getpid()))
    log.write("start ")
time.sleep(0.1)  # loading the model
from tests.fault_server import FaultServer
server = FaultServer()
server.port = int(sys.argv[1])
with server:
    time.sleep(60)
"""


def serving(site: Site, port: int, *, as_daemon: bool = False) -> list[str]:
    """A command that serves chats on this port, in the foreground or as a daemon."""
    return [*command(site, "serve.py", SERVE), str(port), "daemon" if as_daemon else "foreground"]


def noting(site: Site, word: str, code: int = 0) -> list[str]:
    """A command that leaves a word in the file `log`, says it, and ends with this code."""
    text = f"open('log', 'a').write('{word} '); print('{word} said'); raise SystemExit({code})"
    return command(site, f"{word}.py", text)


def log(site: Site) -> str:
    path = site.folder / "log"
    return path.read_text() if path.exists() else ""


def is_gone(site: Site) -> bool:
    pid = int((site.folder / "pid").read_text())
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_server_in_the_foreground_is_waited_for_and_ended(site: Site) -> None:
    port = free_port()
    start = serving(site, port)
    site.endpoint("a", f"http://127.0.0.1:{port}/v1", start=start, stop=noting(site, "stop"))
    prepared = site.new()
    assert site.work(prepared)
    assert site.statuses(prepared.run.id) == {S.OK: 4}
    assert log(site) == "start stop "
    assert is_gone(site)


def test_a_script_that_leaves_a_daemon_is_waited_for_too(site: Site) -> None:
    port = free_port()
    start = serving(site, port, as_daemon=True)
    stop = command(site, "stop.py", "import os; os.kill(int(open('pid').read()), 9)")
    site.endpoint("a", f"http://127.0.0.1:{port}/v1", start=start, stop=stop)
    prepared = site.new()
    assert site.work(prepared)
    assert site.statuses(prepared.run.id) == {S.OK: 4}
    wait_until(lambda: is_gone(site))


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (["./missing"], "./missing could not be run"),
        ("failing", "ended with code 1: no memory / left"),
    ],
)
def test_a_start_that_fails_gives_connection_answers_with_its_words(
    start: list[str] | str, words: str, site: Site
) -> None:
    if start == "failing":
        start = command(site, "fail.py", "print('no memory\\nleft'); raise SystemExit(1)")
    url = f"http://127.0.0.1:{free_port()}/v1"
    site.endpoint("bad", url, start=start, stop=noting(site, "stop"), group="gpu")
    with FaultServer() as fine:
        site.endpoint("fine", fine.base_url, group="gpu")
        prepared = site.new()
        assert site.work(prepared)
    bad = [one.answer for one in site.answers(prepared.run.id) if one.place.endpoint == "bad"]
    assert [one.status for one in bad] == [S.CONNECTION] * 4
    assert words in (bad[0].error_detail or "")
    assert site.statuses(prepared.run.id, "fine") == {S.OK: 4}
    assert log(site) == "stop "


def test_a_stop_that_fails_is_told_and_spoils_nothing(site: Site, server: FaultServer) -> None:
    site.endpoint("a", server.base_url, stop=noting(site, "stop", 3))
    prepared = site.new()
    with site.open() as database:
        runner = site.runner(database, prepared)
        assert asyncio.run(runner.execute())
    assert site.statuses(prepared.run.id) == {S.OK: 4}
    assert any("ended with code 3: stop said" in line for line in runner.progress.messages)


def test_start_and_stop_stand_around_each_turn_of_a_group(site: Site) -> None:
    for name in ("a", "b"):
        port = free_port()
        start, stop = serving(site, port), noting(site, f"stop-{name}")
        url = f"http://127.0.0.1:{port}/v1"
        site.endpoint(name, url, group="gpu", start=start, stop=stop)
    assert site.work(site.new())
    assert log(site) == "start stop-a start stop-b "


def test_nothing_is_started_where_nothing_is_to_be_asked(site: Site) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/v1"
    site.endpoint("a", url, start=serving(site, port), stop=noting(site, "stop"))
    prepared = site.new()
    assert site.work(prepared)
    assert site.resume(prepared.run.id)
    assert log(site) == "start stop "


@pytest.mark.parametrize("times", [1, 3])
def test_a_cancelled_run_still_stops_what_it_started(times: int, site: Site) -> None:
    """Also when it is cancelled again while it stops."""
    port = free_port()
    start = serving(site, port)
    site.endpoint("a", f"http://127.0.0.1:{port}/v1", start=start, stop=noting(site, "stop"))
    prepared = site.new(repeats=500)

    async def cancelled() -> None:
        with site.open() as database:
            runner = site.runner(database, prepared)
            working = asyncio.create_task(runner.execute())
            await until(lambda: runner.progress.endpoints and runner.progress.endpoints["a"].done)
            for _ in range(times):
                working.cancel()
                await asyncio.sleep(0.02)
            with pytest.raises(asyncio.CancelledError):
                await working

    asyncio.run(cancelled())
    assert log(site) == "start stop "
    assert is_gone(site)


def test_a_run_cancelled_while_it_waits_for_its_server_stops_it(site: Site) -> None:
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    url = f"http://127.0.0.1:{free_port()}/v1"
    site.endpoint("a", url, start=command(site, "hang.py", code))
    prepared = site.new()

    async def cancelled() -> None:
        with site.open() as database:
            working = asyncio.create_task(site.runner(database, prepared).execute())
            await until(lambda: (site.folder / "pid").exists() and not is_empty(site))
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working

    def is_empty(site: Site) -> bool:
        return not (site.folder / "pid").read_text()

    asyncio.run(cancelled())
    assert is_gone(site)


def test_the_last_words_of_a_chatty_command_are_short(tmp_path: Path) -> None:
    chat = "print('x' * 10_000); print('the end\\0'); raise SystemExit(1)"
    settings = EndpointSettings("a", "http://127.0.0.1:1/v1", start=(sys.executable, "-c", chat))

    async def words() -> str:
        server = ServerProcess(settings, tmp_path)
        try:
            await server.start()
            await server.watch()
        except Exception as error:
            return str(error)
        finally:
            await server.stop()
        return ""

    said = asyncio.run(words())
    assert said.endswith("…")
    assert len(said) < 700


def test_a_server_that_is_there_already_is_not_taken_for_the_one_to_be_started(
    site: Site, server: FaultServer
) -> None:
    start, stop = noting(site, "started"), noting(site, "stopped")
    site.endpoint("a", server.base_url, start=start, stop=stop)
    prepared = site.new()
    assert site.work(prepared)
    answers = site.answers(prepared.run.id)
    assert {one.answer.status for one in answers} == {S.CONNECTION}
    assert "another server answers at its address" in (answers[0].answer.error_detail or "")
    assert server.chats == []
    assert log(site) == ""
