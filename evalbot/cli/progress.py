"""Live progress of a run: a table that redraws itself, or plain lines where it cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evalbot.formats.words import duration, pace
from evalbot.running.progress import EndpointProgress, Progress

PLAIN_EVERY_S = 10.0
FIRST_PLAIN_S = 2.0


@contextmanager
def shown(progress: Progress) -> Iterator[None]:
    """Show progress on stderr while the block runs, and what was said in the meantime."""
    console = Console(stderr=True)
    view = _live(console, progress) if console.is_terminal else _plain(console, progress)
    with view:
        yield
    for line in _said(progress):
        console.print(line, markup=False, highlight=False)


@contextmanager
def _live(console: Console, progress: Progress) -> Iterator[None]:
    with Live(
        get_renderable=lambda: _table(progress),
        console=console,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield


@contextmanager
def _plain(console: Console, progress: Progress) -> Iterator[None]:
    ended = threading.Event()
    told: dict[str, str] = {}

    def tell() -> None:
        """What is new: an endpoint that has not moved is not told again."""
        lines = _said(progress)
        for name, endpoint in list(progress.endpoints.items()):
            line = _line(endpoint)
            if told.get(name) != line:
                told[name] = line
                lines.append(line)
        for line in lines:
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    def report() -> None:
        wait = FIRST_PLAIN_S
        while not ended.wait(wait):
            tell()
            wait = PLAIN_EVERY_S

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        tell()


def _said(progress: Progress) -> list[str]:
    lines = []
    while progress.messages:
        lines.append(progress.messages.popleft())
    return lines


def _line(endpoint: EndpointProgress) -> str:
    parts = [f"{endpoint.name}: {endpoint.done}/{endpoint.total}", endpoint.state]
    if endpoint.state == "asking":
        parts += [pace(endpoint.per_second), f"{duration(endpoint.seconds_left)} left"]
    if endpoint.failures:
        parts.append(_failures(endpoint))
    if endpoint.note:
        parts.append(endpoint.note)
    return ", ".join(parts)


def _table(progress: Progress) -> RenderableType:
    table = Table(box=None, pad_edge=False, title=progress.title, title_justify="left")
    timing = ("rate", "left") if progress.even else ()
    for name in (progress.of, "", progress.unit, *timing, "not ok", "state", ""):
        table.add_column(name, justify="left" if name in (progress.of, "", "state") else "right")
    for endpoint in progress.endpoints.values():
        asking = endpoint.state == "asking"
        table.add_row(
            Text(endpoint.name),
            ProgressBar(total=max(endpoint.total, 1), completed=endpoint.done, width=24),
            f"{endpoint.done}/{endpoint.total}",
            *(
                (pace(endpoint.per_second), duration(endpoint.seconds_left))
                if asking
                else [""] * len(timing)
            ),
            Text(_failures(endpoint)),
            Text(endpoint.state),
            Text(endpoint.note),
        )
    return Group(table)


def _failures(endpoint: EndpointProgress) -> str:
    counts = sorted(
        ((status, count) for status, count in endpoint.statuses.items() if status != "ok"),
        key=lambda item: -item[1],
    )
    return ", ".join(f"{count} {status}" for status, count in counts)
