"""Charts on a page: pictures drawn by the server, which load nothing and run nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from evalbot.reporting.figures import svg_of
from evalbot.ui.panel import action_attribute
from evalbot.ui.text import as_text

if TYPE_CHECKING:
    import altair as alt

CHARTS = Markup("""\
<section class="charts" data-opened="{title}"><div class="row head"><h2>{title}</h2>
<button {close}>Close</button></div>{charts}</section>
""")
# An image of its own cannot run a script or fetch anything, whatever a model is called.
CHART = Markup('<figure><img src="data:image/svg+xml;base64,{}" alt="{}"></figure>')


def charts_html(title: str, charts: Mapping[str, alt.TopLevelMixin]) -> Markup:
    """The charts, one below the other, with a button that closes them."""
    return CHARTS.format(
        title=title,
        close=action_attribute(do="close"),
        charts=pictures(charts)
        or Markup('<p class="quiet">There is nothing to draw in these rows.</p>'),
    )


def pictures(charts: Mapping[str, alt.TopLevelMixin]) -> Markup:
    """The charts alone, by what they are called."""
    return Markup("").join(
        CHART.format(base64.b64encode(svg_of(chart).encode()).decode(), as_text(name))
        for name, chart in charts.items()
    )
