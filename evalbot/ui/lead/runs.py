"""Runs: started, watched, stopped, taken up again; what failed, and asked again."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from evalbot.domain.people import User
from evalbot.errors import EvalbotError
from evalbot.reporting.failures import run_outcome
from evalbot.reporting.runs import live_runs, run_lines
from evalbot.ui.fields import Action, text, texts
from evalbot.ui.lead.run_detail import run_detail
from evalbot.ui.lead.run_form import run_form, selection_of
from evalbot.ui.lead.run_list import live_list, run_list
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import add_panel
from evalbot.ui.text import as_text

TICK_S = 1.0
LOOKED_AT = """() => {
  const list = document.getElementById("panel-runs");
  const open = document.querySelector("#panel-run [data-run]");
  return [{ shown: list !== null && list.offsetParent !== null, run: open?.dataset.run ?? "" }, null];
}"""  # noqa: E501
"""What a tick tells the server: whether this page is in view, and which run is open."""


def build_runs(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""
    page = RunsPage(site)
    form = gr.HTML(elem_id="panel-runs-new")
    live = gr.HTML(elem_id="panel-runs-live")
    opened = add_panel("run", site.events, page.open, waiting="")
    runs = add_panel("runs", site.events, page.act)
    looked_at, seen = gr.JSON(visible=False), gr.State("")
    timer = gr.Timer(TICK_S, active=False)
    timer.tick(
        site.events.guarded(page.tick),
        [looked_at, seen],
        [live, runs.html, opened.html, seen, timer],
        js=LOOKED_AT,
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    when_shown(tab, site.events, page.show, [form, live, runs.html, timer])


class RunsPage:
    """What the page shows and does; the database and the server's own runs are the truth."""

    def __init__(self, site: LeadSite) -> None:
        self._site = site

    def show(self, _user: User) -> tuple[Any, ...]:
        """The whole page, when it comes into view."""
        return self._form(), self._live(), self._list(), gr.Timer(active=True)

    def tick(self, _user: User, looked_at: Any, seen: str) -> tuple[Any, ...]:
        """What moves; the list only when a run has begun or ended. Stops when nobody looks."""
        looked_at = looked_at if isinstance(looked_at, dict) else {}
        if not looked_at.get("shown"):
            return gr.skip(), gr.skip(), gr.skip(), gr.skip(), gr.Timer(active=False)
        now = self._what_runs()
        if now == seen:
            return self._live(), gr.skip(), gr.skip(), gr.skip(), gr.skip()
        run = looked_at.get("run")
        opened = self._detail(str(run)) if run else gr.skip()
        return self._live(), self._list(), opened, now, gr.skip()

    def act(self, _user: User, action: Action) -> Markup:
        """Start, stop, resume, or ask again what failed; then the list as it is now."""
        work, run = self._site.runs, text(action, "run") or ""
        match action.get("do"):
            case "start":
                work.start(self._site.config(), texts(action, "suites"), selection_of(action))
            case "stop":
                work.stop(run)
            case "resume":
                work.resume(self._site.config(), run)
            case "retry":
                work.resume(self._site.config(), run, retry_failed=True)
        return self._list()

    def open(self, _user: User, action: Action) -> Markup:
        """One run, or none."""
        run = text(action, "run")
        return Markup("") if run is None else self._detail(run)

    def _form(self) -> Markup:
        try:
            return run_form(self._site.config())
        except EvalbotError as error:
            return Markup('<p class="bad text" role="alert">{}</p>').format(as_text(str(error)))

    def _live(self) -> Markup:
        return live_list(self._site.runs.jobs(), live_runs(self._site.database))

    def _list(self) -> Markup:
        lines = run_lines(self._site.database, count_unscored=False)
        return run_list(lines, self._site.runs.jobs())

    def _detail(self, run: str) -> Markup:
        job = self._site.runs.job(run)
        elsewhere = any(one.run == run for one in live_runs(self._site.database))
        is_worked_on = elsewhere or (job is not None and not job.is_over)
        return run_detail(run_outcome(self._site.database, run), is_worked_on)

    def _what_runs(self) -> str:
        """Changes when a run begins or ends, here or elsewhere."""
        here = [f"{job.number}:{job.state}" for job in self._site.runs.jobs()]
        return " ".join([*here, *(one.run for one in live_runs(self._site.database))])
