"""Files that leads take away; under the leads' mount, so that the guard asks for the role."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from evalbot.auditing.audit import audit
from evalbot.errors import EvalbotError, InputError, NotFoundError
from evalbot.formats.documents import to_html, to_markdown
from evalbot.formats.problems import one_of, shown
from evalbot.formats.tables import FORMATS, Table, render
from evalbot.reporting import rate_table, speed_table
from evalbot.reporting.audit_values import audit_values
from evalbot.reporting.report.report import make_report
from evalbot.reporting.results import results
from evalbot.speed.results import speed_results
from evalbot.ui.fields import Action, text, texts
from evalbot.ui.lead.results_form import choice_of
from evalbot.ui.lead.site import LeadSite
from evalbot.ui.lead.speed_form import is_wide, query_of

KINDS = {
    "md": ("md", "text/markdown; charset=utf-8"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "json": ("json", "application/json"),
    "xlsx": ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "html": ("html", "text/html; charset=utf-8"),
    "latex": ("tex", "application/x-tex; charset=utf-8"),
}
PEOPLE = frozenset({"md", "html", "latex", "xlsx"})


def download_routes(site: LeadSite) -> APIRouter:
    """`/lead/download/...`."""
    router = APIRouter(prefix="/lead/download")

    @router.get("/rates")
    def rates(request: Request) -> Response:
        action = _action(request)

        def tables(form: str) -> Sequence[Table]:
            choice = choice_of(action)
            rows = results(site.database, site.folder, choice, is_strict=True).rows
            if form in PEOPLE:
                return rate_table.people_tables(rows, symbols=form != "latex")
            return [rate_table.machine_table(rows)]

        return _file(f"rates-{text(action, 'layer') or 'auto'}", action, tables)

    @router.get("/speeds")
    def speeds(request: Request) -> Response:
        action = _action(request)

        def tables(form: str) -> Sequence[Table]:
            found = speed_results(site.database, site.config(), query_of(action))
            if is_wide(action):
                return [speed_table.wide_table(found.rows, found.notes)]
            if form in PEOPLE:
                return speed_table.people_tables(found.rows, found.notes)
            return [speed_table.machine_table(found.rows)]

        return _file("speeds-wide" if is_wide(action) else "speeds", action, tables)

    @router.get("/report")
    def report(request: Request) -> Response:
        action = _action(request)

        def written(form: str) -> str:
            document = make_report(site.database, site.config(), texts(action, "runs"))
            return to_html(document) if form == "html" else to_markdown(document)

        return _document("report", action, ("html", "md"), written)

    @router.get("/audit")
    def audited(request: Request) -> Response:
        action = _action(request)

        def written(_form: str) -> str:
            found = audit(site.database, texts(action, "runs"), site.folder)
            return json.dumps(audit_values(found), ensure_ascii=False, indent=1) + "\n"

        return _document("audit", action, ("json",), written)

    return router


def _action(request: Request) -> Action:
    query = request.query_params
    return {name: query.getlist(name) for name in query}


def _file(stem: str, action: Action, tables: Callable[[str], Sequence[Table]]) -> Response:
    def written(form: str) -> bytes:
        return render(*tables(form), form=form, to_file=True)

    return _document(stem, action, FORMATS, written, usual="csv")


def _document(
    stem: str,
    action: Action,
    forms: Sequence[str],
    written: Callable[[str], str | bytes],
    usual: str | None = None,
) -> Response:
    """What is written in one of these forms; without one asked for, the usual or first one."""
    form = text(action, "format") or usual or forms[0]
    try:
        if form not in forms:
            raise InputError(f"format: found {shown(form)}; expected {one_of(forms, form)}")
        data = written(form)
    except EvalbotError as error:
        status = 404 if isinstance(error, NotFoundError) else 400
        status = status if isinstance(error, InputError) else 500
        return PlainTextResponse(f"{error}\n", status)
    ending, kind = KINDS[form]
    return Response(
        data,
        media_type=kind,
        headers={"content-disposition": f'attachment; filename="{stem}.{ending}"'},
    )
