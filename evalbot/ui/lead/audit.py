"""Audit: is the judge right, do reviewers agree, is the ranking real, what are the true rates."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from evalbot.auditing.audit import AuditQuery, audit
from evalbot.auditing.choosing import AuditChoices, audit_choices
from evalbot.auditing.comparing import compare
from evalbot.domain.people import User
from evalbot.domain.rubrics import Layer
from evalbot.errors import EvalbotError, InputError
from evalbot.reporting.audit_charts import drawn, rates_chart
from evalbot.reporting.behind_audit import answer_behind, answers_behind_cell
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.results import Choice, quality_charts
from evalbot.reporting.truth_table import chart_rows, truth_table, truths_of
from evalbot.ui.fields import Action, number, required
from evalbot.ui.lead.audit_behind import cell_of, cell_view, one_view
from evalbot.ui.lead.audit_form import (
    AuditChoice,
    View,
    audit_form,
    choice_of,
    fitting,
    report_links,
)
from evalbot.ui.lead.audit_judge import judge_view
from evalbot.ui.lead.audit_people import people_view
from evalbot.ui.lead.audit_ranking import ranking_view
from evalbot.ui.lead.charts import pictures
from evalbot.ui.lead.parts import alert
from evalbot.ui.lead.results_form import sentence
from evalbot.ui.lead.results_table import starts_of
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.tabs import when_shown
from evalbot.ui.panel import add_panel
from evalbot.ui.table import table_html

NOTHING = (
    "There is nothing to audit yet: no run was graded by a judge or by people. evalbot judge RUN "
    "lets a judge grade one; the page Campaigns gives its answers to people."
)
NO_PEOPLE = (
    "Nobody has graded this run: there is nothing to measure the judge by. Draw a review of it on "
    "the page Campaigns."
)
NO_JUDGE = "No judge has graded this run: evalbot judge {run} lets one do so."
ONE_RUN = "Here one run is looked at: {run}."


def build_audit(site: LeadSite, tab: gr.Tab) -> None:
    """Put this page into its tab, which is being built."""
    page = AuditPage(site)
    shown = add_panel("audit", site.events, page.show)
    add_panel("audit-behind", site.events, page.behind, waiting="")
    when_shown(tab, site.events, page.first, [shown.html])


class AuditPage:
    """What the page shows, by the choice that comes with each action."""

    def __init__(self, site: LeadSite) -> None:
        self._site = site

    def first(self, _user: User) -> Markup:
        """The newest run that both a judge and people have graded."""
        return self._page(AuditChoice())

    def show(self, _user: User, action: Action) -> Markup:
        """A part of the audit of a choice."""
        return self._page(choice_of(action))

    def behind(self, _user: User, action: Action) -> Markup:
        """The answers of a cell, or a single one, or none any more."""
        database, folder = self._site.database, self._site.folder
        match action.get("do"):
            case "open":
                starts = starts_of(action)
                found = answers_behind_cell(database, folder, cell_of(action), starts[-1])
                return cell_view(found, starts)
            case "one":
                run, answer = required(action, "run"), number(action, "answer")
                if answer is None:
                    raise InputError("which answer? Load the page again")
                return one_view(run, answer, answer_behind(database, folder, run, answer))
        return Markup("")

    def _page(self, choice: AuditChoice) -> Markup:
        choices = audit_choices(self._site.database, choice.run, choice.pooled)
        if not choices.chosen:
            return sentence(NOTHING)
        choice = fitting(choice, choices)
        try:
            shown = self._view(choice, choices)
        except EvalbotError as error:
            shown = alert(str(error))
        return Markup("{}{}{}").format(audit_form(choice, choices), shown, report_links(choice))

    def _view(self, choice: AuditChoice, choices: AuditChoices) -> Markup:
        match choice.view:
            case View.RANKING:
                return self._ranking(choice)
            case View.RATES:
                return self._rates(choice)
        by_people = any(one.by_people for one in choices.chosen)
        if not by_people:
            return sentence(NO_PEOPLE)
        if choice.view is View.JUDGE and choice.judge is None:
            return sentence(NO_JUDGE.format(run=choice.run))
        query = AuditQuery(
            wished_error=choice.wished,
            names=True,
            about_judges=choice.view is View.JUDGE,
            about_people=choice.view is View.PEOPLE,
        )
        found = audit(self._site.database, choice.runs, self._site.folder, query)
        if choice.view is View.PEOPLE:
            return people_view(found)
        assert choice.judge is not None
        return judge_view(found, choice.judge, choice.figures)

    def _ranking(self, choice: AuditChoice) -> Markup:
        assert choice.run is not None
        assert choice.layer is not None
        database, folder = self._site.database, self._site.folder
        judge = choice.judge if choice.layer is Layer.JUDGE else None
        runs = [choice.run] if choice.other is None else [choice.other, choice.run]
        shown = ranking_view(compare(database, runs, folder, choice.layer, judge), choice.figures)
        if choice.figures and choice.other is None:
            query = RateQuery(choice.layer, judge)
            charts = quality_charts(database, folder, Choice((choice.run,), query))
            shown += pictures(
                {f"Quality against speed: {suite}": one for suite, one in charts.items()}
            )
        return shown + self._one_run(choice)

    def _rates(self, choice: AuditChoice) -> Markup:
        assert choice.run is not None
        if choice.judge is None:
            return sentence(NO_JUDGE.format(run=choice.run))
        found = truths_of(self._site.database, self._site.folder, choice.run, choice.judge)
        shown = table_html(truth_table(found))
        if choice.figures:
            shown += pictures(drawn({"Rates by layer": rates_chart(chart_rows(found))}))
        return shown + self._one_run(choice)

    def _one_run(self, choice: AuditChoice) -> Markup:
        return sentence(ONE_RUN.format(run=choice.run)) if choice.pooled else Markup("")
