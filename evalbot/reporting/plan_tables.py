"""What further reviews would bring, as tables and as values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalbot.auditing.planning import POLICIES, ReviewPlan
from evalbot.formats.tables import Column, Kind, Table
from evalbot.formats.words import in_a_sentence
from evalbot.stats.rounding import half_up

COUNT, NUMBER = Kind.COUNT, Kind.NUMBER


def plan_tables(found: ReviewPlan) -> list[Table]:
    """Widths to expect, where to look, and single answers."""
    return [_widths(found), _strata(found), _telling(found)]


def _widths(found: ReviewPlan) -> Table:
    rows: list[tuple[str | int | None, ...]] = [
        (
            plan.model,
            plan.judged,
            plan.reviewed,
            next((one.budget for one in plan.planned.values()), 0),
            _points(plan.width),
            *(_points(plan.planned[one].width) if one in plan.planned else None
              for one in POLICIES),
        )
        for plan in found.models
    ]  # fmt: skip
    if found.compared is not None:
        rows.append(
            (
                f"{found.compared[0]} − {found.compared[1]}", None, None, found.budget, None,
                *(_points(found.differences[one]) for one in POLICIES),
            )
        )  # fmt: skip
    return Table(
        f"{found.suite}: width of the corrected {in_a_sentence(found.rate_title)}'s interval, in "
        f"points, after {found.budget} more answers ({found.run}, judge {found.judge})",
        (
            Column("model", "model"),
            Column("judged", "judged", COUNT),
            Column("reviewed", "reviewed", COUNT),
            Column("more", "more", COUNT),
            Column("now", "now", NUMBER),
            *(Column(str(one), str(one), NUMBER) for one in POLICIES),
        ),
        tuple(rows),
        tuple(_notes(found)),
    )


def _notes(found: ReviewPlan) -> Iterator[str]:
    yield (
        "upper bound − lower bound of the 95 % interval, as it is expected on average; reviewed: "
        "drawn and graded so far, taken as drawn by the same policy; grades that no draw asked for "
        "tell of the judge's errors and count for nothing else"
    )
    told: dict[str, list[str]] = {}
    for plan in found.models:
        for policy, one in plan.planned.items():
            if one.reason is not None:
                told.setdefault(one.reason, []).append(f"{plan.model} ({policy})")
    for reason, where in told.items():
        yield f"{', '.join(where)}: {reason}"
    if found.compared is not None:
        yield "the difference of two models: their widths are taken as independent"
    yield (
        f"drawn by: evalbot assign {found.run} --layout single --policy POLICY "
        f"--budget {found.budget} --reviewers NAMES"
    )
    if any(plan.reviewed for plan in found.models):
        yield (
            f"where a campaign is there, extend it instead (evalbot assign {found.run} --extend "
            f"CAMPAIGN --policy POLICY --budget {found.budget}): a new one may draw what is "
            "reviewed already, and then brings less than this table says"
        )


def _strata(found: ReviewPlan) -> Table:
    return Table(
        f"{found.suite}: where reviews make the interval narrower most",
        (
            Column("model", "model"),
            Column("verdict", "judge says"),
            Column("answers", "answers", COUNT),
            Column("reviewed", "reviewed", COUNT),
            Column("spread", "expected error", NUMBER),
            Column("share", "of the budget", COUNT),
        ),
        tuple(
            (plan.model, one.stratum, one.answers, one.reviewed, half_up(one.error_spread, 2),
             one.share)
            for plan in found.models
            for one in plan.strata
        ),
        (
            "expected error: standard deviation of people − judge in the rate's weights; where "
            "nobody has looked, part of it is assumed",
        ),
    )  # fmt: skip


def _telling(found: ReviewPlan) -> Table:
    return Table(
        f"{found.suite}: the open answers on which people are likeliest to differ from the judge",
        (
            Column("case", "case"),
            Column("model", "model"),
            Column("repeat", "repeat", COUNT),
            Column("verdict", "judge says"),
            Column("error", "expected error", NUMBER),
        ),
        tuple(
            (one.case, one.model, one.repeat, one.verdict, half_up(one.error, 2))
            for one in found.telling
        ),
        (
            "picked by hand they would count for audits only: corrected rates need a draw "
            "(--policy uncertain draws these more often than others)",
        ),
    )


def plan_values(found: ReviewPlan) -> dict[str, Any]:
    """The same for programs; widths are fractions."""
    return {
        "run": found.run,
        "suite": found.suite,
        "judge": found.judge,
        "budget": found.budget,
        "models": [
            {
                "model": plan.model,
                "judged": plan.judged,
                "reviewed": plan.reviewed,
                "width": plan.width,
                "planned": {
                    str(policy): {"budget": one.budget, "width": one.width, "reason": one.reason}
                    for policy, one in plan.planned.items()
                },
                "strata": [
                    {
                        "verdict": one.stratum,
                        "answers": one.answers,
                        "reviewed": one.reviewed,
                        "expected_error": one.error_spread,
                        "share": one.share,
                    }
                    for one in plan.strata
                ],
            }
            for plan in found.models
        ],
        "compared": None if found.compared is None else list(found.compared),
        "differences": {str(policy): width for policy, width in found.differences.items()},
        "telling": [one._asdict() for one in found.telling],
    }


def _points(width: float | None) -> str | None:
    return None if width is None else half_up(width * 100, 1)
