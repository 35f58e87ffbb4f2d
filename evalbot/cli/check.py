"""`evalbot check`: config, suites, rubrics, and each endpoint."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.site import ConfigOption, DatabaseOption, open_record, read_site, split_list
from evalbot.errors import ProblemsError

if TYPE_CHECKING:
    from evalbot.running.checking import EndpointReport

EXAMPLE = "Example: evalbot check --endpoints qwen"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check", epilog=EXAMPLE)(check)


def check(
    endpoints: Annotated[str | None, typer.Option(help="Only these endpoints.")] = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Check the config, the suites and rubrics, and whether each endpoint can be asked."""
    from evalbot.formats.words import count
    from evalbot.running.checking import (
        check_endpoints,
        check_files,
        crowded,
        servers_of,
        shared_addresses,
    )
    from evalbot.running.prepare import choose_endpoints

    settings = read_site(config, required=True)
    told = f"{count(len(settings.endpoints), 'endpoint')}, {count(len(settings.judges), 'judge')}"
    typer.echo(f"config: {told}: ok")
    for judge in settings.judges:
        variable = judge.api_key_env
        if variable is not None and not os.environ.get(variable, "").strip():
            typer.echo(f"judge {judge.name}: warning: the variable {variable} is not set")
    files = check_files(settings.folder)
    for line in files.lines:
        typer.echo(line)
    if database is not None or settings.endpoints:
        open_record(settings, database, make=True).close()
        typer.echo("database: ok")
    reports: list[EndpointReport] = []
    if settings.endpoints:
        chosen = choose_endpoints(settings, split_list(endpoints))
        reports = asyncio.run(check_endpoints(chosen))
        for report in reports:
            _print(report)
        for warning in shared_addresses(chosen):
            typer.echo(warning)
    else:
        typer.echo("endpoints: none yet; add one to evalbot.yaml")
    judges = asyncio.run(check_endpoints(servers_of(settings.judges)))
    for report in judges:
        _print(report)
    for warning in crowded(settings.judges, judges):
        typer.echo(warning)
    reports += judges
    if files.problems:
        raise ProblemsError(files.problems)
    if any(report.error for report in reports):
        raise typer.Exit(1)


def _print(report: EndpointReport) -> None:
    if report.facts is None:
        typer.echo(f"{report.name}: NOT READY: {report.error}")
        return
    facts, loaded = report.facts, report.facts.loaded
    slots = f"{facts.slots} slots" if facts.slots else "slots unknown"
    context = (
        f"{facts.slot_context} tokens of context each"
        if facts.slot_context
        else "context per slot unknown"
    )
    switch = {True: "yes", False: "no", None: "unknown"}[facts.thinking_switch]
    typer.echo(
        f"{report.name}: ok: model {loaded.id}, family {loaded.family or '–'}, "
        f"{loaded.quantisation or '–'}, {slots}, {context}, thinking switch: {switch}"
    )
    for warning in facts.warnings:
        typer.echo(f"{report.name}: warning: {warning}")
    if not facts.can_count:
        typer.echo(f"{report.name}: note: this server does not count prompts beforehand")
