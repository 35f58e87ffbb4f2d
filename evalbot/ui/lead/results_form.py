"""What a lead chooses to read: the form, and the choice it makes; downloads take the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from markupsafe import Markup

from evalbot.domain.rubrics import Layer
from evalbot.errors import InputError
from evalbot.formats.problems import one_of, shown
from evalbot.formats.tables import FORMATS
from evalbot.reporting.rate_rows import RateQuery
from evalbot.reporting.results import Choice, Results
from evalbot.store.run_lists import RunName
from evalbot.ui.choices import boxes, options
from evalbot.ui.fields import Action, text, texts
from evalbot.ui.panel import action_attribute, keyed
from evalbot.ui.text import as_text

MOST_RUNS = 200
BY_TAG = "*"
LAYERS = {
    Layer.AUTO: "auto: by the rubric",
    Layer.JUDGE: "judge",
    Layer.HUMAN: "human: reviewers",
    Layer.ADJUDICATED: "adjudicated: leads",
}
FORM = Markup("""\
<form {act} data-live class="fields">
<label>Suite <select name="suites">{suites}</select></label>
<label>Layer <select name="layer">{layers}</select></label>
{judge}
<label>Cases <select name="tag">{tags}</select></label>
<details class="many"{open_runs}><summary>Runs: {runs_said}</summary>
<div class="choices">{runs}</div></details>
<details class="many"{open_models}><summary>Models: {models_said}</summary>
<div class="choices">{models}</div></details>
</form>
""")
DOWNLOAD = Markup('<a class="button" href="{}" download>{}</a>')


def choice_of(action: Action) -> Choice:
    """The choice in a form's fields or a download's address; InputError for an unknown layer."""
    layer, tag = text(action, "layer") or str(Layer.AUTO), text(action, "tag")
    if layer not in list(Layer):
        raise InputError(f"layer: found {shown(layer)}; expected {one_of(list(Layer), layer)}")
    return Choice(
        runs=texts(action, "runs"),
        query=RateQuery(
            layer=Layer(layer),
            judge=text(action, "judge") if layer == Layer.JUDGE else None,
            by_tag=tag == BY_TAG,
            models=texts(action, "models"),
            suites=texts(action, "suites"),
        ),
        tag=None if tag == BY_TAG else tag,
    )


def fields_of(choice: Choice) -> dict[str, str | list[str]]:
    """The same as the form's fields; `choice_of` reads it back."""
    query = choice.query
    found: dict[str, str | Sequence[str] | None] = {
        "runs": choice.runs,
        "suites": query.suites,
        "layer": str(query.layer),
        "judge": query.judge,
        "tag": BY_TAG if query.by_tag else choice.tag,
        "models": query.models,
    }
    return {
        name: value if isinstance(value, str) else list(value)
        for name, value in found.items()
        if value
    }


def results_form(names: Sequence[RunName], found: Results) -> Markup:
    """The form, with what is chosen now."""
    choice, query = found.choice, found.choice.query
    suites = sorted({name.suite for name in names})
    runs = [
        (name.run, f"{name.label or ''} {name.started_at:%Y-%m-%d %H:%M}".strip())
        for name in names
        if not query.suites or name.suite in query.suites
    ][:MOST_RUNS]
    form = FORM.format(
        act=action_attribute(do="show"),
        suites=options(
            [("", "all suites"), *((name, name) for name in suites)], "".join(query.suites[:1])
        ),
        layers=options(((str(layer), words) for layer, words in LAYERS.items()), str(query.layer)),
        judge=_judge(found) if query.layer is Layer.JUDGE else "",
        tags=options(
            [("", "all together"), (BY_TAG, "by tag"), *((tag, tag) for tag in found.tags)],
            BY_TAG if query.by_tag else choice.tag or "",
        ),
        runs=boxes("runs", runs, choice.runs),
        runs_said=f"{len(choice.runs)} chosen" if choice.runs else "the newest of each suite",
        open_runs=_open(choice.runs),
        models=boxes("models", ((name, "") for name in found.models), query.models),
        models_said=f"{len(query.models)} of {len(found.models)}" if query.models else "all",
        open_models=_open(query.models),
    )
    key = (suites, runs, found.models, found.tags, found.judges, query.layer is Layer.JUDGE)
    return keyed(key, form)


def download_links(path: str, fields: dict[str, str | list[str]]) -> Markup:
    """A link for each format, to what is shown now."""
    return Markup('<div class="row downloads"><span class="quiet">Download</span>{}</div>').format(
        Markup("").join(
            DOWNLOAD.format(f"{path}?{urlencode({**fields, 'format': form}, doseq=True)}", form)
            for form in FORMATS
        )
    )


def _judge(found: Results) -> Markup:
    choices: Iterable[tuple[str, str]] = [
        ("", "the majority of all"),
        *((name, name) for name in found.judges),
    ]
    return Markup('<label>Judge <select name="judge">{}</select></label>').format(
        options(choices, found.choice.query.judge or "")
    )


def _open(chosen: Sequence[str]) -> Markup:
    return Markup(" open") if chosen else Markup("")


def sentence(words: str) -> Markup:
    """What is said where there is nothing to show."""
    return Markup('<p class="quiet text">{}</p>').format(as_text(words))
