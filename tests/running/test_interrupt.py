"""Ctrl-C and a polite kill, given to a real process."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from evalbot.domain.answers import AnswerStatus as S
from evalbot.domain.runs import RunState
from tests.fault_server import FaultServer, Step, answer, chunk, stream
from tests.waiting import wait_until

from .processes import Evalbot
from .site import Site


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_can(
    number: signal.Signals, any_site: Site, server: FaultServer
) -> None:
    site = any_site
    for prompt in ("p1", "p2"):
        server.on(prompt, stream(chunk("half"), Step.HANG), answer("answer to ", prompt))
    site.endpoint("a", server.base_url, timeout_s=60)
    working = Evalbot(site, "s")
    wait_until(lambda: len(server.chats) == 4 and server.at_once == 2)
    working.process.send_signal(number)
    code, said = working.wait()
    assert code == 1
    assert f"evalbot run --resume {working.run}" in said
    assert "Traceback" not in said
    assert server.aborted == 2
    assert site.statuses(working.run) == {S.OK: 2, S.CANCELLED: 2}
    assert site.run(working.run).state is RunState.STOPPED
    again = Evalbot(site, "--resume", working.run)
    code, said = again.wait()
    assert code == 0, said
    assert again.run == working.run
    assert site.verdicts(working.run) == {"right": 4}
    site.check_record(working.run)


def test_a_second_interrupt_ends_it_at_once(site: Site, server: FaultServer) -> None:
    server.on("p1", stream(chunk("half"), Step.HANG), answer("answer to ", "p1"))
    site.write(
        "slow_stop.py",
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)",
    )
    stop = [sys.executable, "slow_stop.py"]
    site.endpoint("a", server.base_url, timeout_s=60, stop=stop)
    working = Evalbot(site, "s", "--allow-commands")
    wait_until(lambda: len(server.chats) == 4 and server.at_once == 1)
    working.process.send_signal(signal.SIGINT)
    pid = site.folder / "pid"
    wait_until(lambda: pid.exists() and pid.read_text())
    working.process.send_signal(signal.SIGINT)
    assert working.wait()[0] == 130
    os.kill(int(pid.read_text()), signal.SIGKILL)
    site.endpoint("a", server.base_url, timeout_s=60)
    assert site.resume(working.run)
    assert site.verdicts(working.run) == {"right": 4}
    site.check_record(working.run)


def test_a_second_process_is_told_who_works_on_the_run(site: Site, server: FaultServer) -> None:
    server.on("p1", answer("answer to ", "p1", before=(Step.GATE,)))
    site.endpoint("a", server.base_url, timeout_s=60)
    working = Evalbot(site, "s")
    wait_until(lambda: server.at_once == 1 and len(server.chats) == 4)
    code, said = Evalbot(site, "--resume", working.run).wait()
    assert code == 1
    assert f"being worked on by process {working.process.pid}" in said
    server.open_gate()
    assert working.wait()[0] == 0
    site.check_record(working.run)
