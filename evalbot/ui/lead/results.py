"""Results: the rate table, its charts, and the answers behind every cell."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from evalbot.domain.people import User
from evalbot.errors import EvalbotError, NotFoundError
from evalbot.reporting.behind import answers_behind
from evalbot.reporting.results import Choice, quality_charts, results, run_choices
from evalbot.ui.fields import Action, text
from evalbot.ui.lead.behind_view import behind_view
from evalbot.ui.lead.charts import charts_html
from evalbot.ui.lead.results_form import (
    choice_of,
    download_links,
    fields_of,
    results_form,
    sentence,
)
from evalbot.ui.lead.results_table import cell_of, rate_tables, starts_of
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import action_attribute, add_panel

DOWNLOAD = "/lead/download/rates"


def build_results(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""
    page = ResultsPage(site)
    shown = add_panel("results", site.events, page.show)
    add_panel("charts", site.events, page.charts, waiting="")
    add_panel("behind", site.events, page.behind, waiting="")
    when_shown(tab, site.events, page.first, [shown.html])


class ResultsPage:
    """What the page shows, by the choice that comes with each action."""

    def __init__(self, site: LeadSite) -> None:
        self._site = site

    def first(self, _user: User) -> Markup:
        """The newest run of each suite, by its rubric's own scorer."""
        try:
            return self._page(Choice())
        except EvalbotError as error:
            return sentence(str(error))

    def show(self, _user: User, action: Action) -> Markup:
        """The table of a choice."""
        choice = choice_of(action)
        try:
            return self._page(choice)
        except NotFoundError:
            # Runs of the suite that was chosen before fit no other one.
            return self._page(Choice(query=choice.query))

    def charts(self, _user: User, action: Action) -> Markup:
        """Quality against speed of a choice, or nothing any more."""
        if action.get("do") != "draw":
            return Markup("")
        choice = choice_of(action)
        return charts_html(
            "Quality against speed",
            quality_charts(self._site.database, self._site.folder, choice),
        )

    def behind(self, _user: User, action: Action) -> Markup:
        """The answers that a cell counts, or none any more."""
        if action.get("do") != "open" or text(action, "run") is None:
            return Markup("")
        starts = starts_of(action)
        found = answers_behind(self._site.database, self._site.folder, cell_of(action), starts[-1])
        return behind_view(found, starts)

    def _page(self, choice: Choice) -> Markup:
        found = results(self._site.database, self._site.folder, choice, is_strict=False)
        fields = fields_of(found.choice)
        draw = Markup('<button data-panel="charts" {}>Draw quality against speed</button>').format(
            action_attribute(do="draw", **fields)
        )
        return Markup('{}{}<div class="row below">{}{}</div>').format(
            results_form(run_choices(self._site.database), found),
            rate_tables(found.rows),
            download_links(DOWNLOAD, fields),
            draw,
        )
