"""One run: what it asked of whom, and its failures by kind in the servers' words."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from evalbot.domain.answers import Place
from evalbot.domain.runs import Run, RunEndpoint, RunState
from evalbot.formats.fields import CHECK_SUFFIX
from evalbot.formats.words import count
from evalbot.reporting.failures import FailureKind, RunOutcome, Wording
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

DETAIL = Markup("""\
<section class="detail" data-run="{run}" data-opened="{run}">
<div class="row"><h2 class="text">{shown}</h2>{buttons}
<button {close}>Close</button></div>
<p class="quiet text">{about}</p>
<div class="scroll"><table><thead><tr><th>endpoint</th><th>model it held</th>
<th>hardware</th><th class="number">slots</th><th class="number">context</th>
<th>stopped because</th></tr></thead><tbody>{endpoints}</tbody></table></div>
<h3>{ok} of {answers} ok</h3>{failures}
</section>
""")
KIND = Markup("""\
<details class="kind" open><summary><strong>{status}</strong> {times}
 <span class="quiet">{advice}</span></summary>
<ul>{wordings}</ul>{more}</details>
""")
WORDING = Markup("""\
<li><span class="number">{times} ×</span> <span class="text">{endpoint}: {words}</span>
<div class="quiet text">cases: {examples}</div></li>
""")
ROW = Markup(
    '<tr><td class="text">{}</td><td class="text">{}</td><td class="text">{}</td>'
    '<td class="number">{}</td><td class="number">{}</td><td class="text">{}</td></tr>'
)
DASH = "–"


def run_detail(outcome: RunOutcome, is_worked_on: bool) -> Markup:
    """All of it as HTML; what can be asked again only while nobody works on the run."""
    run = outcome.run
    return DETAIL.format(
        run=run.id,
        shown=as_text(run.id),
        buttons="" if is_worked_on else _buttons(outcome),
        close=action_attribute(do="close"),
        about=as_text(" · ".join(_about(run))),
        endpoints=Markup("").join(_endpoint(one) for one in run.endpoints),
        ok=outcome.ok,
        answers=count(outcome.answers, "answer"),
        failures=Markup("").join(_kind(kind) for kind in outcome.failures)
        or Markup('<p class="quiet">Nothing failed.</p>' if outcome.answers else ""),
    )


def _buttons(outcome: RunOutcome) -> Markup:
    if not outcome.retryable or outcome.run.state is RunState.IMPORTED:
        return Markup("")
    return Markup('<button {} data-panel="runs">Ask again what failed ({})</button>').format(
        action_attribute(do="retry", run=outcome.run.id), outcome.retryable
    )


def _about(run: Run) -> Iterable[str]:
    if run.label:
        yield run.label
    yield f"suite {run.suite.name}, rubric {run.rubric.name} {run.rubric.version}"
    yield f"{count(len(run.questions), 'case')}, {count(run.repeats, 'repeat')}"
    if run.settings.get("limit"):
        yield f"only the first {run.settings['limit']}"
    if run.settings.get("tags"):
        yield f"only the tags {', '.join(run.settings['tags'])}"
    yield f"started {run.started_at:%Y-%m-%d %H:%M:%S} UTC"
    if run.finished_at:
        yield f"finished {run.finished_at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"evalbot {run.version}"


def _endpoint(endpoint: RunEndpoint) -> Markup:
    return ROW.format(
        *(
            as_text(DASH if value is None else str(value))
            for value in (
                endpoint.name,
                endpoint.model_id,
                endpoint.hardware,
                endpoint.slots,
                endpoint.slot_context,
                endpoint.stopped_reason,
            )
        )
    )


def _kind(kind: FailureKind) -> Markup:
    told = sum(one.count for one in kind.wordings)
    rest = kind.count - told
    return KIND.format(
        status=kind.status,
        times=kind.count,
        advice="may go well when asked again" if kind.is_on_the_way else "",
        wordings=Markup("").join(_wording(one) for one in kind.wordings),
        more=Markup('<p class="quiet">{} more in other words.</p>').format(rest) if rest else "",
    )


def _wording(one: Wording) -> Markup:
    more = one.count - len(one.examples)
    return WORDING.format(
        times=one.count,
        endpoint=as_text(one.endpoint),
        words=as_text(one.words or "(the server gave no words)"),
        examples=as_text(
            ", ".join(map(_place, one.examples)) + (f" and {more} more" if more else "")
        ),
    )


def _place(place: Place) -> str:
    check = CHECK_SUFFIX if place.pass_ == 2 else ""
    return f"{place.case}{f' (repeat {place.repeat})' if place.repeat > 1 else ''}{check}"
