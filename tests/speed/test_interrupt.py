"""Ctrl-C, given to a real process that measures."""

from __future__ import annotations

import csv
import io
import signal

from evalbot.domain.runs import RunState
from tests.fault_server import Chat, FaultServer, Reply, Step
from tests.waiting import wait_until

from .processes import Sweeping
from .serving import by_number, written
from .site import SpeedSite

OPTIONS = ("--contexts", "40", "--concurrency", "1,2", "--output-tokens", "4", "--repeats", "1")


def holding_back(chat: Chat) -> Reply:
    return written(chat, before=(Step.GATE,))


def test_an_interrupted_sweep_prints_what_it_has_and_says_how_to_go_on(
    site: SpeedSite, server: FaultServer
) -> None:
    server.reply = by_number(written, written, holding_back)
    site.endpoint("a", server.base_url)
    working = Sweeping(site, *OPTIONS)
    wait_until(lambda: server.at_once == 2)
    working.process.send_signal(signal.SIGINT)
    code, table, said = working.wait()
    assert code == 1
    assert f"Every round measured is saved; go on with: evalbot speed --resume {working.sweep}" in (
        said
    )
    assert "Traceback" not in said
    [row] = csv.DictReader(io.StringIO(table))
    assert (row["concurrency"], row["n"], row["sweep"]) == ("1", "1", working.sweep)
    assert server.aborted == 2
    assert site.sweep(working.sweep).state is RunState.STOPPED
    server.reply = written
    code, table, said = Sweeping(site, "--resume", working.sweep).wait()
    assert code == 0, said
    assert [row["concurrency"] for row in csv.DictReader(io.StringIO(table))] == ["1", "2"]


def test_a_second_process_is_told_who_measures(site: SpeedSite, server: FaultServer) -> None:
    server.reply = by_number(written, holding_back)
    site.endpoint("a", server.base_url)
    working = Sweeping(site, *OPTIONS)
    wait_until(lambda: server.at_once == 1 and len(server.chats) == 2)
    code, table, said = Sweeping(site, "--resume", working.sweep).wait()
    assert (code, table) == (1, "")
    assert f"being worked on by process {working.process.pid}" in said
    server.open_gate()
    assert working.wait()[0] == 0
