"""The form that starts a run."""

from __future__ import annotations

from markupsafe import Markup

from evalbot.domain.settings import Config, EndpointSettings
from evalbot.formats.catalogue import list_suites
from evalbot.running.prepare import Selection
from evalbot.ui.choices import boxes
from evalbot.ui.fields import Action, number, split, text, texts
from evalbot.ui.panel import action_attribute, keyed

FORM = Markup("""\
<details class="start"><summary>Start a run</summary>
<form data-once {act} data-panel="runs">
<fieldset><legend>Suites, one run each</legend><div class="choices">{suites}</div></fieldset>
<fieldset><legend>Endpoints</legend><div class="choices">{endpoints}</div></fieldset>
<div class="fields">
<label>Repeats <input name="repeats" type="number" min="1" value="1" inputmode="numeric"></label>
<label>Only the first cases <input name="limit" type="number" min="1" placeholder="all"></label>
<label>Only these tags <input name="tags" placeholder="all; or a, b"></label>
<label>Label <input name="label" maxlength="200" placeholder="shown in lists"></label>
</div>
<div class="row">
<label class="choice"><input type="checkbox" name="self_check" value="yes">
 Let each model check its own answer once more</label>
<button class="main">Start</button>
</div>
</form></details>
""")


def run_form(config: Config) -> Markup:
    """All suites that are found, and the config's endpoints."""
    if not config.endpoints:
        return Markup(
            '<p class="quiet">evalbot.yaml has no endpoints: add one under <code>endpoints:</code>'
            " and open this page again to start runs here.</p>"
        )
    suites = [(name, "") for name in list_suites(config.folder)]
    endpoints = [(endpoint.name, _about(endpoint)) for endpoint in config.endpoints]
    form = FORM.format(
        act=action_attribute(do="start"),
        suites=boxes("suites", suites),
        endpoints=boxes("endpoints", endpoints, [name for name, _ in endpoints]),
    )
    return keyed((suites, endpoints), form)


def selection_of(action: Action) -> Selection:
    """What the form chose; InputError for a number that is none."""
    return Selection(
        endpoints=texts(action, "endpoints"),
        limit=number(action, "limit"),
        tags=split(action, "tags"),
        repeats=number(action, "repeats") or 1,
        label=text(action, "label"),
        self_check=text(action, "self_check") is not None,
    )


def _about(endpoint: EndpointSettings) -> str:
    starts = "started by evalbot" if endpoint.start else None
    parts = (endpoint.model, endpoint.quantisation, endpoint.hardware, starts)
    return ", ".join(part for part in parts if part)
