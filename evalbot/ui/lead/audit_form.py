"""What a lead chooses of an audit: runs, judge, which part of it; the form, and what it sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlencode

from markupsafe import Markup

from evalbot.auditing.choosing import AuditChoices
from evalbot.auditing.scores import usual_judge
from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError
from evalbot.store.run_lists import GradedRun, RunName
from evalbot.ui.choices import boxes, options
from evalbot.ui.fields import Action, share, text, texts, word
from evalbot.ui.lead.results_form import LAYERS
from evalbot.ui.panel import action_attribute, keyed
from evalbot.ui.text import as_text

WISHED_ERROR = 0.05


class View(StrEnum):
    """The parts of the page."""

    JUDGE = "judge"
    PEOPLE = "people"
    RANKING = "ranking"
    RATES = "rates"


TITLES = {
    View.JUDGE: "Is the judge right?",
    View.PEOPLE: "Reviewers and automatic verdicts",
    View.RANKING: "Is the ranking real?",
    View.RATES: "Rates with truth",
}


@dataclass(frozen=True, slots=True)
class AuditChoice:
    """run: the one that is looked at; None: the usual one. pooled: others of its suite with it.

    layer, other: of the ranking; other: the earlier run that this one is a retest of.
    """

    run: str | None = None
    pooled: tuple[str, ...] = ()
    judge: str | None = None
    view: View = View.JUDGE
    layer: Layer | None = None
    other: str | None = None
    wished: float = WISHED_ERROR
    figures: bool = False

    @property
    def runs(self) -> tuple[str, ...]:
        """All of them, the one that is looked at first."""
        return (() if self.run is None else (self.run,)) + self.pooled


def choice_of(action: Action) -> AuditChoice:
    """The choice that a button or the form sent; InputError for what no page can have sent."""
    wished = WISHED_ERROR if text(action, "wished") is None else share(action, "wished")
    if not 0 <= wished < 1:
        raise InputError("the wished error is a share of answers: from 0 to under 100 %")
    return AuditChoice(
        run=text(action, "run"),
        pooled=texts(action, "pooled"),
        judge=text(action, "judge"),
        view=View.JUDGE if text(action, "view") is None else word(action, "view", View),
        layer=None if text(action, "layer") is None else word(action, "layer", Layer),
        other=text(action, "other"),
        wished=wished,
        figures=text(action, "figures") is not None,
    )


def fields_of(choice: AuditChoice) -> dict[str, str | list[str]]:
    """The same as an action's fields; `choice_of` reads it back."""
    found: dict[str, str | list[str] | None] = {
        "run": choice.run,
        "pooled": list(choice.pooled),
        "judge": choice.judge,
        "view": str(choice.view),
        "layer": None if choice.layer is None else str(choice.layer),
        "other": choice.other,
        "wished": None if choice.wished == WISHED_ERROR else f"{choice.wished * 100:g}",
        "figures": "yes" if choice.figures else None,
    }
    return {name: value for name, value in found.items() if value}


def fitting(choice: AuditChoice, choices: AuditChoices) -> AuditChoice:
    """The choice without what these runs do not have, and with what is usual for the rest."""
    run = choices.chosen[0] if choices.chosen else None
    if run is None:
        return AuditChoice(view=choice.view)
    is_known = choice.judge in choices.judges
    layer = choice.layer or (
        Layer.JUDGE if choices.judges else Layer.HUMAN if run.by_people else Layer.AUTO
    )
    if layer is Layer.JUDGE and not choices.judges:
        layer = Layer.HUMAN
    return replace(
        choice,
        run=run.run,
        pooled=tuple(one.run for one in choices.chosen[1:]),
        judge=choice.judge if is_known else usual_judge(choices.judges) if choices.judges else None,
        layer=layer,
        other=choice.other if choice.other in [one.run for one in choices.earlier] else None,
    )


FORM = Markup('<form {act} data-live class="fields">{fields}{many}</form>')
LABEL = Markup("<label>{} {}</label>")
SELECT = Markup('<select name="{}">{}</select>')
GROUP = Markup('<optgroup label="{}">{}</optgroup>')
FIGURES = Markup(
    '<label class="choice"><input type="checkbox" name="figures" value="yes"{}>'
    " Draw figures</label>"
)
WISHED = Markup(
    '<label>Wished error, % <input type="number" name="wished" min="0" max="99" step="any"'
    ' value="{}" data-fresh="{}"></label>'
)
MANY = Markup(
    '<details class="many"{}><summary>Pool with other runs of the suite: {}</summary>'
    '<div class="choices">{}</div></details>'
)
VIEW = Markup("<button {act}{current}>{title}</button>")
LINK = Markup('<a class="button" href="{}" download>{}</a>')


