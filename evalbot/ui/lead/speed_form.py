"""What a lead chooses of the speed results: the form, and the query it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evalbot.domain.speed import SpeedRow
from evalbot.speed.results import SpeedQuery
from evalbot.ui.choices import boxes, options
from evalbot.ui.fields import Action, text, texts
from evalbot.ui.panel import action_attribute, keyed

FORM = Markup("""\
<form {act} data-live class="fields">
<label>Measured by <select name="sources">{sources}</select></label>
<label>Hardware <select name="hardware">{hardware}</select></label>
<label>Label <select name="labels">{labels}</select></label>
<label class="choice"><input type="checkbox" name="wide" value="yes"{wide}> Wide: machines down,
 models and tests across</label>
<details class="many"{open}><summary>Models: {said}</summary>
<div class="choices">{models}</div></details>
</form>
""")


def query_of(action: Action) -> SpeedQuery:
    """The query in a form's fields or a download's address."""
    return SpeedQuery(
        labels=texts(action, "labels"),
        models=texts(action, "models"),
        hardware=texts(action, "hardware"),
        sources=texts(action, "sources"),
    )


def is_wide(action: Action) -> bool:
    """Whether machines go down, and models and tests across."""
    return text(action, "wide") is not None


def fields_of(query: SpeedQuery, wide: bool) -> dict[str, str | list[str]]:
    """The same as the form's fields."""
    found = {
        "labels": query.labels,
        "models": query.models,
        "hardware": query.hardware,
        "sources": query.sources,
        "wide": ("yes",) if wide else (),
    }
    return {name: list(values) for name, values in found.items() if values}


def speed_form(rows: Sequence[SpeedRow], query: SpeedQuery, wide: bool) -> Markup:
    """The form with what is chosen now; rows: all there are to choose from."""
    sources = _names(str(row.source) for row in rows)
    hardware = _names(row.hardware for row in rows)
    labels = _names(row.label for row in rows)
    models = _names(row.model for row in rows)
    form = FORM.format(
        act=action_attribute(do="show"),
        sources=_options("anything", sources, query.sources),
        hardware=_options("all", hardware, query.hardware),
        labels=_options("all", labels, query.labels),
        wide=Markup(" checked") if wide else "",
        models=boxes("models", ((name, "") for name in models), query.models),
        said=f"{len(query.models)} of {len(models)}" if query.models else "all",
        open=Markup(" open") if query.models else "",
    )
    return keyed((sources, hardware, labels, models), form)


def _names(values: Iterable[str | None]) -> list[str]:
    return sorted({value for value in values if value})


def _options(none: str, names: Sequence[str], chosen: Sequence[str]) -> Markup:
    return options([("", none), *((name, name) for name in names)], "".join(chosen[:1]))
