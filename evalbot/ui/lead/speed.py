"""Speed: the speed table and its charts."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from evalbot.domain.people import User
from evalbot.errors import EvalbotError
from evalbot.reporting.speed_charts import speed_charts
from evalbot.reporting.speed_table import people_tables, wide_table
from evalbot.speed.results import SpeedQuery, speed_results
from evalbot.ui.fields import Action
from evalbot.ui.lead.charts import charts_html
from evalbot.ui.lead.results_form import download_links, sentence
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.speed_form import fields_of, is_wide, query_of, speed_form
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import action_attribute, add_panel
from evalbot.ui.table import table_html

DOWNLOAD = "/lead/download/speeds"


def build_speed(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""
    page = SpeedPage(site)
    shown = add_panel("speed", site.events, page.show)
    add_panel("speed-charts", site.events, page.charts, waiting="")
    when_shown(tab, site.events, page.first, [shown.html])


class SpeedPage:
    """What the page shows, by the choice that comes with each action."""

    def __init__(self, site: LeadSite) -> None:
        self._site = site

    def first(self, _user: User) -> Markup:
        """Everything that was measured and imported."""
        try:
            return self._page(SpeedQuery(), wide=False)
        except EvalbotError as error:
            return sentence(str(error))

    def show(self, _user: User, action: Action) -> Markup:
        """The table of a choice."""
        return self._page(query_of(action), wide=is_wide(action))

    def charts(self, _user: User, action: Action) -> Markup:
        """Throughput, first token, and quality against speed; or nothing any more."""
        if action.get("do") != "draw":
            return Markup("")
        config, query = self._site.config(), query_of(action)
        rows = speed_results(self._site.database, config, query).rows
        return charts_html("Speed", speed_charts(self._site.database, config, rows, query.models))

    def _page(self, query: SpeedQuery, *, wide: bool) -> Markup:
        database, config = self._site.database, self._site.config()
        everything = speed_results(database, config, SpeedQuery())
        if not everything.rows:
            return sentence(
                "There are no speed results yet: evalbot speed measures some, "
                "evalbot import speed brings others' in."
            )
        found = everything if query == SpeedQuery() else speed_results(database, config, query)
        if not found.rows:
            tables = sentence("No result fits all of these.")
        elif wide:
            tables = table_html(wide_table(found.rows, found.notes))
        else:
            tables = Markup("").join(map(table_html, people_tables(found.rows, found.notes)))
        fields = fields_of(query, wide)
        draw = Markup('<button data-panel="speed-charts" {}>Draw charts</button>').format(
            action_attribute(do="draw", **fields)
        )
        return Markup('{}{}<div class="row below">{}{}</div>').format(
            speed_form(everything.rows, query, wide), tables, download_links(DOWNLOAD, fields), draw
        )