def audit_form(choice: AuditChoice, choices: AuditChoices) -> Markup:
    """The parts of the page, and the form of the one that is looked at."""
    fields = [LABEL.format("Run", SELECT.format("run", _runs(choices.runs, choice.run)))]
    names = ["run", "pooled"]
    if choice.view is View.RANKING:
        layers = [(layer, words) for layer, words in LAYERS.items()
                  if layer is not Layer.JUDGE or choices.judges]  # fmt: skip
        fields.append(
            LABEL.format("Layer", SELECT.format("layer", options(layers, str(choice.layer))))
        )
        names.append("layer")
    if choices.judges and _asks_for_judge(choice):
        found = [(name, name) for name in choices.judges]
        fields.append(
            LABEL.format("Judge", SELECT.format("judge", options(found, choice.judge or "")))
        )
        names.append("judge")
    if choice.view is View.RANKING and choices.earlier:
        fields.append(LABEL.format("Compare", SELECT.format("other", _others(choice, choices))))
        names.append("other")
    if choice.view is View.PEOPLE:
        wished = f"{choice.wished * 100:g}"
        fields.append(WISHED.format(wished, wished))
        names.append("wished")
    else:
        fields.append(FIGURES.format(Markup(" checked") if choice.figures else ""))
        names.append("figures")
    kept = {name: value for name, value in fields_of(choice).items() if name not in names}
    form = FORM.format(
        act=action_attribute(do="show", **kept),
        fields=Markup("").join(fields),
        many=_pool(choice, choices),
    )
    key = (choice.run, choice.pooled, choice.judge, choice.view, choice.layer, choice.other,
           choice.figures, choices.judges, choices.runs)  # fmt: skip
    return _views(choice) + keyed(key, form)


def report_links(choice: AuditChoice) -> Markup:
    """What can be taken away of the chosen runs."""
    runs = [("runs", run) for run in choice.runs]
    links = [
        ("/lead/download/report", "html", "report as HTML"),
        ("/lead/download/report", "md", "report as Markdown"),
        ("/lead/download/audit", "json", "audit as JSON"),
    ]
    return Markup('<div class="row downloads"><span class="quiet">Download</span>{}</div>').format(
        Markup("").join(
            LINK.format(f"{path}?{urlencode([*runs, ('format', form)])}", words)
            for path, form, words in links
        )
    )


def _asks_for_judge(choice: AuditChoice) -> bool:
    if choice.view is View.RANKING:
        return choice.layer is Layer.JUDGE
    return choice.view in (View.JUDGE, View.RATES)


def _views(choice: AuditChoice) -> Markup:
    return Markup('<nav class="row views" aria-label="Parts of the audit">{}</nav>').format(
        Markup("").join(
            VIEW.format(
                act=action_attribute(do="show", **fields_of(replace(choice, view=view))),
                current=Markup(' class="main" aria-current="page"') if view is choice.view else "",
                title=title,
            )
            for view, title in TITLES.items()
        )
    )


def _runs(runs: Sequence[GradedRun], chosen: str | None) -> Markup:
    """The runs by suite, those with everything to audit first told so."""
    suites = sorted({one.suite for one in runs})
    return Markup("").join(
        GROUP.format(
            suite,
            options([(one.run, _called(one)) for one in runs if one.suite == suite], chosen or ""),
        )
        for suite in suites
    )


def _called(one: GradedRun) -> str:
    graded = " and ".join(
        words for words, is_so in (("judge", one.by_judge), ("people", one.by_people)) if is_so
    )
    return f"{one.run} {one.label or ''} ({graded})".replace("  ", " ")


def _others(choice: AuditChoice, choices: AuditChoices) -> Markup:
    def called(one: RunName) -> str:
        return f"with {one.run} {one.label or ''}".strip() + ": what has changed"

    found = [("", "the models of this run"), *((one.run, called(one)) for one in choices.earlier)]
    return options(found, choice.other or "")


def _pool(choice: AuditChoice, choices: AuditChoices) -> Markup:
    if choice.view not in (View.JUDGE, View.PEOPLE):
        return Markup("")
    suite = choices.chosen[0].suite
    others = [one for one in choices.runs if one.suite == suite and one.run != choice.run]
    if not others:
        return Markup("")
    told = f"{len(choice.pooled)} of {len(others)}" if choice.pooled else "none"
    found = [(one.run, f"{one.label or ''} {one.started_at:%Y-%m-%d %H:%M}") for one in others]
    is_open = Markup(" open") if choice.pooled else Markup("")
    return MANY.format(is_open, as_text(told), boxes("pooled", found, choice.pooled))
