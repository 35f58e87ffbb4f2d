"""`evalbot show`: read answers in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalbot.cli.printing import printable
from evalbot.cli.site import ConfigOption, DatabaseOption, open_site, split_list
from evalbot.formats.fields import CHECK_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalbot.domain.runs import NewGrade
    from evalbot.reporting.answers import ShownAnswer

DASH = "–"
LONGEST_WORDS = 600
"""Characters of a judge's words that are shown; an export has all."""

LABEL = 16
"""Columns that a label takes."""

EXAMPLE = "Example: evalbot show translation-20261130-7f3a1c --model qwen --verdict wrong"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show", epilog=EXAMPLE)(show)


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run to read.")],
    model: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    case: Annotated[str | None, typer.Option(help="Only these cases.")] = None,
    verdict: Annotated[
        str | None,
        typer.Option(help="Only these verdicts, of any layer, or reasons for having none."),
    ] = None,
    status: Annotated[str | None, typer.Option(help="Only these statuses, e.g. truncated.")] = None,
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Show the thinking too.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many answers.")] = None,
    config: ConfigOption = None,
    database: DatabaseOption = None,
) -> None:
    """Read the answers of RUN: prompt, references, what each model said, and its grade."""
    from evalbot.reporting.answers import AnswerFilter, shown_answers

    wanted = AnswerFilter(
        split_list(model), split_list(case), split_list(verdict), split_list(status), limit
    )
    count = 0
    with open_site(config, database) as (_, opened):
        last_case = None
        for answer in shown_answers(opened, run, wanted):
            if answer.case.key != last_case:
                _print_case(answer)
                last_case = answer.case.key
            _print_answer(answer, reasoning)
            count += 1
    if not count:
        typer.echo("no answer fits these filters", err=True)


def _print_case(answer: ShownAnswer) -> None:
    from rich.console import Console
    from rich.rule import Rule

    console = Console()
    console.print()
    console.print(Rule(answer.case.key, align="left"))
    _field("prompt", answer.question)
    for name in ("references", "acceptable", "traps"):
        texts = getattr(answer.case, name)
        if texts:
            _field(name, "\n".join(texts))


def _print_answer(answer: ShownAnswer, reasoning: bool) -> None:
    recorded = answer.recorded.answer
    place = answer.recorded.place
    head = [place.endpoint]
    if place.repeat > 1:
        head.append(f"repeat {place.repeat}")
    if place.pass_ > 1:
        head[0] += CHECK_SUFFIX
    head.append(answer.verdict or f"unscored: {answer.unscored_reason or 'not graded'}")
    if answer.ratio is not None:
        head.append(f"ratio {answer.ratio:.1f}")
    if answer.chrf is not None:
        head.append(f"chrF {answer.chrf:.1f}")
    if answer.flags:
        head.append(", ".join(answer.flags))
    typer.echo()
    typer.secho("  " + " · ".join(head), bold=True)
    if recorded.error_detail:
        _field("  why", recorded.error_detail)
    if reasoning and recorded.reasoning:
        _field("  thinking", recorded.reasoning)
    _field("  answer", recorded.text or "–")
    newest = {(grade.layer, grade.grader): grade for grade in answer.others}
    for grade in answer.others:
        if not _is_repeated(grade, answer.others):
            _print_grade(grade, newest[grade.layer, grade.grader] is grade)


def _is_repeated(grade: NewGrade, others: Sequence[NewGrade]) -> bool:
    """Whether this is a judge's only vote, and brought a verdict: the judge's own grade says it."""
    return (
        grade.vote == 1
        and grade.verdict is not None
        and not any(other.vote not in (None, 1) for other in others)
    )


def _print_grade(grade: NewGrade, counts: bool) -> None:
    evidence = grade.evidence or {}
    said = grade.verdict or f"unscored: {grade.unscored_reason}"
    if not counts:
        said += " (replaced since)"
    votes = evidence.get("votes")
    if votes and sum(votes.values()) > 1:
        said += f" [{', '.join(f'{number} {word}' for word, number in sorted(votes.items()))}]"
    flags = evidence.get("flags")
    marks = f" ({', '.join(flags)})" if flags else ""
    why = f" – {grade.rationale}" if grade.rationale else ""
    _field(f"  {grade.layer}", f"{grade.grader}: {said}{marks}{why}")
    for line in grade.checkpoints or ():
        met = {True: "yes", False: "no"}.get(line["met"], DASH)
        quote = f" – “{line['quote']}”" if line["quote"] else ""
        _field("", f"{line['id']}: {met}{quote}")
    for name, label in (("detail", "why"), ("raw", "its words")):
        if evidence.get(name) and grade.vote is not None:
            words = str(evidence[name])
            cut = words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]} …"
            _field("", f"{label}: {cut}")


def _field(name: str, text: str) -> None:
    lines = printable(text).splitlines() or [""]
    typer.echo(f"{name + ':' if name else '':<{LABEL}}{lines[0]}")
    for line in lines[1:]:
        typer.echo(f"{'':<{LABEL}}{line}")
