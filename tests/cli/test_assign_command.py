"""`evalbot assign` and `evalbot serve` as processes of their own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.reviewing.overview import campaign_overviews
from evalbot.store.database import open_database
from tests.people import add_people
from tests.reviewing.site import ReviewSite, review_site
from tests.waiting import is_listening, wait_until

from .calling import evalbot


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ReviewSite]:
    with open_database("sqlite:///evalbot.db", tmp_path) as database:
        yield review_site(database, tmp_path)


def test_the_campaigns_id_is_on_stdout_and_the_rest_on_stderr(site: ReviewSite) -> None:
    done = evalbot(
        "assign", "small", "--reviewers", "ann,bob", "--policy", "random", "--budget", "9",
        "--overlap", "2", "--attention", "0.3", "--practice", "1", "--seed", "5",
        "--layout", "together", "--reveal-judge", folder=site.folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [overview] = campaign_overviews(site.database)
    assert done.stdout == f"{overview.campaign.id}\n"
    plan = overview.campaign.plan
    assert (plan.reviewers, str(plan.policy), plan.budget, plan.overlap) == (
        ("ann", "bob"), "random", 9, 2,
    )  # fmt: skip
    assert (plan.attention, plan.practice, plan.seed, plan.reveal_judge) == (0.3, 1, 5, True)
    assert "9 answers drawn; items: ann 3, bob 3" in done.stderr


def test_a_campaign_is_extended(site: ReviewSite) -> None:
    made = evalbot(
        "assign", "small", "--reviewers", "ann", "--policy", "random", "--budget", "6",
        folder=site.folder,
    )  # fmt: skip
    campaign = made.stdout.strip()
    done = evalbot(
        "assign", "small", "--extend", campaign, "--policy", "random", "--budget", "9",
        "--seed", "2", folder=site.folder,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"{campaign}\n"), done.stderr
    assert "9 answers drawn; items: ann 3" in done.stderr
    [overview] = campaign_overviews(site.database)
    assert [draw.budget for draw in overview.draws] == [6, 9]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give either --reviewers for a new campaign, or --extend CAMPAIGN"),
        (("--reviewers", "ann", "--extend", "x"), "give either --reviewers"),
        (("--extend", "nothing"), "there is no campaign 'nothing'"),
        (("--reviewers", "anne"), "did you mean ann?"),
        (("--reviewers", "ann", "--policy", "rando"), "expected"),
        (("--reviewers", "ann", "--policy", "random"), "needs --budget"),
        (("--reviewers", "ann", "--layout", "both"), "expected"),
        (("--reviewers", ""), "name at least one person"),
    ],
)
def test_what_will_not_do_is_told_and_nothing_is_made(
    site: ReviewSite, arguments: tuple[str, ...], words: str
) -> None:
    done = evalbot("assign", "small", *arguments, folder=site.folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert campaign_overviews(site.database) == []


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--host", "0.0.0.0"), 2, "add --public-url"),
        (("--host", "127.0.0.1", "--public-url", "https://evalbot.example.org"), 2,
         "there are no users yet"),
        (("--public-url", "evalbot.example.org"), 2, "expected the address that browsers use"),
        (("--trusted-proxy", "proxy"), 2, "expected the proxy's IP address"),
    ],
)  # fmt: skip
def test_serving_others_without_users_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = evalbot("serve", *arguments, folder=tmp_path)
    assert done.returncode == code
    assert words in done.stderr


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = evalbot("serve", "--port", str(port), folder=tmp_path)
    assert done.returncode == 1
    assert f"cannot serve on 127.0.0.1 port {port}" in done.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_where_to_go_and_stops_when_told(tmp_path: Path, by: signal.Signals) -> None:
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from evalbot.cli.main import main; main()"
    )
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-c", script, "serve", "--port", str(port)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        assert lines[0] == "starting …\n"
        assert "/?token=" in lines[1]
        wait_until(lambda: is_listening(port))
        process.send_signal(by)
        rest = process.stderr.read()
    assert "Traceback" not in rest


def test_with_users_no_token_is_printed(tmp_path: Path) -> None:
    with open_database("sqlite:///evalbot.db", tmp_path) as database:
        add_people(database, lee="lead")
    with subprocess.Popen(
        [sys.executable, "-m", "evalbot.cli.main", "serve", "--port", str(free_port())],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        process.terminate()
    assert "open http://127.0.0.1:" in lines[1]
    assert "token" not in lines[1]
