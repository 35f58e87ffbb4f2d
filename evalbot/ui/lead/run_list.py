"""The list of runs, and how far those have come that are worked on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evalbot.domain.runs import RunState
from evalbot.formats.words import count, duration, pace
from evalbot.reporting.runs import LiveRun, RunLine
from evalbot.running.background import Job, JobState
from evalbot.running.progress import EndpointProgress
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

MOST_LINES = 200
TONES = {
    "running": "live", "waiting": "live", "stopping": "live", "stopped": "warn",
    "incomplete": "warn", "failed": "bad",
}  # fmt: skip

LINE = Markup("""\
<li><div><button class="link" data-panel="run" {open}>{run}</button>
 <span class="state {tone}">{state}</span> <span class="quiet">{label}</span>
<div class="quiet">{about}</div>{said}</div>
<div class="row">{buttons}</div></li>
""")
LIVE = Markup("""\
<section class="card"><div class="row"><strong class="text">{run}</strong>
 <span class="quiet">{label}</span><span class="state live">{state}</span>{button}</div>
{bars}{said}</section>
""")
BAR = Markup("""\
<div class="progress"><span class="name text">{name}</span>
<div class="bar" role="progressbar" aria-label="{name}" aria-valuemin="0" aria-valuemax="{total}"
 aria-valuenow="{done}"><i style="width:{share}%"></i></div>
<span class="number">{done} / {total}</span><span class="quiet">{about}</span></div>
""")


def run_list(lines: Sequence[RunLine], jobs: Sequence[Job]) -> Markup:
    """The runs, newest first, each with what can be done with it."""
    if not lines:
        return Markup('<p class="quiet">There are no runs yet.</p>')
    by_run = {job.run: job for job in jobs}
    older = len(lines) - MOST_LINES
    return Markup('<h2>Runs</h2><ul class="runs">{}</ul>{}').format(
        Markup("").join(_line(line, by_run.get(line.summary.run)) for line in lines[:MOST_LINES]),
        Markup('<p class="quiet">{} older: <code>evalbot runs</code> lists them.</p>').format(
            count(older, "run")
        )
        if older > 0
        else "",
    )


def live_list(jobs: Sequence[Job], live: Sequence[LiveRun]) -> Markup:
    """Bars of all that is worked on: by this server, and by others as the record shows it."""
    here = {job.run for job in jobs}
    open_ = [job for job in jobs if not job.is_over]
    return Markup("").join(
        [
            *(_job(job) for job in open_),
            *(_elsewhere(one) for one in live if one.run not in here or _is_over(one, jobs)),
        ]
    )


def _is_over(live: LiveRun, jobs: Sequence[Job]) -> bool:
    """Whether our own work on it has ended, so that it is another's now."""
    return any(job.run == live.run and job.is_over for job in jobs)


def _line(line: RunLine, job: Job | None) -> Markup:
    one, state = line.summary, _state(line, job)
    about = (
        f"{one.suite} · {count(one.cases, 'case')} × {count(one.endpoints, 'endpoint')}"
        f"{f' × {one.repeats} repeats' if one.repeats > 1 else ''} · "
        f"{count(one.answers, 'answer')} · "
        f"{one.started_at:%Y-%m-%d %H:%M} UTC"
    )
    return LINE.format(
        open=action_attribute(do="open", run=one.run),
        run=as_text(one.run),
        tone=TONES.get(state, ""),
        state=state,
        label=as_text(one.label or ""),
        about=as_text(about),
        said=_said(job) if job is not None and job.is_over else "",
        buttons=_buttons(line, job),
    )


def _state(line: RunLine, job: Job | None) -> str:
    if job is None or (job.is_over and line.state is RunState.RUNNING):
        return str(line.state)
    return str(job.state)


def _buttons(line: RunLine, job: Job | None) -> Markup:
    run = line.summary.run
    is_here = job is not None and not job.is_over
    if line.state is RunState.STOPPED and not is_here:
        return Markup("<button {}>Resume</button>").format(action_attribute(do="resume", run=run))
    return Markup("")


def _stop(job: Job) -> Markup:
    disabled = Markup(" disabled") if job.state is JobState.STOPPING else ""
    return Markup('<button data-panel="runs" {}{}>Stop</button>').format(
        action_attribute(do="stop", run=job.run), disabled
    )


def _said(job: Job) -> Markup:
    """Why it failed, what its endpoints warned of, what was said on the way."""
    said = [] if job.error is None else [job.error]
    said += list(job.progress.messages)
    for endpoint in list(job.progress.endpoints.values()):
        said += [f"{endpoint.name}: {warning}" for warning in endpoint.warnings]
    return Markup("").join(
        Markup('<div class="warn text">{}</div>').format(as_text(one)) for one in said
    )


def _job(job: Job) -> Markup:
    state = "waits for an endpoint" if job.state is JobState.WAITING else str(job.state)
    return LIVE.format(
        run=as_text(job.run),
        label="",
        state=state,
        button=_stop(job),
        bars=Markup("").join(
            _bar(one.name, one.done, one.total, ", ".join(_about(one)))
            for one in list(job.progress.endpoints.values())
        ),
        said=_said(job),
    )


def _elsewhere(live: LiveRun) -> Markup:
    return LIVE.format(
        run=as_text(live.run),
        label=as_text(live.label or ""),
        state="running in another process",
        button="",
        bars=Markup("").join(
            _bar(name, done, max(live.places, done), "") for name, done in live.answered.items()
        ),
        said="",
    )


def _bar(name: str, done: int, total: int, about: str) -> Markup:
    return BAR.format(
        name=as_text(name),
        done=done,
        total=total,
        share=round(100 * done / total, 1) if total else 100,
        about=as_text(about),
    )


def _about(endpoint: EndpointProgress) -> Iterable[str]:
    yield endpoint.state
    if endpoint.state == "asking":
        yield pace(endpoint.per_second)
        yield f"{duration(endpoint.seconds_left)} left"
    failed = sorted(endpoint.statuses.items(), key=lambda item: -item[1])
    yield from (f"{times} {status}" for status, times in failed if status != "ok")
    if endpoint.note:
        yield endpoint.note
